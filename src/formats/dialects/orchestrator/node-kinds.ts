import { didYouMean, nearestName } from '../../../graph/names.js';
import type { LocatedText } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';

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
export function kindOfNode(
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
