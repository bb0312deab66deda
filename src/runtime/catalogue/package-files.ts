import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Registry } from './registry.js';

/**
 * The folder that {@link ResourceEntry.file} starts from: the nearest one with a `package.json`, above the generated
 * module or else above the working directory; the latter itself where there is none.
 */
export function packageRoot({ module }: Registry): string {
  const start = module?.startsWith('file:') ? dirname(fileURLToPath(module)) : process.cwd();
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) return start;
  }
}

/** Whether a file of the package is there. */
export function hasFile(root: string, file: string): boolean {
  return existsSync(resolve(root, file));
}

/**
 * The content of a file of the package: text where it is UTF-8 and its media type does not say otherwise, else bytes.
 *
 * @throws whatever reading a file throws.
 */
export async function readPackageFile(
  root: string,
  file: string,
  mimeType: string | undefined,
  signal: AbortSignal,
): Promise<string | Uint8Array> {
  const bytes = await readFile(resolve(root, file), { signal });
  if (mimeType !== undefined && !isText(mimeType)) return bytes;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

function isText(mimeType: string): boolean {
  const [type = ''] = mimeType.toLowerCase().split(';');
  return (
    type.startsWith('text/') ||
    /[/+](?:json|xml|yaml|javascript|typescript|sql|toml)$/.test(type) ||
    type === 'application/x-yaml'
  );
}
