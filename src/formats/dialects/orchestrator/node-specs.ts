import { didYouMean, nearestName } from '../../../graph/names.js';
import {
  describeLocated,
  entryOf,
  type Located,
  type LocatedMap,
  type LocatedText,
} from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import { expectMap, Fields, textsOf } from '../fields.js';
import { checkName } from './names.js';

export interface NodeSpec {
  /** Its id in the graph. */
  readonly id: string;
  /** Where it is named; the start of its object for a node without a name. */
  readonly at: LocatedText;
  readonly kind: SpecKind;
  readonly fields: Fields;
  readonly scope: ScopeSpec;
  /** Where it is in its scope. */
  readonly index: number;
  readonly output?: LocatedText;
  /** The names in its `depends_on`. */
  readonly dependsOn: readonly LocatedText[];
  /** The bodies of a parallel node, or the one of a loop. */
  readonly bodies: readonly ScopeSpec[];
}

/** A list of nodes: the graph, a branch of a parallel node, or the body of a loop. */
export interface ScopeSpec {
  readonly nodes: NodeSpec[];
  /** By id; the first of duplicates. */
  readonly byId: Map<string, NodeSpec>;
  readonly container?: NodeSpec;
  /** The branch that it is. */
  readonly arm?: string;
  /** Whether each node waits for the one before it. */
  readonly isSequence: boolean;
}

/** How a node is named: by its key in an object, or by its `id` in a list or a loop. */
type Naming = 'key' | 'id';

/** Ids that are keywords where nodes are named. */
const KEYWORDS: readonly string[] = ['continue', 'abort'];

/** Reads the nodes of a graph with those in them. Faulty nodes are reported, and left out. */
export class NodeReader {
  readonly #reports: Reports;
  /** All nodes in the order of writing, a container before its content. */
  readonly nodes: NodeSpec[] = [];

  constructor(reports: Reports) {
    this.#reports = reports;
  }

  graph(map: LocatedMap): ScopeSpec {
    const scope: ScopeSpec = { nodes: [], byId: new Map(), isSequence: false };
    for (const { key, value } of map.entries) {
      if (!this.#checkId(key)) continue;
      this.#node(key.value, key, value, scope, 'key');
    }
    return scope;
  }

  #checkId(id: LocatedText): boolean {
    if (!checkName(this.#reports, id, 'a node')) return false;
    if (!KEYWORDS.includes(id.value)) return true;
    const rule = `another one: \`${id.value}\` is a value of \`on_partial_failure\``;
    this.#reports.report('SW5010', id, { kind: 'a node', name: id.value, rule });
    return false;
  }

  #node(id: string, at: LocatedText, value: Located, scope: ScopeSpec, naming: Naming): void {
    const map = expectMap(this.#reports, value, `node \`${id}\``);
    if (map === undefined) return;
    const keys = map.entries.map(({ key }) => key.value);
    const type = map.entries.find(({ key }) => key.value === 'type')?.value;
    if (type !== undefined && type.kind !== 'text') {
      const actual = describeLocated(type);
      this.#reports.report('SW5006', type, {
        what: `\`type\` of node \`${id}\``,
        expected: 'text',
        actual: actual,
      });
      return;
    }
    const kind = kindOfNode(this.#reports, { id, at, keys }, type);
    if (kind === undefined) return;
    if (id === 'rollback_all' && kind !== 'compensate') {
      const rule = 'another one: `rollback_all` may only be a node of `type: compensate`';
      this.#reports.report('SW5010', at, { kind: 'a node', name: id, rule });
      return;
    }
    if (naming === 'key') this.#refuseId(map, 'node', id);
    this.#add(id, at, kind, map, scope);
  }

  #refuseId(map: LocatedMap, what: 'node' | 'branch', name: string): void {
    const id = entryOf(map, 'id')?.key;
    const instead = `remove it: the ${what} is already named \`${name}\``;
    if (id !== undefined)
      this.#reports.report('SW5018', id, { key: 'id', kind: `${what} \`${name}\``, instead });
  }

