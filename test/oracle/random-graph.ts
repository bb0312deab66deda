import type { Expr } from '../../src/graph/expression/tree.js';
import type { Json, JsonObject } from '../../src/graph/json.js';
import type { Graph, JoinRule, Node, Retry, Scope } from '../../src/graph/model.js';
import { again, coalesce, dict, lit, ref, step } from './build.js';
import { addRoutes } from './random-routes.js';
import { anyCondition, anyItems, anyValue, type Names } from './random-values.js';
import { Tape } from './tape.js';
import { undoneBy, withInner } from './walk.js';
import type { Safety, World } from './world.js';

/** The inputs every run begins with. */
export const INPUT: JsonObject = { x: { ok: true, n: 2 }, list: ['p', 'q', 'r'] };

const MOST_NODES = 12;
const DEEPEST = 3;

export interface Case {
  readonly graph: Graph;
  readonly world: World;
}

/** The graph and the world that these numbers make. */
export function caseOf(numbersOfGraph: readonly number[], luck: readonly number[]): Case {
  const tape = new Tape(numbersOfGraph);
  const graph = anyGraph(tape);
  const world = { luck, tools: anySafety(tape, graph) };
  const cancel = tape.chance(12) ? { cancel: { at: tape.below(120), compensate: tape.chance(60) } } : {};
  const task = tape.chance(35) ? { task: true as const } : {};
  return { graph: { ...graph, ...task }, world: { ...world, ...cancel } };
}

/** What is known of the tools of the steps. Nothing is known of most of those that undo. */
function anySafety(tape: Tape, graph: Graph): Record<string, Safety> {
  const nodes = [graph, ...(graph.tasks ?? [])].flatMap((each) => each.nodes.flatMap(withInner));
  const known: Record<string, Safety> = {};
  for (const node of nodes) {
    if (node.kind === 'call') known[node.tool] = tape.of(SAFETIES);
    for (const { tool } of undoneBy(node)) if (tape.chance(20)) known[tool] = tape.of(SAFETIES);
  }
  return known;
}

const SAFETIES = ['none', 'none', 'none', 'key', 'key', 'idempotent', 'readOnly'] as const;

/** Where nodes are made. */
export interface Maker {
  readonly tape: Tape;
  /** Unique in the graph. */
  readonly name: (prefix: string) => string;
  /** How many nodes may still be made. */
  left: number;
  readonly tasks: readonly Graph[];
}

function anyGraph(tape: Tape): Graph {
  const tasks = tape.chance(35) ? [workflow(tape, 'inner', [])] : [];
  if (tasks.length > 0 && tape.chance(25)) tasks.push(workflow(tape, 'outer', tasks));
  const graph = workflow(tape, 'sample', tasks);
  return { ...graph, ...(tasks.length > 0 ? { tasks } : {}) };
}

function workflow(tape: Tape, name: string, tasks: readonly Graph[]): Graph {
  const isRoot = name === 'sample';
  let count = 0;
  const maker: Maker = {
    ...{ tape, tasks, left: isRoot ? MOST_NODES : 4 },
    name: (prefix) => {
      count += 1;
      return `${prefix}${count}`;
    },
  };
  const names: Names = { steps: [], items: [], indices: [], inputs: isRoot ? ['x', 'list'] : ['x', 'y'] };
  const { nodes, steps } = scopeOf(maker, names, isRoot ? 0 : DEEPEST - 1, 6);
  const returns = tape.chance(60) ? { returns: resultOf(tape, steps) } : {};
  const strategy = tape.weighted({ none: 8, off: 2, collect: 1, retry: 1 });
  return {
    ...{ graphVersion: 1, name, description: 'anything', instructions: [], nodes, ...returns },
    inputs: isRoot ? ROOT_INPUTS : TASK_INPUTS,
    state: FIELD_LIST,
    ...(strategy === 'off' ? { failFast: false } : {}),
    ...(strategy === 'collect' ? { errorStrategy: { kind: 'collect' } } : {}),
    ...(strategy === 'retry' ? { errorStrategy: { kind: 'retry', retry: anyRetry(tape) } } : {}),
    ...(tape.chance(25) ? { onFailure: 'undo' } : {}),
    ...(isRoot && tape.chance(40) ? { maxConcurrency: 1 + tape.below(3) } : {}),
  };
}

