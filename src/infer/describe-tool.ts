import { clipText, singleLine } from '../graph/printable-text.js';
import type { PlanningHints } from './tool.js';

/** The longest box, in UTF-16 code units. */
const BOX_LIMIT = 600;

/** The longest line of a box that is shortened. */
const LINE_LIMIT = 120;

/** A box at the end of a description, as {@link describeTool} writes it. */
const BOX = /\n(?: {2}├─ [^\n]*\n)* {2}└─ [^\n]*$/;

/**
 * A description with the tool's hints in a box below it. A box that it has already is replaced. Lines of a box that is
 * too long are shortened, then left out from the end.
 */
export function describeTool(description: string, hints: PlanningHints | undefined): string {
  const bare = description.replace(BOX, '');
  const lines = hints === undefined ? [] : linesOf(hints);
  const short = boxOf(lines).length > BOX_LIMIT ? lines.map((line) => clipText(line, LINE_LIMIT)) : lines;
  while (boxOf(short).length > BOX_LIMIT) short.pop();
  return short.length === 0 ? bare : `${bare}\n${boxOf(short)}`;
}

function linesOf({ category, requires, outputs, next, hint, examples }: PlanningHints): string[] {
  const line = (title: string, texts: readonly string[] = []): string[] =>
    texts.length === 0 ? [] : [`${title}: ${singleLine(texts.join(', '))}`];
  return [
    ...line('Category', category === undefined ? [] : [category]),
    ...line('Requires', requires),
    ...line('Outputs', outputs),
    ...line('Next', next),
    ...line('Hint', hint === undefined ? [] : [hint]),
    ...line(
      'Examples',
      examples?.map((example) => (typeof example === 'string' ? example : JSON.stringify(example))),
    ),
  ];
}

function boxOf(lines: readonly string[]): string {
  return lines.map((line, index) => `  ${index === lines.length - 1 ? '└─' : '├─'} ${line}`).join('\n');
}
