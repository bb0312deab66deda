import { overLimit, type Refusal, refused, type TextLimits } from './limits.js';

const NEWLINE = 10;
const RETURN = 13;
const TAB = 9;
const SPACE = 32;
const CHAR = (text: string): number => text.charCodeAt(0);
const [HASH, COLON, DASH, QUESTION, COMMA] = [CHAR('#'), CHAR(':'), CHAR('-'), CHAR('?'), CHAR(',')];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [CHAR('['), CHAR(']'), CHAR('{'), CHAR('}')];
const [QUOTE, APOSTROPHE, BACKSLASH] = [CHAR('"'), CHAR("'"), CHAR('\\')];
const [ANCHOR, ALIAS, TAG, LITERAL, FOLDED, PERCENT] = [
  CHAR('&'),
  CHAR('*'),
  CHAR('!'),
  CHAR('|'),
  CHAR('>'),
  CHAR('%'),
];

/** Characters that may end a plain text, outside of brackets and within. They are searched: most of a file is text. */
const PLAIN_END = /:(?=[ \t\r\n]|$)|[ \t]#|\n/g;
const PLAIN_END_IN_FLOW = /:(?=[ \t\r\n,[\]{}]|$)|[ \t]#|[,[\]{}\n]/g;

/**
 * Bounds a YAML text in one pass over its characters: nesting, tokens and aliases. The parser of `yaml` is recursive, and
 * its errors grow with what is wrong. Where it is in doubt whether a bracket is within a text, it counts the bracket;
 * behind a text or brackets that end where the parser may see another end, it counts them all.
 */
export function scanYaml(text: string, limits: TextLimits): Refusal | undefined {
  return new YamlScan(text, limits).run();
}

class YamlScan {
  readonly #text: string;
  readonly #limits: TextLimits;
  #index = 0;
  #lineStart = 0;
  #refusal: Refusal | undefined;
  #tokens = 0;
  #aliases = 0;
  /** Brackets that are open. */
  #flow = 0;
  /** Brackets in texts that may be none. */
  #doubtful = 0;
  /** Columns of the block collections that are open. */
  readonly #blocks: number[] = [];
  /** Whether a plain text may go on in the next line, and the column that its lines are behind. */
  #isPlain = false;
  #plainColumn = -1;
  /** The column of the last `-`, `?` or `:` that a collection of this line begins with; -1 without one. */
  #indicator = -1;
  /** The column of one that is behind something else, which is a fault. */
  #lateIndicator = -1;
  /** Whether the text before may still go on here, so that a quote may be a character of it. */
  #isDoubtful = false;
  /** Whether that text is outside of brackets, so that they may be characters of it as well. */
  #isBlockDoubt = false;
  /** Whether a `:` here belongs to the key before it, blank or not. */
  #isFlowKey = false;
  /** The column that the content of the outermost bracket is behind. */
  #flowColumn = -1;
  /** Whether a key or an indicator of this line holds the token. Without one a block text has no sure indentation. */
  #isHeld = false;
  /** Whether the parser may see other texts than this pass. */
  #isLost = false;

