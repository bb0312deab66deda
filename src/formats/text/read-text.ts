import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { SourceText } from './located.js';
import type { XmlMapping } from './read-xml.js';
import {
  FILE_LIMITS,
  overLimit,
  type Reader,
  type ReadText,
  type Refusal,
  type RepeatedKey,
  Reports,
  refused,
  type TextLimits,
  XML_LIMITS,
} from './reading.js';

/** The formats of spec files. */
export type TextFormat = 'yaml' | 'json' | 'xml';

/** The readers, loaded when a file of their format is read. */
const readers: Readonly<Record<TextFormat, (xml?: readonly XmlMapping[]) => Promise<Reader>>> = {
  yaml: async () => (await import('./read-yaml.js')).readYaml,
  json: async () => (await import('./read-json.js')).readJson,
  xml: async (mappings) => {
    const { readXml } = await import('./read-xml.js');
    return (source, limits) => readXml(source, limits, mappings);
  },
};

const EXTENSIONS: Readonly<Record<string, TextFormat>> = {
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.json': 'json',
  '.xml': 'xml',
};

export function formatOf(file: string): TextFormat | undefined {
  return EXTENSIONS[/\.[^./\\]+$/.exec(file)?.[0].toLowerCase() ?? ''];
}

export interface ReadOptions {
  /** As diagnostics name it. */
  readonly file: string;
  readonly format: TextFormat;
  /** Default: those of files of the project. XML has a smaller size in any case. */
  readonly limits?: TextLimits;
  /** The mappings of XML, chosen by the root element. The first one is for unknown roots. */
  readonly xml?: readonly XmlMapping[];
  /** The meaning of repeated keys in YAML and JSON. Default: they are faults. */
  readonly repeatedKey?: RepeatedKey;
}

/** A text that was read, with what its places are made of. */
export interface ReadSource extends ReadText {
  readonly source: SourceText;
}

/**
 * Reads a text into located values. Faults are diagnostics: all of them, except those that follow from the syntax.
 * A text beyond a limit is refused before values are made of it. Never throws for a text.
 */
export async function readText(
  text: string,
  { file, format, limits = FILE_LIMITS, xml, repeatedKey }: ReadOptions,
): Promise<ReadSource> {
  // A text that is too long is not read.
  const source = new SourceText(file, text.length > limits.length ? '' : text.replace(/^\ufeff/, ''));
  const own = format === 'xml' ? smaller(limits, XML_LIMITS) : limits;
  const reports = new Reports(source);
  const refusal = text.length > own.length ? overLimit(0, 'characters', own.length) : refusalOf(source.text);
  if (refusal !== undefined) {
    reports.refuse(refusal);
    return { source, diagnostics: reports.diagnostics };
  }
  const reader = await readers[format](xml);
  return { source, ...(await reader(source, own, repeatedKey)) };
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

/** The text of a file, whose format follows from its extension. A file that cannot be read is reported. */
export async function openText(
  file: string,
  root: string,
  reports: Reports,
): Promise<{ readonly text: string; readonly format: TextFormat } | undefined> {
  const start = { start: 0, end: 0 };
  const format = formatOf(file);
  if (format === undefined) {
    reports.report('SW5019', start, {
      file,
      reason: 'its extension is not `.yaml`, `.yml`, `.json` or `.xml`',
    });
    return undefined;
  }
  // No character takes more than 4 bytes.
  const content = await fileText(path.resolve(root, file), 4 * FILE_LIMITS.length);
  if ('text' in content) return { text: content.text, format };
  if ('reason' in content) reports.report('SW5019', start, { file, reason: content.reason });
  else reports.refuse(overLimit(0, 'characters', FILE_LIMITS.length));
  return undefined;
}

/** The text of a file, or why there is none. */
type FileText = { readonly text: string } | { readonly reason: string } | { readonly bytes: number };

/**
 * Reads a file as UTF-8, without a byte order mark.
 *
 * @param most bytes; of a longer file only the number of its bytes is given.
 */
export async function fileText(file: string, most: number): Promise<FileText> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) return { reason: 'it is not a file' };
    if (stats.size > most) return { bytes: stats.size };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file)) };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** Why a file cannot be read. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is not UTF-8';
  return typeof code === 'string' && /^E[A-Z]+$/.test(code) ? `the system says ${code}` : String(message);
}
