import type { Applied, Name, Syntax } from './syntax.js';
import { TemplateFault, type Token } from './tokens.js';

/** Expressions and blocks nested deeper than this are refused. */
export const MAX_DEPTH = 60;

const COMPARISONS = new Set(['==', '!=', '<', '<=', '>', '>=']);
const CONSTANTS: Readonly<Record<string, boolean | null>> = {
  ...{ true: true, True: true, false: false, False: false, none: null, None: null },
};

/** Reads the tokens of one expression, by precedence as Jinja has it. */
export class ExpressionParser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get peek(): Token {
    return this.#tokens[this.#at] as Token;
  }

  get isAtEnd(): boolean {
    return this.peek.kind === 'end';
  }

  end(): void {
    if (!this.isAtEnd) throw this.#unexpected('the end of the tag');
  }

  takes(operator: string): boolean {
    const isIt = this.peek.kind === 'operator' && this.peek.value === operator;
    if (isIt) this.#at += 1;
    return isIt;
  }

  takesWord(word: string): boolean {
    const isIt = this.peek.kind === 'name' && this.peek.value === word;
    if (isIt) this.#at += 1;
    return isIt;
  }

  expect(operator: string): void {
    if (!this.takes(operator)) throw this.#unexpected(`\`${operator}\``);
  }

  expectWord(word: string): void {
    if (!this.takesWord(word)) throw this.#unexpected(`\`${word}\``);
  }

  word(what: string): Token {
    const token = this.peek;
    if (token.kind !== 'name') throw this.#unexpected(what);
    this.#at += 1;
    return token;
  }

  name(): Name {
    const { value, start, end } = this.word('a name');
    return { name: value, start, end };
  }

  #unexpected(expected: string): TemplateFault {
    const { kind, value, start, end } = this.peek;
    const actual = kind === 'end' ? 'the end of the tag' : `\`${value}\``;
    return new TemplateFault(`${expected} is expected, not ${actual}`, { start, end });
  }

  /** One expression, or several with commas between as a list. */
  tuple(withCondition = true): Syntax {
    const first = withCondition ? this.expression() : this.#or();
    if (this.peek.value !== ',' || this.peek.kind !== 'operator') return first;
    const items = [first];
    while (this.takes(',')) {
      if (this.#isClosed) break;
      items.push(withCondition ? this.expression() : this.#or());
    }
    return { kind: 'list', items, start: first.start, end: items.at(-1)?.end ?? first.end };
  }

  get #isClosed(): boolean {
    const { kind, value } = this.peek;
    return kind === 'end' || (kind === 'operator' && value === ')');
  }

  expression(): Syntax {
    return this.#nested(() => {
      let value = this.#or();
      while (this.takesWord('if')) {
        const test = this.#or();
        const otherwise = this.takesWord('else') ? this.expression() : undefined;
        value = {
          kind: 'conditional',
          test,
          // biome-ignore lint/suspicious/noThenProperty: as in the tree
          then: value,
          otherwise,
          start: value.start,
          end: (otherwise ?? test).end,
        };
      }
      return value;
    });
  }

  #or(): Syntax {
    return this.#words('or', () => this.#words('and', () => this.#not()));
  }

  #words(op: 'or' | 'and', operand: () => Syntax): Syntax {
    let left = operand();
    while (this.takesWord(op)) left = binary(op, left, operand());
    return left;
  }

  #not(): Syntax {
    const { start } = this.peek;
    if (!this.takesWord('not')) return this.#compare();
    return this.#nested(() => {
      const of = this.#not();
      return { kind: 'not', of, start, end: of.end };
    });
  }

  /** Counts brackets, and operators that nest without them: `not not not …`. */
  #nested(read: () => Syntax): Syntax {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH)
      throw new TemplateFault(`the expression is nested deeper than ${MAX_DEPTH} levels`, this.peek);
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #compare(): Syntax {
    const left = this.#sum();
    const ops: { op: string; right: Syntax }[] = [];
    for (;;) {
      const { kind, value } = this.peek;
      if (kind === 'operator' && COMPARISONS.has(value)) this.#at += 1;
      else if (this.takesWord('in')) {
        ops.push({ op: 'in', right: this.#sum() });
        continue;
      } else if (value === 'not' && this.#tokens[this.#at + 1]?.value === 'in') {
        this.#at += 2;
        ops.push({ op: 'not in', right: this.#sum() });
        continue;
      } else break;
      ops.push({ op: value, right: this.#sum() });
    }
    return ops.length === 0
      ? left
      : { kind: 'compare', left, ops, start: left.start, end: ops.at(-1)?.right.end ?? left.end };
  }

  #operators(signs: readonly string[], operand: () => Syntax): Syntax {
    let left = operand();
    for (;;) {
      const { kind, value } = this.peek;
      if (kind !== 'operator' || !signs.includes(value)) return left;
      this.#at += 1;
      left = binary(value, left, operand());
    }
  }

  #sum(): Syntax {
    return this.#operators(['+', '-'], () =>
      this.#operators(['~'], () => this.#operators(['*', '/', '//', '%'], () => this.#unary())),
    );
  }

  /** A sign binds closer than a filter: `-5 | abs` is 5. */
  #unary(withFilter = true): Syntax {
    const { start } = this.peek;
    const kind = this.takes('-') ? 'negate' : this.takes('+') ? 'plus' : undefined;
    let value: Syntax;
    if (kind === undefined) value = this.#primary();
    else
      value = this.#nested(() => {
        const of = this.#unary(false);
        return { kind, of, start, end: of.end };
      });
    value = this.#postfix(value);
    if (this.takes('**')) value = binary('**', value, this.#unary(false));
    return withFilter ? this.#filters(value) : value;
  }

  #primary(): Syntax {
    const token = this.peek;
    const { kind, value, start, end } = token;
    const where = { start, end };
    if (kind === 'end') throw this.#unexpected('an expression');
    this.#at += 1;
    switch (kind) {
      case 'name':
        if (Object.hasOwn(CONSTANTS, value))
          return { kind: 'literal', value: CONSTANTS[value] ?? null, ...where };
        return { kind: 'name', name: value, ...where };
      case 'int': {
        const number = Number(value);
        if (!Number.isSafeInteger(number))
          throw new TemplateFault('whole numbers beyond 2^53 - 1 are not exact', where);
        return { kind: 'literal', value: number, ...where };
      }
      case 'float': {
        const number = Number(value);
        if (!Number.isFinite(number)) throw new TemplateFault('the number is too large', where);
        return { kind: 'float', value: number, ...where };
      }
      case 'text': {
        let text = value;
        let last = end;
        // Texts side by side are one.
        while (this.peek.kind === 'text') {
          text += this.peek.value;
          last = this.peek.end;
          this.#at += 1;
        }
        return { kind: 'literal', value: text, start, end: last };
      }
      default:
        return this.#bracket(token);
    }
  }

  #bracket({ value, start, end }: Token): Syntax {
    if (value === '(') {
      if (this.takes(')')) return { kind: 'list', items: [], start, end: end + 1 };
      const inner = this.tuple();
      const close = this.peek.end;
      this.expect(')');
      return { ...inner, start, end: close };
    }
    if (value === '[') {
      const items = this.#separated(']', () => this.expression());
      return { kind: 'list', items, start, end: this.#previousEnd };
    }
    if (value === '{') {
      const entries = this.#separated('}', () => {
        const key = this.expression();
        this.expect(':');
        return { key, value: this.expression() };
      });
      return { kind: 'dict', entries, start, end: this.#previousEnd };
    }
    this.#at -= 1;
    throw this.#unexpected('an expression');
  }

  get #previousEnd(): number {
    return this.#tokens[this.#at - 1]?.end ?? 0;
  }

  #separated<T>(close: string, read: () => T): T[] {
    const items: T[] = [];
    while (!this.takes(close)) {
      if (items.length > 0) {
        this.expect(',');
        if (this.takes(close)) break;
      }
      items.push(read());
    }
    return items;
  }

  #postfix(start: Syntax): Syntax {
    let of = start;
    for (;;) {
      if (this.takes('.')) {
        const token = this.peek;
        if (token.kind !== 'name' && token.kind !== 'int') throw this.#unexpected('a name');
        this.#at += 1;
        const { start: from, end, value } = token;
        of =
          token.kind === 'int'
            ? {
                kind: 'item',
                of,
                key: { kind: 'literal', value: Number(value), start: from, end },
                start: of.start,
                end,
              }
            : { kind: 'attribute', of, name: { name: value, start: from, end }, start: of.start, end };
      } else if (this.takes('[')) of = this.#subscript(of);
      else if (this.takes('(')) {
        const values = this.#arguments();
        of = { kind: 'call', of, ...values, start: of.start, end: this.#previousEnd };
      } else return of;
    }
  }

  #subscript(of: Syntax): Syntax {
    const bounds: (Syntax | undefined)[] = [];
    let isSlice = false;
    let part: Syntax | undefined;
    while (!this.takes(']')) {
      if (this.takes(':')) {
        isSlice = true;
        bounds.push(part);
        part = undefined;
      } else if (part === undefined) part = this.expression();
      else throw this.#unexpected('`]`');
    }
    const end = this.#previousEnd;
    if (isSlice) return { kind: 'slice', of, bounds: [...bounds, part], start: of.start, end };
    if (part === undefined) throw new TemplateFault('the index is missing', { start: of.end, end });
    return { kind: 'item', of, key: part, start: of.start, end };
  }

  #arguments(): Pick<Applied, 'args' | 'named'> {
    const args: Syntax[] = [];
    const named: { name: Name; value: Syntax }[] = [];
    this.#separated(')', () => {
      const star = this.peek;
      if (star.kind === 'operator' && /^\*\*?$/.test(star.value))
        throw new TemplateFault('arguments cannot be unpacked', star, 'write each argument');
      const next = this.#tokens[this.#at + 1];
      if (star.kind === 'name' && next?.kind === 'operator' && next.value === '=') {
        const name = this.name();
        this.expect('=');
        named.push({ name, value: this.expression() });
      } else if (named.length > 0) throw this.#unexpected('an argument with a name');
      else args.push(this.expression());
    });
    return { args, named };
  }

  #filters(start: Syntax): Syntax {
    let of = start;
    for (;;) {
      if (this.takes('|')) {
        const filter = this.application();
        of = { kind: 'filter', of, filter, start: of.start, end: filter.end };
      } else if (this.takesWord('is')) {
        const isNot = this.takesWord('not');
        const test = this.#test();
        of = { kind: 'test', of, test, isNot, start: of.start, end: test.end };
      } else if (this.peek.value === '(' && this.peek.kind === 'operator' && of.kind === 'filter') {
        throw this.#unexpected('the end of the filter');
      } else return of;
    }
  }

  /** A filter with its arguments. */
  application(): Applied {
    const name = this.name();
    const values = this.takes('(') ? this.#arguments() : { args: [], named: [] };
    return { ...name, ...values, end: this.#previousEnd };
  }

  /** A test. Its one argument may come without brackets: `is divisibleby 3`. */
  #test(): Applied {
    const name = this.name();
    if (this.takes('(')) return { ...name, ...this.#arguments(), end: this.#previousEnd };
    const { kind, value } = this.peek;
    const isWord = kind === 'name' && !['else', 'or', 'and', 'is', 'in', 'not', 'if'].includes(value);
    const startsArgument =
      isWord ||
      kind === 'int' ||
      kind === 'float' ||
      kind === 'text' ||
      (kind === 'operator' && /^[[{]$/.test(value));
    if (!startsArgument) return { ...name, args: [], named: [] };
    const argument = this.#postfix(this.#primary());
    return { ...name, args: [argument], named: [], end: argument.end };
  }
}

function binary(op: string, left: Syntax, right: Syntax): Syntax {
  return { kind: 'binary', op, left, right, start: left.start, end: right.end };
}
