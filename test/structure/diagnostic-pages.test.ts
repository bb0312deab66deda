import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { diagnosticTable, RETIRED_CODES } from '../../src/graph/diagnostics/diagnostic.js';
import { ROOT } from './source-files.js';

const FOLDER = `${ROOT}docs/diagnostics/`;

interface Pages {
  readonly codes: readonly string[];
  /** Code to the text of its page. */
  readonly pages: ReadonlyMap<string, string>;
  readonly index: string;
}

/** What is missing or too much between the table of diagnostics and its pages. */
function pageFaults({ codes, pages, index }: Pages): string[] {
  const faults = codes.filter((code) => !pages.has(code)).map((code) => `${code} has no page`);
  for (const [code, text] of pages) {
    if (!codes.includes(code)) faults.push(`${code}.md is about no diagnostic`);
    if (!text.startsWith(`# ${code}: `)) faults.push(`${code}.md does not start with its code`);
    for (const section of ['## Example', '## Repair']) {
      if (!text.includes(`\n${section}\n`)) faults.push(`${code}.md has no section "${section}"`);
    }
    if (!index.includes(`(${code}.md)`)) faults.push(`${code}.md is not in the index`);
  }
  return faults;
}

test('every diagnostic has a page with an example and its repair, and every page a diagnostic', () => {
  const files = readdirSync(FOLDER).filter((file) => file !== 'README.md');
  const pages = new Map(
    files.map((file) => [file.replace(/\.md$/, ''), readFileSync(FOLDER + file, 'utf8')]),
  );
  const index = readFileSync(`${FOLDER}README.md`, 'utf8');
  expect(pageFaults({ codes: Object.keys(diagnosticTable), pages, index })).toEqual([]);
});

test('no code is used again, and the index names those that are no longer reported', () => {
  const index = readFileSync(`${FOLDER}README.md`, 'utf8');
  expect(RETIRED_CODES.filter((code) => Object.hasOwn(diagnosticTable, code))).toEqual([]);
  expect(RETIRED_CODES.filter((code) => !index.includes(`- ${code}: `))).toEqual([]);
});

describe('the rule', () => {
  const page = '# SW1: title\n\n## Example\n\n## Repair\n';

  test('finds what is missing', () => {
    expect(pageFaults({ codes: ['SW1', 'SW2'], pages: new Map([['SW1', page]]), index: '(SW1.md)' })).toEqual(
      ['SW2 has no page'],
    );
    expect(pageFaults({ codes: [], pages: new Map([['SW1', page]]), index: '' })).toEqual([
      'SW1.md is about no diagnostic',
      'SW1.md is not in the index',
    ]);
    expect(
      pageFaults({ codes: ['SW1'], pages: new Map([['SW1', '# SW2: other']]), index: '(SW1.md)' }),
    ).toEqual([
      'SW1.md does not start with its code',
      'SW1.md has no section "## Example"',
      'SW1.md has no section "## Repair"',
    ]);
  });
});
