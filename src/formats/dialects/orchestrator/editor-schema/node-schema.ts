import type { JsonObject, JsonSchema } from '../../../../graph/json.js';
import { JOINS } from '../lower-nodes.js';
import { COMMON_KEYS, keysOf, marksOf, misplacedKeys, SPEC_KINDS, type SpecKind } from '../node-kinds.js';
import { NODE_KEYS } from './key-descriptions.js';

export const ref = (definition: string): JsonSchema => ({ $ref: `#/definitions/${definition}` });

/** An object of some keys, and keys of its author's own. */
export function objectOf(
  keys: readonly string[],
  descriptions: Readonly<Record<string, string>>,
  schemas: Readonly<Record<string, JsonSchema>>,
): JsonObject {
  return {
    type: 'object',
    properties: propertiesOf(keys, descriptions, schemas),
    patternProperties: { '^x-': {} },
    additionalProperties: false,
  };
}

function propertiesOf(
  keys: readonly string[],
  descriptions: Readonly<Record<string, string>>,
  schemas: Readonly<Record<string, JsonSchema>>,
): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, described(schemas[key] ?? {}, descriptions[key])]));
}

/** In draft 7, what is beside a reference does not count. */
function described(schema: JsonSchema, description: string | undefined): JsonSchema {
  if (description === undefined) return schema;
  return schema.$ref === undefined ? { description, ...schema } : { description, allOf: [schema] };
}

type Values = Readonly<Record<string, JsonSchema>>;

/** By the keys of nodes. */
function nodeValues(): Values {
  const text: JsonSchema = { type: 'string' };
  const number: JsonSchema = { type: 'number' };
  return {
    ...{ type: { enum: [...SPEC_KINDS] }, title: text, when: text, condition: text, output: text },
    depends_on: { anyOf: [text, { type: 'array', items: text }] },
    join: { enum: [...JOINS] },
    timeout: ref('duration'),
    on_error: ref('onError'),
    error_as_data: { type: 'boolean' },
    compensate: ref('undo'),
    on: { type: 'array', items: caseSchema() },
    default: { anyOf: [text, objectOf(['goto'], {}, { goto: text })] },
    branches: {
      anyOf: [
        { type: 'object', additionalProperties: ref('keyNamedBranch') },
        { type: 'array', items: ref('ownNamedBranch') },
      ],
    },
    on_partial_failure: { anyOf: [{ enum: ['abort', 'continue', 'rollback_all'] }, text] },
    ...{ concurrency: number, max_iterations: number, as: text },
    on_item_error: { enum: ['fail', 'continue'] },
    items: { anyOf: [{ type: 'array' }, text] },
    step: ref('ownNamed'),
    steps: { type: 'array', items: ref('ownNamed'), minItems: 1 },
    repeat: { anyOf: [ref('ownNamed'), { type: 'array', items: ref('ownNamed'), minItems: 1 }] },
    ...{ until: text, delay: ref('duration'), on_limit: { enum: ['fail', 'continue'] } },
    ...{
      wait: { anyOf: [ref('duration'), { type: 'string', pattern: '\\$' }] },
      wait_until: { anyOf: [number, text] },
    },
    ...{
      answer_by: ref('names'),
      escalate_to: ref('names'),
      remind_after: ref('duration'),
      approves: text,
      except: { enum: ['owner'] },
    },
    ...{ expects: ref('parameters'), yield: text, message: text, code: text },
  };
}

function caseSchema(): JsonSchema {
  const descriptions = {
    when: 'The condition of the case.',
    condition: 'The same as `when`.',
    goto: 'The node that is selected.',
    default: 'The node that is selected if no case holds. The last case may have it.',
  };
  const text: JsonSchema = { type: 'string' };
  return objectOf(['when', 'condition', 'goto', 'default'], descriptions, {
    ...{ when: text, condition: text, goto: text },
  });
}

const ID: JsonSchema = { description: NODE_KEYS.id ?? '', type: 'string' };

/** A node by its kind: what a node is decides which keys it has, and which are completed. */
export function nodeSchema(): JsonSchema {
  const values = nodeValues();
  const keysIn = (keys: readonly string[], own: Values = {}): JsonObject =>
    propertiesOf(keys, NODE_KEYS, { ...values, ...own });
  return {
    type: 'object',
    properties: keysIn(COMMON_KEYS),
    allOf: [
      {
        if: { not: { anyOf: SPEC_KINDS.map(isKind) } },
        // A node without a kind gets completions of the keys that decide its kind.
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: keysIn(SPEC_KINDS.flatMap(marksOf)) },
      },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      ...SPEC_KINDS.map((kind) => ({ if: isKind(kind), then: kindSchema(kind, keysIn) })),
    ],
  };
}

/** Whether a node is of a kind, as `kindOfNode` finds it. */
function isKind(kind: SpecKind): JsonSchema {
  const typed = { properties: { type: { const: kind } }, required: ['type'] };
  return { anyOf: [...marksOf(kind).map((mark) => ({ required: [mark] })), typed] };
}

const CALLS: { readonly [K in SpecKind]?: JsonSchema } = {
  call: ref('call'),
  workflow: ref('workflowCall'),
};

/** Keys that are something else in nodes of a kind. */
const OWN_VALUES: { readonly [K in SpecKind]?: Values } = {
  compensate: { steps: { type: 'array', items: ref('undoStep'), minItems: 1 } },
};

function kindSchema(
  kind: SpecKind,
  keysIn: (keys: readonly string[], own?: Values) => JsonObject,
): JsonSchema {
  const misplaced = misplacedKeys(kind);
  const allowed = keysOf(kind).filter((key) => !misplaced.has(key));
  const call = CALLS[kind];
  const calls = call === undefined ? [] : ['args', kind];
  const own = allowed.filter((key) => !COMMON_KEYS.includes(key) && !calls.includes(key) && key !== 'id');
  return {
    properties: keysIn(own, OWN_VALUES[kind]),
    propertyNames: { anyOf: [{ enum: allowed }, { pattern: '^x-' }] },
    ...(call === undefined ? {} : { allOf: [call] }),
  };
}

/** A node that is named by its key in an object, or one that may have an `id`. */
export function namedNodeSchemas(): Readonly<Record<'keyNamed' | 'ownNamed', JsonSchema>> {
  return {
    keyNamed: { allOf: [ref('node')], properties: { id: false } },
    ownNamed: { allOf: [ref('node')], properties: { id: ID } },
  };
}

/** A branch of a parallel node: a node, or several in a row. In a list each has its `id`. */
export function branchSchemas(): Readonly<Record<'keyNamedBranch' | 'ownNamedBranch', JsonSchema>> {
  const { steps = {} } = nodeValues();
  const schema = (node: JsonSchema, keys: readonly string[]): JsonSchema => ({
    type: 'object',
    if: { required: ['steps'], not: { required: ['type'] } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: objectOf(keys, NODE_KEYS, { id: { type: 'string' }, steps }),
    else: node,
  });
  return {
    keyNamedBranch: schema(ref('keyNamed'), ['steps']),
    ownNamedBranch: { ...schema(ref('ownNamed'), ['id', 'steps']), required: ['id'] },
  };
}
