import { isJsonObject, type Value } from '../json.js';
import type {
  ArgumentKind,
  EagerFunction,
  ExpressionFunction,
  FunctionCall,
  LazyFunction,
  ResultKind,
} from './function.js';
import { calculate, deeplyEqual } from './operators.js';
import { pythonFilters } from './python/filters.js';
import { pythonFunctions } from './python/functions.js';
import { pythonMethods } from './python/methods.js';
import { pythonTests } from './python/tests.js';
import type { CallExpr } from './tree.js';
import { argumentType, chargeWhole, isComposite, isNullish, toText } from './value.js';

/**
 * The functions an expression may call. An arrow never is an argument: functions over the items of a list (`map`,
 * `filter`, `find`, `some`, `every`) are the tree's own kind `each`, which binds the names of the arrow's parameters
 * and holds its body. `.length` is a `get`, and `.slice` the kind `slice`.
 */

const isText = (value: Value): value is string => typeof value === 'string';

/** The values of each kind of argument, and how a sentence names the kind. */
const KINDS: {
  readonly [K in ArgumentKind]: { readonly fits: (value: Value) => boolean; readonly noun: string };
} = {
  any: { fits: () => true, noun: 'a value' },
  text: { fits: isText, noun: 'text' },
  list: { fits: (value) => Array.isArray(value), noun: 'a list' },
  object: { fits: isJsonObject, noun: 'an object' },
  'text or list': { fits: (value) => isText(value) || Array.isArray(value), noun: 'text or a list' },
  'text, list or object': {
    fits: (value) => isText(value) || isComposite(value),
    noun: 'text, a list or an object',
  },
  'text?': { fits: (value) => value === undefined || isText(value), noun: 'text' },
  'number?': { fits: (value) => value === undefined || typeof value === 'number', noun: 'a number' },
};

/** The name of a kind of argument, if a value is not of that kind. */
export function missedKind(value: Value, kind: ArgumentKind): string | undefined {
  const { fits, noun } = KINDS[kind];
  return fits(value) ? undefined : noun;
}

/**
 * Methods of JavaScript's strings and arrays, with its meaning exactly (ECMA-262, sections 22.1.3 and 23.1.3), for
 * arguments of the types TypeScript wants there. Text counts in UTF-16 code units.
 */