const anything = {};
const ROOT_INPUTS = [
  { name: 'x', description: 'x', schema: anything, required: true },
  { name: 'list', description: 'list', schema: anything, required: true },
];
const TASK_INPUTS = [
  { name: 'x', description: 'x', schema: anything, required: true },
  { name: 'y', description: 'y', schema: anything, required: false, default: 'usual' },
];
const FIELD_LIST = [
  { name: 'count', scope: 'run', schema: anything, initial: 0 },
  { name: 'note', scope: 'run', schema: anything },
  { name: 'own', scope: 'workflow', schema: anything, initial: 0 },
] as const;
const FIELD_NAMES = FIELD_LIST.map(({ name }) => name);

/** All of the last steps, none of which may be there. */
function resultOf(tape: Tape, steps: readonly string[]): Expr {
  const shown = tape.some(steps, 60).map((id): [string, Expr] => [id, coalesce(step(id), lit('none'))]);
  return dict(Object.fromEntries(shown));
}

/** What was made, and which of it may be read from outside. */
interface Made {
  readonly nodes: Node[];
  readonly steps: string[];
}

export function scopeOf(maker: Maker, names: Names, depth: number, most: number): Made {
  const { tape } = maker;
  const nodes: Node[] = [];
  const steps: string[] = [];
  const count = 1 + tape.below(most);
  while (nodes.length < count && maker.left > 0) {
    maker.left -= 1;
    const known = { ...names, steps: [...names.steps, ...steps] };
    const { node, inner } = anyNode(maker, known, depth, nodes);
    nodes.push(node);
    if (!['goto', 'wait', 'compensate', 'error', 'return'].includes(node.kind)) steps.push(node.id);
    steps.push(...inner);
  }
  addRoutes(maker, nodes);
  return { nodes, steps };
}

const SIMPLE = {
  call: 24,
  compute: 5,
  evaluate: 2,
  resource: 3,
  ask: 4,
  shell: 2,
  delegate: 2,
  client: 2,
  wait: 2,
  set: 4,
  return: 1,
  error: 1,
  goto: 4,
};
const CONTAINERS = { branch: 7, choice: 4, parallel: 8, foreach: 6 };
const NO_CONTAINERS = { branch: 0, choice: 0, parallel: 0, foreach: 0 };

