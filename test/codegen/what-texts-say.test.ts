import { readdirSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SourceHost, type SourceHostOptions } from '../../src/codegen/source/source-host.js';
import type { SourceFileSyntax } from '../../src/codegen/syntax.js';
import { isNightly, nightlyTest } from '../nightly.js';
import { FIXTURES, loadFixtures } from './fixture.js';

const ROOT = path.resolve(FIXTURES, '../../..');
const TSCONFIG = path.join(ROOT, 'tsconfig.json');

/** Reads sources by their texts, and by the compiler alone. */
function expectSame(options: SourceHostOptions): void {
  const [byText, byCompiler] = [false, true].map((asksCompiler) =>
    new SourceHost({ ...options, asksCompiler }).sourceFiles().map(withoutSchemas),
  );
  expect(byText).toEqual(byCompiler);
}

/** Schemas are read from texts alone: those of tools, and those of replies. */
function withoutSchemas(file: SourceFileSyntax): unknown {
  const isOfSchema = (key: string): boolean => key === 'schemas' || key === 'schema';
  return JSON.parse(JSON.stringify(file, (key, value) => (isOfSchema(key) ? undefined : value)));
}

const virtual = (texts: Readonly<Record<string, string>>): SourceHostOptions => ({
  root: path.join(ROOT, 'examples/nowhere'),
  tsconfig: TSCONFIG,
  files: Object.keys(texts),
  overlay: new Map(Object.entries(texts)),
});

describe('what texts say is what the compiler says', { timeout: 120_000 }, () => {
  test('of the fixtures', () => {
    const fixtures = loadFixtures().filter((_, index) => isNightly || index % 12 === 0);
    const files = fixtures.flatMap((fixture) => fixture.files);
    expectSame({
      root: FIXTURES,
      tsconfig: TSCONFIG,
      files: files.filter(({ isRead }) => isRead).map(({ file }) => file),
      overlay: new Map(files.map(({ file, text }) => [file, text])),
    });
  });

  nightlyTest('of the examples', () => {
    const folder = path.join(ROOT, 'examples');
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => name.endsWith('.ts')).map((name) => path.join('examples', name));
    expect(files.length).toBeGreaterThan(20);
    expectSame({ root: ROOT, tsconfig: TSCONFIG, files });
  });

  test('of functions and constants', () => expectSame(virtual({ 'a.ts': NAMES, 'b.ts': MORE_NAMES })));

  test('of imports from a module that is not there', () => expectSame(virtual({ 'a.ts': GONE })));

  test('of schemas, some of which can be called', () => expectSame(virtual({ 'a.ts': SCHEMAS })));

  test('of types that are written out', () => {
    fc.assert(
      fc.property(fc.array(anyType, { minLength: 30, maxLength: 30 }), (types) => {
        expectSame(virtual({ 'a.ts': `${TYPES}${types.map(toolOf).join('\n')}`, 'b.ts': MORE_TYPES }));
      }),
      { numRuns: isNightly ? 10 : 1 },
    );
  });
});

const SCHEMAS = `
import { Tool } from 'stepwright';
import * as all from 'zod';
import { z } from 'zod';
import { object, string } from 'zod/v4';
const base = z.object({ name: z.string(), run: z.custom<() => string>() });
const wider = base.extend({ more: all.array(all.string()).optional() });
const bare = object({ text: string() });
const parsed = base.shape.run.parse(() => 'x');
const made = z.function({ input: [z.string()], output: z.string() });
const implemented = made.implement((text) => text);
const typed: () => string = z.custom<() => string>().parse(() => 'x');
const other = { object: () => () => 1 };
const called = other.object();
${['base', 'wider', 'bare', 'parsed', 'made', 'implemented', 'typed', 'called', "z.object({}).describe('x')"]
  .map(
    (input, index) => `
@Tool({ name: 't${index}', description: 'd', input: ${input} as never })
export class T${index} { execute(input: object) { return input; } }
@Tool({ name: 'u${index}', description: 'd', input: ${input} })
export class U${index} { execute(input: object) { return input; } }`,
  )
  .join('')}
`;

