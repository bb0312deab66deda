/** What a spec file may be. More is refused before the text reaches a parser. */
export interface TextLimits {
  /** Length in UTF-16 code units. */
  readonly length: number;
  /** Values inside each other. */
  readonly depth: number;
  /** Scalars, keys and brackets of YAML and JSON, or elements of XML. */
  readonly tokens: number;
  /** Aliases of YAML. */
  readonly aliases: number;
  /** Values behind aliases, counted each time. */
  readonly expanded: number;
  /** Attributes of one element of XML. */
  readonly attributes: number;
}

/** Limits of files of the project. */
export const FILE_LIMITS: TextLimits = {
  length: 1_048_576,
  depth: 64,
  tokens: 200_000,
  aliases: 50,
  expanded: 20_000,
  attributes: 64,
};

/** Limits of text that others wrote. */
export const UNTRUSTED_LIMITS: TextLimits = { ...FILE_LIMITS, length: 262_144 };

/** Limits of XML: it is read more slowly. */
export const XML_LIMITS: TextLimits = { ...UNTRUSTED_LIMITS, tokens: 20_000 };

/** Why a text is refused, at an offset. */
export interface Refusal {
  readonly offset: number;
  /** `nesting`, with `limit`, or a construct, with its reason. */
  readonly why:
    | { readonly kind: 'limit'; readonly what: string; readonly limit: number }
    | { readonly kind: 'construct'; readonly what: string; readonly instead: string };
}

export function overLimit(offset: number, what: string, limit: number): Refusal {
  return { offset, why: { kind: 'limit', what, limit } };
}

export function refused(offset: number, what: string, instead: string): Refusal {
  return { offset, why: { kind: 'construct', what, instead } };
}
