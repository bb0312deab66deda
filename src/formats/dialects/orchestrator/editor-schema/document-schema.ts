import {
  itemsIn,
  requiredKeys,
  type SchemaView,
  stepInto,
  typeOfJson,
  viewOf,
} from '../../../../check/schema-view.js';
import { defined } from '../../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../../../graph/json.js';
import { BACKOFFS, JOIN_RULES } from '../../../../graph/kinds/node.js';
import { EXPOSURES, type Graph, TASK_SUPPORT } from '../../../../graph/model.js';
import { compareText } from '../../../../graph/names.js';
import { inputsSchema } from '../../../../graph/part-schema.js';
import { type DescribedTool, described, objectWith, ref, type SpecVocabulary } from '../../dialect.js';
import { DURATION_PATTERN } from '../../fields.js';
import { DOCUMENT_KEYS, WORKFLOW_KEYS } from '../document.js';
import { COMMON_KEYS, keysOf, marksOf, misplacedKeys, SPEC_KINDS, type SpecKind } from '../node-specs.js';
import { ON_ERROR_KEYS } from '../on-error.js';
import { FORMATS, PARAMETER_KEYS, TYPE_KEYS, TYPES } from '../parameters.js';
import { DOCUMENT, NODE_KEYS, ON_ERROR, PARAMETER, WORKFLOW } from './key-descriptions.js';

export function documentSchema({
  tools,
  workflows,
}: SpecVocabulary): JsonObject & { readonly required: readonly string[] } {
  const named = [...tools].sort((a, b) => compareText(a.name, b.name));
  const graphs = [...workflows].sort((a, b) => compareText(a.name, b.name));
  return {
    definitions: {
      workflow: workflowSchema(),
      node: nodeSchema(),
      ...namedNodeSchemas(),
      ...branchSchemas(),
      parameters: { type: 'object', additionalProperties: ref('parameter') },
      parameter: objectOf(PARAMETER_KEYS, PARAMETER, typeKeys()),
      items: { anyOf: [typeName(), objectOf(TYPE_KEYS, PARAMETER, typeKeys())] },
      onError: objectOf(ON_ERROR_KEYS, ON_ERROR, {
        retry: { type: 'integer', minimum: 0 },
        delay: ref('duration'),
        backoff: { enum: [...BACKOFFS] },
        max_delay: ref('duration'),
        jitter: { type: 'number' },
        fallback: { type: 'string' },
      }),
      names: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }] },
      duration: { anyOf: [{ type: 'number' }, { type: 'string', pattern: DURATION_PATTERN }] },
      call: callSchema(named),
      workflowCall: workflowCallSchema(graphs),
      undo: undoSchema(['call', 'args']),
      undoStep: undoSchema(['call', 'args', 'ignore_error']),
    },
    ...objectOf(DOCUMENT_KEYS, DOCUMENT, {
      $schema: { type: 'string' },
      domain: { type: 'string' },
      version: { type: 'string' },
      description: {},
      rules: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      docs: { type: 'string' },
      workflows: { type: 'object', additionalProperties: ref('workflow'), minProperties: 1 },
    }),
    required: ['workflows'],
  };
}

function workflowSchema(): JsonSchema {
  return {
    ...objectOf(WORKFLOW_KEYS, WORKFLOW, {
      title: { type: 'string' },
      description: { type: 'string' },
      params: ref('parameters'),
      graph: { type: 'object', additionalProperties: ref('keyNamed'), minProperties: 1 },
      returns: {},
      expose: { anyOf: [{ enum: [...EXPOSURES] }, { type: 'array', items: { enum: [...EXPOSURES] } }] },
      fail_fast: { type: 'boolean' },
      on_failure: { enum: ['compensate'] },
      max_concurrency: { type: 'integer', minimum: 1 },
      task: { type: 'boolean' },
      task_support: { enum: [...TASK_SUPPORT] },
    }),
    required: ['description', 'graph'],
  };
}

const typeName = (): JsonSchema => ({ type: 'string', enum: Object.keys(TYPES) });

function typeKeys(): Readonly<Record<string, JsonSchema>> {
  const number: JsonSchema = { type: 'number' };
  const text: JsonSchema = { type: 'string' };
  const flag: JsonSchema = { type: 'boolean' };
  return {
    ...{ type: typeName(), format: { enum: [...FORMATS] }, enum: { type: 'array' }, items: ref('items') },
    ...{ minimum: number, maximum: number, min_length: number, max_length: number },
    ...{ min_items: number, max_items: number, pattern: text },
    ...{ required: flag, default: {}, description: text, title: text, secret: flag },
  };
}

