import type { z } from 'zod';
import type { DictExpr } from '../expression/tree.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { NodeBase, ResourceReader } from './node.js';

/** A tool call. The node's value is the tool's normalised result. */
export interface CallNode extends NodeBase, ResourceReader {
  readonly kind: 'call';
  readonly tool: string;
  readonly input: DictExpr;
}

declare module './node.js' {
  interface NodesByKind {
    readonly call: CallNode;
  }
}

export const call: KindDescriptor<CallNode, 'derived'> = {
  isSupported: true,
  schema: ({ z, reading, dict, compensation }): z.ZodType<CallNode> =>
    z.strictObject({
      kind: z.literal('call'),
      ...reading,
      tool: z.string(),
      input: dict,
      compensate: compensation.exactOptional(),
    }),
  expressions: { input: true },
  bodies: {},
  value: 'derived',
  work: 'call',
  isRetryable: true,
  waits: false,
  exit: 'none',
  isStep: true,
  faults: noFaults,
  describe: ({ tool }) => `call ${tool}`,
  shape: 'step',
};
