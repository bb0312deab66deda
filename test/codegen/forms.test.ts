import path from 'node:path';
import { Project, ts } from 'ts-morph';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkGraph } from '../../src/check/check-graph.js';
import { extract } from '../../src/codegen/extract/extract.js';
import { link } from '../../src/codegen/link/link.js';
import { schemaOfType } from '../../src/codegen/schemas/type-schema.js';
import { SourceHost } from '../../src/codegen/source/source-host.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FILE = 'test/codegen/forms/workflows.ts';

const TYPES = `
export type Flight = { kind: 'flight'; id: string; seat?: string; legs: { from: string }[] };
export type Train = { kind: 'train'; code: number; legs: { station: string }[]; seat: string };
export type Trip = Flight | Train;
export type Plain = { id: string } | { code: string };
export interface Booked {
  trip: Trip;
  plain: Plain;
  maybe?: Trip;
  orNull: { id: string } | null;
  trips: Trip[];
  sized: { size: number; of: Trip } | { size: number; none: true };
  answer: { ok: true; value: Trip } | { ok: false; error: string };
  exact: { id: string; code?: undefined } | { code: string; id?: undefined };
  exacts: ({ id: string; code?: undefined } | { code: string; id?: undefined })[];
  flags: { on: true; volume: number } | { on?: false; why: string };
}
`;

/** Expressions that both codegen and `tsc` refuse. */
const FAULTY = [
  'this.b.plain.id',
  'this.b.plain.code',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
  '`${this.b.plain.id}`',
  '[this.b.trip.id]',
  '{ id: this.b.trip.id }',
  'call(Book, { value: this.b.trip.code })',
  "this.b.trip.kind === 'train' ? this.b.trip.id : 'none'",
  "this.b.trip.kind !== 'train' ? this.b.trip.code : 0",
  "this.b.trip.kind === 'flight' ? 'none' : this.b.trip.id",
  "!(this.b.trip.kind === 'flight') ? this.b.trip.id : 'none'",
  "this.b.trip.kind === 'flight' && this.n > 1 ? this.b.trip.id : this.b.trip.code",
  "this.n > 1 ? this.b.trip.id : 'none'",
  "this.n > 1 || this.b.trip.kind === 'flight' ? this.b.trip.id : 'none'",
  "this.b.trip.kind === 'train' && this.b.trip.id.length > 1 ? 1 : 2",
  'this.b.trips.map((trip) => trip.id)',
  'this.b.trips.map(({ id }) => id)',
  "this.b.trips.filter((trip) => trip.kind === 'train').map((trip) => trip.id)",
  "this.b.trips.map((trip) => (trip.kind === 'train' ? trip.id : trip.code))",
  'forEach(this.b.trips, (trip) => call(Book, { value: trip.id }))',
  'match(this.b.trip.kind, { flight: call(Book, { value: this.b.trip.code }), train: undefined })',
  "this.b.trip.kind === 'flight' ? call(Book, { value: this.b.trip.code }) : undefined",
  'this.b.answer.value',
  "this.b.answer.ok ? this.b.answer.error : 'none'",
  'this.b.answer.ok ? this.b.answer.value.id : 0',
  "this.b.flags.on ? this.b.flags.why : ''",
  'this.b.sized.size > 1 ? this.b.sized.of : 0',
  'this.b.trip.legs.map((leg) => leg.from)',
];

