import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { DEFAULT_LOOP_MAX, MAX_LOOP_CONCURRENCY, MAX_STARTED_NODES } from '../limits.js';
import { AGENT_NAME } from '../names.js';
import { atOnce, type KindDescriptor, outOfRange, usualKind, wholeNumber } from './descriptor.js';
import type { NodeBase, Scope } from './node.js';

declare module './node.js' {
  interface NodesByKind {
    readonly branch: BranchNode;
    readonly parallel: ParallelNode;
    readonly foreach: ForeachNode;
  }
}

/** What a branch does when it takes a case: it runs a body, or it selects a node of its own scope. */
export type Arm = { readonly id: string } & ({ readonly body: Scope } | { readonly goto: string });

export type BranchCase = Arm & { readonly when: Expr };

/**
 * The first case whose condition holds is taken, otherwise `else`; without one the node fails with E_NO_MATCH. Its
 * value is that of the body that ran, absent for an arm with `goto`. Ids of arms are unique in the node.
 */
export interface BranchNode extends NodeBase {
  readonly kind: 'branch';
  readonly cases: readonly BranchCase[];
  readonly else?: Arm;
}

export const branch: KindDescriptor<BranchNode, 'derived'> = {
  ...usualKind,
  schema: ({ z, fallible, expr, scope }): z.ZodType<BranchNode> => {
    const arm = { id: z.string(), body: scope.exactOptional(), goto: z.string().exactOptional() };
    const oneWay = { error: 'an arm has either a `body` or a `goto`' };
    const branchCase = z
      .strictObject({ ...arm, when: expr })
      .refine(leadsOneWay, oneWay) as unknown as z.ZodType<BranchCase>;
    const elseArm = z.strictObject(arm).refine(leadsOneWay, oneWay) as unknown as z.ZodType<Arm>;
    return z.strictObject({
      kind: z.literal('branch'),
      ...fallible,
      cases: z.array(branchCase).min(1),
      else: elseArm.exactOptional(),
    });
  },
  expressions: { cases: 'when' },
  bodies: { cases: 'arms', else: 'arm' },
  value: 'derived',
  isRetryable: true,
  describe: () => 'branch',
  shape: 'decision',
};

function leadsOneWay(arm: object): boolean {
  return 'body' in arm !== 'goto' in arm;
}

/** Runs its branches side by side. Its value is a dict of theirs; a branch that failed is `{ error: { code, message } }`. */
export interface ParallelNode extends NodeBase {
  readonly kind: 'parallel';
  readonly branches: readonly { readonly id: string; readonly body: Scope }[];
  /** How many branches run at once. Default: all. */
  readonly concurrency?: number;
  /**
   * `abort`: the first failure aborts the others. `continue`: the node succeeds if one branch does. `rollback`: all
   * settle; if one failed, what succeeded is undone and the node fails with E_PARTIAL_FAILURE.
   */
  readonly onPartialFailure: 'abort' | 'continue' | 'rollback';
  /** The `compensate` node of the same scope that undoes. Default: the `compensate` of every call inside, last one first. */
  readonly compensateNode?: string;
}

const POLICIES: { readonly [K in ParallelNode['onPartialFailure']]: readonly string[] } = {
  abort: [],
  continue: ['failures are handed out'],
  rollback: ['a failure undoes the others'],
};

export const parallel: KindDescriptor<ParallelNode, 'derived'> = {
  ...usualKind,
  schema: ({ z, fallible, scope }): z.ZodType<ParallelNode> =>
    z
      .strictObject({
        kind: z.literal('parallel'),
        ...fallible,
        branches: z.array(z.strictObject({ id: z.string(), body: scope })).min(1),
        concurrency: z.int().positive().exactOptional(),
        onPartialFailure: z.enum(['abort', 'continue', 'rollback']),
        compensateNode: z.string().exactOptional(),
      })
      .refine((node) => node.compensateNode === undefined || node.onPartialFailure === 'rollback', {
        path: ['compensateNode'],
        error: 'nothing but `rollback` undoes',
      }),
  expressions: {},
  bodies: { branches: 'arms' },
  value: 'derived',
  isRetryable: true,
  faults: (node) =>
    node.concurrency === undefined ? [] : outOfRange(node, 'concurrency', node.concurrency, wholeNumber(1)),
  describe: ({ concurrency, onPartialFailure }) =>
    ['parallel', ...atOnce(concurrency), ...POLICIES[onPartialFailure]].join(', '),
  shape: 'step',
};

