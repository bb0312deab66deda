import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENTRY_POINTS, REPORTS, writeReports } from '../../scripts/public-api.js';
import { builtPackage } from '../built-package.js';
import { importsOf, ROOT, type SourceText } from './source-files.js';

const HIDDEN = ['@modelcontextprotocol/sdk', 'ts-morph', 'ajv'];

/** Packages named by the declarations that can be reached from these entry points, each with the file that does so. */
function packagesBehind(entries: readonly string[], read: (file: string) => string | undefined): string[] {
  const seen = new Set<string>();
  const packages: string[] = [];
  const follow = (file: string): void => {
    const text = read(file);
    if (seen.has(file) || text === undefined) return;
    seen.add(file);
    const source: SourceText = { file: `./${file}`, text };
    for (const { to } of importsOf(source)) {
      if (to.endsWith('.ts')) follow(to.replace(/(\.d)?\.ts$/, '.d.ts'));
      else packages.push(`${file}: ${to}`);
    }
    for (const [, name] of text.matchAll(/<reference types="([^"]+)"/g)) packages.push(`${file}: ${name}`);
  };
  for (const entry of entries) follow(entry);
  return packages;
}

const hidden = (found: readonly string[]): string[] =>
  found.filter((entry) => HIDDEN.some((name) => entry.includes(`: ${name}`)));

describe('the declarations of the public entry points', () => {
  let folder = '';

  beforeAll(() => {
    // Those of the built package, outside of `node_modules`: there they would be another package to the extractor.
    folder = mkdtempSync(join(builtPackage(), '../../../declarations-'));
    cpSync(join(builtPackage(), 'dist'), folder, {
      recursive: true,
      filter: (file) => !/\.m?js$/.test(file),
    });
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('name no type of the packages that the product adapts', () => {
    const read = (file: string): string | undefined => {
      const path = join(folder, file);
      return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    };
    const entries = Object.values(ENTRY_POINTS);
    for (const entry of entries) expect(read(entry), entry).toBeDefined();
    const found = packagesBehind(entries, read);
    expect(found).not.toEqual([]);
    expect(hidden(found)).toEqual([]);
  });

  test('are those of the committed reports: `npm run api` writes them again', { timeout: 300_000 }, () => {
    const reports = join(folder, 'current');
    mkdirSync(reports);
    writeReports(folder, reports);
    for (const name of Object.keys(ENTRY_POINTS)) {
      const file = `${name}.api.md`;
      expect(readFileSync(join(reports, file), 'utf8'), file).toBe(readFileSync(join(REPORTS, file), 'utf8'));
    }
  });

  test('are those of each entry point in package.json', () => {
    const { exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
      exports: Record<string, string | { types: string }>;
    };
    const types = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.types]));
    expect(types.map((file) => file.replace('./dist/', ''))).toEqual(Object.values(ENTRY_POINTS));
  });
});

test('the rule finds a type that leaks through an inner file', () => {
  const files: Record<string, string> = {
    'index.d.ts': "export { serve } from './inner/serve.js';",
    'inner/serve.d.ts': "export declare const serve: import('@modelcontextprotocol/sdk/types.js').Tool;",
    'inner/unreached.d.ts': "import 'ts-morph';",
  };
  expect(hidden(packagesBehind(['index.d.ts'], (file) => files[file]))).toEqual([
    'inner/serve.d.ts: @modelcontextprotocol/sdk/types.js',
  ]);
});
