import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { PythonFunction } from '../../graph/expression/python/define.js';
import { NESTED_FILTERS, pythonFilters } from '../../graph/expression/python/filters.js';
import { pythonMethods } from '../../graph/expression/python/methods.js';
import { pythonTests } from '../../graph/expression/python/tests.js';

const PAGE = new URL('../../../docs/reference/templates.md', import.meta.url);

/** How an entry is written: its name, and its arguments behind the subject. */
function signature({ written, parameters, arity }: PythonFunction): string {
  const own = parameters.slice(1).map((name, index) => (index + 1 < arity.min ? name : `${name}?`));
  return own.length === 0 ? `\`${written}\`` : `\`${written}(${own.join(', ')})\``;
}

const lists: readonly (readonly [string, readonly string[]])[] = [
  ['Filters', [...pythonFilters.map(signature), ...NESTED_FILTERS.map((name) => `\`${name}(…)\``)]],
  ['Tests', pythonTests.map(signature)],
  ['Methods', pythonMethods.map(signature)],
];

test('the reference of templates lists every filter, test and method', () => {
  const page = readFileSync(PAGE, 'utf8');
  const written = lists.reduce(
    (text, [heading, entries]) =>
      text.replace(
        new RegExp(`(## ${heading}\\n\\n[^\\n]*\\n\\n)[^\\n]*`),
        (_, head: string) => head + [...entries].sort().join(', '),
      ),
    page,
  );
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(PAGE, written);
  else expect(page).toBe(written);
});
