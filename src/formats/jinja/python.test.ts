import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import { type Context, render } from './render.fixture.js';

// Python's Jinja2 3.1 is the judge: `cases.json` by hand, `recorded.jsonl` by `scripts/jinja/record.py`.

interface Case {
  readonly mode: 'native' | 'text';
  readonly template: string;
  readonly expected: { readonly value: Json } | { readonly error: string };
}

/** The rows of the table "Differences from Jinja2" in the docs, and the cases that they are about. */
const DIFFERENCES: Readonly<Record<string, (given: Case, actual: ReturnType<typeof render>) => boolean>> = {
  'texts are not marked as safe': ({ expected }) => JSON.stringify(expected).includes('Markup('),
  'there is no negative zero': ({ expected }) => JSON.stringify(expected).includes('-0.0'),
  'classes of regular expressions are ASCII': ({ template }) =>
    /\\\\?w/.test(template) && template.includes('regex_'),
  'r-texts are understood': ({ template }) => /\br'/.test(template),
  'a comparison with what is not there is false': ({ expected }, actual) =>
    'error' in expected && expected.error === 'UndefinedError' && 'value' in actual && actual.value === false,
  'tojson is plain JSON': ({ template, expected }) =>
    template.includes('tojson') && JSON.stringify(expected).includes('\\\\u00'),
  'filters and tests that are left out': ({ template }) =>
    /random|xmlattr|is filter|is test|namespace/.test(template),
  'large whole numbers are errors': ({ template }) => template.includes('9007199254740992'),
  'a value that is not there is an error': ({ expected }) =>
    'value' in expected && JSON.stringify(expected.value).includes('$undefined'),
};

function compare(given: Case, context: Context, now: number): string | undefined {
  const actual = render(given.template, given.mode === 'native' ? 'value' : 'text', context, { now });
  const { expected } = given;
  const isEqual =
    'error' in expected
      ? 'error' in actual
      : 'value' in actual && JSON.stringify(actual.value) === JSON.stringify(expected.value);
  if (isEqual) return undefined;
  if (Object.values(DIFFERENCES).some((applies) => applies(given, actual))) return undefined;
  return `${given.template}\n  ${JSON.stringify(actual)}\n  instead of ${JSON.stringify(expected)}`;
}

function read(file: string): string {
  return readFileSync(new URL(`../../../test/jinja/${file}`, import.meta.url), 'utf8');
}

describe('templates give what Python gives', () => {
  test('by hand', () => {
    const { now, cases } = JSON.parse(read('cases.json')) as {
      now: string;
      cases: (Case & { context: Context })[];
    };
    const at = Date.parse(`${now.slice(0, 19)}Z`);
    expect(cases.length).toBe(196);
    // A time as a value is its ISO text; Python's own text of it was recorded.
    const others = cases.filter(({ template }) => template !== '{{ now() }}');
    expect(others.flatMap((given) => compare(given, given.context, at) ?? [])).toEqual([]);
    expect(render('{{ now() }}', 'value', {}, { now: at })).toEqual({ value: '2025-08-19T14:30:00+00:00' });
    expect(render('{{ now() }} ', 'text', {}, { now: at })).toEqual({ value: '2025-08-19 14:30:00 ' });
  });

  test('generated', () => {
    const [head = '', ...lines] = read('recorded.jsonl').trimEnd().split('\n');
    const { now, contexts } = JSON.parse(head) as { now: string; contexts: Context[] };
    const cases = lines.map((line) => JSON.parse(line) as Case & { context: number });
    expect(cases.length).toBe(2_000);
    const different = cases.flatMap(
      (given) => compare(given, contexts[given.context] ?? {}, Date.parse(now)) ?? [],
    );
    expect(different).toEqual([]);
  });
});
