import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { NodeBase } from './node.js';

export interface ShellNode extends NodeBase {
  readonly kind: 'shell';
  readonly command: Expr;
  readonly argv?: Expr;
  readonly env?: Expr;
}

declare module './node.js' {
  interface NodesByKind {
    readonly shell: ShellNode;
  }
}

export const shell: KindDescriptor<ShellNode, 'unknown', false> = {
  isSupported: false,
  schema: ({ z, fallible, expr }): z.ZodType<ShellNode> =>
    z.strictObject({
      kind: z.literal('shell'),
      ...fallible,
      command: expr,
      argv: expr.exactOptional(),
      env: expr.exactOptional(),
    }),
  expressions: { command: true, argv: true, env: true },
  bodies: {},
  value: 'unknown',
  work: 'none',
  isRetryable: true,
  waits: true,
  exit: 'none',
  isStep: true,
  faults: noFaults,
  describe: ({ command }, print) => `run the command ${print(command)}`,
  shape: 'step',
};
