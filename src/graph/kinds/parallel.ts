import type { z } from 'zod';
import { atOnce, type KindDescriptor, outOfRange, wholeNumber } from './descriptor.js';
import type { NodeBase, Scope } from './node.js';

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

declare module './node.js' {
  interface NodesByKind {
    readonly parallel: ParallelNode;
  }
}

const POLICIES = {
  abort: 'the first failure aborts the others',
  continue: 'failures are handed out',
  rollback: 'a failure undoes the others',
} as const;

export const parallel: KindDescriptor<ParallelNode, 'derived'> = {
  isSupported: true,
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
  work: 'none',
  isRetryable: true,
  waits: false,
  exit: 'none',
  isStep: true,
  faults: (node) =>
    node.concurrency === undefined ? [] : outOfRange(node, 'concurrency', node.concurrency, wholeNumber(1)),
  describe: ({ concurrency, onPartialFailure }) =>
    ['parallel', ...atOnce(concurrency), POLICIES[onPartialFailure]].join(', '),
  shape: 'step',
};
