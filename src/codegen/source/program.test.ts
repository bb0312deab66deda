import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compilerPath, createProgram } from './program.js';
import { ts } from './typescript.mjs';

const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2022, types: [] };

let folder: string;
beforeEach(() => {
  folder = compilerPath(mkdtempSync(path.join(realpathSync(tmpdir()), 'stepwright-program-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program of one source, which imports `imported.d.ts`. */
function open(more: ts.CompilerOptions = {}): { imported: ts.SourceFile | undefined; type: string } {
  const parse = (file: string, text: string): ts.SourceFile =>
    ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const main = parse(`${folder}/main.ts`, "import { value } from './imported';\nexport const own = value;\n");
  const sources = new Map([[main.fileName, main]]);
  const program = createProgram({ ...options, ...more }, sources, () => false, parse);
  const checker = program.getTypeChecker();
  const [own] = checker.getExportsOfModule(checker.getSymbolAtLocation(main) as ts.Symbol);
  return {
    imported: program.getSourceFile(`${folder}/imported.d.ts`),
    type: checker.typeToString(checker.getTypeOfSymbol(own as ts.Symbol)),
  };
}

const write = (text: string): void => writeFileSync(`${folder}/imported.d.ts`, text);

test('programs of the same options share the files that are not of the project', () => {
  write('export declare const value: string[];\n');
  const first = open();
  expect(first.type).toBe('string[]');
  expect(open()).toEqual(first);
  expect(open().imported).toBe(first.imported);
  expect(open({ strict: true }).imported).not.toBe(first.imported);
});

test('a shared file is read again after a change', () => {
  write('export declare const value: string[];\n');
  open();
  write('export declare const value: number[];\n');
  expect(open().type).toBe('number[]');
  rmSync(`${folder}/imported.d.ts`);
  expect(open()).toEqual({ imported: undefined, type: 'any' });
  write('export declare const value: string[];\n');
  expect(open().type).toBe('string[]');
});
