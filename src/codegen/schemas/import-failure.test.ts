import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findSyntaxFault, importFailure } from './import-failure.js';

const root = '/home/me/project';

const thrown = (message: string, stack: string): Error => Object.assign(new TypeError(message), { stack });

describe('importFailure', () => {
  test('is one line: the name, the first line of the message, the first frame of the project', () => {
    const error = thrown(
      'boom\nand more',
      [
        'TypeError: boom',
        '    at internal (node:internal/modules/run:1:2)',
        `    at lib (file://${root}/node_modules/lib/index.js:3:4)`,
        '    at other (/home/me/project-two/src/x.ts:5:6)',
        `    at load (file://${root}/src/my%20tool.ts:7:8)`,
        `    at file://${root}/src/later.ts:9:10`,
      ].join('\n'),
    );
    expect(importFailure(error, root)).toEqual({
      reason: 'TypeError: boom (src/my tool.ts:7:8)',
      culprit: 'src/my tool.ts',
    });
  });

  test('shortens paths of the project', () => {
    const error = thrown(`Cannot find module '${root}/src/gone.js' imported from ${root}/src/a.ts`, '');
    expect(importFailure(error, root)).toEqual({
      reason: "TypeError: Cannot find module 'src/gone.js' imported from src/a.ts",
    });
  });

  test('takes the printed form of an error that lost its message between threads', () => {
    const lost = Object.assign(Object.create(null), {
      [inspect.custom]: () => 'src/a.ts(1,2): error TS1110: Type expected.',
    });
    expect(importFailure(lost, root)).toEqual({
      reason: 'src/a.ts(1,2): error TS1110: Type expected.',
      culprit: 'src/a.ts',
    });
  });

  test('takes the place that Node prints above the message', () => {
    const heading = `${root}/src/my tool.ts:4\nimport { nope } from './d.js';\n         ^\n`;
    const error = new SyntaxError('no such export');
    error.stack = `${heading}\nSyntaxError: no such export\n    at run (node:internal/modules:1:2)`;
    expect(importFailure(error, root)).toEqual({
      reason: 'SyntaxError: no such export (src/my tool.ts:4)',
      culprit: 'src/my tool.ts',
    });
  });

  test('asks for the place of a syntax error that brings none', () => {
    const find = () => ({ file: 'src/a.ts', position: '7:3' });
    const bare = new SyntaxError('Unexpected reserved word');
    bare.stack = 'SyntaxError: Unexpected reserved word\n    at compile (node:internal/modules:1:2)';
    expect(importFailure(bare, root, find)).toEqual({
      reason: 'SyntaxError: Unexpected reserved word (src/a.ts:7:3)',
      culprit: 'src/a.ts',
    });
    expect(importFailure(bare, root)).toEqual({ reason: 'SyntaxError: Unexpected reserved word' });
    expect(importFailure(thrown('boom', ''), root, find)).toEqual({ reason: 'TypeError: boom' });
  });

  test.each([
    ['text', 'it threw text'],
    [undefined, 'it threw undefined'],
    [new Error(''), 'Error:'],
  ])('says something of %j', (error, text) => {
    expect(importFailure(error, root).reason).toContain(text);
  });
});

let project: string;
beforeEach(() => {
  project = realpathSync(mkdtempSync(path.join(tmpdir(), 'syntax-')));
});
afterEach(() => rmSync(project, { recursive: true }));

function find(files: Readonly<Record<string, string>>) {
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(project, file), text);
  return findSyntaxFault(path.join(project, 'a.ts'), project);
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
