import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../graph/json.js';
import { SourceHost } from '../source/source-host.js';
import type { SchemaSide } from './json-schema.js';
import { schemaOfType, type TypeSchema } from './type-schema.js';

const DECORATOR = 'const D = (..._options: unknown[]) => (..._target: unknown[]): void => {};';

interface Executed {
  readonly input: TypeSchema;
  readonly output: TypeSchema;
}

/** The schemas of the one decorated class of each text. One program for all: opening it is what takes time. */
function schemasIn(texts: readonly string[], others: Readonly<Record<string, string>> = {}): Executed[] {
  const cases = texts.map((text, i) => [`case-${i}.ts`, `${DECORATOR}\n${text}`] as const);
  const overlay = new Map([...Object.entries(others), ...cases]);
  const host = new SourceHost({
    root: '/virtual',
    tsconfig: path.resolve('test/codegen/tsconfig.plain.json'),
    files: [...overlay.keys()],
    overlay,
  });
  const byFile = new Map(host.sourceFiles().map((file) => [file.file, file]));
  return cases.map(([file]) => {
    const execute = byFile
      .get(file)
      ?.classes.flatMap(({ methods }) => methods)
      .find(({ name }) => name === 'execute');
    if (execute === undefined) throw new Error('the class has no execute');
    return {
      input: schemaOfType(execute.parameters[0]?.type ?? { kind: 'undefined' }, 'input'),
      output: schemaOfType(execute.returns ?? { kind: 'unknown' }, 'output'),
    };
  });
}

function schemaIn(text: string, side: SchemaSide = 'input', others = {}): TypeSchema {
  const [schemas] = schemasIn([text], others);
  if (schemas === undefined) throw new Error('no schemas');
  return schemas[side];
}

function inputOf(all: readonly Executed[], i: number): TypeSchema {
  const found = all[i];
  if (found === undefined) throw new Error(`no case ${i}`);
  return found.input;
}

const classWith = (input: string, declarations = ''): string =>
  `${declarations}\n@D() export class T { execute(_input: ${input}): void {} }`;

/** The schema of `a`, for an input of which it is the one property. */
function schemaOfA({ schema, faults }: TypeSchema): unknown {
  expect(faults).toEqual([]);
  const { properties, $defs } = schema as { properties: { a: unknown }; $defs?: JsonSchema };
  return $defs === undefined ? properties.a : { ...(properties.a as object), $defs };
}

const closed = (properties: JsonSchema, required = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
});
const string = { type: 'string' };
const number = { type: 'number' };

