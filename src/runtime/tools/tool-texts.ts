import { didYouMean } from '../../graph/names.js';
import { FAILURE_MESSAGE_LIMIT, oneLine } from '../../graph/printable-text.js';

export const quoted = (text: string): string => `\`${oneLine(text, 80)}\``;
export const inBrackets = (near: string | undefined): string =>
  near === undefined ? '' : ` (${didYouMean(near, quoted)})`;
export const inObject = (pointer: string): string => (pointer === '' ? '' : ` in ${quoted(pointer)}`);

/** Formats of JSON Schema in plain words. */
const formatWords: ReadonlyMap<string, string> = new Map([
  ['date', 'a date, yyyy-mm-dd'],
  ['time', 'a time with its zone, hh:mm:ssZ'],
  ['date-time', 'a date and time with its zone, yyyy-mm-ddThh:mm:ssZ'],
  ['duration', 'a duration, such as P1DT2H'],
  ['email', 'an e-mail address'],
  ['uri', 'an absolute URI'],
  ['uuid', 'a UUID'],
  ['ipv4', 'an IPv4 address'],
  ['ipv6', 'an IPv6 address'],
]);

/** Sentences of the toolset that are used more than once. */
export const toolTexts = {
  toolUnknown: (name: string, suggestion: string | undefined) =>
    `no tool is named ${quoted(name)}${inBrackets(suggestion)}`,
  clientFailed: (capability: string, error: unknown) =>
    `the client failed to answer (${capability}): ${oneLine(error instanceof Error ? error.message : String(error))}`,
  badAnswer: (problems: readonly string[]) =>
    `the values the user sent do not fit the form: ${problems.map((problem) => oneLine(problem)).join('; ')}`,

  /** `caller` says who asked, `shown` is the stack. */
  threw: (kind: string, name: string, caller: string, shown: string) =>
    `${kind} ${quoted(name)} threw (${caller}): ${shown}`,

  factoryThrew: (kind: string, name: string, why: string) =>
    `the factory of ${kind} ${quoted(name)} failed: ${why}`,
  constructorThrew: (kind: string, name: string, why: string) =>
    `the class of ${kind} ${quoted(name)} could not be instantiated: ${why}`,
  factoryMissing: (kind: string, name: string, className: string) =>
    `${kind} ${quoted(name)}: the constructor of ${className} takes parameters; give it a factory: '${name}': () => new ${className}(…)`,

  inputInvalid: (problems: readonly string[]) => {
    const shown = problems.slice(0, 10);
    const rest = problems.length - shown.length;
    return `invalid input: ${shown.join('; ')}${rest === 0 ? '' : `; and ${rest} more`}`;
  },
  schemaBroken: (which: string, name: string, why: string) =>
    `the ${which} schema of ${quoted(name)} cannot be compiled: ${why}`,
  unknownArgument: (name: string, pointer: string, suggestion: string | undefined) =>
    `unknown ${pointer === '' ? 'argument' : 'property'} ${quoted(name)}${inObject(pointer)}${inBrackets(suggestion)}`,
  mustBe: (pointer: string, what: string) => `${subject(pointer)} must be ${what}`,
  other: (pointer: string, message: string) => `${subject(pointer)} ${message}`,
  wrongFormat: (pointer: string, format: string) => {
    const words = formatWords.get(format);
    return `${subject(pointer)} must ${words === undefined ? `match format "${oneLine(format, 80)}"` : `be ${words}`}`;
  },
  validatorThrew: (why: string) => `the input could not be checked: ${why}`,

  resultNotJson: (pointer: string, problem: string) =>
    pointer === ''
      ? `the result is not JSON: it is ${problem}`
      : `the result is not JSON: ${quoted(pointer)} is ${problem}`,
  contentOfOtherShape: () => 'an object of another shape',
} as const;

export function subject(pointer: string): string {
  return pointer === '' ? 'the value' : quoted(pointer);
}

/** A sentence of this table as a failure message: one line, at most {@link FAILURE_MESSAGE_LIMIT} characters. */
export function message(text: string): string {
  return oneLine(text, FAILURE_MESSAGE_LIMIT);
}

/** The kind of a value that should have been another one, in words: `a list`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
