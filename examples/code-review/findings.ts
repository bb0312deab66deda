/** Something in a text that a reviewer should look at. */
export interface Finding {
  /** Counted from 1 */
  line: number;
  rule: 'long-line' | 'todo-marker' | 'deep-nesting' | 'mixed-indentation';
  severity: 'warning' | 'note';
  message: string;
}

/** The longest line that is not reported, in characters. */
export const MAX_LINE_LENGTH = 100;

/** The deepest indentation that is not reported, in levels: the class, its method, and three inside. */
export const MAX_DEPTH = 5;

const MARKER = /\b(TODO|FIXME|XXX|HACK)\b/;
const TICKET = /\b[A-Z]{2,}-\d+\b|#\d+\b/;

/**
 * What a look at the text alone shows, in the order of the lines. The language is not parsed: nesting is told by the
 * indentation, and a marker counts wherever it stands.
 */
export function findingsIn(code: string): Finding[] {
  const lines = code.split(/\r?\n/);
  const unit = indentationUnit(lines);
  const firstIndent = lines
    .map((line) => /^[\t ]/.exec(line)?.[0])
    .find((character) => character !== undefined);
  let depthBefore = 0;
  return lines.flatMap((text, index) => {
    const line = index + 1;
    const findings: Finding[] = [];
    const length = [...text].length;
    if (length > MAX_LINE_LENGTH) {
      const message = `${length} characters, more than ${MAX_LINE_LENGTH}`;
      findings.push({ line, rule: 'long-line', severity: 'note', message });
    }
    const marker = MARKER.exec(text)?.[0];
    if (marker !== undefined && !TICKET.test(text)) {
      const message = `${marker} without a ticket`;
      findings.push({ line, rule: 'todo-marker', severity: 'warning', message });
    }
    if (text.trim() === '') return findings;
    const indent = /^[\t ]*/.exec(text)?.[0] ?? '';
    if (indent !== '' && firstIndent !== undefined && !indent.startsWith(firstIndent)) {
      const message = 'indented with other characters than the lines before';
      findings.push({ line, rule: 'mixed-indentation', severity: 'warning', message });
    }
    const depth = depthOf(indent, unit);
    // The first line of a deep block stands for all of it.
    if (depth > MAX_DEPTH && depthBefore <= MAX_DEPTH) {
      const message = `${depth} levels deep, more than ${MAX_DEPTH}`;
      findings.push({ line, rule: 'deep-nesting', severity: 'warning', message });
    }
    depthBefore = depth;
    return findings;
  });
}

/** How many spaces make a level: the smallest indentation there is, or 2 where a single space is aligned text. */
function indentationUnit(lines: readonly string[]): number {
  const widths = lines.flatMap((line) => {
    const width = /^ *(?=\S)/.exec(line)?.[0].length ?? 0;
    return width > 1 ? [width] : [];
  });
  return widths.length === 0 ? 2 : Math.min(...new Set(widths));
}

function depthOf(indent: string, unit: number): number {
  const tabs = indent.split('\t').length - 1;
  return tabs + Math.floor((indent.length - tabs) / unit);
}