const NAMES = `
import { Arg, call, done, Step, Workflow } from 'stepwright';
import type { Item } from './b.js';
import named, { Color, deep, LIMIT as MOST, longer, twice } from './b.js';
import * as b from './b.js';
const own = 5;
const list = ['a', 'b'] as const;
let changing = 1;
export const trimmed = (text: string) => text.trim().toLowerCase();
export const joined = (items: readonly Item[]) => items.map(({ name }) => name).join();
export const found = (items: readonly Item[]) => items.find((item) => item.name === 'x') ?? null;
export function later(text: string) { return new Promise<string>((done) => done(text)); }
export function said(text: string): Promise<string> { return Promise.resolve(text); }
export async function waits(text: string) { return text; }
export const odd = (run: () => Promise<number>) => run();
export const mixed = (items: readonly string[]) => items.map(async (item) => item)[0];
export function blocks(text: string) { if (text === '') return 1; return { text, own, count: list.length }; }
export const wrapped = bind(trimmed);
function bind<T>(of: T): T { return of; }
export const verbs = (text: string) => helper(text);
const helper = (text: string) => call(Flow as never, { text });
@Workflow({ name: 'flow', description: 'd' })
export class Flow {
  @Arg({ description: 'x' }) text!: Arg<string>;
  @Arg({ description: 'x' }) size?: Arg<'a' | 'b'>;
  @Step() a = trimmed(this.text);
  @Step() b = joined([{ name: 'x', more: [1] }]);
  @Step() c = later(this.text);
  @Step() d = said(this.text);
  @Step() e = waits(this.text);
  @Step() f = odd(this.text);
  @Step() g = mixed([this.text]);
  @Step() h = blocks(this.text);
  @Step() i = wrapped(this.text);
  @Step() j = verbs(this.text);
  @Step() k = b.twice(this.text);
  @Step() l = twice(this.text);
  @Step() m = longer(this.text);
  @Step() n = named(this.text);
  @Step() o = found([]);
  output = done({ own, list, changing, MOST, c: Color.Red, d: b.Color.Blue, e: deep.list[0], f: b.deep, g: Math.PI, b });
}
`;

const MORE_NAMES = `
export interface Item { name: string; more?: readonly number[] }
export enum Color { Red, Blue = 'blue', Sum = 1 + 2, Next }
export const LIMIT = 10;
export const deep = { list: [1, -2, LIMIT] } as const;
const inner = (text: string): string => text + text;
export { inner as twice };
export * from './c.js';
export default function (text: string): number { return text.length; }
export const longer = (text: string) => ({ text: \`\${text}!\`, size: text.length > 3 ? 'long' : undefined });
`;

const TYPES = `
import { Tool } from 'stepwright';
import type { Distant, Names } from './b.js';
/** One of three. */
type Level = 'low' | 'mid' | 7;
/** A text. */
type Text = string;
/** Some texts. */
type Texts = readonly Text[];
/** True or false. */
type Flag = boolean;
/** @minimum 1 */
type Count = number;
/** A place. */
interface Place { /** Its name. */ name: string; size?: Count; readonly at: [number, number] | null }
type Shape = { kind: 'round'; size: number } | { kind: 'square'; /** Of each. */ side: Count };
type Other = Place;
interface Wide extends Place { more: Texts }
interface Tree { children: Tree[]; level: Level }
interface Box<T> { value: T }
enum Size { Small, Large = 5 }
`;

const MORE_TYPES = `
export interface Distant { a: Near; b?: Names }
/** Near. */
interface Near { /** @maximum 5 */ c: number; d: undefined; e?: never }
export type Names = string[] | undefined;
`;

const leaf = fc.constantFrom(
  ...[
    'string',
    'number',
    'boolean',
    'null',
    'undefined',
    'unknown',
    'any',
    'void',
    "'a'",
    '"b"',
    '-3',
    '1_0',
    'true',
  ],
  ...[
    'Level',
    'Text',
    'Texts',
    'Flag',
    'Count',
    'Place',
    'Shape',
    'Other',
    'Wide',
    'Tree',
    'Box<string>',
    'Size',
  ],
  ...[
    'Distant',
    'Names',
    'Date',
    'Missing',
    'Record<string, Place>',
    'Partial<Place>',
    'Size.Large',
    'object',
  ],
);

const { anyType } = fc.letrec<{ anyType: string }>((tie) => ({
  anyType: fc.oneof(
    { maxDepth: 3 },
    leaf,
    leaf,
    tie('anyType').map((type) => `(${type})[]`),
    tie('anyType').map((type) => `ReadonlyArray<${type}>`),
    fc
      .array(tie('anyType'), { minLength: 2, maxLength: 4 })
      .map((types) => types.map((each) => `(${each})`).join(' | ')),
    fc.array(tie('anyType'), { maxLength: 4 }).map((types) => {
      const written = types.map(
        (type, i) =>
          `/** Note ${i}. */ ${i % 2 === 0 ? 'readonly ' : ''}p${i}${i % 3 === 1 ? '?' : ''}: ${type}`,
      );
      return `{ ${written.join('; ')} }`;
    }),
  ),
}));

const toolOf = (type: string, index: number): string =>
  `@Tool({ name: 't${index}', description: 'd' })
   export class T${index} { execute(input: ${type}): ${index % 2 === 0 ? `Promise<${type}>` : type} { throw input; } }`;

const GONE = `
  import { call, done, Step, Tool, Workflow } from 'stepwright';
  import whole, { Add, LIMIT as limit, type Shape } from './gone.js';
  import * as all from './gone.js';
  @Tool({ name: limit, description: all.text, input: all.input })
  export class Own { execute(input: Shape): { size: number } { return { size: limit + input.size }; } }
  @Workflow({ name: 'gone', description: 'Calls', instructions: [Add, all.Guide] })
  export class Gone extends whole {
    @Step() first = call(Add, { limit, more: all.LIMIT, [limit]: whole.size });
    @Step() second = call(all.Add, { text: \`\${limit} of \${all.list[0]}\` });
    @Step() third = call(whole, { is: this.first.is ? limit : all });
    output = done({ text: Add.name, own: limit(this.second) });
  }
`;
