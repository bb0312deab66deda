import { FILE_LIMITS, overLimit, type Refusal, refused, type TextLimits, XML_LIMITS } from './limits.js';
import { SourceText } from './located.js';
import type { XmlMapping } from './read-xml.js';
import { type Reader, type ReadText, Reports } from './reading.js';

/** The formats of spec files. */
export type TextFormat = 'yaml' | 'json' | 'xml';

/** The readers, loaded when a file of their format is read. */
const readers: Readonly<Record<TextFormat, (xml?: XmlMapping) => Promise<Reader>>> = {
  yaml: async () => (await import('./read-yaml.js')).readYaml,
  json: async () => (await import('./read-json.js')).readJson,
  xml: async (mapping) => {
    const { readXml } = await import('./read-xml.js');
    return (source, limits) => readXml(source, limits, mapping);
  },
};

const EXTENSIONS: Readonly<Record<string, TextFormat>> = {
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.json': 'json',
  '.xml': 'xml',
};

/** The format of a file by its extension. */
export function formatOf(file: string): TextFormat | undefined {
  return EXTENSIONS[/\.[^./\\]+$/.exec(file)?.[0].toLowerCase() ?? ''];
}

export interface ReadOptions {
  /** As diagnostics name it. */
  readonly file: string;
  readonly format: TextFormat;
  /** Default: those of files of the project. XML has a smaller size in any case. */
  readonly limits?: TextLimits;
  /** What the elements of XML mean. Default: nothing. */
  readonly xml?: XmlMapping;
}

/** A text that was read, with what its places are made of. */
export interface ReadSource extends ReadText {
  readonly source: SourceText;
}

/**
 * Reads a text into located values. Faults are diagnostics: all of them, except those that follow from the syntax.
 * What passes a limit is refused before it reaches a parser. Never throws for a text.
 */
export async function readText(
  text: string,
  { file, format, limits = FILE_LIMITS, xml }: ReadOptions,
): Promise<ReadSource> {
  // What is too long is not looked at.
  const source = new SourceText(file, text.length > limits.length ? '' : text.replace(/^\ufeff/, ''));
  const own = format === 'xml' ? smaller(limits, XML_LIMITS) : limits;
  const reports = new Reports(source);
  const refusal = text.length > own.length ? overLimit(0, 'characters', own.length) : refusalOf(source.text);
  if (refusal !== undefined) {
    reports.refuse(refusal);
    return { source, diagnostics: reports.diagnostics };
  }
  const read = await readers[format](xml);
  return { source, ...(await read(source, own)) };
}

function smaller(one: TextLimits, other: TextLimits): TextLimits {
  const keys = Object.keys(one) as (keyof TextLimits)[];
  return Object.fromEntries(
    keys.map((key) => [key, Math.min(one[key], other[key])]),
  ) as unknown as TextLimits;
}

/** Characters that are in no text file; and line breaks that only old systems write, which parsers disagree about. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are looked for
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\p{Surrogate}/u;

function refusalOf(text: string): Refusal | undefined {
  const control = CONTROL.exec(text);
  if (control === null) return undefined;
  const code = text.charCodeAt(control.index).toString(16).toUpperCase().padStart(4, '0');
  return refused(control.index, `the character U+${code}`, 'remove it, or write it as an escape');
}
