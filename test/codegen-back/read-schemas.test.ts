import { spawn } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import type { ResourceDeclaration, ToolDeclaration } from '../../src/codegen/declarations.js';
import type { ReadSchemasOptions } from '../../src/codegen/schemas/read-schemas.js';
import type { TypeSyntax } from '../../src/codegen/syntax.js';
import { fingerprint } from '../../src/decorators/metadata.js';
import type { SourceLocation } from '../../src/graph/source-location.js';
import { importBuilt } from '../built-package.js';
import { nightlyTest, smoke } from '../nightly.js';
import { createProject, type Project, runModule } from './project.fixture.js';

const { readSchemas } = await importBuilt<typeof import('../../src/codegen/schemas/read-schemas.js')>(
  'codegen/schemas/read-schemas.js',
);

let project: Project;
afterEach(() => project.remove());

const place = (file: string): SourceLocation => ({ file, span: [4, 14, 4, 20] });

function tool(file: string, exportName = 'T', more: Partial<ToolDeclaration> = {}): ToolDeclaration {
  return {
    file,
    className: 'T',
    exportName,
    place: place(file),
    name: 'some-tool',
    namePlace: place(file),
    description: 'A tool',
    hasInputSchema: true,
    ...more,
  };
}

function resource(file: string, more: Partial<ResourceDeclaration> = {}): ResourceDeclaration {
  const uri = 'resource://x/y';
  const { listed: _, ...handle } = tool(file, 'R');
  return { ...handle, name: 'some-resource', uri, uriPlace: place(file), ...more };
}

const source = (body: string, head = '') => `
import { z } from 'zod';
import { Resource, Tool, type ToolContext } from 'stepwright';
${head}
@Tool({ name: 'some-tool', description: 'A tool', ${body} })
export class T { async execute(_input: never, _context: ToolContext) { return {}; } }
`;

const plain = source('input: z.object({ a: z.string() })');

async function read(
  files: Readonly<Record<string, string>>,
  { tools = [], resources = [], ...options }: ReadArguments = {},
) {
  project = await createProject(files);
  const all = tools.length + resources.length > 0 ? tools : Object.keys(files).map((file) => tool(file));
  const { value, diagnostics } = await readSchemas(
    { tools: all, resources },
    { root: project.root, loader: { experimentalDecorators: true }, ...options },
  );
  return {
    tools: Object.fromEntries([...value.tools].map(([declared, reading]) => [declared.file, reading])),
    resources: [...value.resources.values()],
    faults: diagnostics.map(({ code, message, place: at }) => ({ at: at?.file, text: `${code} ${message}` })),
  };
}

interface ReadArguments extends Partial<Omit<ReadSchemasOptions, 'root'>> {
  readonly tools?: readonly ToolDeclaration[];
  readonly resources?: readonly ResourceDeclaration[];
}

const inputSchema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};

