import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Reads the files of a project that diagnostics name, without a byte order mark; nothing for one that cannot be read. */
export function readSourceIn(root: string): (file: string) => string | undefined {
  return (file) => {
    try {
      return readFileSync(path.join(root, file), 'utf8').replace(/^\uFEFF/, '');
    } catch {
      return undefined;
    }
  };
}
