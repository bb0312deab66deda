import type { DiagnosticCode } from '../../../graph/diagnostics/diagnostic.js';
import type { JsonObject, JsonSchema } from '../../../graph/json.js';
import { nearestName } from '../../../graph/names.js';
import { entryOf, type LocatedEntry, type LocatedMap } from '../../text/located.js';
import type { RepeatedKey } from '../../text/reading.js';
import type { Dialect } from '../dialect.js';
import { lowerDocument } from './document.js';
import {
  COMMON,
  DOCUMENT,
  INPUT,
  type Keys,
  PROMPT_TYPES,
  PROPERTY,
  STEP_TYPES,
  STEPS,
  type StepType,
  TASK,
  VALIDATION,
} from './keys.js';

/** Workflows as lists of steps with templates, of which agents do a part: `steps`, in YAML and JSON. */
export const durable: Dialect = {
  id: 'durable',
  recognise: (document) =>
    entryOf(document, 'steps') !== undefined && entryOf(document, 'workflows') === undefined,
  resembles,
  lower: lowerDocument,
  editorSchema: documentSchema,
  hint: ({ code, params = {} }) => HINTS[code]?.(params),
  repeatedKey: promptType(),
};

/** `steps` is misspelt, or there is a `name` and no key of another dialect. */
function resembles({ entries }: LocatedMap): boolean {
  const keys = Object.keys(DOCUMENT);
  const names = entries
    .map(({ key }) => key.value)
    .map((name) => (keys.includes(name) ? name : nearestName(name, [...keys, 'workflows'])));
  if (names.includes('workflows')) return false;
  return names.includes('steps') || (names.includes('name') && !names.includes(undefined));
}

/** A prompt may have its own type in a second `type`. [P2] */
function promptType(): RepeatedKey {
  const textOf = ({ value }: LocatedEntry): string => (value.kind === 'text' ? value.value : '');
  const isType = (entry: LocatedEntry): boolean =>
    (PROMPT_TYPES as readonly string[]).includes(textOf(entry));
  return (first, second) => {
    if (first.key.value !== 'type') return undefined;
    const entry = textOf(first) === 'prompt' ? second : textOf(second) === 'prompt' ? first : undefined;
    return entry !== undefined && isType(entry) ? { entry, name: 'prompt_type' } : undefined;
  };
}

/** Repairs of faults that the checker finds, as they are written in this dialect. */
const HINTS: { readonly [C in DiagnosticCode]?: (params: Readonly<Record<string, unknown>>) => string } = {
  SW3011: ({ name }) => `use \`{{ inputs.${String(name)} }}\`, or remove the input`,
  SW4009: () => 'give one of them another id',
  SW4013: ({ end }) => `give \`${String(end)}\` a \`when\`, or remove the step`,
  SW4027: ({ limit }) =>
    limit === undefined ? 'give the `foreach` a `when`' : 'run some of them one after the other',
};

/** The JSON Schema of documents for editors: of the tables of keys. Tools are those of the client. */
function documentSchema(): JsonObject & { readonly required: readonly string[] } {
  return {
    definitions: {
      validation: objectOf(VALIDATION),
      property: objectOf(PROPERTY),
      input: objectOf(INPUT),
      task: objectOf(TASK),
      step: stepSchema(),
    },
    ...objectOf(DOCUMENT),
    // What a document is recognised by; the rest is required as well.
    required: ['steps'],
    allOf: [{ required: requiredOf(DOCUMENT) }],
  };
}

function objectOf(keys: Keys): JsonObject {
  const required = requiredOf(keys);
  return {
    type: 'object',
    properties: propertiesOf(keys),
    patternProperties: { '^x-': {} },
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
  };
}

function requiredOf(keys: Keys): string[] {
  return Object.entries(keys).flatMap(([name, { isRequired }]) => (isRequired === true ? [name] : []));
}

function propertiesOf(keys: Keys): JsonObject {
  return Object.fromEntries(
    Object.entries(keys).map(([name, { schema, description }]) => [name, described(schema, description)]),
  );
}

/** In draft 7, what is beside a reference does not count. */
function described(schema: JsonSchema, description: string): JsonSchema {
  return schema.$ref === undefined ? { description, ...schema } : { description, allOf: [schema] };
}

/** A step by its type, which decides which keys it has. */
function stepSchema(): JsonSchema {
  const type = {
    ...described(COMMON.type?.schema ?? {}, COMMON.type?.description ?? ''),
    enum: [...STEP_TYPES],
  };
  return {
    type: 'object',
    properties: { ...propertiesOf(COMMON), type },
    required: requiredOf(COMMON),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    allOf: STEP_TYPES.map((each) => ({ if: isType(each), then: keysOfType(each) })),
  };
}

function isType(type: StepType): JsonSchema {
  return { properties: { type: { const: type } }, required: ['type'] };
}

function keysOfType(type: StepType): JsonSchema {
  const own: Keys = STEPS[type];
  const names = [...Object.keys(COMMON), ...Object.keys(own)];
  return {
    properties: propertiesOf(own),
    propertyNames: { anyOf: [{ enum: names }, { pattern: '^x-' }] },
    required: requiredOf(own),
  };
}
