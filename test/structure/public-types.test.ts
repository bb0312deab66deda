import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importsOf, ROOT, type SourceText } from './source-files.js';

const ENTRIES = ['index.d.ts', 'runtime/index.d.ts', 'codegen/index.d.ts'];
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
    folder = mkdtempSync(join(tmpdir(), 'stepwright-types-'));
    const tsc = `${ROOT}node_modules/typescript/bin/tsc`;
    const options = ['--emitDeclarationOnly', '--declarationMap', 'false', '--outDir', folder];
    execFileSync(process.execPath, [tsc, '-p', `${ROOT}tsconfig.build.json`, ...options], { stdio: 'pipe' });
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('name no type of the packages that the product adapts', () => {
    const read = (file: string): string | undefined => {
      const path = join(folder, file);
      return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    };
    for (const entry of ENTRIES) expect(read(entry), entry).toBeDefined();
    const found = packagesBehind(ENTRIES, read);
    expect(found).not.toEqual([]);
    expect(hidden(found)).toEqual([]);
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
