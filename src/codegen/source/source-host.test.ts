import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import type { ClassSyntax, TypeSyntax } from '../syntax.js';
import { Compiler } from './program.js';
import { SourceHost } from './source-host.js';

const folder = mkdtempSync(path.join(tmpdir(), 'source-host-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => void vi.restoreAllMocks());

/** The default options without the types of Node and of browsers, which take longer to read than all that is tested. */
const TSCONFIG = path.resolve('test/codegen/tsconfig.plain.json');

/** Opens texts by path, without any file on disk. */
function open(texts: Readonly<Record<string, string>>, files = Object.keys(texts)): SourceHost {
  const overlay = new Map(Object.entries(texts));
  return new SourceHost({ root: '/virtual', tsconfig: TSCONFIG, files, overlay });
}

function classesOf(text: string): readonly ClassSyntax[] {
  return open({ 'a.ts': text }).sourceFiles()[0]?.classes ?? [];
}

const MARK = 'const D = (..._options: unknown[]) => (..._target: unknown[]): void => {};\n';

describe('files', () => {
  test('are read from disk, sorted, each once, by absolute or relative path', () => {
    writeFileSync(path.join(folder, 'b.ts'), 'export class B {}\n');
    writeFileSync(path.join(folder, 'a.ts'), 'export class A {}\n');
    const host = new SourceHost({ root: folder, files: ['b.ts', path.join(folder, 'a.ts'), './b.ts'] });
    expect(host.sourceFiles().map(({ file, classes }) => [file, classes.map(({ name }) => name)])).toEqual([
      ['a.ts', ['A']],
      ['b.ts', ['B']],
    ]);
    expect(host.readText('b.ts')).toBe('export class B {}\n');
  });

  test('that the overlay holds are not read from disk', () => {
    writeFileSync(path.join(folder, 'c.ts'), 'export class OnDisk {}\n');
    const overlay = new Map([['c.ts', 'export class Unsaved {}\n']]);
    const host = new SourceHost({ root: folder, files: ['c.ts'], overlay });
    expect(host.sourceFiles()[0]?.classes[0]?.name).toBe('Unsaved');
    expect(host.readText('c.ts')).toBe('export class Unsaved {}\n');
  });

  test('that are not there are faults of their own', () => {
    const host = open({ 'there.ts': 'export class A {}' }, ['there.ts', 'missing.ts']);
    expect(host.sourceFiles()).toMatchObject([
      { file: 'missing.ts', faults: [{ message: 'the file cannot be read' }], classes: [] },
      { file: 'there.ts', faults: [] },
    ]);
    expect(host.readText('missing.ts')).toBeUndefined();
  });

  test('with a byte order mark and CRLF have the places an editor shows', () => {
    const host = open({ 'a.ts': '\uFEFFexport class A {}\r\n/* \u{1F600} */ export class B {}\r\n' });
    expect(host.sourceFiles()[0]?.classes.map(({ place }) => place.span)).toEqual([
      [1, 14, 1, 15],
      [2, 23, 2, 24],
    ]);
    expect(host.readText('a.ts')?.startsWith('export')).toBe(true);
  });

  test('with a syntax error tell where, and the others are read', () => {
    const host = open({ 'bad.ts': 'export class Bad {\n  x = ;\n}\n', 'good.ts': 'export class Good {}\n' });
    const [bad, good] = host.sourceFiles();
    expect(bad?.faults).toEqual([
      { message: 'Expression expected.', place: { file: 'bad.ts', span: [2, 7, 2, 8] } },
    ]);
    expect(good).toMatchObject({ faults: [], classes: [{ name: 'Good' }] });
  });

  test('are not type-checked', () => {
    const [file] = open({ 'a.ts': "export class A { x: number = 'text'; y = nothing; }" }).sourceFiles();
    expect(file?.faults).toEqual([]);
  });
});

describe('names', () => {
  const symbolIn = (
    texts: Readonly<Record<string, string>>,
    expression: string,
    typed?: ReadonlySet<string>,
  ) => {
    const text = `${texts['a.ts'] ?? ''}\n${MARK}export class Subject { @D() field = ${expression}; }`;
    const files = open({ ...texts, 'a.ts': text }).sourceFiles(typed);
    const subject = files[0]?.classes.find(({ name }) => name === 'Subject');
    const initializer = subject?.fields[0]?.initializer;
    return initializer?.kind === 'identifier' || initializer?.kind === 'property'
      ? initializer.symbol
      : undefined;
  };

  test('of this package are known although it is not installed', () => {
    const ours = { kind: 'stepwright', name: 'call' };
    expect(symbolIn({ 'a.ts': "import { call } from 'stepwright';" }, 'call')).toEqual(ours);
    expect(symbolIn({ 'a.ts': "import { call as invoke } from 'stepwright';" }, 'invoke')).toEqual(ours);
    expect(symbolIn({ 'a.ts': "import * as sw from 'stepwright';" }, 'sw.call')).toEqual(ours);
    const barrel = "export { call as invoke } from 'stepwright';";
    expect(symbolIn({ 'a.ts': "import { invoke } from './b.js';", 'b.ts': barrel }, 'invoke')).toEqual(ours);
  });

  test('of other packages and of the file itself are not', () => {
    expect(symbolIn({ 'a.ts': "import { call } from 'other';" }, 'call')).toMatchObject({
      kind: 'unresolved',
    });
    expect(symbolIn({ 'a.ts': 'let call = 1;' }, 'call')).toEqual({
      kind: 'other',
      name: 'call',
      file: 'a.ts',
      instead: expect.stringContaining('`const`'),
    });
    expect(symbolIn({}, 'call')).toEqual({ kind: 'unresolved', name: 'call' });
  });

  test('of classes lead to where the class is declared', () => {
    const tools = 'export default class Tool {}\nexport class Other {}';
    const place = { file: 'b.ts', span: [1, 22, 1, 26] };
    const tool = { kind: 'class', file: 'b.ts', name: 'Tool', place };
    expect(symbolIn({ 'a.ts': "import T from './b.js';", 'b.ts': tools }, 'T')).toEqual(tool);
    expect(symbolIn({ 'a.ts': "import * as b from './b.js';", 'b.ts': tools }, 'b.default')).toEqual(tool);
    expect(symbolIn({ 'a.ts': "import type T from './b.js';", 'b.ts': tools }, 'T')).toEqual({
      ...tool,
      typeOnly: true,
    });
    expect(symbolIn({ 'a.ts': "import * as b from './b.js';", 'b.ts': tools }, 'b.Other')).toMatchObject({
      name: 'Other',
    });
  });

  test('that import each other in a circle resolve to nothing', () => {
    const texts = {
      'a.ts': "import { x } from './b.js';",
      'b.ts': "export { x } from './c.js';",
      'c.ts': "export { x } from './b.js';",
    };
    const from = { specifier: './c.js', name: 'x', exports: [] };
    expect(symbolIn(texts, 'x')).toMatchObject({ kind: 'unresolved', name: 'x', from });
  });

  test('from a module that is not there are lost without the compiler', () => {
    const asked = vi.spyOn(Compiler.prototype, 'program', 'get');
    const lost = (name: string) => ({
      kind: 'unresolved',
      from: { specifier: './gone.js', name, files: [] },
    });
    const imported = "import whole, { a as b } from './gone.js';\nimport * as all from './gone.js';";
    const found = (expression: string, text = imported) => symbolIn({ 'a.ts': text }, expression, new Set());
    expect(found('b')).toEqual({ ...lost('a'), name: 'b' });
    expect(found('whole')).toEqual({ ...lost('default'), name: 'whole' });
    expect(found('all.a')).toBeUndefined();
    expect(asked).not.toHaveBeenCalled();
    // Another module may declare what is in it.
    expect(found('a', "import { a } from './guide.md';")).toMatchObject({ kind: 'unresolved' });
    expect(asked).toHaveBeenCalled();
  });

  test('that members of a value have are no names of their own', () => {
    expect(symbolIn({ 'a.ts': 'const b = { c: 1 };' }, 'b.c')).toBeUndefined();
  });
});

describe('functions', () => {
  const calleeIn = (texts: Readonly<Record<string, string>>, expression: string) => {
    const text = `${texts['a.ts'] ?? ''}\n${MARK}export class Subject { @D() field = ${expression}; }`;
    const files = open({ ...texts, 'a.ts': text }).sourceFiles();
    const subject = files[0]?.classes.find(({ name }) => name === 'Subject');
    const call = subject?.fields[0]?.initializer;
    return call?.kind === 'call' && call.callee.kind === 'identifier' ? call.callee.symbol : undefined;
  };

  test('are known by their source, wherever they are exported', () => {
    const source = 'function slug(text: string) {\n  return text;\n}';
    const b = `/** A comment. */\nexport ${source}\nexport { slug as default, slug as other };`;
    const symbol = calleeIn({ 'a.ts': "import { other } from './b.js';", 'b.ts': b }, "other('a')");
    const place = { file: 'b.ts', span: [2, 17, 2, 21] };
    const expected = { kind: 'function', name: 'slug', file: 'b.ts', place, exportName: 'slug' };
    expect(symbol).toEqual({ ...expected, source: `export ${source}` });
    const crlf = calleeIn(
      { 'a.ts': "import f from './b.js';", 'b.ts': b.replaceAll('\n', '\r\n') },
      "f('a')",
    );
    expect(crlf).toEqual({ ...expected, source: `export ${source}` });
  });

  test('are constants that hold them, of which the function alone counts', () => {
    const constant = 'export const loud: (text: string) => string = (text) => text.toUpperCase();';
    expect(calleeIn({ 'a.ts': constant }, "loud('a')")).toMatchObject({
      exportName: 'loud',
      source: '(text) => text.toUpperCase()',
    });
  });

  test.each([
    ['const f = () => 1;', 'its module does not export it'],
    ['export async function f() {}', 'it is asynchronous'],
    ['export const f = () => Promise.resolve(1);', 'it returns a promise'],
    ['export function f(): string | PromiseLike<string> { return String(1); }', 'it returns a promise'],
    ['export const f = function* () {};', 'it is a generator'],
    ['export let f = () => 1;', 'it is not declared with `const`'],
    ['export const f = Array.of;', 'it is not written out as a function'],
    ['export declare function f(): void;', 'it is not written out as a function'],
    [
      'export namespace n { export function f() {} } import f = n.f;',
      'it is not declared at the top level of its module',
    ],
    ["import { randomUUID as f } from 'node:crypto';", 'its source is not part of the project'],
  ])('%s: %s', (text, why) => {
    const host = new SourceHost({
      root: path.resolve('.'),
      tsconfig: 'tsconfig.json',
      files: ['virtual.ts'],
      overlay: new Map([['virtual.ts', `${text}\n${MARK}export class Subject { @D() field = f(); }`]]),
    });
    const subject = host.sourceFiles()[0]?.classes.find(({ name }) => name === 'Subject');
    const call = subject?.fields[0]?.initializer;
    expect(call).toMatchObject({ callee: { symbol: { kind: 'function', why } } });
  });

  test('with a field that promises have as well are no promises', () => {
    const found = calleeIn({ 'a.ts': 'export const plan = () => ({ then: 1 });' }, 'plan()');
    expect(found).toMatchObject({ exportName: 'plan' });
    expect(found).not.toHaveProperty('why');
  });

  test('of the language itself are names like any other', () => {
    expect(calleeIn({}, "parseInt('1')")).toEqual({ kind: 'other', name: 'parseInt' });
  });
});

describe('import cycles', () => {
  const cyclesOf = (texts: Readonly<Record<string, string>>) =>
    open(texts)
      .sourceFiles()
      .map(({ file, cycles }) => [
        file,
        cycles.map((cycle) => [cycle.file, ...cycle.back.map((each) => each.file)].join(' ')),
      ]);

  test('are found through modules in between, with the shortest way back', () => {
    const texts = {
      'a.ts': "import { b } from './b.js';\nexport const a = () => b;",
      'b.ts': "export * from './c.js';\nexport const b = 1;",
      'c.ts': "import './a.js';\nimport * as all from './d.js';\nexport const c = all.d;",
      'd.ts': 'export const d = 1;',
    };
    expect(cyclesOf(texts)).toEqual([
      ['a.ts', ['c.ts c.ts', 'b.ts b.ts c.ts']],
      ['b.ts', ['a.ts a.ts', 'c.ts c.ts a.ts']],
      ['c.ts', ['b.ts b.ts', 'a.ts a.ts b.ts']],
      ['d.ts', []],
    ]);
  });

  test.each([
    "import type { A } from './a.js'; export let b: A;",
    "import { type A } from './a.js'; export let b: A;",
    "import { A } from './a.js'; export let b: A;",
    "import { A } from './a.js'; export class B implements A {} export interface C extends A {}",
    "import { A } from './a.js'; export const b = { A: 1 }; b.A; export type B = typeof A;",
    "export type { A } from './a.js';",
    "export const b = () => import('./a.js');",
  ])('are none where types alone are imported: %s', (text) => {
    const texts = { 'a.ts': "import { b } from './b.js'; export class A { b = b; }", 'b.ts': text };
    expect(cyclesOf(texts)).toEqual([
      ['a.ts', []],
      ['b.ts', []],
    ]);
  });

  test.each([
    "import { A } from './a.js'; export class B extends A {}",
    "import { A } from './a.js'; export const b = { A };",
    "import { A as Z } from './a.js'; export { Z };",
    "import A from './a.js'; export const b = [A];",
    "export { A } from './a.js';",
  ])('are there where a value is: %s', (text) => {
    const a = "import * as b from './b.js'; export class A { b = b; } export default A;";
    expect(cyclesOf({ 'a.ts': a, 'b.ts': text })).toEqual([
      ['a.ts', ['b.ts b.ts']],
      ['b.ts', ['a.ts a.ts']],
    ]);
  });
});

describe('types', () => {
  const typeOf = (type: string, declarations = ''): TypeSyntax | undefined =>
    classesOf(`${MARK}${declarations}\nexport class A { @D() field!: ${type}; }`)[0]?.fields[0]?.type;

  test.each<readonly [string, TypeSyntax]>([
    ['string', { kind: 'string' }],
    ['any', { kind: 'unknown', written: 'any' }],
    ['true | false', { kind: 'boolean' }],
    [
      "'b' | 'a'",
      {
        kind: 'union',
        members: [
          { kind: 'literal', value: 'b' },
          { kind: 'literal', value: 'a' },
        ],
      },
    ],
    ['string & { readonly [mark]?: true }', { kind: 'string' }],
    ['readonly number[]', { kind: 'array', items: { kind: 'number' } }],
    [
      'Partial<{ a: null }>',
      {
        kind: 'object',
        properties: [{ name: 'a', optional: true, type: { kind: 'null' }, place: expect.anything() }],
      },
    ],
    ['Date', { kind: 'other', text: 'Date' }],
    ['Map<string, number>', { kind: 'other', text: 'Map<string, number>' }],
    ['() => void', { kind: 'other', text: '() => void' }],
    ['[string]', { kind: 'tuple', items: [{ kind: 'string' }], required: 1 }],
    ['never', { kind: 'other', text: 'never' }],
    [
      '{ a: Self }',
      {
        kind: 'object',
        properties: [
          {
            name: 'a',
            optional: false,
            place: { file: 'a.ts', span: [3, 33, 3, 34] },
            type: {
              kind: 'record',
              properties: [
                {
                  name: 'a',
                  optional: false,
                  type: { kind: 'other', text: 'Map<string, Self>' },
                  place: { file: 'a.ts', span: [2, 53, 2, 54] },
                },
              ],
              keys: 'string',
              values: { kind: 'unknown' },
            },
          },
        ],
      },
    ],
  ])('%s', (type, expected) => {
    const declarations =
      'declare const mark: unique symbol; interface Self { a: Map<string, Self>; [key: string]: unknown }';
    expect(typeOf(type, declarations)).toEqual(expected);
  });

  test('have their literals in written order, whatever another file made of them first', () => {
    const other = "export type First = 'zebra' | 'ape' | 'cat';";
    const text = `import type { First } from './0.js';\n${MARK}type Cat = 'cat' | 'zebra'; export class A { @D() field!: Cat | 'ape'; }`;
    const [, file] = open({ '0.ts': other, 'a.ts': text }).sourceFiles();
    const type = file?.classes[0]?.fields[0]?.type;
    expect(type?.kind === 'union' && type.members.map((m) => m.kind === 'literal' && m.value)).toEqual([
      'cat',
      'zebra',
      'ape',
    ]);
  });

  test.each([
    [
      'async execute(input: { a: string }, context: Map<string, string>): Promise<number> { return input.a.length + context.size; }',
      ['object', undefined],
      { kind: 'number' },
    ],
    ['execute = async (input: string) => [input];', ['string'], { kind: 'array', items: { kind: 'string' } }],
    ['execute(): void {}', [], { kind: 'undefined' }],
  ])('of `execute` are given without its promise: %s', (member, parameters, returns) => {
    const [method] = classesOf(`${MARK}@D() export class A { ${member} }`)[0]?.methods ?? [];
    expect(method?.parameters.map(({ type }) => type?.kind)).toEqual(parameters);
    expect(method?.returns).toEqual(returns);
  });

  test('of other methods are not read', () => {
    const [method] =
      classesOf(`${MARK}@D() export class A { read(name: string): number { return 1; } }`)[0]?.methods ?? [];
    expect(method).toMatchObject({ name: 'read', parameters: [{ name: 'name' }] });
    expect(method?.parameters[0]).not.toHaveProperty('type');
    expect(method).not.toHaveProperty('returns');
  });
});

describe('methods that a server calls', () => {
  const executesOf = (text: string) =>
    classesOf(`${MARK}${text}`)
      .flatMap(({ methods }) => methods)
      .filter(({ name }) => name === 'execute');
  const a = {
    kind: 'object',
    properties: [expect.objectContaining({ name: 'a', type: { kind: 'string' } })],
  };

  test.each([
    ['a base class', 'class Base { async execute(input: { a: string }) { return input; } }', 'Base'],
    [
      'a generic base class',
      'abstract class Base<I> { abstract run(): void; async execute(input: I) { return input; } }',
      'Base<{ a: string }>',
    ],
    [
      'a base of a base',
      'class First<T> { execute(input: T): T { return input; } } class Base<T> extends First<{ a: T }> {}',
      'Base<string>',
    ],
    [
      'a mixin',
      `type New = new (...args: any[]) => object;
      const mixin = <B extends New>(base: B) => class extends base { execute(input: { a: string }) { return input; } };
      class Plain {}`,
      'mixin(Plain)',
    ],
  ])('are inherited from %s, with its type arguments', (_, declarations, base) => {
    expect(executesOf(`${declarations}\n@D() export class T extends ${base} { run() {} }`)).toMatchObject([
      { isInherited: true, parameters: [{ name: 'input', type: a }], returns: a },
    ]);
  });

  test('are of any type where the base class is', () => {
    const unknown = { kind: 'unknown', written: 'any' };
    expect(executesOf('declare const base: any;\n@D() export class T extends base {}')).toMatchObject([
      { parameters: [{ type: unknown }], returns: unknown },
    ]);
  });

  test('are one for each signature', () => {
    const overloaded = `execute(input: { a: string }): void; execute(input: string): void; execute(input: unknown) { void input; }`;
    const kinds = (text: string) => executesOf(text).map(({ parameters: [first] }) => first?.type?.kind);
    expect(kinds(`@D() export class T { ${overloaded} }`)).toEqual(['object', 'string']);
    expect(kinds(`class B { ${overloaded} }\n@D() export class T extends B {}`)).toEqual([
      'object',
      'string',
    ]);
  });

  test.each([
    ['static', 'static execute(): void {}'],
    ['private', 'private execute(): void {}'],
    ['protected', 'protected execute(): void {}'],
    ['abstract', 'abstract execute(): void;'],
    ['a field', 'execute = (): void => {};'],
    ['a field', 'execute = wrapped(() => {});'],
    ['an accessor', 'get execute() { return (): void => {}; }'],
  ])('may not be %s: %s', (fault, member) => {
    const wrapped = 'const wrapped = (f: () => void) => f;';
    expect(executesOf(`${wrapped}\n@D() export abstract class T { ${member} }`)).toMatchObject([{ fault }]);
    expect(
      executesOf(`${wrapped}\nabstract class B { ${member} }\n@D() export abstract class T extends B {}`),
    ).toMatchObject(fault === 'static' ? [] : [{ fault, isInherited: true }]);
  });
});

describe('classes', () => {
  test('without a decorator are known by name alone', () => {
    expect(classesOf('export class A { x = 1; method() {} }')).toMatchObject([
      { name: 'A', fields: [], methods: [] },
    ]);
  });

  test('are found in any position, exported or not', () => {
    const names = classesOf(
      'class A {} function f() { class B {} return class {}; } export class C {} export { A as Z };',
    );
    expect(names.map(({ name, exported, exportName }) => [name, exported, exportName])).toEqual([
      ['A', true, 'Z'],
      ['B', false, undefined],
      ['', false, undefined],
      ['C', true, 'C'],
    ]);
  });
});
