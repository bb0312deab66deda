import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import type { JsonSchema } from '../json.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { NodeBase } from './node.js';

export interface DelegateNode extends NodeBase {
  readonly kind: 'delegate';
  readonly agent: string | null;
  readonly prompt: Expr;
  readonly tools?: readonly string[];
  readonly responseSchema?: JsonSchema;
}

declare module './node.js' {
  interface NodesByKind {
    readonly delegate: DelegateNode;
  }
}

export const delegate: KindDescriptor<DelegateNode, 'unknown', false> = {
  isSupported: false,
  schema: ({ z, fallible, expr, jsonSchema }): z.ZodType<DelegateNode> =>
    z.strictObject({
      kind: z.literal('delegate'),
      ...fallible,
      agent: z.string().nullable(),
      prompt: expr,
      tools: z.array(z.string()).exactOptional(),
      responseSchema: jsonSchema.exactOptional(),
    }),
  expressions: { prompt: true },
  bodies: {},
  value: 'unknown',
  work: 'none',
  isRetryable: true,
  waits: true,
  exit: 'none',
  isStep: true,
  faults: noFaults,
  describe: ({ agent, prompt }, print) => `delegate to ${agent ?? 'the caller'}: ${print(prompt)}`,
  shape: 'step',
};
