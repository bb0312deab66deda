import { inlineText } from '../graph/expression/inline.js';

/** Longer lines make a chart that nobody can read. */
const MAX_LENGTH = 80;

/** What means something in a label: it is written as an entity. `#` begins one, a backtick a text in Markdown. */
const SPECIAL = /[#"<>&`\\]/g;

/** What Mermaid would take for a list. */
const LIST = /^(\d*)([-+*.])(?=\s)/;

/** Lines as a quoted label of Mermaid, none of them longer than 80 characters. */
export function label(lines: readonly string[]): string {
  return `"${lines.map((line) => escaped(cut(inlineText(line)))).join('<br/>')}"`;
}

function escaped(text: string): string {
  return text
    .replaceAll(SPECIAL, entity)
    .replace(LIST, (_, digits: string, mark: string) => digits + entity(mark));
}

function entity(char: string): string {
  return `#${char.charCodeAt(0)};`;
}

function cut(text: string): string {
  const characters = [...text];
  return characters.length > MAX_LENGTH ? `${characters.slice(0, MAX_LENGTH - 1).join('')}…` : text;
}
