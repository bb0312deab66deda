import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { MAX_JUMPS } from '../limits.js';
import { failureCodeFault } from '../names.js';
import { type KindDescriptor, outOfRange, times, usualKind, wholeNumber } from './descriptor.js';
import type { NodeBase } from './node.js';

declare module './node.js' {
  interface NodesByKind {
    readonly return: ReturnNode;
    readonly error: ErrorNode;
    readonly goto: GotoNode;
  }
}

/** Ends its workflow with a value, also from within a branch or a loop. */
export interface ReturnNode extends NodeBase {
  readonly kind: 'return';
  readonly value: Expr;
}

export const returnKind: KindDescriptor<ReturnNode> = {
  ...usualKind,
  schema: ({ z, base, expr }): z.ZodType<ReturnNode> =>
    z.strictObject({ kind: z.literal('return'), ...base, value: expr }),
  expressions: { value: true },
  value: 'none',
  exit: 'return',
  isStep: false,
  describe: ({ value }, print) => `return ${print(value)}`,
  shape: 'end',
};

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

export const error: KindDescriptor<ErrorNode> = {
  ...usualKind,
  schema: ({ z, base, expr }): z.ZodType<ErrorNode> =>
    z.strictObject({ kind: z.literal('error'), ...base, message: expr, code: z.string().exactOptional() }),
  expressions: { message: true },
  value: 'none',
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

export const goto: KindDescriptor<GotoNode> = {
  ...usualKind,
  schema: ({ z, fallible }): z.ZodType<GotoNode> =>
    z.strictObject({
      kind: z.literal('goto'),
      ...fallible,
      target: z.string(),
      max: z.int().positive(),
      onLimit: z.enum(['fail', 'continue']),
    }),
  expressions: {},
  value: 'none',
  exit: 'jump',
  faults: (node) => outOfRange(node, 'max', node.max, wholeNumber(1, MAX_JUMPS)),
  describe: ({ target, max, onLimit }) =>
    `go back to ${target}, at most ${times(max)}, then ${onLimit === 'fail' ? 'fail' : 'go on'}`,
  shape: 'control',
};
