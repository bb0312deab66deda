import { expressionError } from '../error.js';
import type { FunctionCall } from '../function.js';
import type { DateTime } from './values.js';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];
const DAY_MS = 86_400_000;

/** A time by a format of `strftime`, in UTC and English. @throws ExpressionError `E_VALUE` for an unknown directive */
export function strftime({ ms, isDate }: DateTime, format: string, { at }: FunctionCall): string {
  const day = Math.floor(ms / DAY_MS);
  const date = new Date(isDate ? day * DAY_MS : ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  const yearStart = Date.UTC(date.getUTCFullYear(), 0, 1) / DAY_MS;
  const dayOfYear = day - yearStart;
  const weekday = date.getUTCDay();
  const week = (first: number): number => Math.floor((dayOfYear + 7 - ((weekday - first + 7) % 7)) / 7);
  const hour = date.getUTCHours();
  const parts: Readonly<Record<string, () => string>> = {
    a: () => (DAYS[weekday] ?? '').slice(0, 3),
    A: () => DAYS[weekday] ?? '',
    b: () => (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3),
    B: () => MONTHS[date.getUTCMonth()] ?? '',
    c: () => strftime({ ms, isDate } as DateTime, '%a %b %e %H:%M:%S %Y', {} as FunctionCall),
    d: () => two(date.getUTCDate()),
    D: () => `${two(date.getUTCMonth() + 1)}/${two(date.getUTCDate())}/${two(date.getUTCFullYear() % 100)}`,
    e: () => String(date.getUTCDate()).padStart(2, ' '),
    f: () => String(date.getUTCMilliseconds() * 1_000).padStart(6, '0'),
    F: () => date.toISOString().slice(0, 10),
    H: () => two(hour),
    I: () => two(hour % 12 === 0 ? 12 : hour % 12),
    j: () => String(dayOfYear + 1).padStart(3, '0'),
    m: () => two(date.getUTCMonth() + 1),
    M: () => two(date.getUTCMinutes()),
    p: () => (hour < 12 ? 'AM' : 'PM'),
    s: () => String(Math.floor(date.getTime() / 1_000)),
    S: () => two(date.getUTCSeconds()),
    T: () => date.toISOString().slice(11, 19),
    u: () => String(weekday === 0 ? 7 : weekday),
    U: () => two(week(0)),
    w: () => String(weekday),
    W: () => two(week(1)),
    x: () => `${two(date.getUTCMonth() + 1)}/${two(date.getUTCDate())}/${two(date.getUTCFullYear() % 100)}`,
    X: () => date.toISOString().slice(11, 19),
    y: () => two(date.getUTCFullYear() % 100),
    Y: () => String(date.getUTCFullYear()),
    z: () => (isDate ? '' : '+0000'),
    Z: () => (isDate ? '' : 'UTC'),
    '%': () => '%',
  };
  return format.replace(/%(-?)(.?)/gs, (_, plain: string, directive: string) => {
    const part = Object.hasOwn(parts, directive) ? parts[directive] : undefined;
    if (part === undefined)
      throw expressionError(
        'E_VALUE',
        { fn: 'strftime', problem: `\`%${directive}\` is not a part of a time` },
        at,
      );
    return plain === '-' ? part().replace(/^0+(?=\d)/, '') : part();
  });
}
