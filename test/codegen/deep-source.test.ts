import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkGraph } from '../../src/check/check-graph.js';
import { extract } from '../../src/codegen/extract/extract.js';
import { link } from '../../src/codegen/link/link.js';
import { MAX_SYNTAX_DEPTH } from '../../src/codegen/source/ast.js';
import { SourceHost } from '../../src/codegen/source/source-host.js';
import type { SourceFileSyntax } from '../../src/codegen/syntax.js';
import { MAX_EXPRESSION_DEPTH } from '../../src/graph/limits.js';
import { parseGraph } from '../../src/graph/schema/parse-graph.js';
import { FIXTURES } from './fixture.js';

const ROOT = path.resolve(FIXTURES, '../../..');

const repeat = (count: number, term: (i: number) => string, between: string): string =>
  Array.from({ length: count }, (_, i) => term(i)).join(between);

/** Long and deep expressions of type text, by the number of their parts. */
const forms = {
  sum: (n: number, text: string) => repeat(n, () => text, ' + '),
  conjunction: (n: number, text: string) => repeat(n, () => text, ' && '),
  parentheses: (n: number, text: string) => `${'('.repeat(n)}${text}${')'.repeat(n)}`,
  conditions: (n: number, text: string) => `${repeat(n, (i) => `${text} === '${i}' ? '${i}' : `, '')}'none'`,
  list: (n: number, text: string) => `[${repeat(n, () => text, ', ')}].join(',')`,
  template: (n: number, text: string) => `\`${repeat(n, () => `\${${text}}`, ' ')}\``,
  methods: (n: number, text: string) => `${text}${'.trim()'.repeat(n)}`,
  lists: (n: number) => `${'['.repeat(n)}${']'.repeat(n)}.join(',')`,
  objects: (n: number) => `${'({ a: '.repeat(n)}''${' })'.repeat(n)}${'.a'.repeat(n)}`,
  negations: (n: number, text: string) => `${'!'.repeat(n)}${text} ? 'a' : 'b'`,
} as const;

type Form = keyof typeof forms;

const FORMS = Object.keys(forms) as Form[];
const SIZES = [100, 300, 1000, 10_000];

const dataFile = (form: Form, size: number) => `data-${form.toLowerCase()}-${size}.ts`;
const workflowFile = (form: Form, size: number) => `workflow-${form.toLowerCase()}-${size}.ts`;

const tool = `import { Tool } from 'stepwright';
@Tool({ name: 'note', description: 'Notes' })
export class Note { execute(input: { text: string }): { text: string } { return input; } }
`;

const workflow = (name: string, text: string) => `import { Arg, call, Step, Workflow } from 'stepwright';
import { Note } from './note.js';
@Workflow({ name: '${name}', description: 'Notes' })
export class W {
  @Arg({ description: 'What to note' }) text!: Arg<string>;
  @Step() noted = call(Note, { text: ${text} });
}
`;

let sources: ReadonlyMap<string, SourceFileSyntax>;

beforeAll(() => {
  const overlay = new Map([['note.ts', tool]]);
  for (const form of FORMS) {
    for (const size of SIZES) {
      const data = `import { Note } from './note.js';\nexport const note = Note;\nconst text = 'a';\nexport const data = ${forms[form](size, 'text')};\n`;
      overlay.set(dataFile(form, size), data);
      const name = workflowFile(form, size).slice(0, -3);
      overlay.set(workflowFile(form, size), workflow(name, forms[form](size, 'this.text')));
    }
  }
  const files = [...overlay.keys()];
  const options = {
    root: path.join(FIXTURES, 'deep'),
    tsconfig: path.join(ROOT, 'test/codegen/tsconfig.fixtures.json'),
  };
  const host = new SourceHost({ ...options, files, overlay });
  sources = new Map(host.sourceFiles().map((source) => [source.file, source]));
  expect(host.ignores()).toEqual([]);
}, 120_000);

