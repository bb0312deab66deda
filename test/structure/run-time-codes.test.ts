import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import {
  type RunTimeCode,
  runTimeCodes,
  runTimeCodeText,
  runTimeCodeTopics,
} from '../../src/graph/run-time-codes.js';
import { expectGolden } from '../golden/golden.js';
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

const sources = sourceFiles('src').filter(({ file }) => !isCodeTable(file) && !isTest(file));

/** The table and the files of its topics. */
function isCodeTable(file: string): boolean {
  return file === CATALOGUE || file.startsWith(CATALOGUE.replace(/\.ts$/, '/'));
}
const used = new Map(
  sources.flatMap(({ file, text }) => codesIn({ file, text }).map((code) => [code, file] as const)),
);

/** What source and table do not agree about. */
function codeFaults(codes: ReadonlyMap<string, string>, table: Readonly<Record<string, unknown>>): string[] {
  return [
    ...[...codes]
      .filter(([code]) => !Object.hasOwn(table, code))
      .map(([code, file]) => `${code} of ${file} is not in ${CATALOGUE}`),
    ...Object.keys(table)
      .filter((code) => !codes.has(code))
      .map((code) => `${code} is in ${CATALOGUE}, and no file gives it`),
  ];
}

test('every code that the source gives is in the table, and every code of the table is given', () => {
  expect(codeFaults(used, runTimeCodes)).toEqual([]);
});

test('every code that a page names is in the table', () => {
  const pages = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`);
  const unknown = ['README.md', 'CONTRIBUTING.md', ...pages].flatMap((file) =>
    [...readFileSync(ROOT + file, 'utf8').matchAll(/\b[EW]_[A-Z0-9_]*[A-Z0-9]\b/g)]
      .filter(([code]) => !Object.hasOwn(runTimeCodes, code))
      .map(([code]) => `${file}: ${code}`),
  );
  expect(unknown).toEqual([]);
});

test('the topics have every code once', () => {
  const codes = Object.values(runTimeCodeTopics).flatMap((topic) => Object.keys(topic));
  expect(codes).toEqual([...new Set(codes)]);
  expect(codes.sort()).toEqual(Object.keys(runTimeCodes).sort());
});

test('each entry is made of sentences', () => {
  for (const [code, entry] of Object.entries(runTimeCodes)) {
    for (const text of Object.values(entry)) expect(`${code}: ${text}`).toMatch(/: [A-Z`].*\.$/);
  }
});

test('the page is the table', () => {
  expectGolden(PAGE, pageText());
});

/** The whole page: its source is the table, `UPDATE_GOLDEN=1` writes it. */
function pageText(): string {
  const sections = Object.entries(runTimeCodeTopics).map(([title, topic]) => {
    const codes = Object.keys(topic) as RunTimeCode[];
    return `## ${title}\n\n${codes.map((code) => `### ${code}\n\n${runTimeCodeText(code)}`).join('\n')}`;
  });
  return `${INTRODUCTION}\n${contents()}\n${sections.join('\n')}`;
}

/** Every code, by topic, as a link to its section. */
function contents(): string {
  const rows = Object.entries(runTimeCodeTopics).map(([title, topic]) => {
    const links = Object.keys(topic).map((code) => `[${code}](#${code.toLowerCase()})`);
    return `| ${title} | ${links.join(', ')} |\n`;
  });
  return `| topic | codes |\n|---|---|\n${rows.join('')}`;
}

const INTRODUCTION = `# Run-time codes

Each failure of a run, each refusal of a request and each warning beside a result has a code. \`npx stepwright explain E_TIMEOUT\` shows the section of a code in the terminal. Faults that codegen reports have [pages of their own](diagnostics/README.md).

- A code never changes its meaning. Programs compare codes, not messages.
- An error that a tool throws keeps its own \`code\`. \`fail(message, { code })\` gives a workflow its own; see [Failure codes](reference/results.md#fail).
- Codes with \`E_\` or \`W_\` are reserved for stepwright.
- \`E_\` is a failure. \`W_\` is a warning: the run or the request succeeded. A code without a prefix refuses a request of a client that [manages a run](reference/run-tools.md#tools-that-manage-runs) and changes nothing.

A failure in an envelope or in \`_meta\` has \`code\`, \`message\`, \`node\` (the step) and, where there is more to say, \`details\`. Details of more than 65,536 characters of JSON are left out: \`details_omitted\` has their \`size\` and the \`limit\`.
`;

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
    expect(codeFaults(new Map([['E_A', 'src/a.ts']]), { E_B: {} })).toEqual([
      `E_A of src/a.ts is not in ${CATALOGUE}`,
      `E_B is in ${CATALOGUE}, and no file gives it`,
    ]);
  });
});
