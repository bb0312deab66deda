import type { SamplingResult } from '../../../decorators/client.js';
import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { isJsonObject, type Json, type JsonSchema } from '../../../graph/json.js';
import { jsonText } from '../../../graph/printable-text.js';
import { thrownText } from '../../tools/exceptions.js';
import type { Log } from '../../tools/log.js';
import type { Peer } from '../../tools/port.js';
import { schemaProblems } from '../../tools/schema-problems.js';
import { toJson } from '../../tools/to-json.js';
import type { ValuePort } from '../run/calls-in-flight.js';
import { jsonIn } from './action.js';

/** What a step asks a model for, and of which run. */
type ValueRequest = Parameters<ValuePort['supply']>[0];

/** What a step asks a model for. */
export interface ModelRequest {
  /** What the step asks for. */
  readonly message: string;
  /** JSON Schema of the value. */
  readonly schema: JsonSchema;
  /** Name of the workflow. */
  readonly workflow: string;
  /** Key of the step; that of a value inside a call ends with the name of the input. */
  readonly step: string;
  /** Aborted when the step no longer waits. */
  readonly signal: AbortSignal;
  /** What was wrong with the value before this one. Empty at first. */
  readonly errors: readonly string[];
}

/** Supplies the values of `ask.model`: JSON that fits the schema. */
export type ModelFunction = (request: ModelRequest) => unknown;

interface ModelValues {
  readonly model?: ModelFunction;
  /** Whether the model of the client may be asked. */
  readonly allowSampling: boolean;
  readonly schemas: SchemaCompiler;
  readonly log: Log;
}

/** The most tokens of one sampled value. */
const MAX_TOKENS = 4096;

/** Candidates for the value, the likeliest first; none where the answer is not JSON. */
type Ask = () => Promise<readonly Json[]>;

/** Asks the operator's model, or else the client's. */
export function valuePort(options: ModelValues): ValuePort {
  return {
    supply(request) {
      const ask = askerOf(options, request);
      return ask && supplied(ask, request, options);
    },
  };
}

function askerOf({ model, allowSampling }: ModelValues, request: ValueRequest): Ask | undefined {
  const { message, schema, workflow, step, signal, peer, errors } = request;
  if (model !== undefined) {
    return async () => {
      const json = toJson(await model({ message, schema, workflow, step, signal, errors }));
      return json.ok && json.value !== undefined ? [json.value] : [];
    };
  }
  const sample = allowSampling ? peer?.sample : undefined;
  return sample && (() => sampledValues(sample, request));
}

/** Asks once. */
async function supplied(
  ask: Ask,
  { schema, workflow, step, run }: ValueRequest,
  { schemas, log }: ModelValues,
): NonNullable<ReturnType<ValuePort['supply']>> {
  try {
    const candidates = await ask();
    const checked = candidates.map((value) => ({ value, problems: problemsOf(value, schema, schemas) }));
    const fitting = checked.find(({ problems }) => problems.length === 0);
    if (fitting !== undefined) return { kind: 'value', value: fitting.value };
    return { kind: 'unfit', problems: checked[0]?.problems ?? ['it is not JSON'] };
  } catch (fault) {
    const why = thrownText(fault);
    log(`The model failed for step '${step}' of workflow '${workflow}' (run ${run}): ${why}`, {
      event: 'model.failed',
      run,
      workflow,
      node: step,
    });
    return {
      kind: 'failure',
      failure: { code: 'E_MODEL_VALUE', message: 'The model could not be asked for the value.' },
    };
  }
}

function problemsOf(value: Json, schema: JsonSchema, schemas: SchemaCompiler): readonly string[] {
  return schemaProblems(schemas.check(schema, value), schema).map(({ message }) => message);
}

async function sampledValues(
  sample: NonNullable<Peer['sample']>,
  { message, schema, isText, signal, errors }: ValueRequest,
): Promise<readonly Json[]> {
  const text = [
    message,
    ...(isText
      ? []
      : [`Answer with one JSON value, and nothing else. It fits this schema: ${jsonText(schema)}`]),
    ...(errors.length === 0 ? [] : [`The answer before did not fit: ${errors.join('; ')}`]),
  ].join('\n\n');
  const content = { type: 'text', text };
  const request = { messages: [{ role: 'user', content }], maxTokens: MAX_TOKENS } as const;
  return candidatesIn(await sample(request, signal));
}

/** The text as JSON, with or without a fence around it, and as it is. */
function candidatesIn({ content }: SamplingResult): readonly Json[] {
  const text = isJsonObject(content) && typeof content.text === 'string' ? content.text.trim() : undefined;
  if (text === undefined) return [];
  const parsed = jsonIn(text);
  return parsed === undefined ? [text] : [parsed, text];
}