const types: readonly (readonly [type: string, schema: unknown, declarations?: string])[] = [
  ['string', string],
  ['string | null', { anyOf: [string, { type: 'null' }] }],
  ['string | number', { anyOf: [string, number] }],
  ["'b' | 'a'", { type: 'string', enum: ['b', 'a'] }],
  ["'only'", { type: 'string', const: 'only' }],
  ['true', { type: 'boolean', const: true }],
  ['boolean | 10 | 9', { anyOf: [{ type: 'number', enum: [10, 9] }, { type: 'boolean' }] }],
  ['-1 | 1', { type: 'number', enum: [-1, 1] }],
  ['readonly string[]', { type: 'array', items: string }],
  ['(string | undefined)[]', { type: 'array', items: string }],
  ['[string, number?]', { type: 'array', prefixItems: [string, number], items: false, minItems: 1 }],
  [
    'readonly [a: string, ...b: number[]]',
    { type: 'array', prefixItems: [string], items: number, minItems: 1 },
  ],
  ['[]', { type: 'array', items: false }],
  ['Record<string, number>', { type: 'object', additionalProperties: number }],
  [
    '{ [id: number]: string }',
    { type: 'object', patternProperties: { '^-?\\d+$': string }, additionalProperties: false },
  ],
  [
    '{ a: string; [other: string]: string }',
    { type: 'object', properties: { a: string }, required: ['a'], additionalProperties: string },
  ],
  ['Record<string, never>', { type: 'object', additionalProperties: false }],
  ['Record<number, never>', { type: 'object', additionalProperties: false }],
  ['never[]', { type: 'array', items: false }],
  ["Record<'b' | 'a', number>", closed({ b: number, a: number })],
  [
    "Pick<All, 'c' | 'a'>",
    closed({ a: string, c: number }, ['a']),
    'interface All { a: string; b: string; c?: number }',
  ],
  [
    "Partial<Omit<All, 'b'>>",
    closed({ a: string, c: number }, []),
    'interface All { a: string; b: string; c?: number }',
  ],
  ['{ x: 1 } & { y: 2 }', closed({ x: { type: 'number', const: 1 }, y: { type: 'number', const: 2 } })],
  ["string & { readonly __brand: 'id' }", string],
  ['Color', { type: 'string', enum: ['red', 'blue'] }, "enum Color { Red = 'red', Blue = 'blue' }"],
  ['Level', { type: 'number', enum: [0, 7, 1] }, 'enum Level { Low, High = 7, Middle = 1 }'],
  ['Level.High', { type: 'number', const: 7 }, 'enum Level { Low, High = 7 }'],
  ['Level', { anyOf: [{ type: 'number', const: 0 }, number] }, 'enum Level { Low, High = Math.random() }'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a type
  ['`v${number}`', { type: 'string', pattern: expect.stringMatching(/^\^v.*\$$/) }],
  ['{ a?: string; b: string | undefined; c?: never }', closed({ a: string, b: string }, [])],
  ['Box<Box<string>>', closed({ value: closed({ value: string }) }), 'interface Box<T> { value: T }'],
  ['Point', closed({ x: number }), 'class Point { x = 1; #hidden = 2; }'],
  [
    'Shape',
    {
      anyOf: [
        closed({ kind: { type: 'string', const: 'square' }, side: number }),
        closed({ kind: { type: 'string', const: 'circle' }, radius: number }),
      ],
    },
    "type Shape = { kind: 'square'; side: number } | Circle; interface Circle { kind: 'circle'; radius: number }",
  ],
  [
    'Tree',
    {
      $ref: '#/$defs/Tree',
      $defs: { Tree: closed({ children: { type: 'array', items: { $ref: '#/$defs/Tree' } } }) },
    },
    'interface Tree { children: Tree[] }',
  ],
  [
    'List<string> | List<number>',
    {
      anyOf: [{ $ref: '#/$defs/List' }, { $ref: '#/$defs/List2' }],
      $defs: {
        List: closed({ value: string, next: { $ref: '#/$defs/List' } }, ['value']),
        List2: closed({ value: number, next: { $ref: '#/$defs/List2' } }, ['value']),
      },
    },
    'interface List<T> { value: T; next?: List<T> }',
  ],
  [
    'Person',
    {
      $ref: '#/$defs/Person',
      $defs: {
        Firm: closed({ boss: { $ref: '#/$defs/Person' }, parent: { $ref: '#/$defs/Firm' } }, ['boss']),
        Person: closed({ firm: { $ref: '#/$defs/Firm' } }),
      },
    },
    'interface Person { firm: Firm } interface Firm { boss: Person; parent?: Firm }',
  ],
];

describe('the schema of a type', () => {
  let read: readonly Executed[];
  beforeAll(() => {
    read = schemasIn(types.map(([type, , declarations]) => classWith(`{\n a: ${type} }`, declarations)));
  });

  test.each(types.map(([type, schema], i) => ({ type, schema, i })))('$type', ({ schema, i }) => {
    expect(schemaOfA(inputOf(read, i))).toEqual(schema);
  });

  test('that holds itself as a whole refers to the whole', () => {
    const { schema } = schemaIn(
      'interface Tree { left?: Tree }\n@D() export class T { execute(_input: Tree): void {} }',
    );
    expect(schema).toEqual(closed({ left: { $ref: '#' } }, []));
  });

  test('of an optional parameter is that of what is given', () => {
    const { schema } = schemaIn('@D() export class T { execute(_input?: { a: string }): void {} }');
    expect(schema).toEqual(closed({ a: string }));
  });

  test('of no input is a closed object without properties', () => {
    const { schema } = schemaIn('@D() export class T { execute(_: Record<string, never>): void {} }');
    expect(schema).toEqual({ type: 'object', additionalProperties: false });
  });

  test('that is a union of objects is an object', () => {
    const { schema } = schemaIn('@D() export class T { execute(_input: { a: 1 } | { b: 2 }): void {} }');
    expect(schema).toMatchObject({ type: 'object', anyOf: [{ type: 'object' }, { type: 'object' }] });
  });

  test('of a result is open where anything may come', () => {
    const result = (type: string) =>
      schemaIn(`@D() export class T { async execute(): Promise<${type}> { throw new Error(); } }`, 'output');
    expect(result('{ a: unknown }')).toEqual({ faults: [], schema: closed({ a: {} }) });
    expect(result('string')).toEqual({ faults: [] });
    expect(result('{ a: string } | undefined')).toEqual({ faults: [] });
    expect(result('{ a: string } | null')).toEqual({ faults: [] });
  });

  test('does not depend on what other files made of the same types first', () => {
    const text = `interface A { a: 1 } interface B { b: 1 }
@D() export class T { execute(_input: { u: B | A | 'z' | 'a'; p: Record<'z' | 'a', 1>; q: A & B }): void {} }`;
    const other =
      "export type X = 'a' | 'z'; export type Y = Record<'a' | 'z', 1>; export const y: Y = { a: 1, z: 1 };";
    expect(JSON.stringify(schemaIn(text, 'input', { '0.ts': other }))).toBe(JSON.stringify(schemaIn(text)));
  });
});

const tags: readonly (readonly [doc: string, type: string, schema: JsonSchema])[] = [
  ['How many', 'number', { type: 'number', description: 'How many' }],
  ['@integer @minimum 1 @maximum 5', 'number', { type: 'integer', minimum: 1, maximum: 5 }],
  ['@exclusiveMinimum -1.5', 'number', { type: 'number', exclusiveMinimum: -1.5 }],
  [
    '@exclusiveMaximum 1e3 @multipleOf 0.5',
    'number',
    { type: 'number', exclusiveMaximum: 1000, multipleOf: 0.5 },
  ],
  ['@minLength 1 @maxLength 9', 'string', { type: 'string', minLength: 1, maxLength: 9 }],
  ['@format email', 'string', { type: 'string', format: 'email' }],
  ['@pattern ^\\d{4}-(a|b)$', 'string', { type: 'string', pattern: '^\\d{4}-(a|b)$' }],
  ['@minItems 1 @maxItems 2', 'string[]', { type: 'array', items: string, minItems: 1, maxItems: 2 }],
  ['@uniqueItems', 'string[]', { type: 'array', items: string, uniqueItems: true }],
  ['@title Size @deprecated take b', 'string', { type: 'string', title: 'Size', deprecated: true }],
  ['@default medium', "'low' | 'medium'", { type: 'string', enum: ['low', 'medium'], default: 'medium' }],
  ['@default "quoted"', 'string', { type: 'string', default: 'quoted' }],
  ['@default 5', 'string', { type: 'string', default: '5' }],
  ['@default ["a"]', 'string[]', { type: 'array', items: string, default: ['a'] }],
  ['@minimum 0', 'number | null', { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }] }],
  ['@see the manual', 'string', string],
];

