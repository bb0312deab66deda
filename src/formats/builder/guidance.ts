import type { Expr } from '../../graph/expression/tree.js';
import type { Span } from '../../graph/place.js';
import { parsePath } from './names.js';

/** A doubled brace, or a placeholder with what stands in it. */
const PARTS = /\{\{|\}\}|\{([^{}]*)\}/g;

/**
 * Turns guidance into text with values in it. `{name}` and `{name.field}` stand for an argument or an earlier binding,
 * doubled braces for braces.
 * @param find gives what a name stands for; nothing for one that has been reported.
 */
export function lowerGuidance(text: string, find: (name: string) => Expr | undefined, at: Span): Expr {
  const parts: (string | Expr)[] = [];
  let pending = '';
  let end = 0;
  const flush = (): void => {
    if (pending !== '') parts.push(pending);
    pending = '';
  };
  for (const match of text.matchAll(PARTS)) {
    pending += text.slice(end, match.index);
    end = match.index + match[0].length;
    const written = match[1];
    if (written === undefined) {
      pending += match[0].slice(1);
      continue;
    }
    const value = placeholder(written.trim(), find, at);
    if (value === undefined) continue;
    flush();
    parts.push(value);
  }
  pending += text.slice(end);
  flush();
  return { kind: 'text', style: 'display', parts, at };
}

function placeholder(name: string, find: (name: string) => Expr | undefined, at: Span): Expr | undefined {
  const [root, ...path] = parsePath(name) ?? [];
  const found = find(typeof root === 'string' ? root : name);
  // A display never fails for what is not there: beyond the first name everything is optional.
  return (
    found &&
    path.reduce<Expr>(
      (of, key) => ({ kind: 'get', of, key: { kind: 'literal', value: key, at }, optional: true, at }),
      { ...found, at },
    )
  );
}
