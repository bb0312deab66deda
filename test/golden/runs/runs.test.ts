import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { expectGolden } from '../golden.js';
import { CASES } from './cases.js';
import { record, replay } from './log.js';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const fileOf = (name: string): string => `${FOLDER}${name}.jsonl`;

describe('the log of a run', () => {
  test.each(CASES)('$name is recorded', (each) => {
    expectGolden(fileOf(each.name), record(each));
  });

  test('is there for each case, and for nothing else', () => {
    const names = readdirSync(FOLDER).filter((file) => file.endsWith('.jsonl'));
    expect(names.sort()).toEqual(CASES.map(({ name }) => `${name}.jsonl`).sort());
  });

  test.each(CASES)('$name gives the same facts, commands and rows when it is read again', ({ name }) => {
    const log = readFileSync(fileOf(name), 'utf8');
    expect(replay(log)).toBe(log);
  });
});