export const javascriptMethods: readonly EagerFunction[] = [
  /** Text without white space and line ends around it. */
  method('trim', ['text'], 1, 'text', ([text], call) => {
    return chargedText(textOf(text), call).trim();
  }),

  /** As `trim.js`, at the start alone. */
  method('trimStart', ['text'], 1, 'text', ([text], call) => chargedText(textOf(text), call).trimStart()),

  /** As `trim.js`, at the end alone. */
  method('trimEnd', ['text'], 1, 'text', ([text], call) => chargedText(textOf(text), call).trimEnd()),

  /** The text, with a text repeated before it until the whole has a length. */
  method('padStart', ['text', 'number?', 'text?'], 2, 'text', ([text, length, fill], call) => {
    return chargedPadding(text, length, call).padStart(numberOf(length) ?? 0, fill as string | undefined);
  }),

  /** As `padStart.js`, with the repeated text behind it. */
  method('padEnd', ['text', 'number?', 'text?'], 2, 'text', ([text, length, fill], call) => {
    return chargedPadding(text, length, call).padEnd(numberOf(length) ?? 0, fill as string | undefined);
  }),

  /** The text with another one in the place of the first occurrence of a text. */
  method('replace', ['text', 'text', 'text'], 3, 'text', ([text, part, by], call) => {
    return replaced(textOf(text), textOf(part), textOf(by), 1, call);
  }),

  /** As `replace.js`, for all occurrences. */
  method('replaceAll', ['text', 'text', 'text'], 3, 'text', ([text, part, by], call) => {
    return replaced(textOf(text), textOf(part), textOf(by), Number.POSITIVE_INFINITY, call);
  }),

  /** Several texts as one, or one list of the items of several lists and of other values. */
  method('concat', ['text or list', 'any', 'any', 'any'], 1, 'any', ([subject, ...others], call) => {
    if (typeof subject === 'string') {
      const texts = [subject, ...others].map((each) => {
        if (typeof each !== 'string') throw argumentType('concat.js', 'text', each, call.at);
        return chargedText(each, call);
      });
      return texts.join('');
    }
    return flatList([subject, ...others], call);
  }),

  /** The item or the code unit at a position, from the end for a negative one; absent beyond the ends. */
  method('at', ['text or list', 'number?'], 2, 'item', ([subject, position], { budget, at }) => {
    budget.charge(1, at);
    return (subject as string | readonly Value[]).at(numberOf(position) ?? 0);
  }),

  /** One list of the items of the lists in a list, and of its other items. */
  method('flat', ['list'], 1, 'items of items', ([list], call) => flatList(listOf(list), call)),

  /** By the Unicode tables alone: no language has a say, so that it gives the same everywhere. */
  method('toLowerCase', ['text'], 1, 'text', ([text], call) => {
    return chargedText(chargedText(textOf(text), call).toLowerCase(), call);
  }),

  /** As `toLowerCase.js`. `ß` becomes `SS`. */
  method('toUpperCase', ['text'], 1, 'text', ([text], call) => {
    return chargedText(chargedText(textOf(text), call).toUpperCase(), call);
  }),

  /** Whether the text has `part` at a position, 0 by default. */
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

  /** The items as a text has them, null and absent as the empty text, with `,` or another text between. */
  method('join', ['list', 'text?'], 1, 'text', ([list, separator], call) => {
    const between = separator === undefined ? ',' : textOf(separator);
    let joined = '';
    for (const [index, item] of listOf(list).entries()) {
      if (index > 0) joined += chargedText(between, call);
      if (!isNullish(item)) joined += toText(item, () => `item ${index}`, call.budget, call.at);
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
    if (separator === undefined) return call.allocations.list(most === 0 ? [] : [whole], call.at);
    return call.allocations.list(split(whole, chargedText(textOf(separator), call), most), call.at);
  }),
];

function flatList(parts: readonly Value[], { budget, allocations, at }: FunctionCall): Value {
  const size = parts.reduce<number>((sum, part) => sum + (Array.isArray(part) ? part.length : 1), 0);
  budget.charge(1 + size, at);
  return allocations.list(parts.flat(), at);
}

/** Charges for the text that is padded, and for what it becomes. */
function chargedPadding(text: Value, length: Value, call: FunctionCall): string {
  call.budget.charge(Math.max(0, Math.trunc(numberOf(length) ?? 0)), call.at);
  return chargedText(textOf(text), call);
}

/** @param most - how many occurrences are replaced. */
function replaced(text: string, part: string, by: string, most: number, call: FunctionCall): string {
  const find = finder(chargedText(part, call));
  let result = '';
  let end = 0;
  let start = find(chargedText(text, call), 0);
  for (let count = 0; start !== -1 && count < most; count++) {
    result += chargedText(text.slice(end, start), call) + replacement(text, part, by, start, call);
    end = start + part.length;
    // The empty text occurs once at each place.
    const next = part === '' ? start + 1 : end;
    start = next > text.length ? -1 : find(text, next);
  }
  return result + chargedText(text.slice(end), call);
}

/** The text in the place of one occurrence: `$&` is the occurrence, `` $` `` and `$'` are what is around it. */
function replacement(text: string, part: string, by: string, start: number, call: FunctionCall): string {
  // Each may become all of the text.
  call.budget.charge((by.split('$').length - 1) * text.length, call.at);
  return chargedText(by, call).replace(/\$([$&`'])/g, (_, mark: string) => {
    if (mark === '$') return '$';
    if (mark === '&') return part;
    return mark === '`' ? text.slice(0, start) : text.slice(start + part.length);
  });
}

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

/**
 * Percent-encoding as URI templates have it (RFC 6570, section 3.2.1), of text or a number. Half a surrogate pair
 * becomes U+FFFD.
 */
const uriFunctions: readonly EagerFunction[] = [
  /** `{name}`: all but the unreserved characters is encoded. */
  encoder('uriComponent', (text) => encodeStrictly(text)),

  /** `{+name}` and `{#name}`: reserved characters stay as they are, and so does what is encoded already. */
  encoder('uriReserved', (text) =>
    text
      .split(/(%[0-9A-Fa-f]{2}|[:/?#[\]@!$&'()*+,;=])/)
      .map((part, index) => (index % 2 === 1 ? part : encodeStrictly(part)))
      .join(''),
  ),
];

function encoder(name: string, encode: (text: string) => string): EagerFunction {
  return plainFunction(name, ['any'], 'text', ([value], { budget, at }) => {
    if (!isText(value) && typeof value !== 'number') throw argumentType(name, 'text or a number', value, at);
    const text = String(value);
    budget.charge(1 + 3 * text.length, at);
    return encode(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
  });
}

/** Not a method of a value. It takes all of its arguments. */
function plainFunction(
  name: string,
  takes: readonly ArgumentKind[],
  result: ResultKind,
  apply: EagerFunction['apply'],
): EagerFunction {
  const arity = { min: takes.length, max: takes.length };
  return { name, arity, result, lazy: false, takes, apply };
}

/** What `encodeURIComponent` leaves alone beyond the unreserved characters is encoded as well. */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The first argument that is neither null nor absent; else the last one. JavaScript's `??`. */
const coalesce: LazyFunction = {
  name: 'coalesce',
  arity: { min: 1 },
  result: 'first argument',
  lazy: true,
  cost: (argumentCount) => argumentCount,
  apply: (args) => {
    let value: Value;
    for (const arg of args) {
      value = arg();
      if (!isNullish(value)) return value;
    }
    return value;
  },
};

/** True for null and for absent. */
const isNullishFunction = plainFunction('isNullish', ['any'], 'boolean', ([value], { budget, at }) => {
  budget.charge(1, at);
  return isNullish(value);
});

/** What conditions of spec files ask, and the result of a workflow that names none. */
const specFunctions: readonly EagerFunction[] = [
  /** Whether a text has another one in it, or a list an item of the same content. */
  plainFunction('contains', ['text or list', 'any'], 'boolean', ([subject, item], call) => {
    if (typeof subject === 'string') {
      if (typeof item !== 'string') throw argumentType('contains', 'text', item, call.at);
      return indexOf(chargedText(subject, call), chargedText(item, call)) !== -1;
    }
    return listOf(subject).some((each) => deeplyEqual(each, item, call.budget, call.at));
  }),

  /** How many characters (code points) a text has, items a list, keys an object. */
  plainFunction('length', ['text, list or object'], 'number', ([value], call) => {
    if (typeof value === 'string') return [...chargedText(value, call)].length;
    const count = Object.values(value as object).filter((part) => part !== undefined).length;
    call.budget.charge(1 + count, call.at);
    return count;
  }),

  /** The sum of the numbers of a list. */
  plainFunction('sum', ['list'], 'number', ([list], call) => {
    const { budget, at } = call;
    let total: Value = 0;
    for (const item of listOf(list)) {
      if (typeof item !== 'number') throw argumentType('sum', 'a list of numbers', item, at);
      budget.charge(1, at);
      total = calculate('add.js', total, item, call, at);
    }
    return total;
  }),

  /** A value as compact JSON. */
  plainFunction('toJson', ['any'], 'text', ([value], { budget, at }) => {
    if (value === undefined) throw argumentType('toJson', 'a value', value, at);
    chargeWhole(value, budget, at);
    return JSON.stringify(value);
  }),

  /** Whether there is a value; null is one. */
  plainFunction('isPresent', ['any'], 'boolean', ([value], { budget, at }) => {
    budget.charge(1, at);
    return value !== undefined;
  }),

  /** The value of an object with one entry; the object itself where it has several, null where it has none. */
  plainFunction('soleEntry', ['object'], 'any', ([value], { budget, at }) => {
    const present = Object.values(value as Readonly<Record<string, Value>>).filter(
      (part) => part !== undefined,
    );
    budget.charge(1 + present.length, at);
    if (present.length === 0) return null;
    return present.length === 1 ? present[0] : value;
  }),
];

/** Every function an expression may call, by name. Closed: a graph cannot add to it. */
export const expressionFunctions: ReadonlyMap<string, ExpressionFunction> = new Map(
  [
    ...[coalesce, isNullishFunction, ...javascriptMethods, ...uriFunctions, ...specFunctions],
    ...[...pythonFilters, ...pythonTests, ...pythonMethods, ...pythonFunctions],
  ].map((fn): [string, ExpressionFunction] => [fn.name, fn]),
);

/** The functions that authors call as methods, by the name of the method. */
export const expressionMethods: ReadonlyMap<string, EagerFunction> = new Map(
  javascriptMethods.flatMap((fn) => (fn.method === undefined ? [] : [[fn.method, fn]])),
);

/** Whether a call is a link of a chain. */
export function isMethodCall({ fn }: CallExpr): boolean {
  const definition = expressionFunctions.get(fn);
  return definition !== undefined && !definition.lazy && definition.method !== undefined;
}

/** Whether a function may be given this many arguments. */
export function takesArguments(fn: ExpressionFunction, count: number): boolean {
  return count >= fn.arity.min && count <= (fn.arity.max ?? Number.POSITIVE_INFINITY);
}

/** `1 argument`, `at least 1 argument`, `2 to 3 arguments`. */
export function describeArity({ arity: { min, max } }: ExpressionFunction): string {
  const noun = (max ?? min) === 1 ? 'argument' : 'arguments';
  if (max === undefined) return `at least ${min} ${noun}`;
  return min === max ? `${min} ${noun}` : `${min} to ${max} ${noun}`;
}

/**
 * The first place at or after `from` where a text occurs in another, in UTF-16 code units; -1 where it does not.
 * Takes time in proportion to both lengths (Knuth, Morris, Pratt 1977): engines' own search is quadratic at worst.
 */
export function indexOf(text: string, part: string, from = 0): number {
  return finder(part)(text, from);
}

/** Splits as JavaScript's `split` does. The cost is proportional to both lengths. */
export function split(text: string, separator: string, limit: number): string[] {
  if (limit === 0) return [];
  if (separator === '') return text.split('', limit);
  const find = finder(separator);
  const pieces: string[] = [];
  let start = 0;
  for (let end = find(text, 0); end !== -1; end = find(text, start)) {
    pieces.push(text.slice(start, end));
    if (pieces.length >= limit) return pieces;
    start = end + separator.length;
  }
  pieces.push(text.slice(start));
  return pieces;
}

function finder(part: string): (text: string, from: number) => number {
  const borders = bordersOf(part);
  return (text, from) => {
    let matched = 0;
    if (part === '') return Math.min(from, text.length);
    for (let index = from; index < text.length; index++) {
      while (matched > 0 && part[matched] !== text[index]) matched = borders[matched - 1] ?? 0;
      if (part[matched] === text[index]) matched++;
      if (matched === part.length) return index - matched + 1;
    }
    return -1;
  };
}

/** For each beginning of a text the length of its longest own beginning that is its end as well. */
function bordersOf(part: string): readonly number[] {
  const borders = [0];
  let length = 0;
  for (let index = 1; index < part.length; index++) {
    while (length > 0 && part[length] !== part[index]) length = borders[length - 1] ?? 0;
    if (part[length] === part[index]) length++;
    borders.push(length);
  }
  return borders;
}
