import type { DictExpr, Expr, TextExpr } from './expression/tree.js';
import type { Json } from './json.js';
import type { Span } from './source-location.js';

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;
/** The characters of RFC 3986: unreserved, reserved and the percent sign. */
const ALLOWED = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]$/;
const HEX_PAIR = /^[0-9A-Fa-f]{2}$/;

/**
 * Says why a text is not an absolute URI (RFC 3986, section 4.3, a fragment allowed), as the end of a sentence:
 * `it has no scheme`. Nothing for a good one.
 */
export function uriFault(text: string): string | undefined {
  if (text === '') return 'it is empty';
  const colon = text.indexOf(':');
  const firstDelimiter = text.search(/[/?#]/);
  if (colon === -1 || (firstDelimiter !== -1 && firstDelimiter < colon)) return 'it has no scheme';
  const scheme = text.slice(0, colon);
  if (!SCHEME.test(scheme)) return `\`${scheme}\` is not a scheme`;
  if (text.length === colon + 1) return 'nothing follows the scheme';
  return characterFault(text);
}

function characterFault(text: string): string | undefined {
  let index = 0;
  for (const character of text) {
    if (!ALLOWED.test(character))
      return `it holds ${describeCharacter(character)}, which must be percent-encoded`;
    if (character === '%' && !HEX_PAIR.test(text.slice(index + 1, index + 3))) {
      return 'a `%` must be followed by two hexadecimal digits';
    }
    index += character.length;
  }
  return text.split('#').length > 2 ? 'it holds two `#`' : undefined;
}

function describeCharacter(character: string): string {
  if (character === ' ') return 'a space';
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 'a control character';
  return `\`${character}\``;
}

/** One stretch of a URI template: text as it is, which may be empty, or a variable. */
export type TemplatePart =
  | string
  | {
      readonly name: string;
      /** Whether the value keeps the reserved characters `/ ? #` as they are: `{+name}` and `{#name}`. */
      readonly reserved: boolean;
    };

const EXPRESSION = /\{([^{}]*)\}/g;
const VARIABLE = /^([+#]?)([A-Za-z_][A-Za-z0-9_]*)$/;

/**
 * The parts of a URI template (RFC 6570, level 2: `{name}`, `{+path}`, `{#part}`), or why the text is none, as the end
 * of a sentence. Rules beyond the RFC keep addresses readable in one way only.
 */
export function parseUriTemplate(
  text: string,
): { readonly parts: readonly TemplatePart[] } | { readonly why: string } {
  const parts: TemplatePart[] = [];
  const names = new Set<string>();
  let end = 0;
  for (const { 0: expression, 1: inside = '', index } of text.matchAll(EXPRESSION)) {
    const [, operator = '', name] = VARIABLE.exec(inside) ?? [];
    if (name === undefined)
      return { why: `it holds \`${expression}\`: a variable is written {name}, {+name} or {#name}` };
    if (names.has(name)) return { why: `it holds \`${name}\` twice` };
    if (index === end && index > 0 && operator !== '#')
      return { why: `\`${expression}\` follows a variable with no text between them` };
    names.add(name);
    parts.push(text.slice(end, index) + (operator === '#' ? '#' : ''), { name, reserved: operator !== '' });
    end = index + expression.length;
  }
  parts.push(text.slice(end));
  if (/[{}]/.test(text.replaceAll(EXPRESSION, ''))) return { why: 'it holds a brace without its other half' };
  if (names.size === 0) return { why: 'it holds no variable' };
  return { parts };
}

/** The names of a template's variables, in its order. */
export function variableNames(parts: readonly TemplatePart[]): readonly string[] {
  return parts.flatMap((part) => (typeof part === 'string' ? [] : part.name));
}

/** The address of a template, in which the values of its variables are percent-encoded. */
export function addressExpr(
  template: readonly TemplatePart[],
  valueFor: (name: string) => Expr,
  at: Span,
): TextExpr {
  const parts = template
    .filter((part) => part !== '')
    .map((part): string | Expr => {
      if (typeof part === 'string') return part;
      const value = valueFor(part.name);
      const fn = part.reserved ? 'uriReserved' : 'uriComponent';
      return { kind: 'call', at: value.at ?? at, fn, args: [value] };
    });
  return { kind: 'text', at, style: 'js', parts };
}

/** A resource link, as MCP defines it: it names the resource and does not read it. */
export function linkExpr(
  uri: Expr,
  about: Readonly<Record<'name' | 'title' | 'description' | 'mimeType', Json | undefined>>,
  at: Span,
): DictExpr {
  const { name, title, description, mimeType } = about;
  const texts = Object.entries({ name, title, description, mimeType });
  return {
    kind: 'dict',
    at,
    entries: [
      { key: 'type', value: { kind: 'literal', at, value: 'resource_link' } },
      { key: 'uri', value: uri },
      ...texts.flatMap(([key, value]) =>
        value === undefined ? [] : [{ key, value: { kind: 'literal', at, value } } as const],
      ),
    ],
  };
}
