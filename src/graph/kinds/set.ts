import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { NodeBase } from './node.js';

/** Writes fields of the run's state, all at once; values are read before any is written. Its value is the dict of them. */
export interface SetNode extends NodeBase {
  readonly kind: 'set';
  readonly updates: readonly { readonly field: string; readonly value: Expr }[];
}

declare module './node.js' {
  interface NodesByKind {
    readonly set: SetNode;
  }
}

export const set: KindDescriptor<SetNode, 'derived'> = {
  isSupported: true,
  schema: ({ z, fallible, expr }): z.ZodType<SetNode> =>
    z.strictObject({
      kind: z.literal('set'),
      ...fallible,
      updates: z.array(z.strictObject({ field: z.string(), value: expr })).min(1),
    }),
  expressions: { updates: 'value' },
  bodies: {},
  value: 'derived',
  work: 'none',
  isRetryable: false,
  waits: false,
  exit: 'none',
  isStep: true,
  faults: noFaults,
  describe: ({ updates }, print) =>
    `set ${updates.map(({ field, value }) => `${field} = ${print(value)}`).join(', ')}`,
  shape: 'state',
};