/** A text that is a reference, which has the type of what it refers to. */
const REFERENCE: JsonSchema = { type: 'string', pattern: '^\\$' };

/** A text with a reference in it. */
const WITH_REFERENCE: JsonSchema = { type: 'string', pattern: '\\$' };

/** Deeper values are not described. */
const MAX_DEPTH = 6;

/**
 * The schema of arguments as they are written in a spec file: each value may be a reference. Keywords that only narrow a
 * value are left out: what a reference will be is not known.
 *
 * @param isChecked - whether unknown and missing arguments are faults. The checker has the same rules.
 */
function writtenArguments(schema: JsonSchema, isChecked: boolean): JsonSchema {
  const view = viewOf(schema);
  const { shapes } = view;
  if (shapes === 'unknown') return { type: 'object' };
  const names = new Set(
    shapes.flatMap(({ properties }) => (isJsonObject(properties) ? Object.keys(properties) : [])),
  );
  const properties = Object.fromEntries(
    [...names].map((name) => [name, writtenValue(partOf(shapes, name), viewIn(view, name), 0)]),
  );
  const required = isChecked ? requiredKeys(view) : [];
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(isChecked && shapes.every(isClosed) ? { additionalProperties: false } : {}),
  };
}

function isClosed({ additionalProperties, patternProperties }: JsonSchema): boolean {
  return additionalProperties === false && patternProperties === undefined;
}

/** The schema of a property, which has its title and description. */
function partOf(shapes: readonly JsonSchema[], name: string): JsonObject {
  for (const { properties } of shapes) {
    const part = isJsonObject(properties) ? properties[name] : undefined;
    if (isJsonObject(part ?? null)) return part as JsonObject;
  }
  return {};
}

function viewIn(view: SchemaView, key: string): SchemaView | undefined {
  const step = stepInto(view, key);
  return step.kind === 'found' ? step.view : undefined;
}

function writtenValue(part: JsonObject, view: SchemaView | undefined, depth: number): JsonSchema {
  const { title, description, default: fallback } = part;
  return {
    ...defined({ title, description }),
    ...(fallback === undefined || isJsonObject(fallback) || Array.isArray(fallback)
      ? {}
      : { default: fallback }),
    ...formsOf(view, depth),
  };
}

function formsOf(view: SchemaView | undefined, depth: number): JsonSchema {
  if (view === undefined || view.shapes === 'unknown' || depth > MAX_DEPTH) return {};
  const forms = view.shapes.map((shape) => formOf({ root: view.root, shapes: [shape] }, shape, depth));
  const distinct = [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()];
  const takesText = distinct.some((form) => form.type === 'string' && form.pattern === undefined);
  const [only] = distinct;
  if (takesText && distinct.length === 1 && only !== undefined) return only;
  return { anyOf: takesText ? distinct : [...distinct, REFERENCE] };
}

function formOf(view: SchemaView, shape: JsonSchema, depth: number): JsonSchema {
  const listed = shape.const === undefined ? shape.enum : [shape.const];
  if (Array.isArray(listed)) {
    const texts = listed.some((value: Json) => typeOfJson(value) === 'string') ? [WITH_REFERENCE] : [];
    return texts.length === 0 ? { enum: listed } : { anyOf: [{ enum: listed }, ...texts] };
  }
  switch (shape.type) {
    case 'object':
      return objectForm(view, shape, depth);
    case 'array': {
      const items = itemsIn(view);
      return { type: 'array', ...(items === undefined ? {} : { items: formsOf(items, depth + 1) }) };
    }
    default:
      return { type: shape.type as Json };
  }
}

function objectForm(view: SchemaView, shape: JsonSchema, depth: number): JsonSchema {
  const { properties } = shape;
  if (!isJsonObject(properties)) return { type: 'object' };
  const values = Object.keys(properties).map((name): [string, JsonSchema] => [
    name,
    writtenValue(partOf([shape], name), viewIn(view, name), depth + 1),
  ]);
  const required = requiredKeys(view);
  return {
    type: 'object',
    properties: Object.fromEntries(values),
    ...(required.length === 0 ? {} : { required }),
    ...(isClosed(shape) ? { additionalProperties: false } : {}),
  };
}