/** Expressions that both `tsc` and codegen accept. */
const SOUND = [
  'this.b.trip.kind',
  'this.b.trip.legs.length',
  'this.b.orNull?.id',
  'this.b.orNull!.id',
  "this.b.orNull === null ? '' : this.b.orNull.id",
  "this.b.trip.kind === 'flight' ? this.b.trip.id : this.b.trip.code",
  "'flight' === this.b.trip.kind ? this.b.trip.id : this.b.trip.code",
  "this.b.trip.kind !== 'flight' ? this.b.trip.code : this.b.trip.id",
  "!(this.b.trip.kind !== 'flight') ? this.b.trip.id : this.b.trip.code",
  "this.b.trip.kind === 'flight' && this.n > 1 ? this.b.trip.id : 'none'",
  "this.b.trip.kind !== 'flight' || this.b.trip.id === 'a'",
  "this.b.trip.kind === 'flight' && this.b.trip.id === 'a' ? this.b.trip.id : 'none'",
  "this.n > 1 ? (this.b.trip.kind === 'flight' ? this.b.trip.id : 'none') : 'none'",
  "this.b.trip.kind === 'flight' ? this.b.trip.legs.map((leg) => leg.from) : []",
  "this.b.trip.kind === 'flight' ? this.b.trip.legs[0]?.from : undefined",
  "this.b.trips.map((trip) => (trip.kind === 'flight' ? trip.id : trip.code))",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
  'this.b.trips.map(({ kind, legs }) => `${kind} ${legs.length}`)',
  "this.b.trips.map((trip) => (trip.kind === 'flight' ? trip.legs : [])).map((legs) => legs.map((leg) => leg.from))",
  "this.b.trips.filter((trip) => trip.kind === 'flight').map((trip) => trip.id)",
  "this.b.trips.filter((trip) => trip.kind !== 'flight').map((trip) => trip.code)",
  "this.b.trips.find((trip) => trip.kind === 'flight')?.id",
  "this.b.trips.every((trip) => trip.kind === 'flight') ? this.b.trips.map((trip) => trip.id) : []",
  "forEach(this.b.trips, (trip) => trip.kind === 'flight' ? call(Book, { value: trip.id }) : call(Book, { value: trip.code }))",
  'match(this.b.trip.kind, { flight: call(Book, { value: this.b.trip.kind }), train: undefined })',
  "this.b.trip.kind === 'flight' ? call(Book, { value: this.b.trip.id }) : undefined",
  "this.b.trip.kind === 'flight' ? call(Book, { value: this.b.trip.id }) : call(Book, { value: this.b.trip.code })",
  "this.b.trip.kind === 'flight' ? chain(call(Book), () => call(Book)) : call(Book, { value: this.b.trip.code })",
  'this.b.answer.ok ? this.b.answer.value.kind : this.b.answer.error',
  "this.b.answer.ok && this.b.answer.value.kind === 'flight' ? this.b.answer.value.id : 'none'",
  'this.b.answer.ok === false ? this.b.answer.error : this.b.answer.value.kind',
  "!this.b.answer.ok ? this.b.answer.error : 'none'",
  'this.b.exact.id ?? this.b.exact.code',
  'this.b.exact.id',
  'this.b.exacts.map((each) => each.id ?? each.code)',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
  'this.b.exacts.map(({ id, code = 1 }) => `${id} ${code}`)',
  'this.b.exacts[0]?.id',
  "this.b.exact.id !== undefined ? this.b.exact.id : 'none'",
  'this.b.flags.on ? this.b.flags.volume : this.b.flags.why',
  "this.b.maybe?.kind === 'flight' ? this.b.maybe.id : 'none'",
  "this.b.maybe !== undefined && this.b.maybe.kind === 'flight' ? this.b.maybe.id : 'none'",
  "this.b.maybe?.kind === 'train' ? this.b.maybe.code : this.b.maybe?.kind",
  '(this.b.trip as Flight).id',
  '(this.b.trip as Flight).legs.map((leg) => leg.from)',
  '(this.b.plain as { id: string }).id',
  'this.b.trip.seat',
  '{ ...this.b.plain }',
  'this.b.plain',
];

/** Several steps that both accept. */
const STEPS = [
  ["@Step() a = this.b.trip.kind === 'flight' ? this.b.trip : fail('no flight');", '@Step() x = this.a.id;'],
  ["@Step() a = this.b.trip.kind === 'flight' ? this.b.trip : undefined;", '@Step() x = this.a?.id;'],
  ['@Step() a = this.b.trip as Flight;', '@Step() x = this.a.id;'],
  [
    "@Step() a = this.b.trips.find((trip) => trip.kind === 'train') ?? fail('none');",
    '@Step() x = this.a.code;',
  ],
  [
    "@Step() a = this.b.trips.map((trip) => trip.kind === 'flight' ? trip : { kind: 'none', id: '' });",
    '@Step() x = this.a.map((each) => each.id);',
  ],
  [
    '@Step() a = match(this.b.trip.kind, { flight: call(Book), train: call(Book) });',
    '@Step() x = this.a.trip.kind;',
  ],
  ['@Step() a = attempt(call(Book), () => this.b);', '@Step() x = this.a.trip.kind;'],
  [
    "@Step() a = parallel({ one: call(Book), two: call(Book) }, { onPartialFailure: 'continue' });",
    '@Step() x = this.a.one.error === undefined ? this.a.one.trip.kind : this.a.one.error.code;',
  ],
];

