import type { z } from 'zod';
import { MAX_JUMPS } from '../limits.js';
import { type KindDescriptor, outOfRange, times, wholeNumber } from './descriptor.js';
import type { NodeBase } from './node.js';

/**
 * Goes back to a node declared earlier in its own scope: everything from there to this node starts over, without the
 * outputs it had. State stays.
 */
export interface GotoNode extends NodeBase {
  readonly kind: 'goto';
  readonly target: string;
  /** How often it jumps at most. */
  readonly max: number;
  /** Past that, the node fails with E_LOOP_LIMIT, or succeeds and the run goes on behind it. */
  readonly onLimit: 'fail' | 'continue';
}

declare module './node.js' {
  interface NodesByKind {
    readonly goto: GotoNode;
  }
}

export const goto: KindDescriptor<GotoNode> = {
  isSupported: true,
  schema: ({ z, fallible }): z.ZodType<GotoNode> =>
    z.strictObject({
      kind: z.literal('goto'),
      ...fallible,
      target: z.string(),
      max: z.int().positive(),
      onLimit: z.enum(['fail', 'continue']),
    }),
  expressions: {},
  bodies: {},
  value: 'none',
  work: 'none',
  isRetryable: false,
  waits: false,
  exit: 'jump',
  isStep: true,
  faults: (node) => outOfRange(node, 'max', node.max, wholeNumber(1, MAX_JUMPS)),
  describe: ({ target, max, onLimit }) =>
    `go back to ${target}, at most ${times(max)}, then ${onLimit === 'fail' ? 'fail' : 'go on'}`,
  shape: 'control',
};
