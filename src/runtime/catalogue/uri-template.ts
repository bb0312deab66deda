import { parseUriTemplate, type TemplatePart, variableNames } from '../../graph/uri-template.js';

/** The variables of an address, still percent-encoded or decoded. */
export type Variables = Readonly<Record<string, string>>;

/** Addresses longer than this match no template, in UTF-16 code units. */
const MAX_LENGTH = 8_192;

/** A template of addresses, to be compared with addresses. */
export class UriTemplate {
  /** In the order of the template. */
  readonly names: readonly string[];
  readonly #parts: readonly TemplatePart[];

  private constructor(
    readonly text: string,
    parts: readonly TemplatePart[],
  ) {
    this.#parts = parts;
    this.names = variableNames(parts);
  }

  /** The template, or why the text is none, as the end of a sentence: ``it holds `{?q}`, …``. */
  static parse(text: string): UriTemplate | { readonly why: string } {
    const parsed = parseUriTemplate(text);
    return 'why' in parsed ? parsed : new UriTemplate(text, parsed.parts);
  }

  /** The variables of an address as they stand in it, or nothing where it is not of this template. */
  match(uri: string): Variables | undefined {
    if (uri.length > MAX_LENGTH) return undefined;
    const reachable = this.#reachable(uri);
    const values: [string, string][] = [];
    let at = 0;
    for (const [index, part] of this.#parts.entries()) {
      if (reachable[index]?.[at] !== true) return undefined;
      if (typeof part === 'string') {
        at += part.length;
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
          typeof part === 'string'
            ? uri.startsWith(part, at) && after[at + part.length] === true
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