const wrongTags: readonly (readonly [doc: string, type: string, problem: unknown])[] = [
  ['@minimum few', 'number', 'must be a number'],
  ['@minimum', 'number', 'must be a number'],
  ['@minLength 1.5', 'string', 'must be a whole number from 0 on'],
  ['@multipleOf 0', 'number', 'must be above 0'],
  ['@pattern [a', 'string', expect.stringContaining('must be a regular expression: ')],
  ['@format', 'string', 'must be text'],
  ['@uniqueItems maybe', 'string[]', 'must be left empty, `true` or `false`'],
  ['@default {', 'number', 'must be JSON'],
  ['@default "5"', 'number', 'must be of the type number'],
  ['@minimum 1', 'string', 'is about a number, which this is not'],
  ['@minItems 1', 'string', 'is about an array, which this is not'],
];

describe('JSDoc', () => {
  const withDoc = (doc: string, type: string, declarations?: string): string =>
    classWith(`{\n  /** ${doc} */\n  a: ${type} }`, declarations);
  let read: readonly Executed[];
  beforeAll(() => {
    read = schemasIn([...tags, ...wrongTags].map(([doc, type]) => withDoc(doc, type)));
  });

  test.each(tags.map(([doc, type, schema], i) => ({ doc, type, schema, i })))('$doc', ({ schema, i }) => {
    expect(schemaOfA(inputOf(read, i))).toEqual(schema);
  });

  test('of a named type counts where the property says nothing of its own', () => {
    const declarations =
      '/** An address.\n * @format email\n * @maxLength 99 */\ntype Email = string;\n/** A box. */ interface Box { x: 1 }';
    const cases = [
      classWith('{ a: Email }', declarations),
      classWith('{ a: Email[] }', declarations),
      classWith('{ a: Box }', declarations),
      withDoc('Mine. @maxLength 9', 'Email', declarations),
    ];
    const email = { type: 'string', description: 'An address.', format: 'email', maxLength: 99 };
    expect(schemasIn(cases).map(({ input }) => schemaOfA(input))).toEqual([
      email,
      { type: 'array', items: email },
      expect.objectContaining({ description: 'A box.' }),
      { type: 'string', description: 'Mine.', format: 'email', maxLength: 9 },
    ]);
  });

  test('counts on the line of its property as well', () => {
    const [read] = schemasIn([
      classWith('{ /** A. @minimum 1 */ a: number; /** @minLength x */ b: string }'),
    ]);
    expect(read?.input.faults).toEqual([
      expect.objectContaining({
        path: 'input.b',
        place: { file: 'case-0.ts', span: [3, 77, 3, expect.any(Number)] },
      }),
    ]);
    const [sound] = schemasIn([classWith('{ /** A. @minimum 1 */ a: number }')]);
    expect(schemaOfA(sound?.input as TypeSchema)).toEqual({ type: 'number', description: 'A.', minimum: 1 });
  });

  test('of the libraries that types come from is left out', () => {
    const [partial] = schemasIn([classWith('{ a: Partial<{ x: 1 }> }')]);
    expect(schemaOfA(partial?.input as TypeSchema)).not.toHaveProperty('description');
  });

  test('with a pattern that no linear-time engine matches is a fault of its own', () => {
    const [ahead, back] = schemasIn([
      withDoc('@pattern ^(?=a)b$', 'string'),
      withDoc('@pattern ^(a)\\1$', 'string'),
    ]);
    expect(ahead?.input.faults).toMatchObject([{ kind: 'tag', tag: 'pattern', pattern: '^(?=a)b$' }]);
    expect(back?.input.faults).toMatchObject([{ kind: 'tag', tag: 'pattern', pattern: '^(a)\\1$' }]);
  });

  test.each(wrongTags.map(([doc, type, problem], i) => ({ doc, type, problem, i })))(
    '$doc of $type is a fault at its place',
    ({ doc, problem, i }) => {
      const { schema, faults } = inputOf(read, tags.length + i);
      expect(schema).toBeUndefined();
      const column = '  /** '.length + 1;
      expect(faults).toEqual([
        {
          kind: 'tag',
          path: 'input.a',
          tag: doc.slice(1).split(' ')[0],
          problem,
          place: expect.objectContaining({ span: [4, column, 4, expect.any(Number)] }),
        },
      ]);
    },
  );
});

