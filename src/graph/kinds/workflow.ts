import type { z } from 'zod';
import type { DictExpr } from '../expression/tree.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { NodeBase } from './node.js';

/** Runs another workflow, one of the graph's `tasks`, with names and inputs of its own. Its value is that one's result. */
export interface WorkflowNode extends NodeBase {
  readonly kind: 'workflow';
  readonly workflow: string;
  readonly input: DictExpr;
}

declare module './node.js' {
  interface NodesByKind {
    readonly workflow: WorkflowNode;
  }
}

export const workflow: KindDescriptor<WorkflowNode, 'derived'> = {
  isSupported: true,
  schema: ({ z, fallible, dict }): z.ZodType<WorkflowNode> =>
    z.strictObject({ kind: z.literal('workflow'), ...fallible, workflow: z.string(), input: dict }),
  expressions: { input: true },
  bodies: {},
  value: 'derived',
  work: 'none',
  isRetryable: true,
  waits: false,
  exit: 'none',
  isStep: true,
  faults: noFaults,
  describe: (node) => `run ${node.workflow}`,
  shape: 'workflow',
};
