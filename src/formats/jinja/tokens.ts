import type { Place } from './syntax.js';

/** A fault of a template, and where it is: offsets into the template, in UTF-16 code units. */
export class TemplateFault extends Error {
  readonly start: number;
  readonly end: number;
  /** What to write instead. */
  readonly hint: string | undefined;
  /** The correct name in the place of the one between the offsets, if only one is near. */
  readonly suggestion: string | undefined;
  /** The other faults of the template, in the order of their places. */
  further: readonly TemplateFault[] = [];

  constructor(message: string, { start, end }: Place, hint?: string, suggestion?: string) {
    super(message);
    this.name = 'TemplateFault';
    this.start = start;
    this.end = Math.max(end, start + 1);
    this.hint = hint;
    this.suggestion = suggestion;
  }
}

/** The most faults of one template that are reported. */
const MAX_FAULTS = 20;

/** The faults of one template, of which each part is read in spite of faults in others. */
export class TemplateFaults {
  readonly #faults: TemplateFault[] = [];

  /** Returns what `work` returns, or `otherwise` where it throws a fault. */
  collect<T>(work: () => T, otherwise: T): T {
    try {
      return work();
    } catch (fault) {
      if (!(fault instanceof TemplateFault)) throw fault;
      if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
      return otherwise;
    }
  }

  /** @throws TemplateFault the first one, with the further ones. */
  throwAny(): void {
    const [first, ...further] = this.#faults.sort((one, other) => one.start - other.start);
    if (first === undefined) return;
    first.further = further;
    throw first;
  }
}

export type TokenKind = 'name' | 'int' | 'float' | 'text' | 'operator' | 'end';

