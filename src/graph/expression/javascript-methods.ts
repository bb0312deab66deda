import type { Value } from '../json.js';
import type { ArgumentKind } from './arguments.js';
import type { EagerFunction, FunctionCall, ResultKind } from './functions.js';
import { indexOf, split } from './search.js';
import { toText } from './text.js';
import { argumentType, isComposite, isNullish } from './value.js';

/**
 * Methods of JavaScript's strings and arrays, with its meaning exactly (ECMA-262, sections 22.1.3 and 23.1.3), for
 * arguments of the types TypeScript wants there. Text counts in UTF-16 code units.
 */
export const javascriptMethods: readonly EagerFunction[] = [
  /** Text without white space and line ends around it. */
  method('trim', ['text'], 1, 'text', ([text], call) => {
    return chargedText(textOf(text), call).trim();
  }),

  /** By the Unicode tables alone: no language has a say, so that it gives the same everywhere. */
  method('toLowerCase', ['text'], 1, 'text', ([text], call) => {
    return chargedText(chargedText(textOf(text), call).toLowerCase(), call);
  }),

  /** As `toLowerCase.js`. `ß` becomes `SS`. */
  method('toUpperCase', ['text'], 1, 'text', ([text], call) => {
    return chargedText(chargedText(textOf(text), call).toUpperCase(), call);
  }),

  /** Whether the text goes on with `part` at a place, 0 by default. */
  method('startsWith', ['text', 'text', 'number?'], 2, 'boolean', ([text, part, position], call) => {
    return textOf(text).startsWith(chargedText(textOf(part), call), numberOf(position));
  }),

  /** Whether the text, cut off at a place, ends with `part`. */
  method('endsWith', ['text', 'text', 'number?'], 2, 'boolean', ([text, part, end], call) => {
    return textOf(text).endsWith(chargedText(textOf(part), call), numberOf(end));
  }),

  /**
   * Whether a text holds a text, or a list a scalar (SameValueZero), at or after a place. An object or a list would
   * be looked for by its identity, which is not part of a value: that is the error `E_ARGUMENT_TYPE`.
   */
  method('includes', ['text or list', 'any', 'number?'], 2, 'boolean', ([subject, item, from], call) => {
    if (typeof subject === 'string') return textIncludes(subject, item, from, call);
    if (isComposite(item)) throw argumentType('includes.js', 'a scalar', item, call.at);
    const items = listOf(subject);
    call.budget.charge(items.length, call.at);
    if (typeof item === 'string') call.budget.charge(lengthOfEquals(item, items), call.at);
    return items.includes(item, numberOf(from));
  }),

  /** The items as a template literal would write them, null and absent as nothing, with `,` or another text between. */
  method('join', ['list', 'text?'], 1, 'text', ([list, separator], call) => {
    const between = separator === undefined ? ',' : textOf(separator);
    let joined = '';
    for (const [index, item] of listOf(list).entries()) {
      if (index > 0) joined += chargedText(between, call);
      if (!isNullish(item)) joined += toText(item, 'js', call.budget, call.at);
      else call.budget.charge(1, call.at);
    }
    return joined;
  }),

  /**
   * The parts between a text, at most `limit` of them; without one to split by, the whole as the only part. The empty
   * text splits between all code units.
   */
  method('split', ['text', 'text?', 'number?'], 1, 'list of texts', ([text, separator, limit], call) => {
    const whole = chargedText(textOf(text), call);
    // ToUint32, as the standard wants it.
    const most = limit === undefined ? 2 ** 32 - 1 : (numberOf(limit) ?? 0) >>> 0;
    if (separator === undefined) return call.made.list(most === 0 ? [] : [whole], call.at);
    return call.made.list(split(whole, chargedText(textOf(separator), call), most), call.at);
  }),
];

function method(
  name: string,
  takes: readonly ArgumentKind[],
  min: number,
  result: ResultKind,
  apply: EagerFunction['apply'],
): EagerFunction {
  const arity = { min, max: takes.length };
  return { name: `${name}.js`, arity, result, lazy: false, method: name, takes, apply };
}

function textIncludes(text: string, part: Value, from: Value, call: FunctionCall): boolean {
  if (typeof part !== 'string') throw argumentType('includes.js', 'text', part, call.at);
  const start = Math.min(Math.max(Math.trunc(numberOf(from) ?? 0), 0), text.length);
  return indexOf(chargedText(text, call), chargedText(part, call), start) !== -1;
}

/** Texts of one length may be compared to their ends. */
function lengthOfEquals(text: string, items: readonly Value[]): number {
  const alike = items.filter((item) => typeof item === 'string' && item.length === text.length);
  return alike.length * text.length;
}

function chargedText(text: string, { budget, at }: FunctionCall): string {
  budget.charge(1 + text.length, at);
  return text;
}

// The kinds in `takes` are checked before a function is applied.
const textOf = (value: Value): string => value as string;
const listOf = (value: Value): readonly Value[] => value as readonly Value[];
const numberOf = (value: Value): number | undefined => value as number | undefined;
