import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkGraph } from '../../src/check/check-graph.js';
import { checkHints } from '../../src/codegen/check-workflows.js';
import type { Declarations, LinkedWorkflow } from '../../src/codegen/declarations.js';
import { extract } from '../../src/codegen/extract/extract.js';
import { linkHints } from '../../src/codegen/link/handles.js';
import { linkPrompts } from '../../src/codegen/link/inputs-and-state.js';
import { link } from '../../src/codegen/link/link.js';
import { WrittenSchemaReader } from '../../src/codegen/schemas/literal-classes.js';
import { SourceHost } from '../../src/codegen/source/source-host.js';
import type { SourceFileSyntax } from '../../src/codegen/syntax.js';
import { canonicalGraph } from '../../src/graph/canonical.js';
import type { Diagnostic } from '../../src/graph/diagnostics/diagnostic.js';
import { parseGraph } from '../../src/graph/schema/parse-graph.js';
import {
  FIXTURES,
  type Fixture,
  formatDiagnostics,
  formatSpans,
  isUpdating,
  loadFixtures,
  readExpected,
  writeExpected,
} from './fixture.js';

const ROOT = path.resolve(FIXTURES, '../../..');
const fixtures = loadFixtures();
const schemas = new WrittenSchemaReader({ root: FIXTURES });
let byFile: ReadonlyMap<string, SourceFileSyntax>;

beforeAll(() => {
  const files = fixtures.flatMap((fixture) => fixture.files);
  // One program for all cases, since opening a program is slow.
  const host = new SourceHost({
    root: FIXTURES,
    tsconfig: path.join(ROOT, 'tsconfig.json'),
    files: files.filter(({ isRead }) => isRead).map(({ file }) => file),
    overlay: new Map(files.map(({ file, text }) => [file, text])),
  });
  byFile = new Map(host.sourceFiles().map((source) => [source.file, source]));
}, 60_000);

function run(fixture: Fixture) {
  const sources = fixture.files.flatMap(({ file }) => byFile.get(file) ?? []);
  const extracted = extract(sources);
  const declarations = extracted.value;
  const linked = link(declarations, undefined, (file, schema) => schemas.response(file, schema));
  const prompts = linkPrompts(declarations);
  const hints = linkHints(declarations);
  const checked = fixture.isChecked
    ? linked.value.flatMap((each) => check(each, declarations, linked.value))
    : [];
  const compared = checkHints({ hints: hints.value, places: new Map() }, declarations.tools, linked.value);
  const phases = [extracted, linked, prompts, hints];
  return {
    declarations,
    linked: linked.value,
    prompts: prompts.value,
    hints: hints.value,
    diagnostics: [...phases.flatMap(({ diagnostics }) => diagnostics), ...checked, ...compared],
  };
}

function check(
  { graph, isWhole }: LinkedWorkflow,
  { tools, resources }: Declarations,
  linked: readonly LinkedWorkflow[],
): Diagnostic[] {
  const environment = {
    // Calls of a tool without a known schema are not checked.
    tools: new Map(
      tools.map(({ name, annotations, retrySafety, secret }) => [
        name,
        { inputSchema: {}, annotations, retrySafety, secret },
      ]),
    ),
    resources: new Map(resources.map(({ name, uri }) => [name, { uri }])),
    workflows: new Map(linked.map((each) => [each.graph.name, each.graph])),
  };
  return checkGraph(graph, environment, { isWhole });
}

