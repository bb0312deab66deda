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
