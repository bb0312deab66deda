import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { isTest, parse, ROOT, type SourceText, sourceFiles } from './source-files.js';

const CATALOGUE = 'src/graph/run-time-codes.ts';
const PAGE = `${ROOT}docs/run-time-codes.md`;

/** A code by its form, wherever it is: the prefixes are the product's own. */
const PREFIXED = /^[EW]_[A-Z0-9_]+$/;
/** A code without a prefix, where a code is expected. */
const WORDS = /^[A-Z]+(_[A-Z]+)+$/;

/** The codes that a file writes: by their form, also as the key of a table, or as the `code` of something. */
function codesIn(source: SourceText): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && (PREFIXED.test(node.text) || isCode(node))) found.push(node.text);
    else if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) && PREFIXED.test(node.name.text)) {
      found.push(node.name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(parse(source));
  return found;
}

/** Whether a literal is the value of a property `code`, or the first argument of `refused(…)`. */
function isCode(node: ts.StringLiteralLike): boolean {
  if (!WORDS.test(node.text)) return false;
  const { parent } = node;
  if (ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)) {
    return parent.name.getText() === 'code';
  }
  return (
    ts.isCallExpression(parent) && parent.arguments[0] === node && parent.expression.getText() === 'refused'
  );
}

const sources = sourceFiles('src').filter(({ file }) => file !== CATALOGUE && !isTest(file));

/** The codes of the table, in its order. */
const table = [...readFileSync(ROOT + CATALOGUE, 'utf8').matchAll(/^ {2}\| '(\w+)'/gm)].map(
  ([, code]) => `${code}`,
);

/** The page, part by part: the text under each heading of a topic (`##`) or a code (`###`). */
const parts = readFileSync(PAGE, 'utf8')
  .split(/^(?=##+ )/m)
  .map((part) => part.match(/^(#+) (.*?)\n(.*)$/s)?.slice(1) as [level: string, title: string, text: string]);
const sections = parts.filter(([level]) => level === '###');
const used = new Map(
  sources.flatMap(({ file, text }) => codesIn({ file, text }).map((code) => [code, file] as const)),
);

/** What source and table do not agree about. */
function codeFaults(codes: ReadonlyMap<string, string>, table: readonly string[]): string[] {
  return [
    ...[...codes]
      .filter(([code]) => !table.includes(code))
      .map(([code, file]) => `${code} of ${file} is not in ${CATALOGUE}`),
    ...table
      .filter((code) => !codes.has(code))
      .map((code) => `${code} is in ${CATALOGUE}, and no file gives it`),
  ];
}

test('every code that the source gives is in the table, and every code of the table is given', () => {
  expect(codeFaults(used, table)).toEqual([]);
});

test('every code that a page names is in the table', () => {
  const pages = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`);
  const unknown = ['README.md', 'CONTRIBUTING.md', ...pages].flatMap((file) =>
    [...readFileSync(ROOT + file, 'utf8').matchAll(/\b[EW]_[A-Z0-9_]*[A-Z0-9]\b/g)]
      .filter(([code]) => !table.includes(code))
      .map(([code]) => `${file}: ${code}`),
  );
  expect(unknown).toEqual([]);
});

test('the page has every code of the table once, in its order', () => {
  expect(sections.map(([, code]) => code)).toEqual(table);
  expect(table).toEqual([...new Set(table)]);
});

test('each section is made of sentences: the meaning, the cause and the repair', () => {
  for (const [, code, text] of sections)
    expect(`${code}${text}`).toMatch(/^\w+\n[A-Z`].*\.\n\n- Cause: [A-Z`].*\.\n- Repair: [A-Z`].*\.\n+$/);
});

test('the contents list every code with its topic', () => {
  const rows: string[] = [];
  for (const [level, title] of parts.slice(1)) {
    if (level === '##') rows.push(`| ${title} | `);
    else rows.push(`${rows.pop()}[${title}](#${title.toLowerCase()}), `);
  }
  const contents = rows.map((row) => `${row.replace(/, $/, '')} |\n`).join('');
  expect(parts[0]?.[2]).toContain(`| topic | codes |\n|---|---|\n${contents}`);
});

describe('the rule', () => {
  test.each([
    ["({ code: 'E_GONE' })", ['E_GONE']],
    ["const a = b ? 'W_GONE' : 'other';", ['W_GONE']],
    ["class A { readonly code = 'ALL_GONE'; }", ['ALL_GONE']],
    ["refused('ALL_GONE', text)", ['ALL_GONE']],
    ['const messages = { E_GONE: () => 1 };', ['E_GONE']],
    ["read('HOME_FOLDER'); // 'E_GONE'", []],
  ])('finds the codes of %s', (text, codes) => {
    expect(codesIn({ file: 'a.ts', text })).toEqual(codes);
  });

  test('finds what one side lacks', () => {
    expect(codeFaults(new Map([['E_A', 'src/a.ts']]), ['E_B'])).toEqual([
      `E_A of src/a.ts is not in ${CATALOGUE}`,
      `E_B is in ${CATALOGUE}, and no file gives it`,
    ]);
  });
});
