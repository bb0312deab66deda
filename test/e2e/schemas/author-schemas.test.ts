import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Tool } from 'stepwright';
import { createServer } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { readJsonSchema } from '../../../src/codegen/schemas/json-schema.js';
import { patternFaults, SchemaCompiler } from '../../../src/formats/json-schema/schema-compiler.js';
import type { JsonSchema } from '../../../src/graph/json.js';
import { connectedTo } from '../server/connected.js';
import { registryOf } from '../server/fixture/registry-of.js';

type Arguments = Readonly<Record<string, unknown>>;

/** A schema, and arguments for it: some that fit, and some that do not. */
type Case = readonly [name: string, schema: z.ZodType<object>, inputs: readonly Arguments[]];

const Recursive = z.object({
  name: z.string(),
  get children() {
    return z.array(Recursive).optional();
  },
});
const Named = z.object({ a: z.string() }).meta({ id: 'author-schemas-named' });
const parsedJson = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  return JSON.parse(value) as unknown;
};
const field = (schema: z.ZodType): z.ZodType<object> => z.object({ v: schema });
const values = (...all: readonly unknown[]): readonly Arguments[] => all.map((v) => ({ v }));

const CASES: readonly Case[] = [
  [
    'recursive',
    Recursive,
    [
      { name: 'a', children: [{ name: 'b', children: [] }] },
      { name: 'a', children: [{}] },
    ],
  ],
  [
    'recursive in a field',
    field(Recursive),
    values({ name: 'a', children: [{ name: 'b' }] }, { children: [] }),
  ],
  ['named', Named, [{ a: 'x' }, { a: 1 }]],
  ['coerced number', field(z.coerce.number()), values('5', 5, 'x', null)],
  ['coerced number with limits', field(z.coerce.number().int().min(3)), values('5', '2', '3.5')],
  ['coerced boolean', field(z.coerce.boolean()), values('', 'x', 0)],
  ['coerced string', field(z.coerce.string()), values(5, true, 'x')],
  [
    'preprocessed list',
    field(z.preprocess(parsedJson, z.array(z.number()))),
    values('[1,2]', [1], '["a"]', '{'),
  ],
  [
    'preprocessed whole',
    z.preprocess((v) => ({ a: (v as { b?: unknown }).b }), z.object({ a: z.string() })),
    [{ b: 'x' }, { b: 1 }, {}],
  ],
  ['catch', field(z.number().catch(7)), values('x', 5, null)],
  ['catch of an object', field(z.object({ a: z.number() }).catch({ a: 1 })), values({ b: 1 }, { a: 2 }, 'x')],
  ['flag i', field(z.string().regex(/^abc$/i)), values('ABC', 'abc', 'abd')],
  ['flag i with a class', field(z.string().regex(/^[a-f]{4}$/i)), values('AbCd', 'abcg')],
  ['flag s', field(z.string().regex(/^a.b$/s)), values('a\nb', 'a-b', 'ab')],
  ['flag u', field(z.string().regex(/^\p{Lu}$/u)), values('É', 'é')],
  ['flag m', field(z.string().regex(/^b$/m)), values('a\nb', 'ab')],
  ['a pattern that needs no flag u', field(z.string().regex(/^[\w-.]+$/)), values('a-b.c', 'a b')],
  ['two patterns', field(z.string().regex(/^a/i).regex(/z$/i)), values('A-Z', 'a-b')],
  ['look-ahead', field(z.string().regex(/^(?!x)/)), values('a', 'x')],
  ['trimmed', field(z.string().trim().min(1).max(3)), values('  abc  ', '   ', 'abcd')],
  [
    'lower case',
    field(
      z
        .string()
        .toLowerCase()
        .regex(/^[a-z]+$/),
    ),
    values('ABC', 'A1'),
  ],
  ['default', z.object({ a: z.string().default('x'), b: z.number() }), [{ b: 1 }, { a: 'y', b: 2 }, {}]],
  ['prefault', field(z.string().trim().prefault(' a ')), [{}, { v: ' b ' }, { v: 1 }]],
  ['optional', z.object({ a: z.string().optional() }), [{}, { a: 'x' }, { a: null }]],
  ['nullable', field(z.string().nullable()), values(null, 'x', 1)],
  ['nullish', field(z.string().nullish()), [{}, { v: null }, { v: 1 }]],
  ['enum', field(z.enum(['low', 'high'])), values('low', 'hihg')],
  ['literal', field(z.literal(['a', 1, true])), values('a', 1, true, 'b')],
  ['union', field(z.union([z.string(), z.number()])), values('a', 1, true)],
  [
    'discriminated union',
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), n: z.coerce.number() }),
      z.object({ kind: z.literal('b') }),
    ]),
    [{ kind: 'a', n: '5' }, { kind: 'b' }, { kind: 'c' }, {}],
  ],
  [
    'union of objects in a field',
    field(z.union([z.object({ a: z.string() }), z.object({ b: z.coerce.number() })])),
    values({ a: 'x' }, { b: '1' }, { b: 'x' }),
  ],
  [
    'intersection',
    z.object({ a: z.string() }).and(z.object({ b: z.number() })),
    [{ a: 'x', b: 1 }, { a: 'x' }],
  ],
  ['extended', z.object({ a: z.string() }).extend({ b: z.number() }), [{ a: 'x', b: 1 }, { b: 1 }]],
  ['partial', z.object({ a: z.string(), b: z.number() }).partial(), [{}, { a: 1 }]],
  ['tuple', field(z.tuple([z.string(), z.number()])), values(['a', 1], [1, 'a'], ['a'])],
  ['tuple with a rest', field(z.tuple([z.string()], z.number())), values(['a'], ['a', 1, 2], ['a', 'b'])],
  ['list with limits', field(z.array(z.string()).min(1).max(2)), values(['a'], [], ['a', 'b', 'c'])],
  ['record', field(z.record(z.string(), z.number())), values({ a: 1 }, { a: 'x' })],
  ['record of an enum', field(z.record(z.enum(['a', 'b']), z.number())), values({ a: 1, b: 2 }, { a: 1 })],
  ['partial record', field(z.partialRecord(z.enum(['a', 'b']), z.number())), values({ a: 1 }, { a: 'x' })],
  [
    'record with keys of a pattern',
    field(z.record(z.string().regex(/^k\d$/i), z.number())),
    values({ K1: 1 }, { x: 1 }),
  ],
  ['loose object', z.looseObject({ a: z.string() }), [{ a: 'x', b: 1 }, { b: 1 }]],
  ['strict object', z.strictObject({ a: z.string() }), [{ a: 'x' }, { a: 'x', b: 1 }]],
  [
    'catchall',
    z.object({ a: z.string() }).catchall(z.number()),
    [
      { a: 'x', b: 1 },
      { a: 'x', b: 'y' },
    ],
  ],
  ['refined', field(z.string().refine((v) => v !== 'no', 'must not be no')), values('yes', 'no')],
  [
    'refined whole',
    z.object({ a: z.number(), b: z.number() }).refine(({ a, b }) => a < b, { message: 'a < b', path: ['a'] }),
    [
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ],
  ],
  ['refined by a promise', field(z.string().refine(async (v) => v !== 'no')), values('yes', 'no')],
  ['transformed', field(z.string().transform((v) => v.length)), values('abc', 1)],
  ['piped', field(z.string().transform(Number).pipe(z.number().max(9))), values('5', '50', 'x')],
  ['codec', field(z.codec(z.string(), z.number(), { decode: Number, encode: String })), values('5', 'x')],
  ['stringbool', field(z.stringbool()), values('yes', 'NO', 'maybe')],
  ['email', field(z.email()), values('a@b.cd', 'a')],
  ['url', field(z.url()), values('https://a.b', 'a')],
  ['uuid', field(z.uuid()), values('9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d', 'x')],
  ['date text', field(z.iso.date()), values('2026-01-31', '2026-13-01')],
  ['date and time text', field(z.iso.datetime({ offset: true })), values('2026-01-31T10:00:00+02:00', 'x')],
  ['template literal', field(z.templateLiteral(['v', z.number()])), values('v1', 'x')],
  ['integer', field(z.int()), values(1, 1.5)],
  ['multiple', field(z.number().multipleOf(0.5)), values(1.5, 1.3)],
  ['exclusive limits', field(z.number().gt(0).lt(10)), values(1, 0, 10)],
  ['unknown', field(z.unknown()), values(1, null, { a: [1] })],
  ['json', field(z.json()), values({ a: [1, null] }, 'x')],
  ['read-only', z.object({ a: z.array(z.string()) }).readonly(), [{ a: ['x'] }, { a: 1 }]],
  ['lazy', field(z.lazy(() => z.array(z.string()))), values(['a'], [1])],
  ['branded', field(z.string().brand<'Id'>()), values('a', 1)],
  ['described', z.object({ a: z.string().describe('A name') }).describe('All'), [{ a: 'x' }, {}]],
  [
    'default of an object',
    z.object({ o: z.object({ a: z.number().default(1) }).default({ a: 2 }) }),
    [{}, { o: {} }],
  ],
  ['optional with a coerced value', z.object({ v: z.coerce.number().optional() }), [{ v: '1' }, { v: 'x' }]],
  ['date', field(z.coerce.date()), values('2026-01-31')],
  ['bigint', field(z.coerce.bigint()), values('1')],
  ['set', field(z.set(z.string())), values(['a'])],
];