describe.each(fixtures)('$name', (fixture) => {
  test('reports the expected diagnostics at the marked locations', () => {
    const outcome = run(fixture);
    const { linked, diagnostics } = outcome;
    const report = [formatDiagnostics(diagnostics), summary(outcome)].filter(Boolean).join('\n');
    const isRight = diagnostics.every(({ severity }) => severity === 'warning');
    const graphs = isRight && linked.length > 0 ? printGraphs(linked) : undefined;
    if (isUpdating()) {
      writeExpected(fixture.name, 'expected.txt', report);
      writeExpected(fixture.name, 'expected.graph.json', graphs);
    }
    expect(report).toBe(readExpected(fixture.name, 'expected.txt'));
    expect(graphs).toBe(readExpected(fixture.name, 'expected.graph.json'));
    const marks = fixture.files.flatMap((file) => file.marks);
    expect(formatSpans(diagnostics.flatMap(placesOf))).toEqual(formatSpans(marks));
  });

  test('makes graphs that the checker and the model accept', () => {
    const { declarations, linked } = run(fixture);
    for (const each of linked) {
      const { graph } = each;
      const errors = check(each, declarations, linked).filter(({ severity }) => severity === 'error');
      // The faults that the checker finds are expected with the other faults of a checked case.
      if (fixture.isChecked && errors.length > 0) continue;
      expect(errors).toEqual([]);
      expect(parseGraph(JSON.parse(JSON.stringify(graph)))).toMatchObject({ ok: true });
    }
  });
});

test('every diagnostic of these phases has a fixture', () => {
  const raised = new Set(
    ['extract', 'link'].flatMap((phase) => codesIn(path.join(ROOT, 'src/codegen', phase))),
  );
  const shown = new Set(fixtures.flatMap(({ name }) => codes(readExpected(name, 'expected.txt') ?? '')));
  expect([...raised].filter((code) => !shown.has(code))).toEqual([]);
  expect(raised.size).toBeGreaterThan(20);
});

test('fixtures are not updated in CI', () => {
  const { CI, UPDATE_FIXTURES } = process.env;
  try {
    Object.assign(process.env, { CI: 'true', UPDATE_FIXTURES: '1' });
    expect(() => isUpdating()).toThrow('CI');
  } finally {
    restore('CI', CI);
    restore('UPDATE_FIXTURES', UPDATE_FIXTURES);
  }
});

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

function placesOf({ place, related }: Diagnostic) {
  return [...(place === undefined ? [] : [place]), ...related.map((other) => other.place)];
}

function codesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => codes(readFileSync(path.join(folder, file), 'utf8')));
}

function codes(text: string): string[] {
  return [...text.matchAll(/\bSW\d{4}\b/g)].map(([code]) => code);
}

/** The expected output besides the faults. */
function summary({ declarations, linked, prompts, hints }: ReturnType<typeof run>): string {
  const { tools, resources, workflows } = declarations;
  const list = (kind: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${kind}: ${names.join(', ')}`];
  const nameOf = ({ name }: { readonly name: string }) => name;
  const classes = [...tools, ...resources, ...workflows, ...declarations.prompts];
  const functions = linked.flatMap((each) => each.functions);
  const lines = [
    ...list('tools', tools.map(nameOf)),
    ...tools.flatMap((tool) => {
      const { name, icons, retrySafety, visibility, scopes, secret } = tool;
      const said = { icons, hints: hints.get(tool), retrySafety, visibility, scopes, secret };
      return JSON.stringify(said) === '{}' ? [] : [`${name}: ${JSON.stringify(said)}`];
    }),
    ...list('resources', resources.map(nameOf)),
    ...list(
      'workflows',
      linked.map(({ graph }) => `${graph.name} [${graph.nodes.map(({ id }) => id).join(' ')}]`),
    ),
    ...prompts.flatMap(({ declaration, arguments: inputs }) => [
      `prompt ${declaration.name}: ${JSON.stringify(inputs.map(({ source: _, ...input }) => input))}`,
    ]),
    ...list(
      'functions',
      functions.map(({ name, file, exportName }) => `${name} is ${exportName} of ${file}`),
    ),
    ...list(
      'exports',
      classes.map((each) => `${each.className} as ${each.exportName}`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function printGraphs(linked: ReturnType<typeof run>['linked']): string {
  const graphs = linked.map(({ graph }) => JSON.parse(canonicalGraph(graph)));
  return `${JSON.stringify(graphs, null, 2)}\n`;
}
