import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { FILE_LIMITS, overLimit } from './limits.js';
import { formatOf, type TextFormat } from './read-text.js';
import type { Reports } from './reading.js';

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
  const read = await fileText(path.resolve(root, file), 4 * FILE_LIMITS.length);
  if ('text' in read) return { text: read.text, format };
  if ('reason' in read) reports.report('SW5019', start, { file, reason: read.reason });
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
    const found = await stat(file);
    if (!found.isFile()) return { reason: 'it is not a file' };
    if (found.size > most) return { bytes: found.size };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file)) };
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    return { reason };
  }
}

/** Why a file cannot be read; nothing for a fault of the product. */
function reasonOf(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown }).code;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is not UTF-8';
  return typeof code === 'string' && /^E[A-Z]+$/.test(code) ? `the system says ${code}` : undefined;
}
