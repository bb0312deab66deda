import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Memo } from './memo.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-memo-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (key = 'k') => new Memo({ folder, name: 'memo', key });

const text = fc.string({ unit: 'binary', maxLength: 8 });
const entries = fc.uniqueArray(
  fc.record({
    ...{ phase: text, subject: text, key: text, output: fc.jsonValue() },
    reads: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
  }),
  { selector: ({ phase, subject }) => JSON.stringify([phase, subject]), maxLength: 5 },
);

const json = (value: unknown): string => JSON.stringify(value);

describe('a memo', () => {
  test('recalls an output under its key if, and only if, all reads have their marks, in other processes as well', () => {
    fc.assert(
      fc.property(entries, fc.nat(), (all, at) => {
        const memo = open();
        for (const { phase, subject, key, output, reads } of all)
          memo.keep(phase, subject, key, output, Object.entries(reads));
        memo.save(true);
        for (const each of [memo, open()]) {
          for (const { phase, subject, key, output, reads } of all) {
            const names = Object.keys(reads);
            const marks = new Map(Object.entries(reads));
            const recall = (other: string) =>
              each.recall(phase, subject, key, (read) =>
                read === other ? `${marks.get(read)}.` : (marks.get(read) ?? ''),
              );
            expect(json(recall('no read has this name'))).toBe(json(output));
            const changed = names[at % names.length];
            if (changed !== undefined) expect(recall(changed)).toBeUndefined();
            expect(each.recall(phase, subject, `${key}.`, (read) => marks.get(read) ?? '')).toBeUndefined();
          }
        }
        expect(open('other software').recall(all[0]?.phase ?? '', all[0]?.subject ?? '', '')).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['truncated', (saved: string) => saved.slice(0, -3)],
    ['modified', (saved: string) => saved.replace('"output"', '"OUTPUT"')],
    ['empty', () => ''],
  ])('takes nothing from a file that is %s', (_, spoil) => {
    const memo = open();
    memo.keep('phase', 'subject', 'key', 'output');
    memo.save(true);
    expect(open().recall('phase', 'subject', 'key')).toBe('output');
    const [name = ''] = readdirSync(folder);
    const file = path.join(folder, name);
    writeFileSync(file, spoil(readFileSync(file, 'utf8')));
    expect(open().recall('phase', 'subject', 'key')).toBeUndefined();
  });

  test('drops what a run without errors has not used', () => {
    const first = open();
    first.keep('phase', 'a', '', 1);
    first.keep('phase', 'b', '', 2);
    first.save(true);
    const faulty = open();
    faulty.keep('phase', 'c', '', 3);
    faulty.save(false);
    const second = open();
    expect(['a', 'c'].map((subject) => second.recall('phase', subject, ''))).toEqual([1, 3]);
    second.keep('phase', 'd', '', 4);
    second.save(true);
    expect(['a', 'b', 'c', 'd'].map((subject) => open().recall('phase', subject, ''))).toEqual([
      1,
      undefined,
      3,
      4,
    ]);
  });

  test('keeps objects for later runs of the process only', () => {
    const lasting = new Memo({ folder, name: 'memo', key: 'k' }, true);
    const tree = { parent: undefined as unknown };
    tree.parent = tree;
    lasting.keepObject('tree', 'a', '1', tree);
    lasting.keep('phase', 'a', '', 1);
    lasting.save(true);
    expect(lasting.recall('tree', 'a', '1')).toBe(tree);
    expect(open().recall('tree', 'a', '1')).toBeUndefined();
  });
});