/** The schema of an object with `call` and `args`: the tool decides the arguments. */
function callSchema(tools: readonly DescribedTool[]): JsonSchema {
  const toolNames = tools.map(({ name }) => name);
  const names = [...new Set([...toolNames, ...tools.flatMap(upstreamNames)])];
  const listed = toolNames.length === 0 ? {} : namesOf(toolNames, tools);
  // Names by their server are accepted, and not completed: each tool is offered once.
  const others = names.filter((name) => !toolNames.includes(name));
  const call = others.length === 0 ? listed : { anyOf: [listed, { enum: others }] };
  return {
    properties: { call: { ...about('call'), type: 'string', ...call } },
    allOf: [
      ...tools.map((tool) => {
        const args = writtenArguments(tool.inputSchema, true);
        const own = upstreamNames(tool).filter((name) => !toolNames.includes(name));
        return {
          if: isOneOf('call', [tool.name, ...own]),
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: {
            properties: { args: { ...about('args'), ...args } },
            ...(args.required === undefined ? {} : { required: ['args'] }),
          },
        };
      }),
      otherArguments('call', names),
    ],
  };
}

/**
 * The schema of an object with `workflow` and `args`. Files may have workflows that codegen has not read yet: names and
 * arguments are completed, and codegen checks them.
 */
function workflowCallSchema(workflows: readonly Graph[]): JsonSchema {
  const names = workflows.map(({ name }) => name);
  const choices: Json[] = names.length === 0 ? [] : [namesOf(names, workflows)];
  return {
    properties: { workflow: { ...about('workflow'), anyOf: [...choices, { type: 'string' }] } },
    allOf: [
      ...workflows.map((graph) => ({
        if: isOneOf('workflow', writtenNames(graph)),
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: {
          properties: { args: { ...about('args'), ...writtenArguments(inputsSchema(graph), false) } },
        },
      })),
      otherArguments('workflow', workflows.flatMap(writtenNames)),
    ],
  };
}

/** A call that undoes another one. */
function undoSchema(keys: readonly string[]): JsonSchema {
  const descriptions = { ...NODE_KEYS, ignore_error: 'Whether its failure counts as nothing.' };
  return {
    ...objectOf(keys, descriptions, { ignore_error: { type: 'boolean' } }),
    required: ['call'],
    allOf: [ref('call')],
  };
}

/** How a tool is written by its upstream server. */
function upstreamNames({ upstream }: DescribedTool): readonly string[] {
  if (upstream === undefined) return [];
  return ['/', '.'].map((separator) => `${upstream.server}${separator}${upstream.tool}`);
}

function writtenNames({ name, domain }: Graph): readonly string[] {
  return domain === undefined ? [name] : [name, `${domain}/${name}`];
}

function isOneOf(key: string, names: readonly string[]): JsonObject {
  const only = names.length === 0 ? false : { enum: names };
  return { properties: { [key]: only }, required: [key] };
}

/** The arguments of what is not known yet. */
function otherArguments(key: string, names: readonly string[]): JsonObject {
  return {
    if: { not: isOneOf(key, names) },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { args: { ...about('args'), type: 'object' } } },
  };
}

const about = (key: string): JsonObject => ({ description: NODE_KEYS[key] ?? '' });

/** Names with what editors show beside them. */
function namesOf(
  names: readonly string[],
  all: readonly { readonly title?: string | undefined; readonly description: string }[],
): JsonObject {
  const texts = all.map(({ title, description }) =>
    title === undefined ? description : `${title}: ${description}`,
  );
  return { enum: names, enumDescriptions: texts, markdownEnumDescriptions: texts };
}

function objectOf(
  keys: readonly string[],
  descriptions: Readonly<Record<string, string>>,
  schemas: Readonly<Record<string, JsonSchema>>,
): JsonObject {
  return objectWith(propertiesOf(keys, descriptions, schemas));
}

function propertiesOf(
  keys: readonly string[],
  descriptions: Readonly<Record<string, string>>,
  schemas: Readonly<Record<string, JsonSchema>>,
): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, described(schemas[key] ?? {}, descriptions[key])]));
}

type Values = Readonly<Record<string, JsonSchema>>;

/** By the keys of nodes. */
function nodeValues(): Values {
  const text: JsonSchema = { type: 'string' };
  const number: JsonSchema = { type: 'number' };
  return {
    ...{ type: { enum: [...SPEC_KINDS] }, title: text, when: text, condition: text, output: text },
    depends_on: { anyOf: [text, { type: 'array', items: text }] },
    join: { enum: [...JOIN_RULES] },
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
function nodeSchema(): JsonSchema {
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
function namedNodeSchemas(): Readonly<Record<'keyNamed' | 'ownNamed', JsonSchema>> {
  return {
    keyNamed: { allOf: [ref('node')], properties: { id: false } },
    ownNamed: { allOf: [ref('node')], properties: { id: ID } },
  };
}

/** A branch of a parallel node: a node, or several in a row. In a list each has its `id`. */
function branchSchemas(): Readonly<Record<'keyNamedBranch' | 'ownNamedBranch', JsonSchema>> {
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