interface Outcome {
  readonly ok: boolean;
  readonly value?: unknown;
}

const outcomeOf = (result: unknown): Outcome => {
  const { isError, content } = result as { isError?: boolean; content: readonly { text: string }[] };
  return isError === true ? { ok: false } : { ok: true, value: JSON.parse(content[0]?.text ?? 'null') };
};

/** Calls of a tool with this schema on the server of the SDK. */
async function onSdk(schema: z.ZodType<object>): Promise<(input: Arguments) => Promise<Outcome>> {
  const server = new McpServer({ name: 'peer', version: '1' });
  server.registerTool('go', { inputSchema: schema }, (input: unknown) => ({
    content: [{ type: 'text', text: JSON.stringify(input) ?? 'null' }],
  }));
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  await Promise.all([server.connect(near), client.connect(far)]);
  onTestFinished(() => client.close());
  return async (input) => outcomeOf(await client.callTool({ name: 'go', arguments: input }));
}

const compiler = new SchemaCompiler();

/** The schema that codegen would write; `undefined` where it refuses the tool. */
function builtSchema(schema: z.ZodType, side: 'input' | 'output'): JsonSchema | undefined {
  const reading = readJsonSchema(schema, side, import.meta.filename);
  if (reading.kind !== 'schema' || compiler.faults(reading.schema, 'usable').length > 0) return undefined;
  const unusable = patternFaults(reading.schema).filter(({ pointer }) => !pointer.includes('allOf'));
  const isOfLibrary = JSON.stringify(reading.schema).includes('"format"');
  return unusable.length > 0 && !isOfLibrary ? undefined : reading.schema;
}

