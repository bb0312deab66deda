import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findSyntaxFault } from './syntax-fault.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'syntax-')));
});
afterEach(() => rmSync(root, { recursive: true }));

function find(files: Readonly<Record<string, string>>) {
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(root, file), text);
  return findSyntaxFault(path.join(root, 'a.ts'), root);
}

const waits = 'interface Gone {\n  a: string;\n}\nexport function f(): void {\n  await g();\n}\n';

test('a fault that the compiler lets through is found where it is written', () => {
  expect(find({ 'a.ts': waits })).toEqual({ file: 'a.ts', position: '5:3' });
});

test('it is found in what the module imports', () => {
  expect(find({ 'a.ts': "import './b.js';\nexport const a = 1;", 'b.ts': waits })).toEqual({
    file: 'b.ts',
    position: '5:3',
  });
});

test('what only a module may hold is none', () => {
  const module = `import { b } from './b.js';
export default class A { @dec() b = b; }
export const here = import.meta.url;
await Promise.resolve();
function dec() { return (): void => {}; }
`;
  expect(find({ 'a.ts': module, 'b.ts': 'export const b = 1;' })).toBeUndefined();
});