  #add(id: string, at: LocatedText, kind: SpecKind, map: LocatedMap, scope: ScopeSpec): void {
    const misplaced = misplacedKeys(kind);
    const keys = keysOf(kind).filter((key) => !misplaced.has(key) || entryOf(map, key) !== undefined);
    const fields = new Fields(this.#reports, map, `node \`${id}\``, keys);
    for (const { key } of map.entries) {
      const instead = misplaced.get(key.value);
      if (instead !== undefined)
        this.#reports.report('SW5018', key, { key: key.value, kind: `a node of type \`${kind}\``, instead });
    }
    const output = misplaced.has('output') ? undefined : fields.text('output');
    const named = output !== undefined && checkName(this.#reports, output, 'a result') ? { output } : {};
    const bodies: ScopeSpec[] = [];
    const index = scope.nodes.length;
    const dependsOn = this.#dependsOn(fields, kind);
    const spec: NodeSpec = { id, at, kind, fields, scope, index, ...named, dependsOn, bodies };
    scope.nodes.push(spec);
    if (!scope.byId.has(id)) scope.byId.set(id, spec);
    this.nodes.push(spec);
    if (kind === 'parallel') bodies.push(...this.#branches(spec));
    if (kind === 'foreach') bodies.push(...this.#loopBody(spec));
    if (kind === 'repeat') bodies.push(this.#repeatedBody(spec));
  }

  #dependsOn(fields: Fields, kind: SpecKind): readonly LocatedText[] {
    const value = HANDLERS.has(kind) ? undefined : fields.value('depends_on');
    return value === undefined ? [] : textsOf(this.#reports, value, `\`depends_on\` of ${fields.where}`);
  }

  #branches(container: NodeSpec): ScopeSpec[] {
    const { fields } = container;
    const branches = fields.value('branches');
    if (branches === undefined) {
      fields.require('branches');
      return [];
    }
    if (branches.kind === 'map')
      return branches.entries.flatMap(({ key, value }) => this.#branch(key, value, container, 'key') ?? []);
    if (branches.kind !== 'list') {
      fields.mismatch('branches', branches, 'an object of branches, or a list of them with ids');
      return [];
    }
    return branches.items.flatMap((item) => {
      const map = expectMap(this.#reports, item, `a branch of node \`${container.id}\``);
      const id = map === undefined ? undefined : this.#idIn(map, `a branch of node \`${container.id}\``);
      return (map && id && this.#branch(id, map, container, 'id')) ?? [];
    });
  }

  #idIn(map: LocatedMap, what: string): LocatedText | undefined {
    const id = map.entries.find(({ key }) => key.value === 'id')?.value;
    if (id?.kind === 'text') return id;
    if (id === undefined) this.#reports.report('SW5007', map, { what, key: 'id' });
    else
      this.#reports.report('SW5006', id, {
        what: `\`id\` of ${what}`,
        expected: 'text',
        actual: describeLocated(id),
      });
    return undefined;
  }

  #branch(name: LocatedText, value: Located, container: NodeSpec, naming: Naming): ScopeSpec | undefined {
    if (!this.#checkId(name)) return undefined;
    const map = expectMap(this.#reports, value, `branch \`${name.value}\``);
    if (map === undefined) return undefined;
    const steps = map.entries.find(({ key }) => key.value === 'steps');
    const isSequence = steps !== undefined && !map.entries.some(({ key }) => key.value === 'type');
    const scope: ScopeSpec = { nodes: [], byId: new Map(), container, arm: name.value, isSequence };
    if (!isSequence) {
      this.#node(name.value, name, map, scope, naming);
      return scope;
    }
    if (naming === 'key') this.#refuseId(map, 'branch', name.value);
    const fields = new Fields(this.#reports, map, `branch \`${name.value}\``, ['id', 'steps']);
    this.#sequence(fields, 'steps', name.value, name.value, scope);
    return scope;
  }

  #loopBody(container: NodeSpec): ScopeSpec[] {
    const { fields, id } = container;
    const step = fields.value('step');
    const scope: ScopeSpec = { nodes: [], byId: new Map(), container, isSequence: true };
    if (step !== undefined && fields.has('steps')) {
      const problem = 'has `step` and `steps`: write the nodes of an item in one of them';
      this.#reports.report('SW5011', container.at, { node: id, problem });
    } else if (step?.kind === 'map') this.#step(step, `\`step\` of ${fields.where}`, `${id}.item`, scope);
    else if (step !== undefined) fields.mismatch('step', step, 'a node, such as `{ call: …, args: … }`');
    else if (fields.has('steps')) this.#sequence(fields, 'steps', id, `${id}.item`, scope);
    else fields.require('step');
    return [scope];
  }

  #repeatedBody(container: NodeSpec): ScopeSpec {
    const { fields, id } = container;
    const scope: ScopeSpec = { nodes: [], byId: new Map(), container, isSequence: true };
    const nodes = fields.value('repeat');
    if (nodes === undefined) fields.require('repeat');
    else if (nodes.kind === 'map') this.#step(nodes, `\`repeat\` of ${fields.where}`, `${id}.item`, scope);
    else this.#sequence(fields, 'repeat', id, `${id}.item`, scope);
    return scope;
  }

  /** A list of nodes, one after the other; those without an `id` are numbered, and the last one is the `result`. */
  #sequence(fields: Fields, key: string, prefix: string, result: string, scope: ScopeSpec): void {
    const steps = fields.list(key);
    if (steps === undefined) return;
    if (steps.items.length === 0) fields.mismatch(key, steps, 'a list of one or more nodes');
    for (const [index, item] of steps.items.entries()) {
      const map = expectMap(this.#reports, item, `step ${index + 1} of ${fields.where}`);
      if (map === undefined) continue;
      const isLast = index === steps.items.length - 1;
      const id = isLast ? result : `${prefix}.${index + 1}`;
      this.#step(map, `step ${index + 1} of ${fields.where}`, id, scope);
    }
  }

  /** A node that may name itself. */
  #step(map: LocatedMap, what: string, defaultId: string, scope: ScopeSpec): void {
    if (entryOf(map, 'id') === undefined) {
      this.#node(defaultId, startOf(map), map, scope, 'id');
      return;
    }
    const id = this.#idIn(map, what);
    if (id !== undefined && this.#checkId(id)) this.#node(id.value, id, map, scope, 'id');
  }
}

/** The start of a node without a name. */
function startOf(map: LocatedMap): LocatedText {
  const { start, end, pointer } = map.entries[0]?.key ?? map;
  return { kind: 'text', value: '', start, end, pointer, offsetAt: () => start };
}

/** The kinds of nodes of a spec file. `yield` asks a person. */
export type SpecKind =
  | 'call'
  | 'workflow'
  | 'branch'
  | 'parallel'
  | 'foreach'
  | 'repeat'
  | 'yield'
  | 'wait'
  | 'compensate'
  | 'error';

/** The keys of nodes by kind. `marks` decide the kind of a node without `type`. */
const KEYS: Readonly<
  Record<SpecKind, { readonly marks: readonly string[]; readonly others: readonly string[] }>
> = {
  call: { marks: ['call'], others: ['args', 'on_error', 'error_as_data', 'compensate'] },
  workflow: { marks: ['workflow'], others: ['args', 'on_error'] },
  branch: { marks: ['on'], others: ['default'] },
  parallel: { marks: ['branches'], others: ['on_partial_failure', 'concurrency'] },
  foreach: {
    marks: ['items'],
    others: ['as', 'step', 'steps', 'max_iterations', 'concurrency', 'on_item_error', 'on_error'],
  },
  repeat: { marks: ['repeat'], others: ['until', 'max_iterations', 'delay', 'on_limit', 'on_error'] },
  yield: {
    marks: ['expects', 'yield', 'approves'],
    others: ['message', 'answer_by', 'except', 'remind_after', 'escalate_to'],
  },
  wait: { marks: ['wait', 'wait_until'], others: [] },
  compensate: { marks: [], others: ['steps'] },
  error: { marks: [], others: ['message', 'code'] },
};

export const SPEC_KINDS = Object.keys(KEYS) as readonly SpecKind[];

/** The keys of nodes of all kinds. */
export const COMMON_KEYS = ['type', 'title', 'depends_on', 'join', 'when', 'condition', 'output', 'timeout'];

/** Nodes that run only when they are selected. */
export const HANDLERS: ReadonlySet<SpecKind> = new Set(['compensate', 'error']);

/** Nodes with a result that others may refer to. */
export function hasResult(kind: SpecKind): boolean {
  return kind !== 'branch' && kind !== 'wait' && !HANDLERS.has(kind);
}

/** Keys of other nodes, with what to write instead. */
const MISPLACED: readonly {
  readonly key: string;
  readonly kinds: readonly SpecKind[];
  readonly instead: string;
}[] = [
  {
    key: 'on_error',
    kinds: ['branch', 'parallel', 'yield', 'wait', 'compensate', 'error'],
    instead: 'write it at the calls, workflows and loops that may fail',
  },
  {
    key: 'depends_on',
    kinds: ['compensate', 'error'],
    instead: 'remove it: such a node runs when a `fallback`, a `goto` or `on_partial_failure` names it',
  },
  {
    key: 'output',
    kinds: ['branch', 'wait', 'compensate', 'error'],
    instead: 'remove it: the node has no result',
  },
  { key: 'timeout', kinds: ['branch', 'wait', 'error', 'compensate'], instead: 'remove it' },
  ...['retry', 'retries', 'fallback'].map((key) => ({
    key,
    kinds: ['call', 'workflow', 'foreach', 'repeat'] as const,
    instead: `write \`on_error: { ${key === 'fallback' ? 'fallback: …' : 'retry: 2'} }\``,
  })),
];

const misplacedByKind = new Map(
  SPEC_KINDS.map((kind) => {
    const rows = MISPLACED.filter(({ kinds }) => kinds.includes(kind));
    return [kind, new Map(rows.map(({ key, instead }) => [key, instead]))];
  }),
);

const keysByKind = new Map(
  SPEC_KINDS.map((kind) => {
    const { marks, others } = KEYS[kind];
    return [kind, [...new Set([...marks, ...others, ...COMMON_KEYS, 'id', ...misplacedKeys(kind).keys()])]];
  }),
);

/** The keys that say what a node without `type` is. */
export function marksOf(kind: SpecKind): readonly string[] {
  return KEYS[kind].marks;
}

/** The keys that a node of a kind may have, and those that are reported in another way than unknown ones. */
export function keysOf(kind: SpecKind): readonly string[] {
  return keysByKind.get(kind) ?? [];
}

export function misplacedKeys(kind: SpecKind): ReadonlyMap<string, string> {
  return misplacedByKind.get(kind) ?? new Map();
}

/**
 * Finds what a node is: by its `type`, or by the one key that only nodes of a kind have. Reports a contradiction.
 */
function kindOfNode(
  reports: Reports,
  { id, at, keys }: { readonly id: string; readonly at: LocatedText; readonly keys: readonly string[] },
  type: LocatedText | undefined,
): SpecKind | undefined {
  const marked = SPEC_KINDS.filter((kind) => KEYS[kind].marks.some((mark) => keys.includes(mark)));
  const typed = SPEC_KINDS.find((kind) => kind === type?.value);
  if (type !== undefined && typed === undefined) {
    const suggestion = nearestName(type.value, SPEC_KINDS);
    const what = `\`type\` of node \`${id}\``;
    reports.report('SW5021', type, { what, value: type.value, candidates: SPEC_KINDS, suggestion });
    return undefined;
  }
  const others = marked.filter((kind) => kind !== typed);
  if (typed !== undefined && others.length === 0) return typed;
  const [one, ...more] = marked;
  if (typed === undefined && one !== undefined && more.length === 0) return one;
  const described = (kinds: readonly SpecKind[]): string =>
    kinds.map((kind) => KEYS[kind].marks.map((mark) => `\`${mark}\``).join(' or ')).join(' and ');
  const marks = SPEC_KINDS.flatMap((kind) => KEYS[kind].marks);
  const problem =
    typed !== undefined
      ? `is a ${typed}, and has ${described(others)}`
      : one === undefined
        ? `does nothing: it has none of ${marks.map((mark) => `\`${mark}\``).join(', ')}, and no \`type\``
        : `does several things: it has ${described(marked)}`;
  const own = keys.filter((key) => one === undefined && !COMMON_KEYS.includes(key));
  const hint = didYouMean(own.flatMap((key) => nearestName(key, [...marks, 'type']) ?? [])[0]);
  reports.report('SW5011', at, { node: id, problem }, { hint });
  return undefined;
}
