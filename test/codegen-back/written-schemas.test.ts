import { afterEach, describe, expect, test } from 'vitest';
import { runCodegen } from '../built-package.js';
import { nightlyTest } from '../nightly.js';
import { createProject, type Project } from './project.fixture.js';

let project: Project;
afterEach(() => project.remove());

const HEAD = `
import { appendFileSync } from 'node:fs';
import { Tool } from 'stepwright';
import { z } from 'zod';
import * as all from 'zod';
import { object, string as text } from 'zod/v4';
import { Shared, limits } from './shared.js';
const id = z.string().min(1).describe('Identifies a page');
const levels = ['low', 'high'] as const;
let changed = z.object({});
changed = z.object({ a: z.string() });
const fields = { a: z.string() };
const kinds = { a: z.string(), 'b-c': z.number() } as const;
export const seen = [changed, fields];
`;

const SHARED = `
import { z } from 'zod';
export const limits = { most: 10, name: { length: 3 } } as const;
export const Shared = z.object({ name: z.string().max(limits.name.length) });
`;

const tool = (schema: string, name: string): string => `${HEAD}
appendFileSync('imported.log', '${name}\\n');
@Tool({ name: '${name}', description: 'Has a schema', input: ${schema} })
export class One { execute(input: unknown): void { void input; } }
`;

interface Read {
  /** The tools with an imported module. */
  readonly imports: readonly string[];
  readonly registry: string;
  /** Of each tool with faults. */
  readonly faults: Readonly<Record<string, string>>;
}

/** Reads tools with these schemas, named `t0`, `t1` and so on, each in a module of its own. */
async function read(schemas: readonly string[], cache = false): Promise<Read> {
  const files = schemas.map((schema, index) => [`src/t${index}.ts`, tool(schema, `t${index}`)] as const);
  await project.write({ 'imported.log': '', ...Object.fromEntries(files) });
  const { diagnostics } = await runCodegen({ root: project.root, cache });
  const faults = diagnostics.map(
    ({ code, message, place }) => [place?.file.slice(4, -3), `${code} ${message}`] as const,
  );
  const imports = (await project.read('imported.log')).split('\n').slice(0, -1).sort();
  const registry = faults.length > 0 ? '' : await project.read('generated/registry.ts');
  return { imports, registry, faults: Object.fromEntries(faults) };
}

const create = () => createProject({ 'src/shared.ts': SHARED }).then((made) => (project = made));

describe('a schema of zod functions and literals', { timeout: 240_000 }, () => {
  const schemas = [
    'z.object({})',
    'z.object({ id, level: z.enum(levels), count: z.number().int().min(-1).default(3) })',
    'z.object({ at: z.iso.date(), mail: z.email().optional(), any: z.unknown() }).strict()',
    'z.object({ a: z.union([z.string(), z.null()]), b: z.literal(true), c: z.record(z.string(), z.number()) })',
    'z.looseObject({ list: z.array(z.tuple([z.string(), z.number()])).max(limits.most) })',
    'Shared',
    'Shared.extend({ more: z.boolean() }).partial()',
    'z.object({ ...Shared.shape, more: z.boolean() })',
    'z.object({ name: Shared.shape.name, inner: Shared })',
    'z.object(kinds)',
    'all.object({ a: all.coerce.number() })',
    'object({ a: text().regex as never, b: text() }).omit({ a: true })',
    "z.object({ of: z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]) })",
    'z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() }))',
    `(z.object({ 'a-b': z.string().describe("It's") }) satisfies z.ZodType)`,
  ];
  test('is read as its module makes it', async () => {
    await create();
    const written = await read(schemas);
    // A call of something else has to run.
    const imported = await read(schemas.map((schema) => `Object.assign(${schema})`));
    expect([written.faults, imported.faults]).toEqual([{}, {}]);
    expect(written.imports).toEqual([]);
    expect(imported.imports).toHaveLength(schemas.length);
    expect(written.registry).toBe(imported.registry);
  });

  const made = [
    ['a function', 'z.object({ a: z.string().refine((a) => a !== "") })'],
    ['a getter', 'z.object({ get a() { return z.string(); } })'],
    ['a variable', 'changed'],
    ['an object that may change', 'z.object(fields)'],
    ['a name in the register of zod', "z.object({ a: z.string().meta({ id: 'a' }) })"],
    ['a global', 'z.object({ a: z.string().default(String(1)) })'],
  ] as const;
  const refused = [
    ['a way out of the library', 'z.object({}).constructor as never'],
    ['a value that is not in JSON', 'z.object({ a: z.date() })'],
    ['what is no object', 'z.string()'],
    ['a fault', '(z as never as { none(): never }).none()'],
  ] as const;
  test.each([
    ['is made', made, []],
    ['is refused', refused, refused],
  ])('%s by its module, which has more', async (_, cases, faulty) => {
    await create();
    const { imports, faults, registry } = await read(cases.map(([, schema]) => schema));
    const whats = (names: readonly string[]) => names.map((name) => cases[Number(name.slice(1))]?.[0]).sort();
    expect(whats(imports)).toEqual(cases.map(([what]) => what).sort());
    expect(whats(Object.keys(faults))).toEqual(faulty.map(([what]) => what).sort());
    expect(registry === '').toBe(faulty.length > 0);
  });

  nightlyTest('is made again by another version of zod', async () => {
    await create();
    const zod = (version: string) => ({
      'node_modules/zod/package.json': JSON.stringify({ name: 'zod', version, main: 'index.cjs' }),
      'node_modules/zod/index.cjs': `
        const { z } = require('../../../../../node_modules/zod');
        const own = { ...z, string: () => z.string().describe('Of ${version}') };
        module.exports = { ...own, z: own };`,
    });
    await project.write(zod('4.90.1'));
    const schemas = ["z.object({ a: z.string() }), description: 'Is of a version'"];
    expect((await read(schemas, true)).registry).toContain('Of 4.90.1');
    await project.write(zod('4.90.2'));
    expect((await read(schemas, true)).registry).toContain('Of 4.90.2');
  });
});