function anyNode(
  maker: Maker,
  names: Names,
  depth: number,
  before: readonly Node[],
): { readonly node: Node; readonly inner: readonly string[] } {
  const { tape } = maker;
  const room = depth + 1 < DEEPEST && maker.left > 0;
  const containers = room ? CONTAINERS : { ...NO_CONTAINERS, choice: 4 };
  const kind = tape.weighted({ ...SIMPLE, ...containers, workflow: maker.tasks.length * 5 });
  const inner: string[] = [];
  const body = (more: Partial<Names> = {}, readable = true): Scope => {
    const made = scopeOf(maker, { ...names, ...more }, depth + 1, 3);
    if (readable) inner.push(...made.steps);
    const known = { ...names, ...more, steps: [...names.steps, ...made.steps] };
    return { nodes: made.nodes, ...(tape.chance(60) ? { value: anyValue(tape, known) } : {}) };
  };
  const base = { ...commonOf(maker, names, before) };
  const make = (
    own: object,
    id = maker.name(kind.slice(0, 1)),
  ): { node: Node; inner: readonly string[] } => ({
    node: { ...base, ...written(tape, kind), executor: 'server', id, ...own } as Node,
    inner,
  });
  switch (kind) {
    case 'call': {
      const id = maker.name('c');
      const input = dict(
        Object.fromEntries(['a', 'b'].slice(0, tape.below(3)).map((key) => [key, anyValue(tape, names)])),
      );
      const compensate = tape.chance(45) ? { compensate: anyUndo(tape, id, names) } : {};
      return make({ kind: 'call', tool: `t_${id}`, input, ...effort(tape), ...compensate }, id);
    }
    case 'resource':
      return make({
        kind: 'resource',
        resource: 'r',
        uri: lit(tape.of<Json>(['res://a', 'res://b', 3])),
        ...effort(tape),
      });
    case 'compute':
      return make({ kind: 'compute', value: anyValue(tape, names), ...rescue(tape) });
    case 'evaluate': {
      const value: Expr = { kind: 'list', items: [{ value: anyValue(tape, names) }] };
      return make({ kind: 'compute', value, function: { name: 'f', hash: '0'.repeat(64) }, ...effort(tape) });
    }
    case 'ask':
      return make({ kind: 'ask', ...anyQuestion(tape, names), ...effort(tape, 35) });
    case 'shell': {
      const failOnError = tape.chance(40) ? { failOnError: true } : {};
      const command: Expr = { kind: 'text', style: 'display', parts: ['do ', anyValue(tape, names)] };
      return make({ kind: 'shell', executor: 'client', command, ...failOnError, ...effort(tape, 35) });
    }
    case 'delegate': {
      const agent = tape.of([null, '@helper']);
      return make({
        kind: 'delegate',
        executor: 'client',
        agent,
        prompt: anyValue(tape, names),
        ...effort(tape),
      });
    }
    case 'client': {
      const input = dict({ a: anyValue(tape, names) });
      return make({ kind: 'call', executor: 'client', tool: 'own', input, ...effort(tape, 35) });
    }
    case 'wait': {
      const time = anyTime(tape);
      // A limit could end at the very moment that is waited for.
      return make({ kind: 'wait', ...time, ...('until' in time ? rescue(tape) : effort(tape, 35)) });
    }
    case 'set': {
      const updates = tape.chance(30) ? FIELD_NAMES : [tape.of(FIELD_NAMES)];
      return make({
        kind: 'set',
        updates: updates.map((field) => ({ field, value: anyValue(tape, names) })),
      });
    }
    case 'return':
      return make({ kind: 'return', value: anyValue(tape, names) });
    case 'error':
      return make({ kind: 'error', message: lit('no') });
    case 'goto': {
      const targets = before.filter((each) => each.kind !== 'compensate' && each.kind !== 'error');
      if (targets.length === 0) return make({ kind: 'compute', value: lit(1) });
      const onLimit = tape.of(['continue', 'fail'] as const);
      return make({ kind: 'goto', target: tape.of(targets).id, max: 1 + tape.below(2), onLimit });
    }
    case 'branch': {
      const arms = ['a', 'b'].slice(0, 1 + tape.below(2));
      const cases = arms.map((id) => ({ id, when: anyCondition(tape, names), body: body() }));
      const otherwise = tape.chance(70) ? { else: { id: 'else', body: body() } } : {};
      return make({ kind: 'branch', cases, ...otherwise, ...effort(tape, 15) });
    }
    case 'choice': {
      const otherwise = tape.chance(85) ? { else: { id: 'else', goto: '' } } : {};
      return make({
        kind: 'branch',
        cases: [{ id: 'a', when: anyCondition(tape, names), goto: '' }],
        ...otherwise,
      });
    }
    case 'parallel': {
      const branches = ['left', 'right', 'third']
        .slice(0, 2 + tape.below(2))
        .map((id) => ({ id, body: body() }));
      const onPartialFailure = tape.of(['abort', 'continue', 'rollback', 'rollback'] as const);
      const concurrency = tape.chance(30) ? { concurrency: 1 + tape.below(2) } : {};
      return make({ kind: 'parallel', branches, onPartialFailure, ...concurrency, ...effort(tape, 30) });
    }
    case 'foreach': {
      const as = maker.name('i');
      const indexAs = tape.chance(40) ? maker.name('n') : undefined;
      const resultsAs = tape.chance(15) ? maker.name('r') : undefined;
      const indices = indexAs === undefined ? names.indices : [...names.indices, indexAs];
      return make({
        ...{ kind: 'foreach', items: anyItems(tape, names), as },
        ...(indexAs === undefined ? {} : { indexAs }),
        ...(resultsAs === undefined ? {} : { resultsAs }),
        ...(tape.chance(20) ? { agent: '@helper' } : {}),
        body: body(
          { items: [...names.items, as, ...(resultsAs === undefined ? [] : [resultsAs])], indices },
          false,
        ),
        ...{
          concurrency: resultsAs === undefined ? 1 + tape.below(3) : 1,
          max: tape.of([1000, 2]),
          onItemError: tape.of(['fail', 'continue', 'settle', 'report']),
        },
        ...effort(tape, 15),
      });
    }
    case 'workflow': {
      const x = tape.chance(92) ? { x: anyValue(tape, names) } : {};
      const more = tape.chance(20) ? { [tape.of(['y', 'z'])]: anyValue(tape, names) } : {};
      const input = dict({ ...x, ...more });
      return make({ kind: 'workflow', workflow: tape.of(maker.tasks).name, input, ...effort(tape, 15) });
    }
  }
}

