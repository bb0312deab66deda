import { ExpressionParser, MAX_DEPTH } from './parse-expression.js';
import type { Block, Name, Place, Syntax } from './syntax.js';
import { type Piece, piecesOf, TemplateFault, type TemplateFaults, type Token } from './tokens.js';

/** Reads a template. An output with a fault is empty. @throws TemplateFault where the blocks have a fault */
export function parseTemplate(source: string, faults: TemplateFaults): readonly Block[] {
  return new TemplateParser(piecesOf(source), source.length, faults).template();
}

const REFUSED: Readonly<Record<string, string>> = {
  include: 'a template is one text: write the content here',
  import: 'there are no other templates: write the value here',
  from: 'there are no other templates: write the value here',
  extends: 'there are no other templates: write the content here',
  block: 'there are no other templates: write the content here',
  macro: 'write the text where it is used, or use `for`',
  call: 'there are no macros: write the text where it is used',
  do: 'values do not change: use `set`',
  autoescape: 'use the filter `escape`',
  break: 'give the loop a condition: `{% for x in xs if … %}`',
  continue: 'give the loop a condition: `{% for x in xs if … %}`',
};

class TemplateParser {
  readonly #pieces: readonly Piece[];
  readonly #end: number;
  readonly #faults: TemplateFaults;
  #next = 0;
  #depth = 0;

  constructor(pieces: readonly Piece[], end: number, faults: TemplateFaults) {
    this.#pieces = pieces;
    this.#end = end;
    this.#faults = faults;
  }

  template(): readonly Block[] {
    const { blocks, ending } = this.#until([], { start: 0, end: 1 });
    if (ending !== undefined)
      throw new TemplateFault(`\`${ending.word.value}\` has no beginning`, ending.word);
    return blocks;
  }

  /** Reads blocks up to a statement that starts with one of these words. */
  #until(
    words: readonly string[],
    opening: Place,
  ): { readonly blocks: readonly Block[]; readonly ending: Ending | undefined } {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH)
      throw new TemplateFault(`blocks are nested deeper than ${MAX_DEPTH} levels`, opening);
    const blocks: Block[] = [];
    for (;;) {
      const piece = this.#pieces[this.#next];
      if (piece === undefined) {
        if (words.length > 0) {
          const end = words.at(-1) ?? '';
          throw new TemplateFault(
            `\`${end.replace('end', '')}\` has no end`,
            opening,
            `write \`{% ${end} %}\` behind it`,
          );
        }
        this.#depth -= 1;
        return { blocks, ending: undefined };
      }
      this.#next += 1;
      if (piece.kind === 'data') blocks.push(piece);
      else if (piece.kind === 'output') {
        blocks.push(this.#faults.collect(() => outputOf(piece), emptyOutput(piece)));
      } else {
        const parser = new ExpressionParser(piece.tokens);
        const word = parser.word('the name of a statement');
        if (words.includes(word.value) || /^(?:end\w+|else|elif)$/.test(word.value)) {
          this.#depth -= 1;
          if (words.length > 0 && !words.includes(word.value))
            throw new TemplateFault(
              `\`${word.value}\` is out of place: \`${words.at(-1)}\` comes first`,
              word,
            );
          return { blocks, ending: { word, parser, end: piece.end } };
        }
        blocks.push(this.#statement(word, parser, piece));
      }
    }
  }

  #statement(word: Token, parser: ExpressionParser, place: Place): Block {
    const where = { start: place.start, end: place.end };
    switch (word.value) {
      case 'if':
        return this.#if(parser, where);
      case 'for':
        return this.#for(parser, where);
      case 'set':
        return this.#set(parser, where);
      case 'with': {
        const bindings: { name: Name; value: Syntax }[] = [];
        while (!parser.isAtEnd) {
          if (bindings.length > 0) parser.expect(',');
          const name = parser.name();
          parser.expect('=');
          bindings.push({ name, value: parser.expression() });
        }
        return { kind: 'with', bindings, body: this.#body('endwith', where), ...where };
      }
      case 'filter': {
        const filters = [parser.application()];
        while (parser.takes('|')) filters.push(parser.application());
        parser.end();
        return { kind: 'filter', filters, body: this.#body('endfilter', where), ...where };
      }
      default: {
        const hint = Object.hasOwn(REFUSED, word.value)
          ? REFUSED[word.value]
          : 'the statements are if, for, set, with, filter and raw';
        const what = Object.hasOwn(REFUSED, word.value)
          ? 'is not part of this language'
          : 'is not a statement';
        throw new TemplateFault(`\`${word.value}\` ${what}`, word, hint);
      }
    }
  }

  #body(end: string, where: Place): readonly Block[] {
    const { blocks, ending } = this.#until([end], where);
    ending?.parser.end();
    return blocks;
  }

  #if(parser: ExpressionParser, where: Place): Block {
    const cases: { test: Syntax; body: readonly Block[] }[] = [];
    let test: Syntax | undefined = parser.tuple();
    parser.end();
    let otherwise: readonly Block[] = [];
    for (;;) {
      const words: readonly string[] = test === undefined ? ['endif'] : ['elif', 'else', 'endif'];
      const { blocks, ending } = this.#until(words, where);
      if (test === undefined) otherwise = blocks;
      else cases.push({ test, body: blocks });
      if (ending?.word.value === 'elif') test = ending.parser.tuple();
      ending?.parser.end();
      if (ending?.word.value === 'endif' || ending === undefined)
        return { kind: 'if', cases, otherwise, start: where.start, end: ending?.end ?? this.#end };
      if (ending.word.value === 'else') test = undefined;
    }
  }

  #for(parser: ExpressionParser, where: Place): Block {
    const names = [parser.name()];
    while (parser.takes(',')) names.push(parser.name());
    parser.expectWord('in');
    const items = parser.tuple(false);
    const test = parser.takesWord('if') ? parser.expression() : undefined;
    const recursive = parser.peek;
    if (recursive.value === 'recursive')
      throw new TemplateFault('`recursive` is not part of this language', recursive);
    parser.end();
    const { blocks: body, ending } = this.#until(['else', 'endfor'], where);
    ending?.parser.end();
    const otherwise = ending?.word.value === 'else' ? this.#body('endfor', where) : [];
    return { kind: 'for', names, items, test, body, otherwise, ...where };
  }

  #set(parser: ExpressionParser, where: Place): Block {
    const names = [parser.name()];
    while (parser.takes(',')) names.push(parser.name());
    const dot = parser.peek;
    if (dot.value === '.')
      throw new TemplateFault('an attribute cannot be set', dot, 'values do not change: set a name');
    if (parser.takes('=')) {
      const value = parser.tuple();
      parser.end();
      return { kind: 'set', names, value, ...where };
    }
    parser.end();
    return { kind: 'set', names, value: this.#body('endset', where), ...where };
  }
}

function outputOf({ tokens, start, end }: Exclude<Piece, { kind: 'data' }>): Block {
  const parser = new ExpressionParser(tokens);
  const value = parser.tuple();
  parser.end();
  return { kind: 'output', value, start, end };
}

function emptyOutput({ start, end }: Place): Block {
  return { kind: 'output', value: { kind: 'literal', value: '', start, end }, start, end };
}

interface Ending {
  readonly word: Token;
  readonly parser: ExpressionParser;
  readonly end: number;
}
