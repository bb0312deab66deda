import type { StandardSchemaV1 } from '@standard-schema/spec';
import { readMetadata } from '../../decorators/metadata.js';
import type { ToolAnnotations } from '../../decorators/tool.js';
import type { JsonObject } from '../../graph/json.js';
import { nearestName } from '../../graph/suggest.js';
import type { Failure } from '../engine/contract.js';
import { checkInput } from './check-input.js';
import { FactoriesError, factoryProblems, type UntypedFactories, type WithFactories } from './factories.js';
import { Instances } from './instances.js';
import { SchemaCompiler } from './json-schema.js';
import { type NormalResult, normalizeResult } from './normalize-result.js';
import type { CallContext, CallPort, ResourceOutcome, ToolOutcome } from './port.js';
import { schemaProblems } from './problems.js';
import { readInstance } from './read-resource.js';
import type { AnyClass, Registry, ResourceEntry, ToolEntry } from './registry.js';
import { message, texts } from './texts.js';
import { thrownFailure, thrownText } from './thrown.js';

/** What observers say about a tool. */
export interface ToolDescription {
  readonly description: string;
  readonly annotations?: ToolAnnotations;
}

/**
 * The tools and resources of a registry, ready to be called: by workflow steps and by direct calls alike.
 *
 * A call whose signal is aborted before the tool is reached fails with `E_CANCELLED`. Afterwards the signal is the
 * tool's to heed: the promise of a call settles when the tool does, and a host that gave up on it ignores it.
 */
export interface Catalogue extends CallPort {
  readonly registry: Registry;
  /** The description of a tool; nothing for an unknown name. */
  describeTool(name: string): ToolDescription | undefined;
}

/**
 * Makes the catalogue of a registry. Instances are made once each, on first use.
 *
 * Failure codes of a call: `E_TOOL_UNKNOWN`, `E_INPUT_INVALID`, `E_SCHEMA_INVALID`, `E_TOOL_FACTORY` and
 * `E_CANCELLED`, none of them attempted; then `E_TOOL_ERROR` (or the code of the error the tool threw),
 * `E_RESULT_NOT_JSON` and `E_OUTPUT_SCHEMA`. Of a read: `E_RESOURCE_UNKNOWN`, `E_RESOURCE_FACTORY`,
 * `E_RESOURCE_READ`.
 * @throws FactoriesError listing every class that cannot be instantiated and every factory nobody needs.
 */
export function createCatalogue<R extends Registry>(
  registry: R,
  ...[factories]: WithFactories<R>
): Catalogue {
  const given: UntypedFactories = factories ?? {};
  const problems = factoryProblems(registry, given);
  if (problems.length > 0) throw new FactoriesError(problems);
  return new RegistryCatalogue(registry, given);
}

class RegistryCatalogue implements Catalogue {
  readonly #tools: Instances<'execute'>;
  readonly #resources: Instances<'read'>;
  readonly #schemas = new SchemaCompiler();

  constructor(
    readonly registry: Registry,
    factories: UntypedFactories,
  ) {
    this.#tools = new Instances('tool', 'execute', factories.tools ?? {});
    this.#resources = new Instances('resource', 'read', factories.resources ?? {});
  }

  describeTool(name: string): ToolDescription | undefined {
    const entry = own(this.registry.tools, name);
    if (entry === undefined) return undefined;
    const { description, annotations } = entry;
    return { description, ...(annotations === undefined ? {} : { annotations }) };
  }

  async callTool(name: string, input: JsonObject, context: CallContext): Promise<ToolOutcome> {
    const entry = own(this.registry.tools, name);
    if (entry === undefined) {
      const near = nearestName(name, Object.keys(this.registry.tools));
      return refused('E_TOOL_UNKNOWN', texts.toolUnknown(name, near));
    }
    const standard = standardInput(entry.class);
    const checked = await checkInput(
      input,
      { tool: name, jsonSchema: entry.inputSchema, ...(standard === undefined ? {} : { standard }) },
      this.#schemas,
    );
    if (!checked.ok) return { ok: false, attempted: false, failure: checked.failure };
    const made = this.#tools.get(name, entry.class);
    if (!made.ok) return { ok: false, attempted: false, failure: made.failure };
    if (context.signal.aborted) return refused('E_CANCELLED', texts.cancelled(name));

    let raw: unknown;
    try {
      raw = await made.instance.execute(checked.input, context);
    } catch (error) {
      return { ok: false, attempted: true, failure: thrownFailure(error, 'E_TOOL_ERROR') };
    }
    return this.#outcome(name, entry, normalizeResult(raw, entry.outputSchema));
  }

  async readResource(name: string, uri: string, context: CallContext): Promise<ResourceOutcome> {
    const entry = own(this.registry.resources, name);
    if (entry === undefined) {
      const near = nearestName(name, Object.keys(this.registry.resources));
      return { ok: false, failure: failure('E_RESOURCE_UNKNOWN', texts.resourceUnknown(name, near)) };
    }
    if (uri !== entry.uri && !hasVariables(entry)) {
      return {
        ok: false,
        failure: failure('E_RESOURCE_UNKNOWN', texts.resourceElsewhere(name, entry.uri, uri)),
      };
    }
    if (entry.text !== undefined) {
      const mimeType = entry.mimeType === undefined ? {} : { mimeType: entry.mimeType };
      return { ok: true, value: { uri, ...mimeType, text: entry.text } };
    }
    const made = this.#resources.get(name, entry.class);
    if (!made.ok) return made;
    return readInstance(entry, uri, (...args) => made.instance.read(...args), context);
  }

  #outcome(name: string, entry: ToolEntry, result: NormalResult): ToolOutcome {
    const callResult = result.callResult === undefined ? {} : { callResult: result.callResult };
    if (!result.ok) return { ok: false, attempted: true, failure: result.failure, ...callResult };
    if (entry.outputSchema !== undefined) {
      const invalid = this.#outputFailure(name, entry.outputSchema, result);
      if (invalid !== undefined) return { ok: false, attempted: true, failure: invalid };
    }
    return { ok: true, value: result.value, ...callResult };
  }

  #outputFailure(
    name: string,
    schema: JsonObject,
    result: Extract<NormalResult, { ok: true }>,
  ): Failure | undefined {
    try {
      // The schema describes what was sent, not what is left of it after unwrapping.
      const value = result.callResult?.structuredContent ?? result.value;
      const problems = schemaProblems(this.#schemas.check(schema, value), schema).map(
        (problem) => problem.message,
      );
      return problems.length === 0 ? undefined : failure('E_OUTPUT_SCHEMA', texts.outputInvalid(problems));
    } catch (error) {
      return failure('E_SCHEMA_INVALID', texts.schemaBroken('output', name, thrownText(error)));
    }
  }
}

function own<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

function hasVariables(entry: ResourceEntry): boolean {
  return entry.uri.includes('{');
}

/** The schema in the tool's decorator: JSON Schema alone has no transforms and no checks of the author's own. */
function standardInput(cls: AnyClass): StandardSchemaV1 | undefined {
  const metadata = readMetadata(cls);
  return metadata?.kind === 'tool' ? metadata.options.input : undefined;
}

function failure(code: string, text: string): Failure {
  return { code, message: message(text) };
}

function refused(code: string, text: string): ToolOutcome {
  return { ok: false, attempted: false, failure: failure(code, text) };
}
