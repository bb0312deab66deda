import type { DiagnosticCode } from '../../../graph/diagnostics/diagnostic.js';
import type { JsonObject, JsonSchema } from '../../../graph/json.js';
import { GRAPH_VERSION, type Graph, type Input } from '../../../graph/model.js';
import { isValidName, nearestName } from '../../../graph/names.js';
import { entryOf, type LocatedEntry, type LocatedMap } from '../../text/located.js';
import type { RepeatedKey, Reports } from '../../text/reading.js';
import { type Dialect, described, type LoweredDocument, objectWith } from '../dialect.js';
import { expectMap, Fields } from '../fields.js';
import { loopInputs, loopReferences, type StepsContext, type Task, usesOf } from './context.js';
import { lowerInputs, wordsOf } from './inputs.js';
import { Jumps } from './jumps.js';
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
import { Chain, lowerSteps } from './lower-steps.js';
import { State } from './state.js';
import { allSteps, literalOf, readSteps, type StepList } from './steps.js';
import { Templates } from './templates.js';

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
  return { ...objectWith(propertiesOf(keys)), ...(required.length === 0 ? {} : { required }) };
}

function requiredOf(keys: Keys): string[] {
  return Object.entries(keys).flatMap(([name, { isRequired }]) => (isRequired === true ? [name] : []));
}