  constructor(text: string, limits: TextLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  run(): Refusal | undefined {
    const { length } = this.#text;
    while (this.#index < length && this.#refusal === undefined) this.#line();
    return this.#refusal;
  }

  #line(): void {
    const start = this.#index;
    this.#lineStart = start;
    const column = this.#spaces();
    const code = this.#code(this.#index);
    if (this.#isLineEnd(this.#index) || code === HASH) {
      this.#skipLine();
      return;
    }
    if (code === PERCENT && column === 0 && this.#flow === 0) {
      this.#refusal = refused(start, 'a directive (`%`)', 'remove it: files are YAML 1.2');
      return;
    }
    this.#isDoubtful = this.#isPlain && (this.#flow > 0 || column > this.#plainColumn);
    this.#isBlockDoubt = this.#isDoubtful && this.#flow === 0;
    const isClosing = code === CLOSE_LIST || code === CLOSE_MAP;
    if (this.#flow > 0 && !isClosing && column <= this.#flowColumn) this.#isLost = true;
    if (this.#isLost) {
      this.#lostLine();
      return;
    }
    this.#tokensOfLine(this.#flow === 0 ? this.#openBlocks(column) : column);
    if (this.#isLineEnd(this.#index)) this.#skipLine();
  }

  /** Counts every bracket of a line. */
  #lostLine(): void {
    const end = this.#lineEnd();
    for (; this.#index < end; this.#index += 1) {
      const code = this.#code(this.#index);
      if (code === OPEN_LIST || code === OPEN_MAP || this.#isIndicator(this.#index)) {
        this.#doubtful += 1;
        this.#checkDepth();
      }
    }
    this.#skipLine();
  }

  /** Opens the block collections that begin on this line, and returns the column of the innermost one. */
  #openBlocks(column: number): number {
    while ((this.#blocks.at(-1) ?? -1) >= column) this.#blocks.pop();
    this.#open(column);
    let innermost = column;
    this.#indicator = -1;
    while (this.#isIndicator(this.#index)) {
      this.#count();
      const before = this.#index;
      this.#indicator = innermost;
      this.#index += 1;
      this.#blanks();
      if (this.#isLineEnd(this.#index)) break;
      innermost += this.#index - before;
      this.#open(innermost);
    }
    return innermost;
  }

  #open(column: number): void {
    this.#blocks.push(column);
    this.#checkDepth();
  }

  #checkDepth(keys = 0): void {
    const depth = this.#flow + this.#doubtful + this.#blocks.length + keys;
    if (depth > this.#limits.depth)
      this.#refusal ??= overLimit(this.#index, 'levels of nesting', this.#limits.depth);
  }

  #count(): void {
    this.#tokens += 1;
    if (this.#tokens > this.#limits.tokens)
      this.#refusal ??= overLimit(this.#index, 'tokens', this.#limits.tokens);
  }

  #tokensOfLine(block: number): void {
    let keys = 0;
    this.#lateIndicator = -1;
    this.#isPlain = false;
    while (this.#refusal === undefined) {
      this.#blanks();
      if (this.#isLineEnd(this.#index)) return;
      const code = this.#code(this.#index);
      // Between tokens the parser takes it for a comment without a blank as well.
      if (code === HASH && (!this.#isPlain || this.#isBlankBefore(this.#index))) {
        this.#skipLine();
        return;
      }
      if (this.#isPlain && !this.#endsPlain(code)) {
        this.#passPlain();
        continue;
      }
      this.#isPlain = false;
      if (code === COLON && this.#isKeyEnd()) {
        keys += 1;
        this.#index += 1;
        this.#isDoubtful = false;
        this.#isBlockDoubt = false;
        this.#isFlowKey = false;
        // The value of a key on one line may be another key.
        if (this.#flow === 0) this.#checkDepth(keys - 1);
        continue;
      }
      this.#count();
      const parent = keys > 0 ? block : this.#parent();
      this.#isHeld = keys > 0 || this.#indicator >= 0;
      this.#plainColumn = parent;
      if (this.#token(code, parent)) return;
    }
  }

  /** The column of what a value at the start of this line is in; -1 at the top of the file. */
  #parent(): number {
    return this.#indicator >= 0 ? this.#indicator : (this.#blocks.at(-2) ?? -1);
  }

  /** Reads a token. True if the line is over. */
  #token(code: number, parent: number): boolean {
    switch (code) {
      case OPEN_LIST:
      case OPEN_MAP:
        this.#index += 1;
        if (this.#flow === 0) this.#flowColumn = Math.max(parent, 0);
        this.#flow += 1;
        this.#isDoubtful = this.#isBlockDoubt;
        this.#isFlowKey = false;
        this.#checkDepth();
        return false;
      case CLOSE_LIST:
      case CLOSE_MAP:
        this.#index += 1;
        this.#flow = Math.max(0, this.#flow - 1);
        this.#isDoubtful = this.#isBlockDoubt;
        this.#isFlowKey = true;
        return false;
      case COMMA:
        this.#index += 1;
        if (this.#flow === 0) this.#isPlain = true;
        else this.#isDoubtful = this.#isBlockDoubt;
        this.#isFlowKey = false;
        return false;
      case QUOTE:
      case APOSTROPHE:
        this.#quoted(code, parent);
        this.#isFlowKey = true;
        return false;
      case ALIAS:
        this.#aliases += 1;
        if (this.#aliases > this.#limits.aliases)
          this.#refusal ??= overLimit(this.#index, 'aliases', this.#limits.aliases);
        this.#word();
        return false;
      case ANCHOR:
        this.#word();
        return false;
      case TAG:
        this.#word();
        // A tag may end earlier, and a text begin.
        this.#isDoubtful = true;
        return false;
      case LITERAL:
      case FOLDED:
        if (this.#flow > 0 || this.#isDoubtful || !this.#isHeld) {
          this.#isPlain = true;
          return false;
        }
        this.#blockText(Math.max(parent, this.#lateIndicator));
        return true;
      case DASH:
      case QUESTION:
        if (this.#isIndicator(this.#index)) {
          this.#lateIndicator = this.#index - this.#lineStart;
          this.#index += 1;
          return false;
        }
        this.#isPlain = true;
        return false;
      default:
        this.#isPlain = true;
        this.#isFlowKey = false;
        this.#index += 1;
        return false;
    }
  }

  /** Goes to where a plain text may end in this line. */
  #passPlain(): void {
    const end = this.#flow > 0 ? PLAIN_END_IN_FLOW : PLAIN_END;
    end.lastIndex = this.#index + 1;
    this.#index = end.exec(this.#text)?.index ?? this.#text.length;
  }

  #endsPlain(code: number): boolean {
    if (code !== COLON) return this.#flow > 0 && isFlowIndicator(code);
    const next = this.#index + 1;
    return this.#isBlank(next) || (this.#flow > 0 && isFlowIndicator(this.#code(next)));
  }

  /** Whether the `:` here ends a key. */
  #isKeyEnd(): boolean {
    return this.#endsPlain(COLON) || (this.#flow > 0 && this.#isFlowKey);
  }

  /** Passes a quoted text. Brackets count in one that may be none, and behind its first line. */
  #quoted(quote: number, parent: number): void {
    let counts = this.#isDoubtful;
    let index = this.#index + 1;
    const { length } = this.#text;
    for (; index < length; index += 1) {
      const code = this.#code(index);
      if (code === quote) {
        if (quote === QUOTE || this.#code(index + 1) !== APOSTROPHE) break;
        index += 1;
      } else if (code === NEWLINE) {
        counts = true;
        this.#isLost ||= this.#isOutdented(index + 1, parent);
      } else if (code === BACKSLASH && quote === QUOTE && this.#code(index + 1) !== NEWLINE) index += 1;
      else if (counts && (code === OPEN_LIST || code === OPEN_MAP)) {
        this.#doubtful += 1;
        this.#checkDepth();
      }
    }
    this.#index = Math.min(index + 1, length);
    if (this.#isLost) this.#lostLine();
  }

  /** Whether a line that goes on with a text is indented too little for it. */
  #isOutdented(start: number, parent: number): boolean {
    let index = start;
    while (this.#code(index) === SPACE) index += 1;
    return !this.#isLineEnd(index) && index - start <= parent;
  }

  /** Passes a block text: the lines that are indented more than what holds it, and as much as the first one. */
  #blockText(holder: number): void {
    this.#skipLine();
    let indent = holder + 1;
    for (let isFirst = true; this.#index < this.#text.length; this.#skipLine()) {
      const start = this.#index;
      const column = this.#spaces();
      if (this.#isLineEnd(this.#index)) continue;
      if (column < indent) {
        this.#index = start;
        return;
      }
      if (isFirst) indent = column;
      isFirst = false;
    }
  }

  #word(): void {
    while (!this.#isBlank(this.#index) && !isFlowIndicator(this.#code(this.#index))) this.#index += 1;
  }

  /** `-`, `?` or `:` before a blank. */
  #isIndicator(index: number): boolean {
    const code = this.#code(index);
    return (code === DASH || code === QUESTION || code === COLON) && this.#isBlank(index + 1);
  }

  #isBlank(index: number): boolean {
    const code = this.#code(index);
    return code === SPACE || code === TAB || this.#isLineEnd(index);
  }

  #isBlankBefore(index: number): boolean {
    return index === 0 || this.#isBlank(index - 1);
  }

  #isLineEnd(index: number): boolean {
    const code = this.#code(index);
    return code === NEWLINE || Number.isNaN(code) || (code === RETURN && this.#code(index + 1) === NEWLINE);
  }

  #spaces(): number {
    const start = this.#index;
    while (this.#code(this.#index) === SPACE) this.#index += 1;
    return this.#index - start;
  }

  #blanks(): void {
    for (let code = this.#code(this.#index); code === SPACE || code === TAB; code = this.#code(this.#index))
      this.#index += 1;
  }

  #lineEnd(): number {
    const end = this.#text.indexOf('\n', this.#index);
    return end === -1 ? this.#text.length : end;
  }

  #skipLine(): void {
    this.#index = Math.min(this.#lineEnd() + 1, this.#text.length);
  }

  #code(index: number): number {
    return this.#text.charCodeAt(index);
  }
}

function isFlowIndicator(code: number): boolean {
  return (
    code === COMMA || code === OPEN_LIST || code === CLOSE_LIST || code === OPEN_MAP || code === CLOSE_MAP
  );
}
