import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { failureCodeFault } from '../names.js';
import type { KindDescriptor } from './descriptor.js';
import type { NodeBase } from './node.js';

/**
 * Ends its scope as failed with this message and code. The failure goes up as any other does, and fails the run where
 * nothing handles it.
 */
export interface ErrorNode extends NodeBase {
  readonly kind: 'error';
  readonly message: Expr;
  /** The author's own code; see `failureCodeFault`. Default: `E_FAIL`. */
  readonly code?: string;
}

declare module './node.js' {
  interface NodesByKind {
    readonly error: ErrorNode;
  }
}

export const error: KindDescriptor<ErrorNode> = {
  isSupported: true,
  schema: ({ z, base, expr }): z.ZodType<ErrorNode> =>
    z.strictObject({ kind: z.literal('error'), ...base, message: expr, code: z.string().exactOptional() }),
  expressions: { message: true },
  bodies: {},
  value: 'none',
  work: 'none',
  isRetryable: false,
  waits: false,
  exit: 'failure',
  isStep: false,
  faults: ({ id, code }) => {
    const problem = code === undefined ? undefined : failureCodeFault(code);
    if (code === undefined || problem === undefined) return [];
    return [{ code: 'SW4036', params: { step: id, code, problem } }];
  },
  describe: ({ message, code }, print) =>
    `fail with ${print(message)}${code === undefined ? '' : `, code ${code}`}`,
  shape: 'end',
};