/** The diagnostics of these files. */
function diagnose(...files: readonly string[]) {
  const extracted = extract(files.flatMap((file) => sources.get(file) ?? []));
  const linked = link(extracted.value);
  const environment = { tools: new Map([['note', { inputSchema: {} }]]), resources: new Map() };
  const checked = linked.value.flatMap(({ graph, isWhole }) => checkGraph(graph, environment, { isWhole }));
  if (checked.length === 0) for (const { graph } of linked.value) expect(parseGraph(graph).ok).toBe(true);
  return [...extracted.diagnostics, ...linked.diagnostics, ...checked].filter(
    ({ severity }) => severity === 'error',
  );
}

/** The number of levels of syntax that each part adds. */
const LEVELS: Readonly<Record<Form, number>> = {
  sum: 0,
  conjunction: 1,
  parentheses: 1,
  conditions: 1,
  list: 0,
  template: 0,
  methods: 2,
  lists: 1,
  objects: 4,
  negations: 1,
};

/** Forms whose parts add no levels to an expression. */
const FLAT: readonly Form[] = ['list', 'template', 'parentheses'];

describe.each(FORMS)('%s', (form) => {
  const isTooDeep = (size: number): boolean => size * LEVELS[form] > MAX_SYNTAX_DEPTH;

  test.each(SIZES)('of %i parts in a file of data is read, or reported once', (size) => {
    const found = diagnose(dataFile(form, size)).map(({ code, place }) => `${code} ${place?.file}`);
    expect(found).toEqual(isTooDeep(size) ? [`SW9015 ${dataFile(form, size)}`] : []);
  });

  test.each(SIZES)('of %i parts in a step is compiled, or reported once', (size) => {
    const file = workflowFile(form, size);
    const found = diagnose('note.ts', file).map(({ code, place }) => `${code} ${place?.file}`);
    // An object with an access is two levels.
    const depth = form === 'objects' ? 2 * size : size;
    const isRefused = !FLAT.includes(form) && depth > MAX_EXPRESSION_DEPTH;
    const expected = isTooDeep(size) ? [`SW9015 ${file}`] : isRefused ? [`SW9016 ${file}`] : [];
    expect(found).toEqual(expected);
  });
});

test('the messages name the limits', () => {
  const [source] = diagnose(dataFile('parentheses', 1000));
  expect(source?.message).toBe('`data-parentheses-1000.ts` is nested more than 500 levels deep');
  expect(source?.place?.span[0]).toBe(4);
  const [expression] = diagnose('note.ts', workflowFile('sum', 1000));
  expect(expression?.message).toBe('the expression is nested more than 128 levels deep');
  expect(expression?.place?.span[0]).toBe(6);
});

test('a file that is imported alone is reported too', () => {
  const overlay = new Map([['a.ts', "import { data } from './deep.js';\nexport const a = data;\n"]]);
  const deep = `export const data = ${forms.parentheses(10_000, "'a'")};\n`;
  const folder = path.join(FIXTURES, 'deep');
  const host = new SourceHost({
    root: folder,
    files: ['a.ts'],
    overlay: new Map([...overlay, ['deep.ts', deep]]),
  });
  expect(host.sourceFiles().map(({ file, faults }) => [file, faults.length])).toEqual([
    ['a.ts', 0],
    ['deep.ts', 1],
  ]);
});

test('a file on disk that the compiler cannot parse is reported too', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-deep-'));
  try {
    const files = FORMS.map((form) => dataFile(form, 10_000));
    for (const [i, form] of FORMS.entries()) {
      const data = `const text = 'a';\nexport const data = ${forms[form](10_000, 'text')};\n`;
      writeFileSync(path.join(folder, files[i] ?? ''), data);
    }
    writeFileSync(path.join(folder, 'fine.ts'), 'export const fine = 1;\n');
    const host = new SourceHost({ root: folder, files: [...files, 'fine.ts'] });
    const reported = host.sourceFiles().flatMap(({ file, faults }) => faults.map(() => file));
    const deep = FORMS.filter((form) => LEVELS[form] > 0).map((form) => dataFile(form, 10_000));
    expect(reported).toEqual(deep.sort());
  } finally {
    rmSync(folder, { recursive: true });
  }
});
