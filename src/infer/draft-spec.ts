import { isJsonObject, type JsonSchema } from '../graph/json.js';
import { freeName } from '../graph/names.js';
import { singleLine } from '../graph/printable-text.js';
import { type Edge, ENOUGH } from './evidence.js';
import { type Parameter, parametersOf } from './fields.js';
import type { Choice } from './hints.js';
import type { Inference } from './infer.js';
import { ancestorsOf } from './order.js';
import type { ToolDescription } from './tool.js';
import { wordsOf } from './words.js';

/**
 * A draft of a spec file in YAML, with a workflow for each inferred process. What inference cannot know is marked with
 * `TODO`: names, conditions of alternatives, and what a step does if a value is missing.
 */
export function draftSpec(tools: readonly ToolDescription[], inference: Inference): string {
  const sure = inference.edges.filter(({ confidence }) => confidence >= ENOUGH);
  const processes = processesOf(inference.sequences);
  const ids = new Ids(tools.map(({ name }) => name));
  const lines = processes.flatMap((process) => workflowLines(process, tools, sure, inference.choices, ids));
  const head = [
    '# A draft, inferred from a list of tools. Read it before you use it.',
    'version: "0.1"',
    'domain: draft',
  ];
  if (lines.length === 0) return [...head, 'workflows: {} # no order was inferred', ''].join('\n');
  return [...head, 'workflows:', ...lines.map((line) => (line === '' ? '' : `  ${line}`)), ''].join('\n');
}

interface Process {
  /** The last tool of its first alternative. */
  readonly main: string;
  /** Its tools, in their order. */
  readonly members: readonly string[];
}

/** Sequences with a tool in common are alternatives of one process. */
function processesOf(sequences: readonly (readonly string[])[]): Process[] {
  const processes: { main: string; members: string[] }[] = [];
  for (const sequence of sequences) {
    const process = processes.find(({ members }) => sequence.some((tool) => members.includes(tool)));
    if (process === undefined) processes.push({ main: sequence.at(-1) ?? '', members: [...sequence] });
    else process.members.push(...sequence.filter((tool) => !process.members.includes(tool)));
  }
  return processes;
}

function workflowLines(
  { main, members }: Process,
  tools: readonly ToolDescription[],
  edges: readonly Edge[],
  choices: readonly Choice[],
  ids: Ids,
): string[] {
  const own = members.flatMap((name) => tools.find((tool) => tool.name === name) ?? []);
  const inside = edges.filter(({ from, to }) => members.includes(from) && members.includes(to));
  const inputs = new Map<string, JsonSchema>();
  const nodes = own.flatMap((tool) => [
    ...callLines(tool, inside, choices, inputs, ids),
    ...choices
      .filter(({ after }) => after === tool.name)
      .flatMap((choice) => branchLines(choice, members, ids)),
  ]);
  return [
    `${ids.of(main)}: # TODO: a name`,
    '  description: "TODO"',
    ...(inputs.size === 0 ? [] : ['  params:']),
    ...[...inputs].map(([name, schema]) => `    ${name}: { type: ${typeName(schema)}, required: true }`),
    '  graph:',
    ...nodes.map((line) => `    ${line}`),
  ];
}

function callLines(
  tool: ToolDescription,
  edges: readonly Edge[],
  choices: readonly Choice[],
  inputs: Map<string, JsonSchema>,
  ids: Ids,
): string[] {
  const into = edges.filter(({ to }) => to === tool.name);
  const after = into.filter(
    ({ from, to }) => !choices.some((choice) => choice.after === from && choice.oneOf.includes(to)),
  );
  const direct = after.filter(
    ({ from }) => !after.some((other) => other.from !== from && ancestorsOf([other.from], edges).has(from)),
  );
  const isSelected = after.length < into.length;
  const parameters = parametersOf(tool).filter(({ isRequired, path, name }) => isRequired && path === name);
  const args = parameters.map((parameter) => {
    const value = referenceFor(parameter, into, ids);
    const input = ids.input(parameter.name);
    if (value === undefined) inputs.set(input, schemaOf(tool, parameter));
    return `    ${quotedKey(parameter.name)}: ${value ?? `$${input}`}`;
  });
  return [
    `${ids.of(tool.name)}:${evidenceNote(into)}`,
    `  call: ${quoted(tool.name)}`,
    ...(isSelected || direct.length === 0
      ? []
      : [`  depends_on: [${direct.map(({ from }) => ids.of(from)).join(', ')}]`]),
    ...(args.length === 0 ? [] : ['  args:', ...args]),
  ];
}

