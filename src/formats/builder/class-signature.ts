import type { ToolSignature } from '../../check/check-graph.js';
import { readMetadata } from '../../decorators/metadata.js';
import { isJsonObject, type JsonSchema } from '../../graph/json.js';
import type { ToolLike } from './handles.js';

/** Nothing is known of outputs, any input will do, and a second call does no harm. */
export const UNKNOWN: ToolSignature = { inputSchema: {}, annotations: { idempotentHint: true } };

/** What the schemas of a tool's own class say of it; where it has none, or only a handle is there, nothing. */
export function signatureOf(tool: ToolLike): ToolSignature {
  const options = toolOptions(tool);
  if (options === undefined) return UNKNOWN;
  const { annotations, retrySafety } = options;
  const inputSchema = schemaOf(options.input, 'input');
  const outputSchema = schemaOf(options.output, 'output');
  return {
    ...UNKNOWN,
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined && retrySafety === undefined ? {} : { annotations, retrySafety }),
  };
}

function toolOptions(tool: ToolLike) {
  try {
    const metadata = typeof tool === 'function' ? readMetadata(tool) : undefined;
    return metadata?.kind === 'tool' ? metadata.options : undefined;
  } catch {
    // What is wrong with the class is reported where it is named.
    return undefined;
  }
}

/** The part of Standard Schema that turns a schema into a JSON Schema. */
interface Convertible {
  readonly vendor: string;
  readonly jsonSchema?: {
    readonly [S in 'input' | 'output']?: (options: { readonly target: string }) => unknown;
  };
}

/** Nothing for a schema that cannot be converted: codegen, which reads it as well, says so. */
function schemaOf(schema: unknown, side: 'input' | 'output'): JsonSchema | undefined {
  const props = (schema as { readonly '~standard'?: Convertible } | undefined)?.['~standard'];
  try {
    const converted = props?.jsonSchema?.[side]?.({ target: 'draft-2020-12' });
    if (!isJsonObject(converted)) return undefined;
    const {
      $schema: _,
      '~standard': _marker,
      ...plain
    } = JSON.parse(JSON.stringify(converted)) as JsonSchema;
    return props?.vendor === 'zod' ? closed(plain) : plain;
  } catch {
    return undefined;
  }
}

/** A plain object of zod takes no other keys, as in a registry: a misspelt argument is a fault, and no value to drop. */
function closed(schema: JsonSchema): JsonSchema {
  const isOpen = schema.type === 'object' && schema.additionalProperties === undefined;
  return isOpen ? { ...schema, additionalProperties: false } : schema;
}
