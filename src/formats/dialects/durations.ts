import { describeLocated, type Located } from '../text/located.js';
import type { Reports } from '../text/reading.js';

/** Milliseconds in the units of times. */
export const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 },
};
const SHORT = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)$/;
const ISO = /^PT(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?$/;

/** A regular expression of the texts that are times. */
export const DURATION_PATTERN = `${SHORT.source}|${ISO.source}`;

/** A time in milliseconds: a number of the unit, or a text such as `30s` or `PT30S`. */
export function durationOf(
  reports: Reports,
  value: Located,
  what: string,
  unit: 'milliseconds' | 'seconds' = 'milliseconds',
): number | undefined {
  if (value.kind === 'number') return unit === 'seconds' ? value.value * 1_000 : value.value;
  const duration = value.kind === 'text' ? parseDuration(value.value) : undefined;
  if (duration !== undefined) return duration;
  const expected = `${unit}, or a time such as \`30s\``;
  const said = value.kind === 'text' ? `\`${value.value}\`` : describeLocated(value);
  reports.report('SW5006', value, { what, expected, actual: said });
  return undefined;
}

export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = SHORT.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) return Number(amount) * (UNITS[unit] ?? 1);
  const parts = ISO.exec(text);
  if (parts === null) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000;
}