// Each test starts a Node process with a compiler in it.
describe('readSchemas', { timeout: 120_000 }, () => {
  test.each(
    smoke([
      ['legacy', true],
      ['TC39', false],
    ] as const),
  )(
    'reads tools and resources under %s decorators, default exports too',
    async (_, experimentalDecorators) => {
      const file = source(
        'input: z.object({ a: z.string() }), output: z.object({ b: z.number() })',
        `@Resource({ name: 'some-resource', description: 'R' }) class Hidden { static readonly uri = 'resource://x/y'; }
       export { Hidden as R };`,
      ).replace('export class T', 'export default class T');
      const found = await read(
        { 'a.ts': file },
        {
          tools: [tool('a.ts', 'default')],
          resources: [resource('a.ts')],
          loader: { experimentalDecorators },
        },
      );
      expect(found.faults).toEqual([]);
      expect(found.tools).toEqual({
        'a.ts': {
          inputSchema,
          outputSchema: expect.objectContaining({ properties: { b: { type: 'number' } } }),
          fingerprint: fingerprint({ kind: 'tool', options: { name: 'some-tool', description: 'A tool' } }),
        },
      });
      expect(found.resources).toHaveLength(1);
    },
  );

  test('continues after modules that throw, end the process, leave handles open or print', async () => {
    const found = await read({
      '1-throws.ts': `const load = (): never => { throw new RangeError('no graph\\nat all'); };\nload();\n${plain}`,
      '2-exits.ts': `process.exit(3);\n${plain}`,
      '3-open.ts': `import { createServer } from 'node:net';\ncreateServer().listen(0); setInterval(() => {}, 1000);\n${plain}`,
      '4-prints.ts': `console.log('printed by a module');\n${plain}`,
      '5-rejects.ts': `void Promise.reject(new Error('rejected by a module'));\n${plain}`,
      '6-missing.ts': `import './gone.js';\n${plain}`,
      '7-fine.ts': plain,
      '8-syntax.ts': `interface Erased { a: string }\nfunction plainly(): void {\n  await later();\n}\n${plain}`,
      '9-asks.ts': `interface Erased { a: string }\nimport { none } from './7-fine.js';\nvoid none;\n${plain}`,
    });
    expect(found.faults).toEqual([
      {
        at: '1-throws.ts',
        text: 'SW6001 `1-throws.ts` cannot be imported: RangeError: no graph (1-throws.ts:1:35)',
      },
      { at: '2-exits.ts', text: expect.stringMatching(/^SW6001 .*exit code 3/) },
      { at: '6-missing.ts', text: expect.stringMatching(/^SW6001 .*Cannot find module .*gone\.js/) },
      {
        at: '8-syntax.ts',
        text: 'SW6001 `8-syntax.ts` cannot be imported: SyntaxError: 8-syntax.ts:3:3: "await" can only be used inside an "async" function',
      },
      { at: '9-asks.ts', text: expect.stringMatching(/^SW6001 .*SyntaxError: .*`?none'? \(9-asks\.ts:2\)$/) },
    ]);
    expect(Object.keys(found.tools)).toEqual(['3-open.ts', '4-prints.ts', '5-rejects.ts', '7-fine.ts']);
    expect(found.tools['7-fine.ts']?.inputSchema).toEqual(inputSchema);
  });

  nightlyTest(
    'stops modules that reach a limit, names each with its limit, and reads all others',
    async () => {
      const found = await read(
        {
          'a-before.ts': plain,
          'b-loops.ts': `while (true) {}\n${plain}`,
          'c-between.ts': plain,
          'd-waits.ts': `setInterval(() => {}, 1000); await new Promise(() => {});\n${plain}`,
          'e-unsettled.ts': `await new Promise(() => {});\n${plain}`,
          'f-between.ts': plain,
          'g-hoards.ts': `const kept: Buffer[] = []; while (true) kept.push(Buffer.alloc(2 ** 20, 1));\n${plain}`,
          'h-after.ts': plain,
        },
        { limits: { cpuMs: 1500, waitMs: 1500, memoryMb: 400 } },
      );
      const stopped = (file: string, why: string) => ({
        at: file,
        text: `SW6005 \`${file}\` was not read to its end: ${why}`,
      });
      expect(found.faults).toEqual([
        stopped('b-loops.ts', 'it used 1.5 s of CPU time'),
        stopped('d-waits.ts', 'it waits: it used under 0.015 s of CPU time in 1.5 s'),
        stopped('e-unsettled.ts', 'it awaits a promise that can no longer be settled'),
        {
          at: 'g-hoards.ts',
          text: 'SW6013 `g-hoards.ts` was not read to its end: its process used more than 400 MiB of memory',
        },
      ]);
      expect(Object.keys(found.tools)).toEqual(['a-before.ts', 'c-between.ts', 'f-between.ts', 'h-after.ts']);
    },
  );

  nightlyTest('reads a slow module', async () => {
    const work = (ms: number) =>
      `{ const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
        const end = cpuMs() + ${ms}; while (cpuMs() < end) {} }`;
    const pause = 'await new Promise((done) => setTimeout(done, 300));';
    const slow = `${work(300)}\n${pause}\n${work(300)}\n${pause}`;
    const found = await read(
      { 'a-slow.ts': `${slow}\n${plain}`, 'b-slow.ts': `${slow}\n${plain}` },
      { limits: { waitMs: 1000 } },
    );
    expect(found.faults).toEqual([]);
    expect(Object.keys(found.tools)).toEqual(['a-slow.ts', 'b-slow.ts']);
  });

  nightlyTest('reports no module for the load of other processes', async () => {
    const burners = Array.from({ length: 3 }, () => spawn(process.execPath, ['-e', 'for (;;);']));
    try {
      const names = ['a.ts', 'b.ts'];
      const found = await read(Object.fromEntries(names.map((name) => [name, plain])), {
        limits: { waitMs: 2000 },
      });
      expect(found.faults).toEqual([]);
      expect(Object.keys(found.tools)).toEqual(names);
    } finally {
      for (const burner of burners) burner.kill('SIGKILL');
    }
  });

  nightlyTest('reports no module for handles and memory of earlier ones', async () => {
    const found = await read(
      {
        'a-hoards.ts': `export const kept = Buffer.alloc(250 * 2 ** 20, 1);\n${plain}`,
        'b-hoards.ts': `export const kept = Buffer.alloc(250 * 2 ** 20, 1);\nawait new Promise((done) => setTimeout(done, 300));\n${plain}`,
        'c-leaves.ts': `setTimeout(() => process.exit(3), 50);\n${plain}`,
        'd-pauses.ts': `await new Promise((done) => setTimeout(done, 300));\n${plain}`,
      },
      { limits: { memoryMb: 550 } },
    );
    expect(found.faults).toEqual([]);
    expect(Object.keys(found.tools)).toEqual(['a-hoards.ts', 'b-hoards.ts', 'c-leaves.ts', 'd-pauses.ts']);
  });

  nightlyTest(
    'stops after five modules that timed out, and names the modules that it did not read',
    async () => {
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}.ts`);
      const hangs = `setInterval(() => {}, 1000); await new Promise(() => {});\n${plain}`;
      const found = await read(Object.fromEntries(names.map((name) => [name, hangs])), {
        limits: { waitMs: 300 },
      });
      expect(found.faults.map(({ at, text }) => `${at} ${text.slice(0, 6)}`)).toEqual([
        ...names.slice(0, 5).map((name) => `${name} SW6005`),
        'f.ts SW6015',
      ]);
      expect(found.faults[5]?.text).toBe(
        'SW6015 `f.ts` and 1 more module were not read: 5 modules before were stopped at their limits',
      );
    },
  );

  test('reports a process that cannot start, and no module', async () => {
    const found = await read({ 'a.ts': plain, 'b.ts': plain }, { limits: { memoryMb: 1 } });
    expect(found.faults).toEqual([
      { at: undefined, text: expect.stringMatching(/^SW6014 2 tool modules were not read: .* aborted/) },
    ]);
  });

  nightlyTest('reports schemas that a registry cannot contain', async () => {
    const found = await read(
      {
        'a.ts': source('input: z.object({ when: z.date() })'),
        'b.ts': source('input: z.object({}), output: z.array(z.string())'),
        'c.ts': source(''),
        'd.ts': source(''),
      },
      {
        tools: [
          tool('a.ts'),
          tool('b.ts'),
          tool('c.ts', 'T', { inputType: { kind: 'unknown' } }),
          tool('d.ts'),
        ],
      },
    );
    expect(found.faults).toEqual([
      { at: 'a.ts', text: expect.stringMatching(/^SW6002 the input schema .*Date.*`when`/) },
      { at: 'b.ts', text: 'SW6006 the output schema of tool `some-tool` is not an object schema' },
      { at: 'c.ts', text: 'SW6003 tool `some-tool` takes input but declares no schema' },
    ]);
    expect(found.tools).toEqual({
      'd.ts': {
        inputSchema: { type: 'object', properties: {}, additionalProperties: false },
        fingerprint: expect.any(String),
      },
    });
  });

  test('derives schemas from the types of `execute` for a tool without a schema', async () => {
    const type: TypeSyntax = {
      kind: 'object',
      properties: [{ name: 'a', optional: false, type: { kind: 'string' } }],
    };
    const withDate: TypeSyntax = {
      kind: 'object',
      properties: [{ name: 'when', optional: false, type: { kind: 'other', text: 'Date' } }],
    };
    const content: TypeSyntax = {
      kind: 'array',
      items: { kind: 'object', properties: [{ name: 'type', optional: false, type: { kind: 'string' } }] },
    };
    const both = { inputType: type, outputType: type };
    const none = source('');
    const found = await read(
      {
        'a.ts': none,
        'b.ts': plain,
        'c.ts': none,
        'd.ts': none,
        'e.ts': none,
        'f.ts': none,
        'g.ts': none,
        'h.ts': plain,
        'i.ts': plain,
        'k.ts': plain,
        'j.ts': source('output: z.object({ b: z.number() })'),
      },
      {
        tools: [
          tool('a.ts', 'T', both),
          tool('b.ts', 'T', both),
          tool('c.ts', 'T', { inputType: type, outputType: { kind: 'string' } }),
          tool('d.ts', 'T', { outputType: { kind: 'undefined' } }),
          tool('e.ts', 'T', {
            outputType: { kind: 'object', properties: [{ name: 'content', optional: false, type: content }] },
          }),
          tool('f.ts', 'T', { inputType: { kind: 'string' }, inputPlace: place('parameter.ts') }),
          tool('h.ts', 'T', { inputType: type, outputType: withDate, outputPlace: place('result.ts') }),
          tool('i.ts', 'T', { inputType: type, outputType: { kind: 'string' } }),
          tool('j.ts', 'T', { inputType: type, outputType: type }),
          tool('k.ts', 'T', { inputType: type, outputType: { kind: 'other', text: 'object' } }),
          tool('g.ts', 'T', {
            inputType: withDate,
            inputPlace: place('parameter.ts'),
            outputType: withDate,
            outputPlace: place('result.ts'),
          }),
        ],
      },
    );
    const noInput = { type: 'object', properties: {}, additionalProperties: false };
    const rest = { fingerprint: expect.any(String) };
    expect(found.tools).toEqual({
      'a.ts': { inputSchema, outputSchema: inputSchema, ...rest },
      'b.ts': { inputSchema, outputSchema: inputSchema, ...rest },
      'c.ts': { inputSchema, ...rest },
      'd.ts': { inputSchema: noInput, ...rest },
      // A result in MCP's own form has no output schema.
      'e.ts': { inputSchema: noInput, ...rest },
      // A tool with its own input schema may return a type without a JSON form.
      'h.ts': { inputSchema, ...rest },
      'i.ts': { inputSchema, ...rest },
      'k.ts': { inputSchema, ...rest },
      'j.ts': { inputSchema, outputSchema: expect.objectContaining({ required: ['b'] }), ...rest },
    });
    expect(found.faults).toEqual([
      { at: 'parameter.ts', text: 'SW6006 the input schema of tool `some-tool` is not an object schema' },
      {
        at: 'result.ts',
        text: 'SW6011 the results of tool `some-tool` go unchecked: `output.when` is of the type `Date`, which has no JSON form',
      },
      { at: 'result.ts', text: expect.stringMatching(/^SW6008 `output\.when` of tool `some-tool` .*`Date`/) },
      {
        at: 'parameter.ts',
        text: expect.stringMatching(/^SW6008 `input\.when` of tool `some-tool` .*`Date`/),
      },
    ]);
  });

  nightlyTest(
    'warns of alternatives at the top of an input that clients see, and of an option without effect',
    async () => {
      const union = source('input: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])');
      const files = { 'a.ts': union, 'b.ts': union, 'c.ts': union, 'd.ts': union, 'e.ts': plain };
      const { faults } = await read(files, {
        tools: [
          tool('a.ts'),
          tool('b.ts', 'T', { visibility: 'workflow' }),
          tool('c.ts', 'T', { listedSchema: 'flat' }),
          tool('d.ts', 'T', { listedSchema: 'flat', visibility: 'workflow' }),
          tool('e.ts', 'T', { listedSchema: 'flat' }),
        ],
      });
      expect(faults).toEqual([
        { at: 'a.ts', text: expect.stringMatching(/^SW6022 .*`anyOf` at its top/) },
        { at: 'd.ts', text: expect.stringMatching(/^SW6023 .*clients do not see it$/) },
        { at: 'e.ts', text: expect.stringMatching(/^SW6023 .*has no `oneOf`/) },
      ]);
    },
  );

  nightlyTest(
    'uses the input side of a transform, and reports an output side without a JSON form',
    async () => {
      const transform = 'z.object({ n: z.string().transform((text) => text.length) })';
      const found = await read({
        'a.ts': source(`input: ${transform}`),
        'b.ts': source(`input: z.object({ a: z.string() }), output: ${transform}`),
      });
      expect(found.tools['a.ts']?.inputSchema).toMatchObject({ properties: { n: { type: 'string' } } });
      expect(found.faults).toEqual([
        { at: 'b.ts', text: expect.stringMatching(/^SW6002 the output schema of tool `some-tool` .*`n`/) },
      ]);
    },
  );

  nightlyTest('reports classes that differ from their source', async () => {
    const found = await read(
      { 'a.ts': 'export class T {}', 'b.ts': 'export const other = 1;', 'c.ts': plain },
      { tools: [tool('a.ts'), tool('b.ts')], resources: [{ ...resource('c.ts'), exportName: 'T' }] },
    );
    expect(found.faults.map(({ text }) => text.slice(0, 6))).toEqual(['SW6007', 'SW6007', 'SW6007']);
  });

  nightlyTest('loads CommonJS modules, and what they import', async () => {
    const found = await read(
      {
        'package.json': '{ "type": "commonjs" }',
        'a.ts': `import { Base } from './base.js';\nexport class T extends Base {}`,
        'base.ts': 'export abstract class Base { declare readonly kept: string; }',
      },
      { tools: [tool('a.ts')] },
    );
    // It was loaded and found; it has no decorator because a package of TypeScript sources cannot be required.
    expect(found.faults).toEqual([
      { at: 'a.ts', text: expect.stringMatching(/^SW6007 .*no decorator of stepwright/) },
    ]);
  });

  nightlyTest('finds imports without an extension, of folders too', async () => {
    const files = {
      'a.ts': `import { bound } from './shared/bound';\nimport { unit } from './shared';\n${source('input: z.object({ a: z.number().max(bound).describe(unit) })')}`,
      'shared/bound.ts': 'export const bound: number = 7;',
      'shared/index.ts': `export const unit: string = 'kg';`,
    };
    const { faults, tools } = await read(files, { tools: [tool('a.ts')] });
    expect(faults).toEqual([]);
    expect(JSON.stringify(tools)).toContain('"maximum":7,"description":"kg"');
  });

  nightlyTest('reports modules that name each other as the cause', async () => {
    const found = await read(
      {
        'package.json': '{ "type": "commonjs" }',
        'a.ts': `import './b.js';\nthrow new Error('a');`,
        'b.ts': `import './a.js';\nthrow new Error('b');`,
      },
      { tools: [tool('a.ts'), tool('b.ts')] },
    );
    expect(found.faults).toEqual([
      { at: 'a.ts', text: expect.stringMatching(/^SW6001 .*\(b\.ts:2:\d+\)$/) },
      { at: 'b.ts', text: expect.stringMatching(/^SW6001 .*\(a\.ts:2:\d+\)$/) },
    ]);
  });

  nightlyTest('embeds the file of a resource, and reports one that cannot be read', async () => {
    const files = {
      'src/r.ts': `import { Resource } from 'stepwright';
        @Resource({ name: 'r', file: './r.md' }) export class R { static readonly uri = 'resource://x/y'; }`,
      'src/r.md': '# Text\n',
    };
    const good = resource('src/r.ts', { contentFile: './r.md' });
    const bad = { ...good, contentFile: './s.md' };
    const found = await read(files, { resources: [good, bad] });
    expect(found.resources).toEqual([{ text: '# Text\n', fingerprint: expect.any(String) }]);
    expect(found.faults).toEqual([{ at: 'src/r.ts', text: expect.stringMatching(/^SW6004 .*`\.\/s\.md`/) }]);
  });

  test('reports a broken package.json once, and reads the modules beside it', async () => {
    const modules = { 'fine.ts': plain, 'sub/a.ts': plain, 'sub/b.ts': plain };
    const found = await read(
      { ...modules, 'sub/package.json': '{ "type": "module", }' },
      { tools: Object.keys(modules).map((file) => tool(file)) },
    );
    expect(found.faults).toEqual([
      {
        at: undefined,
        text: expect.stringMatching(/^SW6017 `sub\/package\.json` is not valid JSON: .*position 20/),
      },
    ]);
    expect(Object.keys(found.tools)).toEqual(['fine.ts']);
  });

  nightlyTest(
    'reports the module that fails, not those that import it, and no file a second time',
    async () => {
      const found = await read(
        {
          'a.ts': `import './b.js';\n${plain}`,
          'b.ts': `throw new Error('b alone');\n${plain}`,
          'c.ts': `import './broken.js';\n${plain}`,
          'broken.ts': `export const half = ;\n${plain}`,
        },
        { broken: new Set(['broken.ts']) },
      );
      expect(found.faults).toEqual([
        { at: 'b.ts', text: 'SW6001 `b.ts` cannot be imported: Error: b alone (b.ts:1:7)' },
      ]);
      expect(found.tools).toEqual({});
    },
  );

  test('starts no process where there is nothing to import', async () => {
    const found = await read({}, { limits: { memoryMb: 1 } });
    expect(found).toEqual({ tools: {}, resources: [], faults: [] });
  });
});

nightlyTest('a file that a module reads is described once', { timeout: 240_000 }, async () => {
  const reads = path.resolve(import.meta.dirname, '../../src/codegen/schemas/loader/reads.ts');
  project = await createProject({
    'count.mts': `import fs from 'node:fs';
      let opened = 0;
      const { openSync } = fs;
      fs.openSync = (...args) => { opened += 1; return openSync(...args); };
      const { recordReads } = await import(${JSON.stringify(pathToFileURL(reads).href)});
      const take = recordReads();
      opened = 0;
      fs.readFileSync('package.json');
      console.log(JSON.stringify({ opened, paths: Object.keys(take().paths).length }));`,
  });
  const { stdout, stderr } = await runModule(project, 'count.mts');
  expect(stderr).toBe('');
  // Once for its description, and once for the module.
  expect(JSON.parse(stdout)).toEqual({ opened: 2, paths: 1 });
});
