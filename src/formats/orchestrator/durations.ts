import { describeLocated, type Located } from '../text/located.js';
import type { Reports } from '../text/reading.js';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const SHORT = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)$/;
const ISO = /^PT(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?$/;

/** A time in milliseconds: a number of them, or a text such as `30s` or `PT30S`. */
export function durationOf(reports: Reports, value: Located, what: string): number | undefined {
  if (value.kind === 'number') return value.value as number;
  const found = value.kind === 'text' ? parseDuration(value.value) : undefined;
  if (found !== undefined) return found;
  const expected = 'milliseconds, or a time such as `30s`';
  const said = value.kind === 'text' ? `\`${value.value}\`` : describeLocated(value);
  reports.report('SW5006', value, { what, expected, actual: said });
  return undefined;
}

function parseDuration(text: string): number | undefined {
  const [, amount, unit] = SHORT.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) return Number(amount) * (UNITS[unit] ?? 1);
  const parts = ISO.exec(text);
  if (parts === null || text === 'PT') return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000;
}
