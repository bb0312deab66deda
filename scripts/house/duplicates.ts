import type { SourceText } from '../../test/structure/source-files.js';

/** A line of code that counts: its text with white space folded, and its number. */
interface Line {
  readonly text: string;
  readonly number: number;
}

interface Place {
  readonly file: string;
  readonly lines: readonly Line[];
  readonly start: number;
}

/** Pairs of places that share more than `most` lines of code, as `a.ts:1-15 ~ b.ts:3-17`. */
export function duplicates(sources: readonly SourceText[], most: number): string[] {
  const places = new Map<string, Place[]>();
  const pairs: string[] = [];
  for (const { file, text } of sources) {
    const lines = linesOfCode(text);
    for (let start = 0; start + most < lines.length; start++) {
      const key = lines
        .slice(start, start + most + 1)
        .map((line) => line.text)
        .join('\n');
      const place = { file, lines, start };
      const earlier = places.get(key) ?? [];
      pairs.push(...earlier.flatMap((other) => pairOf(other, place) ?? []));
      places.set(key, [...earlier, place]);
    }
  }
  return pairs;
}

/** Undefined if the lines before are equal too, so that a pair is listed once, or if the places overlap. */
function pairOf(a: Place, b: Place): string | undefined {
  if (isSame(a, b, -1)) return undefined;
  let length = 0;
  while (isSame(a, b, length)) length++;
  if (a.lines === b.lines && a.start + length > b.start) length = b.start - a.start;
  return `${rangeOf(a, length)} ~ ${rangeOf(b, length)}`;
}

function isSame(a: Place, b: Place, offset: number): boolean {
  const text = a.lines[a.start + offset]?.text;
  return text !== undefined && text === b.lines[b.start + offset]?.text;
}

function rangeOf({ file, lines, start }: Place, length: number): string {
  return `${file}:${lines[start]?.number}-${lines[start + length - 1]?.number}`;
}

/** Without blank lines, comments and imports. */
function linesOfCode(text: string): Line[] {
  const blank = (part: string): string => part.replace(/[^\n]/g, '');
  const code = text
    .replace(/^\s*\/\*.*?\*\//gms, blank)
    .replace(/^\s*\/\/.*$/gm, blank)
    .replace(/^(?:import|export)\b[^;=(]*\bfrom '[^']*';$/gm, blank);
  return code
    .split('\n')
    .map((line, index) => ({ text: line.trim().replace(/\s+/g, ' '), number: index + 1 }))
    .filter((line) => line.text !== '');
}
