import { expect } from 'vitest';

/** A part of a conversation, as a reader who knows its shape sees it. */
export interface Part {
  readonly head: string;
  /** The value of a part that ends in JSON, the text of one that ends in a frame. */
  readonly value?: unknown;
}

/** How the parts of a conversation begin, and what follows: JSON, a frame, or nothing. */
const HEADS: readonly (readonly [RegExp, 'json' | 'frame' | 'none'])[] = [
  [/^I want to .*$/, 'none'],
  [/^Parameters:$/, 'none'],
  [/^ {2}- \w+: (?=")/, 'json'],
  [/^Here's my plan:$/, 'none'],
  [/^\d+\. [\w ]+( - .*)?$/, 'none'],
  [/^Say (?=.)/, 'none'],
  [/^Calling tool '\w+' with parameters:\n/, 'json'],
  [/^Tool result:\n/, 'json'],
  [/^I'll fetch the required resources for \w+\.\.\.$/, 'none'],
  [/^Resource content from \S+ \((\d+) characters\):\n(`{3,})\n/, 'frame'],
  [/^Error executing tool: (?=.)/, 'none'],
  [/^Attempt \d+ of \d+ failed: (?=.)/, 'none'],
  [/^Step '\w+' continues with its fallback value:\n/, 'json'],
  [/^Step '\w+' asks for a text: (?=")/, 'json'],
  [/^Workflow 'world' is not over: it waits for this:$/, 'none'],
  [/^The answer is JSON that fits this schema: (?=\{)/, 'json'],
  [/^To answer, call tool 'submit_result' with (?=\{)/, 'json'],
];

/** Reads texts as one, line by line: every line belongs to a part, or is blank. */
export function readTrace(texts: readonly string[]): Part[] {
  const parts: Part[] = [];
  let rest = `${texts.join('\n')}\n`;
  while (rest !== '') {
    if (rest.startsWith('\n')) {
      rest = rest.slice(1);
      continue;
    }
    const found = HEADS.map(([head, body]) => [new RegExp(head.source, 'm').exec(rest), body] as const).find(
      ([match]) => match?.index === 0,
    );
    const [match, body] = found ?? [null, 'none'];
    if (match === null) throw new Error(`no part begins with ${JSON.stringify(rest.slice(0, 200))}`);
    rest = rest.slice(match[0].length);
    const head = match[0].replace(/ \(\d+ characters\):\n`+\n$/, '');
    if (body === 'none') {
      rest = rest.slice(rest.indexOf('\n') + 1);
      parts.push({ head });
    } else if (body === 'json') {
      const json = jsonAt(rest);
      rest = rest.slice(json.length);
      parts.push({ head, value: JSON.parse(json) });
    } else {
      const [, length, fence = ''] = match;
      const end = rest.indexOf(`\n${fence}\n`);
      const value = rest.slice(0, end);
      expect(value.length).toBe(Number(length));
      rest = rest.slice(end + fence.length + 2);
      parts.push({ head, value });
    }
  }
  return parts;
}

/** The JSON that a text begins with: strings know where they end, and every bracket belongs to a structure. */
function jsonAt(text: string): string {
  let depth = 0;
  let length = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\\n]|\\.)*"|[^"]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    length += token.length;
    if (depth === 0) break;
  }
  return text.slice(0, length);
}