function propertiesOf(keys: Keys): JsonObject {
  return Object.fromEntries(
    Object.entries(keys).map(([name, { schema, description }]) => [name, described(schema, description)]),
  );
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

/** What a run of a workflow of this dialect may use. [L10] */
const LIMITS: NonNullable<Graph['limits']> = { steps: 1_000, stateBytes: 1_048_576 };

/** Lowers a document, which has one workflow, to a graph. */
function lowerDocument(map: LocatedMap, reports: Reports): LoweredDocument | undefined {
  const fields = new Fields(reports, map, 'the file', Object.keys(DOCUMENT));
  const domain = { name: 'default', rules: [] };
  fields.require('name');
  fields.text('$schema');
  const name = nameOf(reports, fields);
  const version = versionOf(reports, fields);
  const allowNestedAgents = fields.boolean('allow_nested_agents');
  const task = fields.task();
  const inputs = lowerInputs(reports, fields.object('inputs'));
  const root = stepsOf(reports, fields);
  const tasks = tasksOf(reports, fields);
  const taskGraphs = [...tasks.values()].map((task) => lowerTask(reports, task, tasks));
  if (root === undefined) return { domain, graphs: [] };
  const body = lowerBody(reports, { name, fields, inputs, root, names: new Map() }, tasks);
  const graph: Graph = {
    graphVersion: GRAPH_VERSION,
    name,
    description: fields.text('description')?.value ?? wordsOf(name),
    domain: domain.name,
    version,
    ...body,
    ...(taskGraphs.length === 0 ? {} : { tasks: taskGraphs }),
    ...task,
    ...(allowNestedAgents === true ? { allowNestedAgents } : {}),
    limits: LIMITS,
    source: reports.source.placeOf(fields.entry('name')?.value ?? map),
  };
  return { domain, graphs: [graph] };
}

/** In the order of names, as bundles have them. */
function tasksOf(reports: Reports, fields: Fields): ReadonlyMap<string, Task> {
  const tasks = (fields.object('tasks')?.entries ?? []).flatMap(({ key, value }): Task[] => {
    const name = key.value;
    const map = expectMap(reports, value, `task \`${name}\``);
    if (map === undefined) return [];
    checkName(reports, key, 'a task');
    const own = new Fields(reports, map, `task \`${name}\``, Object.keys(TASK));
    const inputs = lowerInputs(reports, own.object('inputs'));
    const root = stepsOf(reports, own) ?? { steps: [] };
    const task = { name, at: key, fields: own, inputs, root, ...usesOf(map, root) };
    if (!task.hasReturn && root.steps.length > 0) reports.report('SW5039', key, { task: name });
    return [task];
  });
  tasks.sort((one, other) => (one.name < other.name ? -1 : 1));
  return new Map(tasks.map((task) => [task.name, task]));
}

function lowerTask(reports: Reports, task: Task, tasks: ReadonlyMap<string, Task>): Graph {
  const { name, fields, at } = task;
  const inputs = [...task.inputs, ...loopInputs(task)];
  const body = lowerBody(reports, { ...task, names: loopReferences(task) }, tasks);
  return {
    graphVersion: GRAPH_VERSION,
    name,
    description: fields.text('description')?.value ?? wordsOf(name),
    ...body,
    inputs,
    source: reports.source.placeOf(at),
  };
}

/** A workflow or a task. */
interface Body extends Pick<StepsContext, 'names'> {
  readonly name: string;
  readonly fields: Fields;
  readonly inputs: readonly Input[];
  readonly root: StepList;
}

function lowerBody(
  reports: Reports,
  { name, fields, inputs, root, names }: Body,
  tasks: ReadonlyMap<string, Task>,
): Pick<Graph, 'inputs' | 'state' | 'instructions' | 'nodes'> {
  const isTask = fields.where.startsWith('task ');
  const state = new State(reports, name, fields, root, isTask);
  const inputNames = inputs.map((input) => input.name);
  const jumps = new Jumps(reports, root);
  const chain = new Chain();
  addInitialState(reports, state, { inputs: inputNames, state: [], names }, chain);
  const nodes = lowerSteps(root, { reports, inputs: inputNames, state, jumps, tasks, names }, chain);
  checkExits(reports, state, root);
  return {
    inputs,
    ...(state.fields.length === 0 ? {} : { state: state.fields }),
    instructions: [],
    nodes,
  };
}

/** First values that are templates are set before the first step. [D8] */
function addInitialState(
  reports: Reports,
  { computed }: State,
  names: ConstructorParameters<typeof Templates>[1],
  chain: Chain,
): void {
  const [first] = computed;
  if (first === undefined) return;
  const templates = new Templates(reports, names);
  const updates = computed.map(({ key, value }) => ({ field: key.value, value: templates.value(value) }));
  for (const { field, ref, text } of templates.stateReferences) {
    const problem = `\`state.${field}\` is not there before the first step`;
    reports.reportAt('SW5014', ref.at ?? reports.source.span(text.start, text.end), {
      what: 'a template',
      problem,
    });
  }
  chain.add({
    kind: 'set',
    id: 'state.initial',
    updates,
    reads: [],
    source: reports.source.placeOf(first.key),
  });
}

/** Commands that may fail without an effect on the steps behind them. [Q3] */
function checkExits(reports: Reports, { readExits }: State, root: StepList): void {
  for (const { type, fields, id, at } of allSteps(root)) {
    if (type !== 'shell' || fields.value('fail_on_error') !== undefined) continue;
    const output = fields.value('output_to');
    if (output?.kind === 'text' && readExits.has(output.value)) continue;
    reports.report('SW5037', at, { step: id });
  }
}

function stepsOf(reports: Reports, fields: Fields): StepList | undefined {
  if (!fields.require('steps')) return undefined;
  const list = fields.list('steps');
  if (list === undefined) return undefined;
  if (list.items.length === 0) fields.mismatch('steps', list, 'a list of one or more steps');
  return readSteps(reports, list);
}

const WORKFLOW = /^[a-z][a-z0-9_-]*$/;

function nameOf(reports: Reports, fields: Fields): string {
  const name = literalOf(reports, fields, 'name');
  if (name === undefined) return 'workflow';
  return checkName(reports, name, 'a workflow') ? name.value : 'workflow';
}

/** Names of workflows are in lower case; those of tasks need not be. */
function checkName(
  reports: Reports,
  name: LocatedMap['entries'][number]['key'],
  kind: 'a workflow' | 'a task',
): boolean {
  const isTask = kind === 'a task';
  const isValid = isValidName('workflow', name.value) && (isTask || WORKFLOW.test(name.value));
  if (isValid) return true;
  const letters = isTask ? 'letters' : 'lower-case letters';
  const rule = `${letters}, digits, \`_\` and \`-\`, a letter first, and at most 62 characters`;
  reports.report('SW5010', name, { kind, name: name.value, rule });
  return false;
}

const SEMANTIC = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/;

/** A version has three numbers, as text. */
function versionOf(reports: Reports, fields: Fields): string {
  const version = fields.value('version');
  if (version === undefined || (version.kind === 'text' && SEMANTIC.test(version.value)))
    return version?.kind === 'text' ? version.value : '0.0.0';
  const source = version.kind === 'number' ? version.source : version.kind === 'text' ? version.value : '';
  const whole = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(source.trim());
  const repaired = whole && [whole[1], whole[2] ?? '0', whole[3] ?? '0'].join('.');
  const edit = repaired === null ? undefined : reports.edit(version, `"${repaired}"`);
  if (version.kind === 'number') {
    const hint = repaired === null ? undefined : `write \`version: "${repaired}"\``;
    reports.report('SW5009', version, { text: version.source }, { hint, edit });
  } else if (version.kind === 'text') {
    const expected = 'three numbers such as `"1.0.0"`';
    reports.report(
      'SW5006',
      version,
      { what: '`version` of the file', expected, actual: `\`${source}\`` },
      { edit },
    );
  } else fields.text('version');
  return repaired ?? '0.0.0';
}
