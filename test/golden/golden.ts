import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';

const updating = process.env.UPDATE_GOLDEN === '1';

/**
 * Compares a text with a golden file, byte for byte. `UPDATE_GOLDEN=1` writes the file instead, which is refused
 * under CI: there a golden file is the judge, never the accused.
 */
export function expectGolden(file: string, actual: string): void {
  if (updating) {
    if (process.env.CI) throw new Error('UPDATE_GOLDEN must not be set under CI');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, actual);
  }
  if (!existsSync(file))
    throw new Error(`${file} is missing: run once with UPDATE_GOLDEN=1 and read what it wrote`);
  expect(actual).toBe(readFileSync(file, 'utf8'));
}

/** Names of the golden files in a folder, so that a test can tell one that no case uses any more. */
export function goldenFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => join(folder, name))
    .sort();
}
