import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { NodeBase } from './node.js';

/** Ends its workflow with a value, also from within a branch or a loop. */
export interface ReturnNode extends NodeBase {
  readonly kind: 'return';
  readonly value: Expr;
}

declare module './node.js' {
  interface NodesByKind {
    readonly return: ReturnNode;
  }
}

export const returnKind: KindDescriptor<ReturnNode> = {
  isSupported: true,
  schema: ({ z, base, expr }): z.ZodType<ReturnNode> =>
    z.strictObject({ kind: z.literal('return'), ...base, value: expr }),
  expressions: { value: true },
  bodies: {},
  value: 'none',
  work: 'none',
  isRetryable: false,
  waits: false,
  exit: 'return',
  isStep: false,
  faults: noFaults,
  describe: ({ value }, print) => `return ${print(value)}`,
  shape: 'end',
};