/** Calls of a tool with this schema on a server of Stepwright. */
async function onOurs(schema: z.ZodType<object>, input: JsonSchema) {
  @Tool({ name: 'go', description: 'Goes', input: schema })
  class Go {
    execute(value: object) {
      return { content: [{ type: 'text', text: JSON.stringify(value) ?? 'null' }] };
    }
  }
  const { client } = await connectedTo(createServer(registryOf({ tools: [{ class: Go, input }] })));
  await client.listTools();
  return async (args: Arguments) => outcomeOf(await client.callTool({ name: 'go', arguments: args }));
}

/** What codegen refuses by name, since no client could read it off a JSON Schema. */
const REFUSED = new Set(['flag m', 'look-ahead', 'date', 'bigint', 'set']);

describe('a schema of an author means the same as on the server of the SDK', () => {
  test.each(CASES)('%s', async (name, schema, inputs) => {
    const input = builtSchema(schema, 'input');
    expect(input === undefined).toBe(REFUSED.has(name));
    if (input === undefined) return;
    const [theirs, ours] = [await onSdk(schema), await onOurs(schema, input)];
    for (const args of inputs) expect([args, await ours(args)]).toEqual([args, await theirs(args)]);
  });
});

describe('a result is what the schema of its author makes of it, and what clients check', () => {
  const OUTPUTS: readonly (readonly [string, z.ZodType<object>, unknown, unknown])[] = [
    ['coerced', field(z.coerce.number()), { v: '5' }, { v: 5 }],
    ['default', field(z.string().default('x')), {}, { v: 'x' }],
    ['catch', field(z.number().catch(1)), { v: 'x' }, { v: 1 }],
    ['flag i', field(z.string().regex(/^[a-f]{4}$/i)), { v: 'AbCd' }, { v: 'AbCd' }],
    ['trimmed', field(z.string().trim()), { v: ' a ' }, { v: 'a' }],
    ['further keys', z.object({ a: z.string() }), { a: 'x', b: 1 }, { a: 'x' }],
    [
      'recursive',
      Recursive,
      { name: 'a', children: [{ name: 'b' }] },
      { name: 'a', children: [{ name: 'b' }] },
    ],
    ['recursive, unfit', Recursive, { name: 'a', children: [{ name: 1 }] }, undefined],
    ['unfit', field(z.string().regex(/^a$/i)), { v: 'b' }, undefined],
    ['a promise', field(z.string().refine(async (v) => v !== 'no')), { v: 'no' }, undefined],
  ];

  test.each(OUTPUTS)('%s', async (_name, schema, result, expected) => {
    const output = builtSchema(schema, 'output');
    if (output === undefined) throw new Error('codegen refuses it');
    let calls = 0;
    @Tool({ name: 'go', description: 'Goes', input: z.object({}), output: schema })
    class Go {
      execute(): object {
        calls += 1;
        return result as object;
      }
    }
    const input = { type: 'object', properties: {}, additionalProperties: false };
    const { client } = await connectedTo(createServer(registryOf({ tools: [{ class: Go, input, output }] })));
    // With the list, the client checks structured content.
    await client.listTools();
    const called = await client.callTool({ name: 'go', arguments: {} });
    expect(called.structuredContent).toEqual(expected);
    expect([called.isError === true, calls]).toEqual([expected === undefined, 1]);
  });
});