/** A token of an expression. `value` is the value of a text, and the source of all others. */
export interface Token {
  readonly kind: TokenKind;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** A piece of a template: text, or what is between `{{ }}` or `{% %}`. */
export type Piece =
  | { readonly kind: 'data'; readonly text: string; readonly start: number; readonly end: number }
  | {
      readonly kind: 'output' | 'statement';
      readonly tokens: readonly Token[];
      readonly start: number;
      readonly end: number;
    };

const OPENING = /\{\{|\{%|\{#/g;
const CLOSINGS = { '{{': '}}', '{%': '%}' } as const;

export function hasTemplate(text: string): boolean {
  return /\{[{%#]/.test(text);
}

/** Splits a template. White space control is done. @throws TemplateFault */
export function piecesOf(source: string): Piece[] {
  // One line end at the end of a template is not a part of it.
  const template = source.includes('\r')
    ? source.replace(/\r\n|\r/g, (match) => (match === '\r\n' ? ' \n' : '\n'))
    : source;
  const pieces: Piece[] = [];
  let at = 0;
  let stripNext = false;
  const data = (to: number, strip: boolean): void => {
    let text = source.slice(at, to);
    if (template !== source) text = text.replace(/\r\n|\r/g, '\n');
    if (stripNext) text = text.trimStart();
    if (strip) text = text.trimEnd();
    if (to === source.length && text.endsWith('\n')) text = text.slice(0, -1);
    if (text !== '') pieces.push({ kind: 'data', text, start: at, end: to });
    stripNext = false;
  };
  for (;;) {
    OPENING.lastIndex = at;
    const match = OPENING.exec(template);
    if (match === null) break;
    const start = match.index;
    const mark = match[0] as '{{' | '{%' | '{#';
    const sign = template.charAt(start + 2);
    data(start, sign === '-');
    const inner = start + 2 + (sign === '-' || sign === '+' ? 1 : 0);
    if (mark === '{#') {
      const end = template.indexOf('#}', inner);
      if (end === -1)
        throw new TemplateFault('the comment has no end', { start, end: start + 2 }, 'write `#}` behind it');
      stripNext = template.charAt(end - 1) === '-';
      at = end + 2;
      continue;
    }
    const raw = mark === '{%' ? /^\s*raw\s*([-+]?)%\}/.exec(template.slice(inner)) : null;
    if (raw !== null) {
      at = inner + raw[0].length;
      stripNext = raw[1] === '-';
      const close = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
      close.lastIndex = at;
      const ending = close.exec(template);
      if (ending === null)
        throw new TemplateFault('`raw` has no end', { start, end: at }, 'write `{% endraw %}` behind it');
      data(ending.index, ending[1] === '-');
      at = ending.index + ending[0].length;
      stripNext = ending[2] === '-';
      continue;
    }
    const { tokens, end, strips } = tokensOf(template, inner, CLOSINGS[mark], start);
    pieces.push({ kind: mark === '{{' ? 'output' : 'statement', tokens, start, end });
    stripNext = strips;
    at = end;
  }
  data(source.length, false);
  return pieces;
}

const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const NUMBER = /\d+(?:_\d+)*(?:\.\d+(?:_\d+)*)?(?:[eE][+-]?\d+)?/y;
const RADIX = /0(?:[xX][\da-fA-F_]+|[bB][01_]+|[oO][0-7_]+)/y;
const OPERATOR = /\/\/|\*\*|==|!=|<=|>=|[-+*/%~<>=().,:[\]{}|]/y;

function tokensOf(
  template: string,
  from: number,
  closing: string,
  opening: number,
): { readonly tokens: readonly Token[]; readonly end: number; readonly strips: boolean } {
  const tokens: Token[] = [];
  let at = from;
  let depth = 0;
  for (;;) {
    while (/\s/.test(template.charAt(at))) at += 1;
    if (at >= template.length)
      throw new TemplateFault(
        `\`${template.slice(opening, opening + 2)}\` has no end`,
        { start: opening, end: opening + 2 },
        `write \`${closing}\` behind it`,
      );
    const sign = /[-+]/.test(template.charAt(at)) ? 1 : 0;
    // A `}` inside a dict closes it first.
    const closes = template.startsWith(closing, at + sign) && (closing === '%}' || depth === 0);
    if (closes) {
      tokens.push({ kind: 'end', value: '', start: at, end: at });
      return { tokens, end: at + sign + 2, strips: sign === 1 && template.charAt(at) === '-' };
    }
    const token = tokenAt(template, at);
    if (/^[([{]$/.test(token.value) && token.kind === 'operator') depth += 1;
    if (/^[)\]}]$/.test(token.value) && token.kind === 'operator') depth -= 1;
    tokens.push(token);
    at = token.end;
  }
}

function tokenAt(template: string, start: number): Token {
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = start;
    return pattern.exec(template)?.[0];
  };
  const character = template.charAt(start);
  const isRaw = character === 'r' && /['"]/.test(template.charAt(start + 1));
  if (isRaw || character === "'" || character === '"') return textAt(template, start, isRaw);
  const name = take(NAME);
  if (name !== undefined) return { kind: 'name', value: name, start, end: start + name.length };
  const radix = take(RADIX);
  if (radix !== undefined) {
    const value = String(Number(radix.replaceAll('_', '')));
    return { kind: 'int', value, start, end: start + radix.length };
  }
  const number = take(NUMBER);
  if (number !== undefined) {
    const kind = /[.eE]/.test(number) ? 'float' : 'int';
    return { kind, value: number.replaceAll('_', ''), start, end: start + number.length };
  }
  const operator = take(OPERATOR);
  if (operator !== undefined)
    return { kind: 'operator', value: operator, start, end: start + operator.length };
  const shown = String.fromCodePoint(template.codePointAt(start) ?? 0);
  const hint = { '&': 'write `and`', '!': 'write `not`', '?': 'write `a if c else b`' }[shown];
  throw new TemplateFault(
    `\`${shown}\` is not part of an expression`,
    { start, end: start + shown.length },
    hint,
  );
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{
    n: '\n',
    t: '\t',
    r: '\r',
    '\\': '\\',
    "'": "'",
    '"': '"',
    a: '\u0007',
    b: '\b',
    f: '\f',
    v: '\v',
    0: '\0',
  },
};

/** A text in quotes. In `r'…'` a backslash is a backslash. */
function textAt(template: string, start: number, isRaw: boolean): Token {
  const open = start + (isRaw ? 1 : 0);
  const quote = template.charAt(open);
  let value = '';
  for (let at = open + 1; at < template.length; at += 1) {
    const character = template.charAt(at);
    if (character === quote) return { kind: 'text', value, start, end: at + 1 };
    if (character !== '\\') {
      value += character;
      continue;
    }
    const letter = template.charAt(at + 1);
    const code = /^(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2}))/.exec(
      template.slice(at + 1, at + 10),
    );
    if (isRaw) value += `\\${letter}`;
    else if (code !== null) {
      value += String.fromCodePoint(
        Math.min(0x10ffff, Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '0', 16)),
      );
      at += code[0].length;
      continue;
    } else if (letter === '\n') value += '';
    else value += Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : `\\${letter}`;
    at += 1;
  }
  throw new TemplateFault(
    'the text has no end',
    { start, end: template.length },
    `write \`${quote}\` behind it`,
  );
}