describe('what has no JSON form', () => {
  const faultsOf = (type: string, declarations = ''): unknown =>
    schemaIn(classWith(type, declarations)).faults.map((fault) =>
      fault.kind === 'noJsonForm' ? `${fault.path}: ${fault.type}` : fault,
    );

  test('is named by its way from the root, each place once', () => {
    const type = `{
      when: Date; a: { b: Map<string, number>[] }; big?: bigint; key: symbol; run: () => void; made: new () => Date;
      any: any; un: unknown; 'two words': Set<string>; by: Record<string, URLish>; pair: [string, RegExp, ...Date[]];
      either: string | Date; obj: object;
    }`;
    expect(faultsOf(type, 'interface URLish { parse(): string }')).toEqual([
      'input.when: Date',
      'input.a.b[]: Map<string, number>',
      'input.big: bigint',
      'input.key: symbol',
      'input.run: () => void',
      'input.made: new () => Date',
      'input.any: any',
      'input.un: unknown',
      'input["two words"]: Set<string>',
      'input.by.*.parse: () => string',
      'input.pair[1]: RegExp',
      'input.pair[]: Date',
      'input.either: Date',
      'input.obj: object',
    ]);
  });

  test('says what to write instead', () => {
    const { faults } = schemaIn('@D() export class T { execute(_input: { when: Date }): void {} }');
    expect(faults).toEqual([
      {
        kind: 'noJsonForm',
        path: 'input.when',
        type: 'Date',
        place: { file: 'case-0.ts', span: [2, 41, 2, 45] },
        hint: expect.stringContaining('@format date-time'),
      },
    ]);
  });

  test('is placed at its field, once for each, and nowhere where the field is not of the project', () => {
    const declarations = 'interface Day {\n  at: Date;\n  of: { zone: Map<string, any> }[];\n}';
    const { faults } = schemaIn(classWith('{ from: Day; to: Day; file: { size: bigint } }', declarations));
    expect(
      faults.map((fault) => 'type' in fault && [fault.path, fault.type, fault.place?.span.slice(0, 2)]),
    ).toEqual([
      ['input.from.at', 'Date', [3, 3]],
      ['input.from.of[].zone', 'Map<string, any>', [4, 9]],
      ['input.file.size', 'bigint', [expect.any(Number), expect.any(Number)]],
    ]);
    const { faults: foreign } = schemaIn(
      "import type { SpawnOptions } from 'node:child_process';\n@D() export class T { execute(_: Pick<SpawnOptions, 'signal'>): void {} }",
    );
    expect(foreign).toEqual([expect.not.objectContaining({ place: expect.anything() })]);
  });

  test('is a generic type that grows without end, and one that is too large', () => {
    expect(faultsOf('Grow<1>', 'interface Grow<T> { next: Grow<T[]> }')).toEqual([
      expect.stringMatching(/^input(\.next)+: Grow<1(\[\])+>$/),
    ]);
    const wide = Array.from({ length: 8 }, (_, i) => `p${i}: T`).join('; ');
    const levels = Array.from(
      { length: 6 },
      (_, i) => `interface L${i} { ${wide.replaceAll('T', `L${i + 1}`)} }`,
    );
    const faults = faultsOf('L0', `${levels.join('\n')}\ninterface L6 { x: string }`);
    expect(faults).toHaveLength(1);
  });
});
