import type { JsonObject, JsonSchema } from '../../../graph/json.js';
import {
  COMMON,
  DOCUMENT,
  INPUT,
  type Keys,
  PROPERTY,
  STEP_TYPES,
  STEPS,
  type StepType,
  TASK,
  VALIDATION,
} from './keys.js';

/** The JSON Schema of documents for editors: of the tables of keys. Tools are those of the client. */
export function documentSchema(): JsonObject & { readonly required: readonly string[] } {
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
