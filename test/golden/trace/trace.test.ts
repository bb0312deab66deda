import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { expectGolden, goldenFiles } from '../golden.js';
import { cases } from './cases.js';
import { page, traceOf } from './scenario.js';

const folder = dirname(fileURLToPath(import.meta.url));
const fileOf = (name: string): string => join(folder, `${name}.txt`);

describe('conversation traces', () => {
  test.each(Object.entries(cases))('%s', async (name, scenario) => {
    expectGolden(fileOf(name), page(await traceOf(scenario)));
  });

  test('every golden file belongs to a case', () => {
    expect(goldenFiles(folder)).toEqual(Object.keys(cases).map(fileOf).sort());
  });

  test('the success example of the specification has its eight messages', async () => {
    const { messages, _meta } = await traceOf(cases['spec-success']!);
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(_meta.status).toBe('succeeded');
  });
});
