import { describe, expect, test } from 'vitest';
import { MAX_LINES, shapeFaults } from './shape.js';
import { sourceFiles } from './source-files.js';

test('every file keeps the house rules on its form', () => {
  // What `stepwright pull` writes is as long as a server has tools.
  const sources = sourceFiles('src', 'examples', 'scripts', 'test').filter(
    ({ file }) => !file.startsWith('examples/upstream/servers/'),
  );
  expect(sources.length).toBeGreaterThan(20);
  expect(sources.flatMap(shapeFaults)).toEqual([]);
});

describe('the rule', () => {
  test.each([
    ['class TaskManager {}', '`TaskManager`'],
    ['\n'.repeat(MAX_LINES + 1), 'more than'],
  ])('refuses %j', (text, sentence) => {
    expect(shapeFaults({ file: 'a.ts', text })).toEqual([expect.stringContaining(sentence)]);
  });

  test.each(['this.a = () => {};', 'a.b ??= function () {};', 'this.#a = async (b) => b;'])(
    'refuses %j where requests are answered',
    (text) => {
      const sentence = expect.stringContaining('a function literal assigned to a property');
      expect(shapeFaults({ file: 'src/runtime/a.ts', text })).toEqual([sentence]);
      expect(shapeFaults({ file: 'src/codegen/a.ts', text })).toEqual([]);
    },
  );

  test('allows a function with a name of its own', () => {
    const text = 'const b = () => {};\na.b = b;\nclass C { d = () => {}; }\n[].map((e) => e);';
    expect(shapeFaults({ file: 'src/runtime/a.ts', text })).toEqual([]);
  });

  test.each(['export class TaskDatabase {}', '\n'.repeat(MAX_LINES)])('allows %j', (text) => {
    expect(shapeFaults({ file: 'a.ts', text })).toEqual([]);
  });
});
