import { createServer } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import { registry } from '../../examples/code-review/generated/code-review.registry.js';
import { plainCodeReview } from '../../examples/code-review/plain-code-review.js';
import { nightlyTest } from '../nightly.js';
import { applyRepair } from './diagnostic-examples.js';
import { page } from './fences.js';
import { examplesWith, excerptsOf, fenceNamed } from './pages.js';

const PAGE = 'docs/migration.md';
const FORMS = {
  'plain-code-review': 'examples/code-review/plain-code-review.ts',
  'code-review': 'examples/code-review/code-review.prompt.ts',
  'strict-code-review': 'examples/code-review/strict-code-review.workflow.ts',
};
const NAMES = [...Object.keys(registry.tools), ...Object.values(registry.resources).map(({ uri }) => uri)];

/** The cells of the row of the page's table that begins with a text. */
function row(start: string): string[] {
  const line = page(PAGE)
    .split('\n')
    .find((candidate) => candidate.startsWith(`| ${start}`));
  return (line ?? '')
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());
}

function withoutImports(text: string): string {
  return text.replace(/^import .*$/gm, '');
}

function linesOfCode(text: string): number {
  return text.split('\n').filter((line) => !/^\s*($|\/\/|\/\*|\*)/.test(line)).length;
}

/** How many calls and reads of those that the review needs a client gets done with the prompt. */
async function done(name: string): Promise<number> {
  const server = createServer(registry, { prompts: [plainCodeReview] });
  const request = { signal: new AbortController().signal, requestId: '1', progress: () => {} };
  const { messages } = await server.getPrompt(name, { code: 'let a = 1;' }, request);
  const results = messages.filter(({ content }) => {
    const part = '_meta' in content ? content._meta?.['stepwright/part'] : undefined;
    return part === 'result' || (part === 'instruction' && content.type === 'resource');
  });
  return results.length;
}

test('the page shows all of each form', () => {
  const shown = excerptsOf(PAGE).filter(({ language }) => language === 'ts');
  expect(shown.map(({ file, body }) => [file, body])).toEqual(
    Object.values(FORMS).map((file) => [file, page(file)]),
  );
});

test('its numbers of lines are those of the files', () => {
  expect(row('lines')).toEqual(Object.values(FORMS).map((file) => String(linesOfCode(page(file)))));
});

test('its numbers of unchecked names are those of the files', () => {
  const unchecked = Object.values(FORMS).map((file) =>
    NAMES.map((name) => withoutImports(page(file)).split(name).length - 1).reduce(
      (sum, count) => sum + count,
      0,
    ),
  );
  expect(row('names written as text')).toEqual(unchecked.map(String));
});

test('its numbers of remaining calls are those of the conversations', async () => {
  const left = await Promise.all(
    Object.keys(FORMS).map(async (name) => String(NAMES.length - (await done(name)))),
  );
  expect(row('calls and reads left')).toEqual(left);
});

nightlyTest('it shows the diagnostic of a mistake', { timeout: 300_000 }, async () => {
  const file = FORMS['strict-code-review'];
  const slip = fenceNamed(PAGE, 'slip').body;
  expect((await examplesWith(file, applyRepair(page(file), slip))).said).toBe(fenceNamed(PAGE, 'said').body);
});

test('its checklist has six items', () => {
  const [, list = ''] = page(PAGE).split('\n## Checklist\n');
  expect(list.split('\n## ')[0]?.match(/^\d+\. \*\*/gm)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `${n}. **`));
});
