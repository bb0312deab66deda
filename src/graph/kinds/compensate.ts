import type { z } from 'zod';
import type { JsonSchema } from '../json.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { Compensation, NodeBase } from './node.js';

/** Undoes earlier work, in the written order. Runs only when it is selected. Its value is `{ done, failed, not_run }`. */
export interface CompensateNode extends NodeBase {
  readonly kind: 'compensate';
  readonly steps: readonly Compensation[];
}

declare module './node.js' {
  interface NodesByKind {
    readonly compensate: CompensateNode;
  }
}

const REPORT: JsonSchema = {
  type: 'object',
  properties: {
    done: { type: 'array', items: { type: 'string' } },
    failed: { type: 'array' },
    not_run: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
};

export const compensate: KindDescriptor<CompensateNode> = {
  isSupported: true,
  schema: ({ z, base, compensation }): z.ZodType<CompensateNode> =>
    z.strictObject({ kind: z.literal('compensate'), ...base, steps: z.array(compensation).min(1) }),
  expressions: {},
  bodies: {},
  value: () => REPORT,
  work: 'none',
  isRetryable: false,
  waits: false,
  exit: 'none',
  isStep: true,
  faults: noFaults,
  describe: () => 'undo',
  shape: 'undoing',
};
