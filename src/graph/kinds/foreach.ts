import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { MAX_LOOP_CONCURRENCY, MAX_STARTED_NODES } from '../limits.js';
import { atOnce, type KindDescriptor, outOfRange, wholeNumber } from './descriptor.js';
import type { NodeBase, Scope } from './node.js';

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
  /** `continue` puts null in the place of an item that failed. */
  readonly onItemError: 'fail' | 'continue';
  readonly agent?: string;
}

declare module './node.js' {
  interface NodesByKind {
    readonly foreach: ForeachNode;
  }
}

export const foreach: KindDescriptor<ForeachNode, 'derived'> = {
  isSupported: true,
  schema: ({ z, fallible, expr, scope }): z.ZodType<ForeachNode> =>
    z.strictObject({
      kind: z.literal('foreach'),
      ...fallible,
      items: expr,
      as: z.string().min(1),
      indexAs: z.string().min(1).exactOptional(),
      body: scope,
      concurrency: z.int().positive(),
      max: z.int().positive(),
      onItemError: z.enum(['fail', 'continue']),
    }),
  expressions: { items: true },
  bodies: { body: 'scope' },
  value: 'derived',
  work: 'none',
  isRetryable: true,
  waits: false,
  exit: 'none',
  isStep: true,
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
      `at most ${node.max}`,
      ...(node.onItemError === 'continue' ? ['null for an item that fails'] : []),
    ].join(', '),
  shape: 'step',
};
