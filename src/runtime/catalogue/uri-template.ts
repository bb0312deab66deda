/** One stretch of a URI template (RFC 6570, level 2): text as it is, or a variable. */
type Part =
  | { readonly kind: 'literal'; readonly text: string }
  | {
      readonly kind: 'variable';
      readonly name: string;
      /** Whether its value may hold the reserved characters `/ ? #` unencoded: `{+name}` and `{#name}`. */
      readonly reserved: boolean;
    };

/** The variables of an address, still percent-encoded or decoded. */
export type Variables = Readonly<Record<string, string>>;

/** Addresses longer than this match no template, in UTF-16 code units. */
const MAX_LENGTH = 8_192;

const EXPRESSION = /\{([^{}]*)\}/g;
const VARIABLE = /^([+#]?)([A-Za-z_][A-Za-z0-9_]*)$/;

/** A template of addresses, to be compared with addresses. */
export class UriTemplate {
  /** In the order of the template. */
  readonly names: readonly string[];
  readonly #parts: readonly Part[];

  private constructor(
    readonly text: string,
    parts: readonly Part[],
  ) {
    this.#parts = parts;
    this.names = parts.flatMap((part) => (part.kind === 'variable' ? [part.name] : []));
  }

  /** The template, or why the text is none, as the end of a sentence: ``it holds `{?q}`, …``. */
  static parse(text: string): UriTemplate | { readonly why: string } {
    const parts: Part[] = [];
    const names = new Set<string>();
    let end = 0;
    for (const { 0: expression, 1: inside = '', index } of text.matchAll(EXPRESSION)) {
      const [, operator, name] = VARIABLE.exec(inside) ?? [];
      if (name === undefined)
        return { why: `it holds \`${expression}\`: a variable is written {name}, {+name} or {#name}` };
      if (names.has(name)) return { why: `it holds \`${name}\` twice` };
      names.add(name);
      if (index === end && index > 0 && operator !== '#')
        return { why: `\`${expression}\` follows a variable with no text between them` };
      parts.push({ kind: 'literal', text: text.slice(end, index) + (operator === '#' ? '#' : '') });
      parts.push({ kind: 'variable', name, reserved: operator !== '' });
      end = index + expression.length;
    }
    const rest = text.slice(end);
    if (/[{}]/.test(text.replaceAll(EXPRESSION, '')))
      return { why: 'it holds a brace without its other half' };
    if (names.size === 0) return { why: 'it holds no variable' };
    parts.push({ kind: 'literal', text: rest });
    return new UriTemplate(text, parts);
  }

  /** The variables of an address as they stand in it, or nothing where it is not of this template. */
  match(uri: string): Variables | undefined {
    if (uri.length > MAX_LENGTH) return undefined;
    const reachable = this.#reachable(uri);
    const values: [string, string][] = [];
    let at = 0;
    for (const [index, part] of this.#parts.entries()) {
      if (reachable[index]?.[at] !== true) return undefined;
      if (part.kind === 'literal') {
        at += part.text.length;
        continue;
      }
      const from = at;
      // The shortest value after which the rest still fits.
      do at++;
      while (reachable[index + 1]?.[at] !== true);
      values.push([part.name, uri.slice(from, at)]);
    }
    return Object.fromEntries(values);
  }

  /** Per part and position, whether the parts from there on can make up the rest of the address: in linear time. */
  #reachable(uri: string): readonly (readonly boolean[])[] {
    const end = uri.length;
    let next: boolean[] = Array.from({ length: end + 1 }, (_, at) => at === end);
    const table = [next];
    for (const part of this.#parts.toReversed()) {
      const after = next;
      const current: boolean[] = Array.from({ length: end + 1 }, () => false);
      for (let at = end; at >= 0; at--) {
        current[at] =
          part.kind === 'literal'
            ? uri.startsWith(part.text, at) && after[at + part.text.length] === true
            : at < end &&
              mayHold(part.reserved, uri.charAt(at)) &&
              (after[at + 1] === true || current[at + 1] === true);
      }
      table.unshift(current);
      next = current;
    }
    return table;
  }
}

/** Braces are for templates: whoever asks for one has filled nothing in. */
function mayHold(reserved: boolean, character: string): boolean {
  if (character === '{' || character === '}') return false;
  return reserved || (character !== '/' && character !== '?' && character !== '#');
}