function branchLines({ after, oneOf }: Choice, members: readonly string[], ids: Ids): string[] {
  const targets = oneOf.filter((tool) => members.includes(tool));
  const last = targets.at(-1);
  if (targets.length < 2 || last === undefined) return [];
  return [
    `${ids.branch(after)}:`,
    '  type: branch',
    `  depends_on: [${ids.of(after)}]`,
    '  on:',
    ...targets
      .slice(0, -1)
      .flatMap((tool) => ['    - when: "false" # TODO: the condition', `      goto: ${ids.of(tool)}`]),
    `    - default: { goto: ${ids.of(last)} }`,
  ];
}

/** What a reference may name behind a step. Other names are left to the reader of the draft. */
const KEYS = /^(?:[A-Za-z_]\w*|\d+)(?:\.(?:[A-Za-z_]\w*|\d+))*$/;

/** The reference to the value of an earlier step: its first item where it is one of a list. */
function referenceFor(parameter: Parameter, into: readonly Edge[], ids: Ids): string | undefined {
  for (const { from, evidence } of into) {
    const link = evidence.find(
      (each) => each.link?.parameter === parameter.path && each.confidence >= ENOUGH,
    )?.link;
    const path = link?.output.replaceAll('[]', '.0').replace(/^\./, '');
    if (path !== undefined && KEYS.test(path)) return `$${ids.of(from)}.${path}`;
  }
  return undefined;
}

function evidenceNote(into: readonly Edge[]): string {
  if (into.length === 0) return '';
  const least = Math.min(...into.map(({ confidence }) => confidence));
  return ` # after ${into.map(({ from }) => singleLine(from)).join(', ')} (${least})`;
}

function schemaOf({ inputSchema }: ToolDescription, { name }: Parameter): JsonSchema {
  const { properties } = inputSchema;
  const schema = isJsonObject(properties) ? properties[name] : undefined;
  return isJsonObject(schema) ? schema : {};
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'number',
  boolean: 'bool',
  array: 'list',
  object: 'dict',
};

function typeName({ type }: JsonSchema): string {
  return (typeof type === 'string' ? TYPES[type] : undefined) ?? 'any';
}

/** Names that references and policies give another meaning. */
const RESERVED = 'params steps item index error run env user secrets continue abort rollback_all'.split(' ');

/** Words that YAML reads as something else than a text, in any case. */
const WORDS: ReadonlySet<string> = new Set(['null', 'true', 'false']);

/** The ids of a draft: one for each tool, which is the name of its step, and names of inputs that are no ids. */
class Ids {
  readonly #usedIds = new Set(RESERVED);
  readonly #tools: ReadonlyMap<string, string>;
  readonly #branches: ReadonlyMap<string, string>;

  constructor(tools: readonly string[]) {
    this.#tools = new Map(tools.map((name) => [name, this.#free(idOf(name))]));
    this.#branches = new Map([...this.#tools].map(([name, id]) => [name, this.#free(`after_${id}`)]));
  }

  of(tool: string): string {
    return this.#tools.get(tool) ?? idOf(tool);
  }

  /** The id of the branch after a tool. */
  branch(tool: string): string {
    return this.#branches.get(tool) ?? `after_${this.of(tool)}`;
  }

  /** The input for a parameter: those of one name share it. */
  input(parameter: string): string {
    let name = /^[A-Za-z_]\w*$/.test(parameter) ? parameter : idOf(parameter);
    while (this.#usedIds.has(name) || WORDS.has(name.toLowerCase())) name = `${name}_value`;
    return name;
  }

  #free(id: string): string {
    const free = freeName(id, (each) => this.#usedIds.has(each) || WORDS.has(each), '_');
    this.#usedIds.add(free);
    return free;
  }
}

function quotedKey(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && !WORDS.has(name.toLowerCase()) ? name : quoted(name);
}

/** A name as an id of a node: letters, digits and `_`. */
function idOf(name: string): string {
  const id = wordsOf(name)
    .join('_')
    .replace(/[^a-z0-9_]/g, '');
  return /^[a-z_]/.test(id) ? id : `step_${id}`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
