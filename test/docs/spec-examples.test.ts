import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseWorkflows } from '../../src/formats/index.js';
import { type Diagnostic, diagnostic } from '../../src/graph/diagnostics/diagnostic.js';
import { formatLocation } from '../../src/graph/source-location.js';
import { applyRepair } from './diagnostic-examples.js';
import { fencesOf, page } from './fences.js';

const FILE = 'book.yaml';

/** The pages with an example in YAML. */
const examples = readdirSync(new URL('../../docs/diagnostics/', import.meta.url))
  .filter((file) => /^SW5\d+\.md$/.test(file))
  .sort()
  .map((file) => ({ code: file.slice(0, -3), fences: fencesOf(page(`docs/diagnostics/${file}`)) }))
  .filter(({ fences }) => fences.some(({ language }) => language === 'yaml'));

function bodyOf({ fences }: (typeof examples)[number], language: string): string | undefined {
  return fences.find((fence) => fence.language === language)?.body;
}

/** As on the pages. The examples are checked without a registry, so that no tool is known. */
function printed(diagnostics: readonly Diagnostic[]): string {
  return diagnostics
    .filter(({ code }) => code !== 'SW5034')
    .flatMap(({ severity, code, message, hint, place }) => [
      `${place === undefined ? '' : `${formatLocation(place)} - `}${severity} ${code}: ${message}`,
      ...(hint === undefined ? [] : [`  = hint: ${hint}`]),
    ])
    .join('\n');
}

async function said(text: string): Promise<string> {
  const { diagnostics } = await parseWorkflows(text, { file: FILE, format: 'yaml' });
  return printed(diagnostics);
}

describe('the examples of the diagnostics of spec files', () => {
  test.each(examples)('$code is what the reader says', async (example) => {
    const text = bodyOf(example, 'text')?.trimEnd();
    expect(text).toContain(`${example.code}: `);
    expect(await said(bodyOf(example, 'yaml') ?? '')).toBe(text);
  });

  const repaired = examples.filter((example) => bodyOf(example, 'diff') !== undefined);

  test.each(repaired)('$code is gone after the repair', async (example) => {
    const text = applyRepair(bodyOf(example, 'yaml') ?? '', bodyOf(example, 'diff') ?? '');
    expect(await said(text)).toBe('');
  });

  test('are of all codes but those that no text of a page causes', () => {
    expect(repaired.length).toBe(examples.length - 1);
    expect(examples.map(({ code }) => code)).toHaveLength(31);
  });
});

test('the example of the introduction has no fault', async () => {
  const [example] = fencesOf(page('docs/spec-files.md')).filter(({ language }) => language === 'yaml');
  expect(await said(example?.body ?? '')).toBe('');
});

test.each([
  diagnostic('SW5001', undefined, { what: 'levels of nesting', limit: 64 }),
  diagnostic('SW5019', undefined, { file: 'flights.yaml', reason: 'there is no such file' }),
  diagnostic('SW5034', undefined, { tool: 'search_flights' }),
])('$code is shown as printed', (fault) => {
  const [shown] = fencesOf(page(`docs/diagnostics/${fault.code}.md`)).map(({ body }) => body.trimEnd());
  const { severity, code, message, hint } = fault;
  expect(shown).toBe(`${severity} ${code}: ${message}${hint === undefined ? '' : `\n  = hint: ${hint}`}`);
});
