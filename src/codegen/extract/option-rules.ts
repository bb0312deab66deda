import type { Icon } from '../../decorators/tool.js';
import { isJsonObject } from '../../graph/json.js';

/** What an option may hold. */
export interface OptionRule {
  readonly required?: true;
  /** Whether a literal fits; without it the value is not a literal and is read elsewhere. */
  readonly accepts?: (value: unknown) => boolean;
  /** What it must be, after "must be". */
  readonly expected: string;
  /** The options inside, where the value is an object of options. */
  readonly inner?: OptionRules;
  /** The options inside of each property, where the value is an object of such objects. */
  readonly each?: () => OptionRules;
}

export type OptionRules = Readonly<Record<string, OptionRule>>;

export const text: OptionRule = { accepts: (value) => typeof value === 'string', expected: 'text' };

export const requiredText: OptionRule = { ...text, required: true };

export const flag: OptionRule = {
  accepts: (value) => typeof value === 'boolean',
  expected: '`true` or `false`',
};

export const texts: OptionRule = { accepts: isListOfTexts, expected: 'a list of texts' };

export const milliseconds: OptionRule = {
  accepts: (value) => typeof value === 'number' && Number.isInteger(value) && value > 0,
  expected: 'a whole number of milliseconds above 0',
};

export const anything: OptionRule = { accepts: () => true, expected: 'a literal' };

export const number: OptionRule = { accepts: (value) => typeof value === 'number', expected: 'a number' };

export const count: OptionRule = {
  accepts: (value) => Number.isInteger(value) && Number(value) >= 0,
  expected: 'a whole number from 0 on',
};

export const positive: OptionRule = {
  accepts: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  expected: 'a whole number above 0',
};

export const pattern: OptionRule = {
  accepts: (value) => typeof value === 'string' && isPattern(value),
  expected: 'a regular expression, as of the flag `u`',
};

export const icons: OptionRule = {
  accepts: (value) => Array.isArray(value) && value.every(isIcon),
  expected: 'a list of `{ src, mimeType, sizes, theme }`',
};

/** One of some texts. */
export function oneOf(...values: readonly string[]): OptionRule {
  const quoted = values.map((value) => `\`'${value}'\``);
  const expected = [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter(Boolean).join(' or ');
  return { accepts: (value) => values.some((each) => each === value), expected };
}

/** An object whose own options have rules. */
export function object(expected: string, inner: OptionRules): OptionRule {
  return { accepts: isJsonObject, expected, inner };
}

/** Options of a retry; see `RetryOptions`. How far the numbers may go is checked with the graph. */
const retryRules = {
  attempts: { ...number, required: true },
  delayMs: number,
  backoff: oneOf('constant', 'linear', 'exponential'),
  capMs: number,
  jitter: number,
} as const satisfies OptionRules;

export const retry: OptionRule = object('an object of retry options', retryRules);

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

const ICON_KEYS: ReadonlySet<string> = new Set([
  'src',
  'mimeType',
  'sizes',
  'theme',
] satisfies (keyof Icon)[]);

function isIcon(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { src, mimeType = '', sizes = [], theme = 'light' } = value;
  return (
    typeof src === 'string' &&
    /^(?:https?|data):/.test(src) &&
    typeof mimeType === 'string' &&
    isListOfTexts(sizes) &&
    (theme === 'light' || theme === 'dark') &&
    Object.keys(value).every((key) => ICON_KEYS.has(key))
  );
}
