import { parseTemplate } from '../../jinja/parser.js';
import type { Block, Syntax } from '../../jinja/syntax.js';
import { hasTemplate, TemplateFaults } from '../../jinja/tokens.js';
import type { LocatedText } from '../../text/located.js';
import { rangeIn } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import { writtenRange } from './templates.js';

/** Filters with a result that a shell reads as one word, or as separate words on purpose. */
const QUOTING: ReadonlySet<string> = new Set(['shq', 'quote', 'shargs']);

/** Filters with a result in which a shell finds no word of its own, and the one that leaves a value as it is on purpose. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['int', 'float', 'length', 'count', 'hash', 'round', 'wordcount', 'raw_shell'],
]);

/** A value in a command, and the quotes of the shell around it. */
interface Insertion {
  readonly value: Syntax;
  readonly start: number;
  readonly end: number;
  readonly quote: '"' | "'" | undefined;
  /** The offset of the opening quote. */
  readonly opening: number;
}

/**
 * Reports values in a command that a shell could read as more than one word. A value in quotes of the shell is not safe
 * either, and must not be quoted twice.
 */
export function checkShellQuoting(reports: Reports, command: LocatedText, step: string): void {
  if (!hasTemplate(command.value)) return;
  let blocks: readonly Block[];
  try {
    blocks = parseTemplate(command.value, new TemplateFaults());
  } catch {
    // The fault is reported where the command is lowered.
    return;
  }
  const insertions: Insertion[] = [];
  collect(blocks, new QuoteScanner(), insertions);
  for (const insertion of insertions) check(reports, command, step, insertion);
}

function check(reports: Reports, command: LocatedText, step: string, insertion: Insertion): void {
  const { value, start, end, quote } = insertion;
  const filter = value.kind === 'filter' ? value.filter.name : undefined;
  if (value.kind === 'literal' || value.kind === 'float' || (filter !== undefined && PLAIN.has(filter)))
    return;
  if (value.kind === 'attribute' && value.of.kind === 'name' && value.of.name === 'loop') return;
  const isQuoted = filter !== undefined && QUOTING.has(filter);
  if (isQuoted && quote === undefined) return;
  const range = rangeIn(command, start, end);
  const source = command.value.slice(start, end);
  const quoted = isQuoted ? source : withFilter(source);
  const edit = editOf(reports, command, insertion, quoted);
  if (isQuoted) {
    const problem = `has \`${source}\` inside ${quote === '"' ? 'double' : 'single'} quotes, which become a part of the value`;
    reports.report(
      'SW5011',
      range,
      { node: step, problem },
      { hint: `write \`${quoted}\` without quotes`, edit },
    );
    return;
  }
  const instead =
    quote === undefined
      ? `write \`${quoted}\`, or \`| raw_shell\` for several words on purpose; \`argv\` needs no quotes`
      : `quotes do not protect it: write \`${quoted}\` without quotes`;
  reports.report('SW5033', range, { ref: source, key: 'command', what: 'a command', instead }, { edit });
}

function withFilter(output: string): string {
  const [, open = '{{', value = '', close = '}}'] =
    /^(\{\{[-+]?)\s*([\s\S]*?)\s*([-+]?\}\})$/.exec(output) ?? [];
  // A filter applies to the last operand.
  const whole = /^[\w.[\]'"]+(?:\s*\|\s*\w+(?:\([^()]*\))?)*$/.test(value) ? value : `(${value})`;
  return `${open} ${whole} | shq ${close}`;
}

/** The edit that quotes a value, where the quotes around it hold no other text. */
function editOf(
  reports: Reports,
  command: LocatedText,
  { start, end, quote, opening }: Insertion,
  quoted: string,
) {
  const isAlone = quote !== undefined && opening === start - 1 && command.value[end] === quote;
  if (quote !== undefined && !isAlone) return undefined;
  if (writtenRange(reports, command, start, end) === undefined) return undefined;
  const [from, to] = isAlone ? [start - 1, end + 1] : [start, end];
  const range = { start: command.offsetAt(from), end: command.offsetAt(to) };
  return reports.edit(range, quoted);
}

/** Follows the quotes of a shell through a command. */
class QuoteScanner {
  quote: '"' | "'" | undefined;
  opening = 0;

  read(text: string, start: number): void {
    for (let index = 0; index < text.length; index += 1) {
      const character = text.charAt(index);
      if (character === '\\' && this.quote !== "'") index += 1;
      else if (this.quote === undefined && (character === '"' || character === "'")) {
        this.quote = character;
        this.opening = start + index;
      } else if (character === this.quote) this.quote = undefined;
    }
  }
}

function collect(blocks: readonly Block[], scanner: QuoteScanner, insertions: Insertion[]): void {
  for (const block of blocks) {
    switch (block.kind) {
      case 'data':
        scanner.read(block.text, block.start);
        break;
      case 'output':
        insertions.push({ ...block, quote: scanner.quote, opening: scanner.opening });
        break;
      case 'if':
        for (const { body } of block.cases) collect(body, scanner, insertions);
        collect(block.otherwise, scanner, insertions);
        break;
      case 'for':
        collect(block.body, scanner, insertions);
        collect(block.otherwise, scanner, insertions);
        break;
      case 'with':
      case 'filter':
        collect(block.body, scanner, insertions);
        break;
      case 'set':
        break;
      default:
        block satisfies never;
    }
  }
}