/** Kinds with a value that may be written to a field. */
const WITH_VALUE: readonly string[] = [
  ...['call', 'compute', 'evaluate', 'resource', 'ask', 'shell', 'delegate', 'client', 'set'],
  ...['branch', 'parallel', 'foreach', 'workflow'],
];

function written(tape: Tape, kind: string): object {
  return WITH_VALUE.includes(kind) && tape.chance(10) ? { writes: tape.of(FIELD_NAMES) } : {};
}

const JOINS: readonly JoinRule[] = [
  ...(['none_failed', 'none_failed', 'none_failed', 'none_failed_min_one_success'] as const),
  ...(['all_success', 'one_success', 'all_done'] as const),
];

function commonOf({ tape }: Maker, names: Names, before: readonly Node[]): object {
  const open = before
    .filter((each) => each.kind !== 'compensate' && each.kind !== 'error')
    .map(({ id }) => id);
  const last = open.at(-1);
  const after = last === undefined || tape.chance(35) ? [] : tape.chance(60) ? [last] : tape.some(open, 40);
  return {
    ...{ after, join: tape.of(JOINS) },
    ...(tape.chance(15) ? { when: anyCondition(tape, names) } : {}),
    ...(tape.chance(6) ? { guidance: anyValue(tape, names) } : {}),
  };
}

/** Retries, limits and fallback values. */
function effort(tape: Tape, percent = 25): object {
  return {
    ...(tape.chance(percent) ? { retry: anyRetry(tape) } : {}),
    ...(tape.chance(percent) ? { timeoutMs: 5 + 2 * tape.below(25) } : {}),
    ...rescue(tape),
  };
}

/** The place of a fallback node is filled in later. */
function rescue(tape: Tape): object {
  if (tape.chance(12))
    return {
      onError: { value: tape.chance(70) ? ref('error', tape.of(['code', 'attempts', 'node'])) : lit() },
    };
  return tape.chance(10) ? { onError: { fallbackNode: '' } } : {};
}

function anyRetry(tape: Tape): Retry {
  return again(1 + tape.below(2), {
    delayMs: tape.of([0, 4, 10]),
    backoff: tape.of(['constant', 'linear', 'exponential'] as const),
    capMs: tape.of([60_000, 12]),
  });
}

function anyUndo(tape: Tape, id: string, names: Names): object {
  const other = names.steps.length > 0 && tape.chance(20) ? { other: step(tape.of(names.steps)) } : {};
  const state = tape.chance(8) ? { state: ref('state', 'count') } : {};
  const isShared = tape.chance(15);
  return {
    ...{ tool: isShared ? 'undo' : `undo_${id}`, input: dict({ of: step(id), ...other, ...state }) },
    ...(tape.chance(30) ? { ignoreError: true } : {}),
  };
}

function anyQuestion(tape: Tape, names: Names): object {
  const mode = tape.of(['confirm', 'text', 'choice', 'info', 'yield'] as const);
  const well: Expr = { kind: 'text', style: 'display', parts: ['well? ', anyValue(tape, names)] };
  const asked = { mode, message: well, ...(mode === 'text' ? { remindAfterMs: 12 } : {}) };
  if (mode === 'choice')
    return { ...asked, options: lit(tape.of<Json>([['a', 'b'], ['a'], [], ['a', 'a'], 'a'])) };
  const expects = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
  return mode === 'yield' ? { ...asked, expects } : asked;
}

function anyTime(tape: Tape): object {
  const times: readonly object[] = [
    ...[10, 0, 24, 40, -2].map((ms) => ({ durationMs: lit(ms) })),
    ...[20, 0, '1970-01-01T00:00:00.030Z'].map((time) => ({ until: lit(time) })),
  ];
  return tape.of(times);
}
