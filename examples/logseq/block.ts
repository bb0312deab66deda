/** One bullet of a page: a single line of text, and the id that Logseq knows the block by. */
export interface Block {
  readonly id: string;
  readonly text: string;
}

/** Where a block stands. `file` is relative to the graph folder, `line` counts from 1. */
export interface BlockPlace {
  readonly file: string;
  readonly line: number;
}

const LINK_OR_MARK = /\[\[[^[\]]+\]\]|\[\[|\]\]|\{\{|\}\}/g;

/** An open task that belongs to a page: its {@link taskText} under an id. */
export function taskBlock(id: string, pageName: string, task: string): Block {
  return { id, text: taskText(pageName, task) };
}

/**
 * An open task as the text of a block. The task becomes one line, so it cannot start a block or a property of its
 * own; whole `[[links]]` in it stay links, stray double brackets and `{{macros}}` are escaped.
 */
export function taskText(pageName: string, task: string): string {
  const text = oneLine(task).replace(LINK_OR_MARK, (mark) =>
    mark.length > 2 ? mark : mark.replace(/./g, '\\$&'),
  );
  return `TODO [[${pageName}]] ${text}`;
}

/** All white space and control characters, line breaks among them, become single spaces. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** The block as Logseq stores it at the top level of a file, with the file's own line ending. */
export function printBlock(block: Block, lineEnd: '\n' | '\r\n'): string {
  return `- ${block.text}${lineEnd}  id:: ${block.id}${lineEnd}`;
}

/** The line of the block with this id, counting from 1, or `undefined` where the text does not hold it. */
export function lineOfBlock(text: string, id: string): number | undefined {
  const lines = text.split(/\r?\n/);
  const property = lines.findIndex((line) => line.trim() === `id:: ${id}`);
  if (property < 0) return undefined;
  const bullet = lines.slice(0, property).findLastIndex((line) => /^\s*-(\s|$)/.test(line));
  return (bullet < 0 ? property : bullet) + 1;
}

/** A block with others under it. */
export interface Outline {
  readonly text: string;
  readonly children: readonly string[];
}

/** A new page as Logseq stores it: its properties, then its blocks. Every text becomes one line. */
export function printPage(properties: Readonly<Record<string, string>>, blocks: readonly Outline[]): string {
  const top = Object.entries(properties).map(([key, value]) => `${key}:: ${oneLine(value)}`);
  const rest = blocks.flatMap(({ text, children }) => [
    `- ${oneLine(text)}`,
    ...children.map((child) => `\t- ${oneLine(child)}`),
  ]);
  const gap = top.length > 0 && rest.length > 0 ? [''] : [];
  return [...top, ...gap, ...rest].map((line) => `${line}\n`).join('');
}
