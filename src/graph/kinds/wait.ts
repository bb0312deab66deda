import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { MAX_WAIT_MS } from '../limits.js';
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

const TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * The time an RFC 3339 text names, in ms since the epoch; none for other text, and for days and hours that do not
 * exist. A leap second is the moment after it. There is no `Date` here.
 */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  const offset = {
    hours: Number(match[9] ?? 0),
    minutes: Number(match[10] ?? 0),
    sign: match[8] === '-' ? -1 : 1,
  };
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 60 || offset.hours > 23 || offset.minutes > 59) return undefined;
  const local = ((daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
  const seconds = local - offset.sign * (offset.hours * 60 + offset.minutes) * 60;
  return seconds * 1_000 + Math.floor(Number(match[7] ?? 0) * 1_000);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Days from 1970-01-01, in the Gregorian calendar; the year is taken to begin in March, so that a leap day ends it. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const from = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return (
    from * 365 + Math.floor(from / 4) - Math.floor(from / 100) + Math.floor(from / 400) + dayOfYear - 719_468
  );
}