function sourceOf(): string {
  const workflow = (name: string, body: string) => `
@Workflow({ name: '${name.toLowerCase()}', description: 'reads' })
export class ${name} {
  @Arg({ description: 'Number' }) n!: Arg<number>;
  @Step() b = call(Book);
  ${body}
}
`;
  const one = (prefix: string) => (expression: string, index: number) =>
    workflow(
      `${prefix}${index}`,
      `@Step() x = ${expression.startsWith('{') ? `(${expression})` : expression};`,
    );
  return [
    "import { Arg, attempt, call, chain, fail, forEach, match, parallel, Step, Tool, Workflow } from 'stepwright';",
    TYPES,
    `@Tool({ name: 'book', description: 'Books' })
export class Book {
  execute(_input: { value?: unknown }): Booked { throw new Error(); }
}`,
    ...FAULTY.map(one('Faulty')),
    ...SOUND.map(one('Sound')),
    ...STEPS.map((lines, index) => workflow(`Steps${index}`, lines.join('\n  '))),
  ].join('\n');
}

describe('fields that some forms of a value have', () => {
  let found: ReadonlyMap<string, readonly string[]>;
  let byTsc: ReadonlySet<string>;

  beforeAll(() => {
    const text = sourceOf();
    const tsconfig = path.join(ROOT, 'test/codegen/tsconfig.fixtures.json');
    const host = new SourceHost({ root: ROOT, tsconfig, files: [FILE], overlay: new Map([[FILE, text]]) });
    const declarations = extract(host.sourceFiles());
    const linked = link(declarations.value);
    // The assertion among the expressions is a warning.
    const codes = [...declarations.diagnostics, ...linked.diagnostics].map(({ code }) => code);
    expect(codes).toEqual(['SW2010']);
    const [tool] = declarations.value.tools;
    const outputSchema = tool?.outputType && schemaOfType(tool.outputType, 'output').schema;
    expect(outputSchema).toBeDefined();
    const environment = {
      tools: new Map([
        ['book', { inputSchema: {}, ...(outputSchema === undefined ? {} : { outputSchema }) }],
      ]),
      resources: new Map(),
    };
    found = new Map(
      linked.value.map(({ graph, declaration }) => {
        const errors = checkGraph(graph, environment).filter(({ severity }) => severity === 'error');
        return [declaration.className, errors.map(({ code, message }) => `${code}: ${message}`)];
      }),
    );
    const project = new Project({ tsConfigFilePath: tsconfig, skipAddingFilesFromTsConfig: true });
    const source = project.createSourceFile(path.join(ROOT, FILE), text, { overwrite: true });
    byTsc = new Set(
      source.getPreEmitDiagnostics().map((fault) => {
        const at = source.getDescendantAtPos(fault.getStart() ?? 0);
        return (
          at?.getFirstAncestorByKind(ts.SyntaxKind.ClassDeclaration)?.getName() ??
          fault.getMessageText().toString()
        );
      }),
    );
  }, 120_000);

  test.each(FAULTY.map((expression, index) => [expression, `Faulty${index}`]))(
    '%s is at fault',
    (_, name) => {
      expect(byTsc).toContain(name);
      expect(found.get(name)?.join('\n')).toMatch(/^SW(3016|4005|3013):/);
    },
  );

  test.each(SOUND.map((expression, index) => [expression, `Sound${index}`]))('%s is sound', (_, name) => {
    expect(byTsc).not.toContain(name);
    expect(found.get(name)).toEqual([]);
  });

  test.each(STEPS.map((lines, index) => [lines.join(' '), `Steps${index}`]))('%s is sound', (_, name) => {
    expect(byTsc).not.toContain(name);
    expect(found.get(name)).toEqual([]);
  });
});
