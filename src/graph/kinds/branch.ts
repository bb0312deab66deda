import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { NodeBase, Scope } from './node.js';

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

declare module './node.js' {
  interface NodesByKind {
    readonly branch: BranchNode;
  }
}

export const branch: KindDescriptor<BranchNode, 'derived'> = {
  isSupported: true,
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
  work: 'none',
  isRetryable: true,
  waits: false,
  exit: 'none',
  isStep: true,
  faults: noFaults,
  describe: () => 'branch',
  shape: 'decision',
};

function leadsOneWay(arm: object): boolean {
  return 'body' in arm !== 'goto' in arm;
}
