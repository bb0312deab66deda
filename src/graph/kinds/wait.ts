import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { MAX_WAIT_MS } from '../limits.js';
import { parseTime } from '../rfc3339.js';
import { between, type KindDescriptor, type NodeFault, numberIn, outOfRange } from './descriptor.js';
import type { NodeBase } from './node.js';

/** Waits for a time: `durationMs` in milliseconds, or `until`, ms since the epoch or an RFC 3339 time. One of the two. */
export interface WaitNode extends NodeBase {
  readonly kind: 'wait';
  readonly durationMs?: Expr;
  readonly until?: Expr;
}

declare module './node.js' {
  interface NodesByKind {
    readonly wait: WaitNode;
  }
}

const DURATION = {
  ...between(0, MAX_WAIT_MS),
  text: `from 0 to ${MAX_WAIT_MS} (milliseconds, 366 days)`,
};

export const wait: KindDescriptor<WaitNode> = {
  isSupported: true,
  schema: ({ z, fallible, expr }): z.ZodType<WaitNode> =>
    z
      .strictObject({
        kind: z.literal('wait'),
        ...fallible,
        durationMs: expr.exactOptional(),
        until: expr.exactOptional(),
      })
      .refine(({ durationMs, until }) => (durationMs === undefined) !== (until === undefined), {
        error: 'a wait has either `durationMs` or `until`',
      }),
  expressions: { durationMs: true, until: true },
  bodies: {},
  value: 'none',
  work: 'none',
  isRetryable: false,
  waits: true,
  exit: 'none',
  isStep: true,
  faults: (node) => [...durationFaults(node), ...timeFaults(node)],
  describe: ({ durationMs, until }, print) => {
    if (until !== undefined) return `wait until ${print(until)}`;
    return durationMs === undefined ? 'wait' : `wait for ${print(durationMs)} ms`;
  },
  shape: 'control',
};

function durationFaults(node: WaitNode): readonly NodeFault[] {
  const duration = numberIn(node.durationMs);
  return duration === undefined ? [] : outOfRange(node, 'durationMs', duration, DURATION);
}

function timeFaults({ id, until }: WaitNode): readonly NodeFault[] {
  const text = until?.kind === 'literal' && typeof until.value === 'string' ? until.value : undefined;
  if (until === undefined || text === undefined || parseTime(text) !== undefined) return [];
  return [{ code: 'SW4034', params: { step: id, text }, at: until }];
}
