import { readKey } from '../../graph/expression/traversal.js';
import type { ArithmeticOp, CompareOp, Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { nearestName } from '../../graph/names.js';
import { type LocatedText, rangeIn } from '../text/located.js';
import type { Reports } from '../text/reading.js';
import { asBoolean, FUNCTIONS, fallbackOf, ITEM, type SpecFunction } from './functions.js';
import { pathAt, type ReferenceToken, restAt } from './parse-references.js';

/** How deep brackets of an expression may be nested. */
const MAX_DEPTH = 32;

/** How many operands `&&` and `||` of one expression may have: each is checked under the results of those before it. */
const MAX_OPERANDS = 256;

const COMPARISONS: Readonly<Record<string, CompareOp>> = {
  '==': 'eq.deep',
  '!=': 'ne.deep',
  '<': 'lt.js',
  '<=': 'le.js',
  '>': 'gt.js',
  '>=': 'ge.js',
};

const SUMS: Readonly<Record<string, ArithmeticOp>> = { '+': 'add.js', '-': 'sub' };
const PRODUCTS: Readonly<Record<string, ArithmeticOp>> = { '*': 'mul', '/': 'div', '%': 'mod.js' };

/** A part of a text, by its indexes. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/** Absent and missing values are null in a condition. In a value they are errors, unless `?` or `??` provides for them. */
type Use = 'condition' | 'value';

/**
 * Makes the expression of a condition such as `$seats > 0 && $class != 'economy'`. `undefined` for a faulty one, which
 * is reported.
 */
export function lowerCondition(
  text: LocatedText,
  references: References,
  reports: Reports,
): Expr | undefined {
  return lowerPart(text, { start: 0, end: text.value.length }, 'condition', references, reports);
}

/** Makes the expression of a part of a text. `undefined` for a faulty one, which is reported. */
export function lowerPart(
  text: LocatedText,
  part: Part,
  use: Use,
  references: References,
  reports: Reports,
): Expr | undefined {
  const parsed = parseExpression(text, part, use, references, reports);
  if (!('problem' in parsed)) return parsed;
  const what = use === 'condition' ? 'a condition' : 'an expression';
  reports.report('SW5014', rangeIn(text, parsed), { what, problem: parsed.problem });
  return undefined;
}

/** Makes the expression of a part of a text, or says what is wrong with it. */
export function parseExpression(
  text: LocatedText,
  part: Part,
  use: Use,
  references: References,
  reports: Reports,
): Expr | (Part & { readonly problem: string }) {
  try {
    return new ExpressionParser(text, part, use, references, reports).parse();
  } catch (fault) {
    if (!(fault instanceof ExpressionFault)) throw fault;
    const { message: problem, start, end } = fault;
    return { problem, start, end };
  }
}

interface References {
  reference(text: LocatedText, token: ReferenceToken, find: 'strict' | 'optional'): Expr;
}

class ExpressionParser {
  readonly #text: LocatedText;
  readonly #end: number;
  readonly #references: References;
  readonly #reports: Reports;
  #use: Use;
  #token: Token;
  #depth = 0;
  #operands = 0;
  /** How many functions around this place go through the items of a list. */
  #lists = 0;

  constructor(text: LocatedText, part: Part, use: Use, references: References, reports: Reports) {
    this.#text = text;
    this.#end = part.end;
    this.#use = use;
    this.#references = references;
    this.#reports = reports;
    const braces = /\{\{|\$\{\{/.exec(text.value.slice(part.start, part.end));
    if (braces !== null) {
      const start = part.start + braces.index;
      const braced = { start, end: start + braces[0].length };
      throw new ExpressionFault(braced, 'it is an expression already, and takes no `{{ … }}`');
    }
    this.#token = tokenAt(text.value, part.start, part.end);
  }

  parse(): Expr {
    const expr = this.#or();
    if (this.#token.kind !== 'end') throw this.#unexpected('an operator or the end');
    return expr;
  }

  #or(): Expr {
    return this.#logic('or', ['||', 'or'], () => this.#logic('and', ['&&', 'and'], () => this.#not()));
  }

  #logic(kind: 'and' | 'or', signs: readonly string[], operand: () => Expr): Expr {
    const { start } = this.#token;
    const first = operand();
    const items = [first];
    while (this.#takes(...signs)) {
      this.#operands += 1;
      if (this.#operands >= MAX_OPERANDS)
        throw new ExpressionFault(
          { start, end: this.#token.end },
          `\`&&\` and \`||\` have more than ${MAX_OPERANDS} operands`,
        );
      items.push(operand());
    }
    if (items.length === 1) return first;
    return { kind, truth: 'boolean', items: items.map(asBoolean), at: this.#span(start) };
  }

  #not(): Expr {
    const { start } = this.#token;
    let isNegated = false;
    let count = 0;
    while (this.#takes('!', 'not')) {
      isNegated = !isNegated;
      count += 1;
    }
    const of = this.#comparison();
    if (count === 0) return of;
    const at = this.#span(start);
    const one: Expr = { kind: 'not', truth: 'boolean', of: asBoolean(of), at };
    return isNegated ? one : { kind: 'not', truth: 'boolean', of: one, at };
  }

  #comparison(): Expr {
    const { start } = this.#token;
    const left = this.#fallback();
    const sign = this.#token;
    if (this.#takes('in')) {
      const list = this.#fallback();
      return { kind: 'call', fn: 'contains', args: [list, left], at: this.#span(start) };
    }
    const op = sign.kind === 'sign' ? COMPARISONS[sign.text] : undefined;
    if (op === undefined) return left;
    this.#advance();
    const right = this.#fallback();
    if (op !== 'eq.deep' && op !== 'ne.deep') checkOrdered(sign, left, right);
    return { kind: 'compare', left, ops: [{ op, right }], at: this.#span(start) };
  }

  /** `a ?? b`: the second value in place of one that is null or not there. */
  #fallback(): Expr {
    const { start } = this.#token;
    let value = this.#calculation(SUMS, () => this.#calculation(PRODUCTS, () => this.#signed()));
    while (this.#takes('??')) {
      const other = this.#calculation(SUMS, () => this.#calculation(PRODUCTS, () => this.#signed()));
      value = fallbackOf(value, other, this.#span(start));
    }
    return value;
  }

  #calculation(operators: Readonly<Record<string, ArithmeticOp>>, operand: () => Expr): Expr {
    const { start } = this.#token;
    let left = operand();
    for (;;) {
      const { kind, text } = this.#token;
      const op = kind === 'sign' ? operators[text] : undefined;
      if (op === undefined) return left;
      this.#operands += 1;
      if (this.#operands >= MAX_OPERANDS)
        throw new ExpressionFault(
          { start, end: this.#token.end },
          `it has more than ${MAX_OPERANDS} operands`,
        );
      this.#advance();
      left = { kind: 'arithmetic', op, left, right: operand(), at: this.#span(start) };
    }
  }

  #signed(): Expr {
    const { start } = this.#token;
    if (!this.#takes('-')) return this.#primary();
    return this.#nested(() => {
      const of = this.#signed();
      const at = this.#span(start);
      return of.kind === 'literal' && typeof of.value === 'number'
        ? { kind: 'literal', value: 0 - of.value, at }
        : { kind: 'negate', of, at };
    });
  }

  #primary(): Expr {
    const token = this.#token;
    switch (token.kind) {
      case 'number':
        this.#advance();
        return this.#literal(numberOf(token), token);
      case 'text':
        this.#advance();
        return this.#literal(unquoted(token.text), token);
      case 'reference':
        return this.#reference();
      case 'word':
        return this.#word(token);
      case 'sign':
        if (token.text === '(') return this.#group();
        if (token.text === '[') return this.#list();
        throw this.#unexpected('a value');
      case 'end':
        throw this.#unexpected('a value');
      default:
        return token.kind satisfies never;
    }
  }

  #group(): Expr {
    return this.#nested(() => {
      this.#advance();
      const inner = this.#or();
      if (!this.#takes(')')) throw this.#unexpected('`)`');
      return inner;
    });
  }

  #list(): Expr {
    const { start } = this.#token;
    return this.#nested(() => {
      this.#advance();
      const items: { readonly value: Expr }[] = [];
      if (!this.#takes(']')) {
        do items.push({ value: this.#fallback() });
        while (this.#takes(','));
        if (!this.#takes(']')) throw this.#unexpected('`,` or `]`');
      }
      return { kind: 'list', items, at: this.#span(start) };
    });
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH)
      throw new ExpressionFault(this.#token, `brackets are nested deeper than ${MAX_DEPTH} levels`);
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #word(token: Token): Expr {
    const constant = CONSTANTS.get(token.text);
    this.#advance();
    if (constant !== undefined) return this.#literal(constant, token);
    const fn = FUNCTIONS.get(token.text);
    if (fn === undefined) {
      const near = nearestName(token.text, FUNCTIONS.keys());
      const instead =
        near === undefined ? `write \`$${token.text}\` or \`'${token.text}'\`` : `did you mean \`${near}\`?`;
      throw new ExpressionFault(token, `\`${token.text}\` is not a value (${instead})`);
    }
    return this.#call(token, fn);
  }

  #call(token: Token, fn: SpecFunction): Expr {
    if (!this.#takes('(')) throw this.#unexpected(`\`(\` behind \`${token.text}\``);
    const args = this.#nested(() => this.#arguments(fn));
    if (args.length !== fn.takes) {
      const problem = `\`${token.text}\` takes ${fn.takes === 1 ? 'one value' : `${fn.takes} values`}, not ${args.length}`;
      throw new ExpressionFault(token, problem);
    }
    const { keys, end } = restAt(this.#text.value, this.#token.end);
    this.#token = tokenAt(this.#text.value, end, this.#end);
    const at = this.#span(token.start);
    return this.#part(fn.lower(args, at), [...(fn.keys ?? []), ...keys], at);
  }

  /** The arguments up to the closing bracket, which remains. */
  #arguments(fn: SpecFunction): Expr[] {
    const args: Expr[] = [];
    const isEnd = (): boolean => this.#token.kind === 'sign' && this.#token.text === ')';
    if (isEnd()) return args;
    do args.push(this.#argument(fn, args.length));
    while (this.#takes(','));
    if (!isEnd()) throw this.#unexpected('`,` or `)`');
    return args;
  }

  #argument(fn: SpecFunction, index: number): Expr {
    if (fn.isQuestion === true) {
      if (this.#token.kind !== 'reference') throw this.#unexpected('a reference');
      return this.#pathOf('optional');
    }
    if (index === 0 || fn.ofItem === undefined) return this.#or();
    const use = this.#use;
    this.#use = fn.ofItem;
    this.#lists += 1;
    const body = this.#or();
    this.#lists -= 1;
    this.#use = use;
    return fn.ofItem === 'condition' ? asBoolean(body) : body;
  }

  /** A part of a value that was computed. A part that is not there is null in a condition, and an error elsewhere. */
  #part(of: Expr, keys: readonly (string | number)[], at: Expr['at'] & {}): Expr {
    if (keys.length === 0) return of;
    const find = this.#use === 'condition' ? 'optional' : 'strict';
    const value: Expr =
      of.kind === 'ref'
        ? keys.reduce<Expr>((whole, key) => readKey(whole, { kind: 'literal', value: key }, { at }), of)
        : {
            kind: 'let',
            name: 'value',
            value: of,
            body: { kind: 'ref', root: 'local', path: ['value', ...keys], find, at },
            at,
          };
    return find === 'optional' ? this.#nullable(value) : value;
  }

  #reference(): Expr {
    if (this.#use === 'condition') return this.#nullable(this.#pathOf('optional'));
    return this.#pathOf('strict');
  }

  /** The value of a path. A `?` behind it makes it optional, and null where it is not there. */
  #pathOf(find: 'strict' | 'optional'): Expr {
    const { start, text } = this.#token;
    const path = pathAt(this.#text.value, this.#token.end);
    if (path === undefined)
      throw new ExpressionFault({ start, end: start + text.length }, '`$` has no name behind it');
    let { end } = path;
    const isOptional = this.#text.value[end] === '?' && this.#text.value[end + 1] !== '?';
    if (isOptional) end += 1;
    if (text === '${') {
      if (this.#text.value[end] !== '}')
        throw new ExpressionFault({ start, end }, 'the reference has no `}`');
      end += 1;
    }
    const { name, keys } = path;
    const token: ReferenceToken = { start, end, name, keys, isOptional };
    this.#token = tokenAt(this.#text.value, end, this.#end);
    const at = this.#span(start, end);
    const findHere = isOptional ? 'optional' : find;
    const value: Expr =
      name === ITEM && this.#lists > 0
        ? { kind: 'ref', root: 'local', path: [ITEM, ...keys], find: findHere, at }
        : this.#references.reference(this.#text, token, findHere);
    return isOptional && find === 'strict' ? this.#nullable(value) : value;
  }

  #nullable(expr: Expr): Expr {
    return fallbackOf(expr, { kind: 'literal', value: null }, expr.at);
  }

  #literal(value: Json, { start, end }: Token): Expr {
    return { kind: 'literal', value, at: this.#span(start, end) };
  }

  /** Takes the token if it is one of these. */
  #takes(...texts: readonly string[]): boolean {
    const { kind, text } = this.#token;
    if ((kind !== 'sign' && kind !== 'word') || !texts.includes(text)) return false;
    this.#advance();
    return true;
  }

  #advance(): void {
    this.#token = tokenAt(this.#text.value, this.#token.end, this.#end);
  }

  #span(start: number, end = this.#lastEnd(start)) {
    const range = rangeIn(this.#text, { start, end });
    return this.#reports.source.span(range.start, range.end);
  }

  /** The end of what was read last: where the blanks before the next token begin. */
  #lastEnd(start: number): number {
    return start + this.#text.value.slice(start, this.#token.start).trimEnd().length;
  }

  #unexpected(wanted: string): ExpressionFault {
    const { kind, text, start, end } = this.#token;
    const actual = kind === 'end' ? 'the end' : `\`${text}\``;
    return new ExpressionFault(
      { start, end: Math.max(end, start + 1) },
      `expected ${wanted}, and found ${actual}`,
    );
  }
}

/** `<` and its like compare two numbers or two texts. */
function checkOrdered(sign: Token, left: Expr, right: Expr): void {
  const kinds = [left, right].map((each) => (each.kind === 'literal' ? kindOf(each.value) : undefined));
  const wrong = kinds.find((kind) => kind !== undefined && kind !== 'a number' && kind !== 'text');
  if (wrong !== undefined) {
    const problem = `\`${sign.text}\` compares two numbers or two texts, not ${wrong}`;
    throw new ExpressionFault(sign, problem);
  }
  const [one, other] = kinds;
  if (one !== undefined && other !== undefined && one !== other)
    throw new ExpressionFault(sign, `\`${sign.text}\` cannot compare ${one} with ${other}`);
}

function kindOf(value: Json | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? 'a boolean' : 'a list';
}

const TOKEN =
  /\s*(?:(?<number>(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.])|(?<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<word>[A-Za-z_][A-Za-z0-9_]*)|(?<reference>\$\{?)|(?<sign>&&|\|\||\?\?|[=!<>]=|[-+*/%!<>()[\],]))/y;

/** A fault of the text of an expression, which ends its parsing. */
class ExpressionFault extends Error {
  readonly start: number;
  readonly end: number;

  constructor({ start, end }: Part, problem: string) {
    super(problem);
    this.start = start;
    this.end = end;
  }
}

interface Token {
  readonly kind: 'number' | 'text' | 'word' | 'reference' | 'sign' | 'end';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the token at or after an index of a text, which ends at `limit`.
 *
 * @throws ExpressionFault
 */
function tokenAt(text: string, index: number, limit: number): Token {
  TOKEN.lastIndex = index;
  const start = index + (/^\s*/.exec(text.slice(index, limit))?.[0].length ?? 0);
  if (start >= limit) return { kind: 'end', text: '', start: limit, end: limit };
  const match = TOKEN.exec(text);
  if (match === null) throw new ExpressionFault({ start, end: start + 1 }, problemAt(text, start));
  const [kind, value] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
  const end = index + match[0].length;
  return { kind: kind as Token['kind'], text: value ?? '', start: end - (value?.length ?? 0), end };
}

function problemAt(text: string, start: number): string {
  const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
  if (character === "'" || character === '"') return `a text has no ${character} at its end`;
  if (character === '=') return 'a comparison is `==`';
  if (character === '&' || character === '|') return `write \`${character}${character}\``;
  return `\`${character}\` has no meaning in an expression`;
}

/** A number that JSON does not keep as it is written would compare with another one. */
function numberOf({ text, start, end }: Token): number {
  const value = Number(text);
  if (Number.isFinite(value) && (!/^\d+$/.test(text) || Number.isSafeInteger(value))) return value;
  throw new ExpressionFault({ start, end }, 'the number is not exact: use one below 2^53');
}

function unquoted(literal: string): string {
  return literal.slice(1, -1).replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** Words with a value of their own. */
const CONSTANTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