/** Runs its body for each item. Its value is the list of the bodies' values, in the order of the items. */
export interface ForeachNode extends NodeBase {
  readonly kind: 'foreach';
  readonly items: Expr;
  /** Name by which the body refers to the item: `ref{root:'item', path:[as]}`. Unique among the loops around it. */
  readonly as: string;
  /** Name of the item's place, from 0: `ref{root:'index', path:[indexAs]}`. */
  readonly indexAs?: string;
  readonly body: Scope;
  /** How many items run at once, 1 to 100. */
  readonly concurrency: number;
  /** More items than this fail the node before the first one runs. */
  readonly max: number;
  /**
   * `fail`: the first failure stops the others. `settle`: all items end, or without concurrency those up to the first
   * failure; then the node fails. `continue` puts null in the place of an item that failed, `report` `{error: {code,
   * message}}`.
   */
  readonly onItemError: 'fail' | 'continue' | 'settle' | 'report';
  /** The agent that drives each item, with `@` before its name. Default: the items belong to the caller of the run. */
  readonly agent?: string;
  /** Name of the list of the values of the items before: `ref{root:'item', path:[resultsAs]}`. One item at a time. */
  readonly resultsAs?: string;
}

const ITEM_POLICIES = [
  'fail',
  'continue',
  'settle',
  'report',
] as const satisfies ForeachNode['onItemError'][];

const ON_ITEM_ERROR: { readonly [K in ForeachNode['onItemError']]: readonly string[] } = {
  fail: [],
  continue: ['null for an item that fails'],
  settle: ['failed when all have ended if one failed'],
  report: ['an error for an item that fails'],
};

export const foreach: KindDescriptor<ForeachNode, 'derived'> = {
  ...usualKind,
  schema: ({ z, fallible, expr, scope }): z.ZodType<ForeachNode> =>
    z
      .strictObject({
        kind: z.literal('foreach'),
        ...fallible,
        items: expr,
        as: z.string().min(1),
        indexAs: z.string().min(1).exactOptional(),
        body: scope,
        concurrency: z.int().positive(),
        max: z.int().positive(),
        onItemError: z.enum(ITEM_POLICIES),
        agent: z.string().regex(AGENT_NAME).exactOptional(),
        resultsAs: z.string().min(1).exactOptional(),
      })
      .refine(({ concurrency, resultsAs }) => resultsAs === undefined || concurrency === 1, {
        path: ['resultsAs'],
        error: 'items that read the results of others run one at a time',
      }),
  expressions: { items: true },
  bodies: { body: 'scope' },
  value: 'derived',
  isRetryable: true,
  faults: (node) => [
    ...outOfRange(node, 'concurrency', node.concurrency, wholeNumber(1, MAX_LOOP_CONCURRENCY)),
    // Items without a step are as many as there are.
    ...outOfRange(
      node,
      'max',
      node.max,
      wholeNumber(1, node.body.nodes.length === 0 ? undefined : MAX_STARTED_NODES),
    ),
  ],
  describe: (node, print) =>
    [
      `for each ${node.indexAs === undefined ? node.as : `${node.as} at ${node.indexAs}`} of ${print(node.items)}`,
      ...(node.concurrency === 1 ? [] : atOnce(node.concurrency)),
      ...(node.max === DEFAULT_LOOP_MAX ? [] : [`at most ${node.max}`]),
      ...ON_ITEM_ERROR[node.onItemError],
      ...(node.agent === undefined ? [] : [`each by ${node.agent}`]),
    ].join(', '),
  shape: 'step',
};
