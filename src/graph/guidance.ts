import { readKey } from './expression/traversal.js';
import type { Expr, TextExpr } from './expression/tree.js';
import type { Span } from './source-location.js';

/** A placeholder of a text: `{page.lines.0}`. */
export interface Placeholder {
  /** The text between the braces, without the blanks around it. */
  readonly text: string;
  /** The name it begins with, an identifier that may have dashes; missing where the placeholder is malformed. */
  readonly root?: string;
  /** Its location. */
  readonly at: Span;
}

/** A doubled brace, or a placeholder with its content. */
const PIECES = /\{\{|\}\}|\{([^{}]*)\}/g;
/** A binding, or an argument whose callers know it by a name with dashes. */
const ROOT = /^[\p{ID_Start}_$][\p{ID_Continue}$-]*$/u;
/** What a property or an index in a path looks like. */
export const PATH_SEGMENT = /^[\p{ID_Continue}$-]+$/u;
const INDEX = /^(?:0|[1-9][0-9]{0,14})$/;

/** The keys of a path such as `lines.0.title`, indexes as numbers; nothing for text that is none. */
export function parsePath(path: string): readonly (string | number)[] | undefined {
  const segments = path.split('.');
  if (!segments.every((segment) => PATH_SEGMENT.test(segment))) return undefined;
  return segments.map((segment) => (INDEX.test(segment) ? Number(segment) : segment));
}

/**
 * Turns guidance into text with values in it: `{name}` and `{name.field}` become values, doubled braces become single
 * ones, and a brace on its own stays. Beyond the name everything is optional, since a display never fails for what is
 * not there.
 *
 * @param find returns the value of the name that a placeholder begins with. A placeholder without a value is left out:
 *   `find` has reported it.
 * @param placeOf the location of a part of the text, by its offsets. Default: that of the whole text.
 * @param style `js` for text in a value: then everything that a placeholder names is required.
 */
export function guidanceText(
  text: string,
  at: Span,
  find: (placeholder: Placeholder) => Expr | undefined,
  placeOf: (start: number, end: number) => Span = () => at,
  style: TextExpr['style'] = 'display',
): TextExpr {
  const parts: (string | Expr)[] = [];
  let pending = '';
  let end = 0;
  const flush = (): void => {
    if (pending !== '') parts.push(pending);
    pending = '';
  };
  for (const match of text.matchAll(PIECES)) {
    pending += text.slice(end, match.index);
    end = match.index + match[0].length;
    const inner = match[1]?.trim();
    if (inner === undefined) {
      pending += match[0].slice(1);
      continue;
    }
    const place = placeOf(match.index, end);
    const [root, ...path] = parsePath(inner) ?? [];
    const isNamed = typeof root === 'string' && ROOT.test(root);
    const value = find({ text: inner, ...(isNamed ? { root } : {}), at: place });
    if (value === undefined) continue;
    flush();
    const optional = style === 'display';
    parts.push(path.reduce<Expr>((of, key) => read(of, key, place, optional), { ...value, at: place }));
  }
  pending += text.slice(end);
  flush();
  return { kind: 'text', at, style, parts };
}

function read(of: Expr, key: string | number, at: Span, optional: boolean): Expr {
  const literal = { kind: 'literal', at, value: key } as const;
  return optional ? { kind: 'get', at, of, key: literal, optional } : readKey(of, literal, { at });
}
