import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { expectGolden, goldenFiles } from '../golden.js';
import { cases } from './cases.js';
import { page, traceOf } from './scenario.js';

const folder = dirname(fileURLToPath(import.meta.url));
const fileOf = (name: string): string => join(folder, `${name}.txt`);

/** The trace of each case. It is made once for both tests of it. */
const traces = new Map<string, ReturnType<typeof traceOf>>();
const traceOfCase = (name: string, scenario: Parameters<typeof traceOf>[0]): ReturnType<typeof traceOf> => {
  const trace = traces.get(name) ?? traceOf(scenario);
  traces.set(name, trace);
  return trace;
};

describe('conversation traces', () => {
  test.each(Object.entries(cases))('%s', async (name, scenario) => {
    expectGolden(fileOf(name), page(await traceOfCase(name, scenario)));
  });

  test.each(Object.entries(cases))('`_meta.steps` of %s agrees with the trace', async (name, scenario) => {
    const { messages, _meta } = await traceOfCase(name, scenario);
    const latest = new Map<string, string>();
    for (const { content } of messages) {
      if (content.type !== 'text') continue;
      const { 'stepwright/step': step, 'stepwright/part': part } = content._meta ?? {};
      if (step === undefined) continue;
      // A loop and a `parallel` list the parts that did not begin in a block of their own.
      if (part !== 'skip') latest.set(step, 'told');
      else if (content.text.startsWith('Skipping step')) latest.set(step, 'skipped');
    }
    const told = _meta.steps.filter(({ name }) => latest.has(name));
    expect(told.map(({ name, status }) => [name, status === 'skipped'])).toEqual(
      told.map(({ name }) => [name, latest.get(name) === 'skipped']),
    );
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
