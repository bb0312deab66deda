import { defined } from '../../graph/defined.js';
import type { CompareOp, Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { nearestName } from '../../graph/names.js';
import type { LocatedText } from '../text/located.js';
import type { Reports } from '../text/reading.js';
import { type ReferenceLowering, rangeIn } from './lower-references.js';
import { pathAt, type ReferenceToken } from './parse-references.js';

/** How deep brackets of a condition may be nested. */
const MAX_DEPTH = 32;

/** How many operands `&&` and `||` of one condition may have: each is checked under the results of those before it. */
const MAX_OPERANDS = 256;

/** Functions of conditions: how many arguments they take, and the function of the expression language. */
const FUNCTIONS: Readonly<Record<string, { readonly fn: string; readonly takes: number }>> = {
  len: { fn: 'length', takes: 1 },
  exists: { fn: 'isPresent', takes: 1 },
  contains: { fn: 'contains', takes: 2 },
  startsWith: { fn: 'startsWith.js', takes: 2 },
  endsWith: { fn: 'endsWith.js', takes: 2 },
  lower: { fn: 'toLowerCase.js', takes: 1 },
  upper: { fn: 'toUpperCase.js', takes: 1 },
};

const COMPARISONS: Readonly<Record<string, CompareOp>> = {
  '==': 'eq.deep',
  '!=': 'ne.deep',
  '<': 'lt.js',
  '<=': 'le.js',
  '>': 'gt.js',
  '>=': 'ge.js',
};

const TOKEN =
  /\s*(?:(?<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.])|(?<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<word>[A-Za-z_][A-Za-z0-9_]*)|(?<reference>\$\{?)|(?<sign>&&|\|\||[=!<>]=|[!<>()[\],]))/y;

/** A fault of the text, which ends its parsing. */
class ConditionFault extends Error {
  readonly start: number;
  readonly end: number;

  constructor(start: number, end: number, problem: string) {
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
 * Makes the expression of a condition such as `$seats > 0 && $class != 'economy'`. Absent and missing values are null
 * in it. `undefined` for a faulty one, which is reported.
 */
export function lowerCondition(
  text: LocatedText,
  references: ReferenceLowering,
  reports: Reports,
): Expr | undefined {
  try {
    return new ConditionParser(text, references, reports).parse();
  } catch (fault) {
    if (!(fault instanceof ConditionFault)) throw fault;
    reports.report('SW5014', rangeIn(text, fault.start, fault.end), { problem: fault.message });
    return undefined;
  }
}

class ConditionParser {
  readonly #text: LocatedText;
  readonly #references: ReferenceLowering;
  readonly #reports: Reports;
  #token: Token;
  #depth = 0;
  #operands = 0;

  constructor(text: LocatedText, references: ReferenceLowering, reports: Reports) {
    this.#text = text;
    this.#references = references;
    this.#reports = reports;
    const braces = /\{\{|\$\{\{/.exec(text.value);
    if (braces !== null) {
      const problem = 'it is an expression already, and takes no `{{ … }}`';
      throw new ConditionFault(braces.index, braces.index + braces[0].length, problem);
    }
    this.#token = this.#tokenAt(0);
  }

  parse(): Expr {
    const expr = this.#or();
    if (this.#token.kind !== 'end') throw this.#unexpected('`&&`, `||` or a comparison');
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
        throw new ConditionFault(
          start,
          this.#token.end,
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
    const left = this.#primary();
    const sign = this.#token;
    if (this.#takes('in')) {
      const list = this.#primary();
      return { kind: 'call', fn: 'contains', args: [list, left], at: this.#span(start) };
    }
    const op = sign.kind === 'sign' ? COMPARISONS[sign.text] : undefined;
    if (op === undefined) return left;
    this.#advance();
    const right = this.#primary();
    if (op !== 'eq.deep' && op !== 'ne.deep') checkOrdered(sign, left, right);
    return { kind: 'compare', left, ops: [{ op, right }], at: this.#span(start) };
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
        return this.#nullable(this.#reference());
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
      const items = this.#sequence(']').map((value) => ({ value }));
      return { kind: 'list', items, at: this.#span(start) };
    });
  }

  #sequence(close: string): Expr[] {
    const items: Expr[] = [];
    if (this.#takes(close)) return items;
    do items.push(this.#primary());
    while (this.#takes(','));
    if (!this.#takes(close)) throw this.#unexpected(`\`,\` or \`${close}\``);
    return items;
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH)
      throw new ConditionFault(
        this.#token.start,
        this.#token.end,
        `brackets are nested deeper than ${MAX_DEPTH} levels`,
      );
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #word(token: Token): Expr {
    const constant = CONSTANTS.get(token.text);
    this.#advance();
    if (constant !== undefined) return this.#literal(constant, token);
    const fn = Object.hasOwn(FUNCTIONS, token.text) ? FUNCTIONS[token.text] : undefined;
    if (fn === undefined) {
      const near = nearestName(token.text, Object.keys(FUNCTIONS));
      const instead =
        near === undefined ? `write \`$${token.text}\` or \`'${token.text}'\`` : `did you mean \`${near}\`?`;
      throw new ConditionFault(token.start, token.end, `\`${token.text}\` is not a value (${instead})`);
    }
    return this.#call(token, fn);
  }

  #call(token: Token, { fn, takes }: { readonly fn: string; readonly takes: number }): Expr {
    if (!this.#takes('(')) throw this.#unexpected(`\`(\` behind \`${token.text}\``);
    const isQuestion = fn === 'isPresent';
    if (isQuestion && this.#token.kind !== 'reference') throw this.#unexpected('a reference');
    const args = this.#nested(() => {
      if (!isQuestion) return this.#sequence(')');
      const arg = this.#reference();
      if (!this.#takes(')')) throw this.#unexpected('`)`');
      return [arg];
    });
    if (args.length !== takes) {
      const problem = `\`${token.text}\` takes ${takes === 1 ? 'one value' : `${takes} values`}, not ${args.length}`;
      throw new ConditionFault(token.start, token.end, problem);
    }
    return { kind: 'call', fn, args, at: this.#span(token.start) };
  }

  #reference(): Expr {
    const { start, text } = this.#token;
    const path = pathAt(this.#text.value, this.#token.end);
    if (path === undefined) throw new ConditionFault(start, start + text.length, '`$` has no name behind it');
    let { end } = path;
    if (this.#text.value[end] === '?') end += 1;
    if (text === '${') {
      if (this.#text.value[end] !== '}') throw new ConditionFault(start, end, 'the reference has no `}`');
      end += 1;
    }
    const token: ReferenceToken = { start, end, name: path.name, keys: path.keys, isOptional: true };
    this.#token = this.#tokenAt(end);
    return this.#references.reference(this.#text, token, 'optional');
  }

  #nullable(expr: Expr): Expr {
    const none: Expr = { kind: 'literal', value: null };
    return {
      kind: 'call',
      fn: 'coalesce',
      args: [expr, none],
      ...defined({ at: expr.at }),
    };
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
    this.#token = this.#tokenAt(this.#token.end);
  }

  #tokenAt(index: number): Token {
    const text = this.#text.value;
    TOKEN.lastIndex = index;
    const match = TOKEN.exec(text);
    if (match === null) {
      const start = index + (/^\s*/.exec(text.slice(index))?.[0].length ?? 0);
      if (start >= text.length) return { kind: 'end', text: '', start: text.length, end: text.length };
      throw new ConditionFault(start, start + 1, problemAt(text, start));
    }
    const [kind, value] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
    const end = index + match[0].length;
    return { kind: kind as Token['kind'], text: value ?? '', start: end - (value?.length ?? 0), end };
  }

  #span(start: number, end = this.#lastEnd(start)) {
    const range = rangeIn(this.#text, start, end);
    return this.#reports.source.span(range.start, range.end);
  }

  /** The end of what was read last: where the blanks before the next token begin. */
  #lastEnd(start: number): number {
    return start + this.#text.value.slice(start, this.#token.start).trimEnd().length;
  }

  #unexpected(wanted: string): ConditionFault {
    const { kind, text, start, end } = this.#token;
    const actual = kind === 'end' ? 'the end' : `\`${text}\``;
    return new ConditionFault(start, Math.max(end, start + 1), `expected ${wanted}, and found ${actual}`);
  }
}

const CONSTANTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** A number that JSON does not keep as it is written would compare with another one. */
function numberOf({ text, start, end }: Token): number {
  const value = Number(text);
  if (Number.isFinite(value) && (!/^-?\d+$/.test(text) || Number.isSafeInteger(value))) return value;
  throw new ConditionFault(start, end, 'the number is not exact: use one below 2^53');
}

function problemAt(text: string, start: number): string {
  const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
  if (character === "'" || character === '"') return `a text has no ${character} at its end`;
  if (character === '=') return 'a comparison is `==`';
  if (character === '&' || character === '|') return `write \`${character}${character}\``;
  return `\`${character}\` has no meaning in a condition`;
}

function unquoted(literal: string): string {
  return literal.slice(1, -1).replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** An operand of `&&`, `||` or `!`: null counts as false. */
function asBoolean(expr: Expr): Expr {
  if (expr.kind === 'literal' && expr.value === null) return { ...expr, value: false };
  if (expr.kind !== 'call' || expr.fn !== 'coalesce') return expr;
  const [value] = expr.args;
  return value === undefined ? expr : { ...expr, args: [value, { kind: 'literal', value: false }] };
}

/** `<` and its like compare two numbers or two texts. */
function checkOrdered(sign: Token, left: Expr, right: Expr): void {
  const kinds = [left, right].map((each) => (each.kind === 'literal' ? kindOf(each.value) : undefined));
  const wrong = kinds.find((kind) => kind !== undefined && kind !== 'a number' && kind !== 'text');
  if (wrong !== undefined) {
    const problem = `\`${sign.text}\` compares two numbers or two texts, not ${wrong}`;
    throw new ConditionFault(sign.start, sign.end, problem);
  }
  const [one, other] = kinds;
  if (one !== undefined && other !== undefined && one !== other)
    throw new ConditionFault(sign.start, sign.end, `\`${sign.text}\` cannot compare ${one} with ${other}`);
}

function kindOf(value: Json | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? 'a boolean' : 'a list';
}
