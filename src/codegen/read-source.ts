import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Reads the files of a project that diagnostics name, without a byte order mark; nothing for one that cannot be read.
 *
 * @param overlay - texts that replace files, by path, absolute or relative to the root. Default: none.
 */
export function readSourceIn(
  root: string,
  overlay: ReadonlyMap<string, string> = new Map(),
): (file: string) => string | undefined {
  const texts = new Map([...overlay].map(([file, text]) => [path.resolve(root, file), text]));
  return (file) => {
    const absolute = path.join(root, file);
    try {
      return (texts.get(absolute) ?? readFileSync(absolute, 'utf8')).replace(/^\uFEFF/, '');
    } catch {
      return undefined;
    }
  };
}
