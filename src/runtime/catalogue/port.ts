import type { ToolContext } from '../../decorators/context.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { Failure } from '../engine/contract.js';
import type { CallResult } from './call-result.js';

/**
 * How a host reaches tools and resources: the catalogue implements it, hosts depend on it alone.
 *
 * Implementations answer with an outcome. A rejected promise is a fault of the implementation; a host turns it into
 * a failure with the code `E_INTERNAL`.
 */
export interface CallPort {
  /** Checks the input against the tool's whole schema, calls the tool, and normalises its result. */
  callTool(name: string, input: JsonObject, context: CallContext): Promise<ToolOutcome>;
  /** Reads the registered resource `name` at `uri`, which may differ from the registered one where it has variables. */
  readResource(name: string, uri: string, context: CallContext): Promise<ResourceOutcome>;
}

/** What a call is given beside its input: exactly what the tool will see. */
export type CallContext = ToolContext;

/** How a tool call ended. */
export type ToolOutcome =
  | {
      readonly ok: true;
      /** The normalised result, null where the tool returned nothing. Nobody changes it from then on. */
      readonly value: Json;
      /** The tool's own MCP result, where it returned one: a direct call answers with it, images and all. */
      readonly callResult?: CallResult;
    }
  | {
      readonly ok: false;
      /** False when the tool's code never ran: an unknown tool, or an input its schema refuses. */
      readonly attempted: boolean;
      readonly failure: Failure;
      /** The tool's own MCP result with `isError: true`, where that is the failure. */
      readonly callResult?: CallResult;
    };

/** How a resource read ended. */
export type ResourceOutcome =
  | {
      readonly ok: true;
      /** `{ uri, mimeType?, text }`, or `blob` (base64) in place of `text`. */
      readonly value: JsonObject;
    }
  | { readonly ok: false; readonly failure: Failure };
