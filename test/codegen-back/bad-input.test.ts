import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { CodegenResult } from '../../src/codegen/codegen.js';
import { formatDiagnostics } from '../../src/graph/diagnostics/format.js';
import { runCodegen } from '../built-package.js';
import { command, createProject, type Project } from './project.fixture.js';

const tool = `import { Tool } from 'stepwright';
import { z } from 'zod';
@Tool({ name: 'find-page', description: 'Finds a page', input: z.object({ name: z.string() }), output: z.object({ path: z.string() }) })
export class FindPage {
  execute({ name }: { name: string }): { path: string } {
    return { path: name };
  }
}
`;

const workflow = `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { FindPage } from './tool.js';
@Workflow({ name: 'find', description: 'Finds' })
export class Find {
  @Arg({ description: 'Page' }) page!: Arg<string>;
  @Step() found = call(FindPage, { name: this.page });
  output = done({ path: this.found.path });
}
`;

let project: Project;
afterEach(() => project.remove());

async function codegen(
  files: Readonly<Record<string, string>>,
  options: { readonly check?: boolean } = {},
): Promise<CodegenResult & { readonly text: string }> {
  project = await createProject(files);
  return again(options);
}

async function again(options: { readonly check?: boolean } = {}) {
  const result = await runCodegen({ root: project.root, ...options });
  return { ...result, text: formatDiagnostics(result.diagnostics, result.readSource) };
}

const codes = ({ diagnostics }: CodegenResult): string[] => diagnostics.map(({ code }) => code);

// Each test starts a Node process with a compiler in it.
describe('codegen on bad input', { timeout: 240_000 }, () => {
  test('reports 200 faults in one run, shows 50 and counts the rest', async () => {
    const steps = Array.from(
      { length: 200 },
      (_, i) => `  @Step() s${i} = call(FindPage, { name: this.no${i} });`,
    );
    const faulty = workflow.replace(/ {2}@Step\(\) found.*\n.*\n/, `${steps.join('\n')}\n`);
    const result = await codegen({ 'src/tool.ts': tool, 'src/find.ts': faulty });
    expect(codes(result).filter((code) => code === 'SW3001')).toHaveLength(200);
    expect(result.text.match(/error SW3001/g)).toHaveLength(50);
    expect(result.text).toMatch(/… and 15\d more problems\n\nFound 200 errors/);
    expect(result.written).toEqual([]);
  });

  test('reports the location of bytes that are not UTF-8, and reads the other files', async () => {
    project = await createProject({ 'src/tool.ts': tool, 'src/find.ts': workflow });
    await writeFile(
      path.join(project.root, 'src/notes.ts'),
      Buffer.from('// ok\nexport const caf\u00e9 = 1;\n', 'latin1'),
    );
    const result = await again();
    expect(result.text).toMatch(
      /^src\/notes\.ts:2:17 - error SW1001: the file is not UTF-8 text: save it as UTF-8/,
    );
    expect(result).toMatchObject({ diagnostics: [{}], written: [], found: { tools: 1, workflows: 1 } });
  });

  test('refuses files that Node.js cannot import, and takes other odd names', async () => {
    const files = { 'src/tool.ts': tool, "src/[a] ä/find '.ts": workflow.replace('./tool', '../tool') };
    expect((await codegen(files)).text).toBe('');
    const name = (each: string, at: number) =>
      workflow.replace("'find'", `'find-${at}'`).replace('./tool', each);
    await project.write({
      'src/find #1.ts': name('./tool', 1),
      'src/why?/find.ts': name('../tool', 2),
      'src/a%20b.ts': name('./tool', 3),
      'src/100%.ts': name('./tool', 4),
    });
    const result = await again();
    expect(codes(result)).toEqual(['SW1033', 'SW1033', 'SW1033', 'SW1033']);
    expect(result.text).toContain(
      'the registry cannot import class `Find` from `src/find #1.ts`: Node.js reads `#` in the path of a module as something else',
    );
  });

  test('reads CRLF with a byte order mark, and writes the same registry', async () => {
    await codegen({ 'src/tool.ts': tool, 'src/find.ts': workflow });
    const written = await project.read('generated/registry.ts');
    const windows = (text: string): string => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
    await project.write({ 'src/tool.ts': windows(tool), 'src/find.ts': windows(workflow) });
    expect(await again()).toMatchObject({ diagnostics: [], current: ['generated/registry.ts'] });
    expect(await project.read('generated/registry.ts')).toBe(written);
  });

  test('places a fault on line 10,000', async () => {
    const faulty = workflow.replace('this.page', 'this.pge');
    const filler = Array.from({ length: 9_994 }, (_, i) => `export const n${i} = ${i};`).join('\n');
    const result = await codegen({ 'src/tool.ts': tool, 'src/find.ts': `${filler}\n${faulty}` });
    expect(result.text).toMatch(/^src\/find\.ts:10000:\d+ - error SW3001: .*`pge`/);
  });

  test('imports a class by one name if it is exported twice or by default', async () => {
    const twice = `${tool}export { FindPage as Other };\nexport default FindPage;\n`;
    const result = await codegen({
      'src/tool.ts': twice,
      'src/find.ts': workflow.replace('{ FindPage }', 'FindPage'),
    });
    expect(result).toMatchObject({ diagnostics: [], found: { tools: 1 } });
    expect(await project.read('generated/registry.ts')).toContain(
      "import { FindPage } from '../src/tool.js';",
    );
  });

  test('follows cyclic re-exports, and names exports that they do not have', async () => {
    const result = await codegen({
      'src/tool.ts': tool,
      'src/a.ts': "export * from './b.js';\nexport { Gone } from './b.js';\n",
      'src/b.ts': "export * from './a.js';\nexport * from './tool.js';\nexport { Gone } from './a.js';\n",
      'src/find.ts': workflow.replace('./tool.js', './a.js'),
    });
    expect(result.diagnostics).toEqual([]);
    await project.write({
      'src/find.ts': workflow.replace('{ FindPage }', '{ Gone as FindPage }').replace('./tool.js', './a.js'),
    });
    expect(codes(await again())).toEqual(['SW3007']);
  });

  test('replaces a registry of another version, and one edited by hand', async () => {
    await codegen({ 'src/tool.ts': tool, 'src/find.ts': workflow });
    const file = 'generated/registry.ts';
    const written = await project.read(file);
    for (const [from, to] of [
      ['registryVersion: 1', 'registryVersion: 0'],
      ['Finds a page', 'Finds two pages'],
    ] as const) {
      await project.write({ [file]: written.replace(from, to) });
      expect(codes(await again({ check: true }))).toEqual(['SW9001']);
      expect(await again()).toMatchObject({ written: [file] });
      expect(await project.read(file)).toBe(written);
    }
  });

  test('derives the schemas of a tool without schemas from its types', async () => {
    const typed = `import { Tool } from 'stepwright';
/** A page. */
interface Page { /** Its name. @minLength 1 */ name: string; kind?: 'note' | 'journal' }
@Tool({ name: 'find-page', description: 'Finds a page' })
export class FindPage {
  execute({ name }: Page): Promise<{ path: string }> {
    return Promise.resolve({ path: name });
  }
}
`;
    expect((await codegen({ 'src/tool.ts': typed, 'src/find.ts': workflow })).text).toBe('');
    const registry = await project.read('generated/registry.ts');
    expect(registry).toContain('"name": { "type": "string", "description": "Its name.", "minLength": 1 }');
    expect(registry).toContain('"schema": { "type": "string" } }');
    expect(registry).toContain('"kind": { "type": "string", "enum": ["note", "journal"] }');
    expect(registry).toContain('outputSchema: schemaJson`{');
    await project.write({ 'src/find.ts': workflow.replace('this.found.path', 'this.found.way') });
    expect(codes(await again())).toEqual(['SW4005']);

    await project.write({
      'src/tool.ts': typed.replace('name: string;', 'name: string; when: Map<string, Date>;'),
    });
    expect((await again()).text).toMatch(
      /src\/tool\.ts:3:62 - error SW6008: `input\.when` of tool `find-page` is of the type `Map<string, Date>`/,
    );
  });
});

describe('a pattern that no linear-time engine matches', { timeout: 240_000 }, () => {
  test('is reported from zod, JSDoc and @Arg, and allowed beside a format', async () => {
    const zod = `import { Tool } from 'stepwright';
import { z } from 'zod';
@Tool({ name: 'find-page', description: 'Finds a page', input: z.object({ name: z.string().regex(/^(?=a)b/), by: z.email().optional() }) })
export class FindPage {
  execute({ name }: { name: string; by?: string | undefined }): { /** @pattern ^(?!a)b */ path: string } {
    return { path: name };
  }
}
`;
    const typed = zod
      .replace(/, input: .*\) \}\)$/m, ' })')
      .replace('FindPage {', 'FindOther {')
      .replace("'find-page'", "'find-other'")
      .replace("import { z } from 'zod';\n", '');
    const ruled = workflow.replace("'Page' }", () => "'Page', pattern: '^(a)\\\\1$' }");
    const result = await codegen({ 'src/tool.ts': zod, 'src/typed.ts': typed, 'src/find.ts': ruled });
    expect(
      result.diagnostics.map(({ code, message, place }) => [code, place?.file, message.split('` ')[0]]),
    ).toEqual([
      ['SW6010', 'src/find.ts', 'the pattern `^(a)\\1$'],
      ['SW6010', 'src/tool.ts', 'the pattern `^(?=a)b'],
      ['SW6011', 'src/tool.ts', 'the results of tool `find-page'],
      ['SW6010', 'src/typed.ts', 'the pattern `^(?!a)b'],
    ]);
  });
});

describe('a schema that cannot check values', { timeout: 240_000 }, () => {
  test('is reported where it is written: of a tool, and of a question', async () => {
    const written = `import { Tool } from 'stepwright';
@Tool({ name: 'find-page', description: 'Finds a page', inputSchema: { type: 'object', properties: { name: { type: 'text' } } } })
export class FindPage {
  execute({ name }: { name: string }): { path: string } {
    return { path: name };
  }
}
`;
    const asked = `import { ask, done, Step, Workflow } from 'stepwright';
@Workflow({ name: 'find', description: 'find a page' })
export class Find {
  @Step() name = ask.value('Which page?', { schema: { $ref: '#/$defs/page' } });
  output = done({ name: this.name });
}
`;
    const result = await codegen({ 'src/tool.ts': written, 'src/find.ts': asked });
    expect(result.diagnostics.map(({ code, message, place }) => [code, place?.file, message])).toEqual([
      [
        'SW6018',
        'src/find.ts',
        expect.stringContaining('the schema of `ask.value` cannot check values: it cannot be used'),
      ],
      ['SW6018', 'src/tool.ts', expect.stringContaining('`/properties/name/type` must be equal')],
    ]);
  });
});

describe('an overloaded `execute`', { timeout: 240_000 }, () => {
  test('has no schema, unless the tool gives both', async () => {
    const overloaded = `import { Tool } from 'stepwright';
import { z } from 'zod';
@Tool({ name: 'find-page', description: 'Finds a page' })
export class FindPage {
  execute(input: { id: number; name?: string }): { path: string };
  execute(input: { name: string; id?: number }): { path: string };
  execute({ name, id }: { name?: string; id?: number }): { path: string } {
    return { path: name ?? String(id) };
  }
}
`;
    const result = await codegen({ 'src/tool.ts': overloaded, 'src/find.ts': workflow });
    expect(result.diagnostics).toMatchObject([
      { code: 'SW6012', place: { span: [5, 3, 5, 10] }, related: [{ place: { span: [6, 3, 6, 10] } }] },
    ]);
    const schemas =
      "'Finds a page', input: z.object({ name: z.string(), id: z.number().optional() }), output: z.object({ path: z.string() })";
    await project.write({ 'src/tool.ts': overloaded.replace("'Finds a page'", schemas) });
    expect((await again()).text).toBe('');
  });
});

describe('an inherited `execute`', { timeout: 240_000 }, () => {
  test('gives the tool the schemas of the inherited signature', async () => {
    const inherited = `import { Tool } from 'stepwright';
abstract class Finder<Input extends { name: string }> {
  async execute(input: Input): Promise<{ path: string }> {
    return { path: input.name };
  }
}
@Tool({ name: 'find-page', description: 'Finds a page' })
export class FindPage extends Finder<{ name: string; /** At most. */ max?: number }> {}
`;
    const result = await codegen({ 'src/tool.ts': inherited, 'src/find.ts': workflow });
    expect(result.text).toBe('');
    const registry = await project.read('generated/registry.ts');
    expect(registry).toContain(`      inputSchema: schemaJson\`{
        "type": "object",
        "properties": {
          "name": { "type": "string" },
          "max": { "type": "number", "description": "At most." }
        },
        "required": ["name"],
        "additionalProperties": false
      }\`,`);
    expect(registry).toContain(
      '"properties": { "path": { "type": "string" } },\n        "required": ["path"],',
    );
  });

  test('from an unresolved class needs a schema', async () => {
    const untyped = `import { Tool } from 'stepwright';
const base: any = class { execute() { return {}; } };
@Tool({ name: 'find-page', description: 'Finds a page' })
export class FindPage extends base {}
`;
    const result = await codegen({ 'src/tool.ts': untyped, 'src/find.ts': workflow });
    expect(result.diagnostics).toMatchObject([{ code: 'SW6003', place: { span: [4, 31, 4, 35] } }]);
  });
});

describe('a default of an input schema', { timeout: 240_000 }, () => {
  test('is written once: callers may leave the key out, and `execute` always has it', async () => {
    const defaulted = `import { Tool, type ToolInput } from 'stepwright';
import { z } from 'zod';
const input = z.object({ name: z.string(), max: z.number().default(10), note: z.string().optional() });
@Tool({ name: 'find-page', description: 'Finds a page', input })
export class FindPage {
  execute({ name, max }: ToolInput<typeof input>): { path: string } {
    return { path: name.slice(0, max) };
  }
}
`;
    expect((await codegen({ 'src/tool.ts': defaulted, 'src/find.ts': workflow })).text).toBe('');
    await project.write({ 'src/tool.ts': defaulted.replace('ToolInput<', 'z.infer<') });
    const result = await again();
    // The field is declared by zod: its location is that of the parameter.
    expect(result.diagnostics).toMatchObject([
      { code: 'SW6020', severity: 'warning', params: { property: 'max' }, place: { file: 'src/tool.ts' } },
    ]);
  });
});

describe('one run', { timeout: 240_000 }, () => {
  test('reports the faults in uses of a faulty class', async () => {
    const second = tool
      .replace('FindPage', 'FindAgain')
      .replace('{ name: z.string() }', '{ title: z.string() }')
      .replace('{ name }: { name: string }', '{ title: name }: { title: string }');
    const nameless = second.replace('FindAgain', 'Nameless').replace("name: 'find-page', ", '');
    const faulty = `import { Arg, call, run, Step, Workflow } from 'stepwright';
import { FindAgain } from './again.js';
import { Nameless } from './nameless.js';
@Workflow({ name: 'Bad Name', description: 'Has no name that may be used' })
export class Inner {
  @Arg({ description: 'Page' }) page!: Arg<string>;
  @Step() again = call(FindAgain, { name: this.page });
  @Step() nameless = call(Nameless, { name: this.again.paht });
}
@Workflow({ name: 'outer', description: 'Runs it' })
export class Outer {
  @Step() inner = run(Inner, { pgae: 'Inbox' });
}
`;
    const sources = { 'src/tool.ts': tool, 'src/again.ts': second, 'src/nameless.ts': nameless };
    const result = await codegen({ ...sources, 'src/faulty.ts': faulty });
    const told = result.diagnostics.map(({ code, place }) => `${code} ${place?.file} ${place?.span[0]}`);
    expect(told).toEqual([
      'SW1002 src/faulty.ts 4',
      'SW4003 src/faulty.ts 7',
      'SW4004 src/faulty.ts 7',
      'SW4003 src/faulty.ts 8',
      'SW4004 src/faulty.ts 8',
      'SW4005 src/faulty.ts 8',
      'SW4003 src/faulty.ts 12',
      'SW4004 src/faulty.ts 12',
      'SW1005 src/nameless.ts 3',
      'SW1004 src/tool.ts 3',
    ]);
    expect(result.written).toEqual([]);
  });
});

describe('a faulty step or argument', { timeout: 240_000 }, () => {
  test('hides no fault in uses of its value', async () => {
    const faulty = `import { Arg, call, done, read, Resource, Step, Workflow } from 'stepwright';
import { FindPage } from './tool.js';
@Resource({ name: 'nowhere' })
export class Nowhere {}
@Workflow({ name: 'find', description: 'Finds' })
export class Find {
  @Arg({}) page!: Arg<string>;
  @Arg({ description: 'When' }) when!: Arg<Date>;
  @Step() found = call(FindPage, { nmae: this.page });
  @Step() lost = call(FindPage, { name: this.gone });
  @Step() text = read(Nowhere);
  @Step() late = call(FindPage, { named: [this.lost.path, this.text, this.when] });
  output = done({ path: this.late.paht });
}
`;
    const result = await codegen({ 'src/tool.ts': tool, 'src/find.ts': faulty });
    expect(result.diagnostics.map(({ code, place }) => `${code} ${place?.span[0]}`)).toEqual([
      'SW1005 4',
      'SW1005 7',
      'SW1017 8',
      'SW4003 9',
      'SW4004 9',
      'SW3001 10',
      'SW4003 12',
      'SW4004 12',
      'SW4005 13',
    ]);
  });
});

const unused = workflow.replace('{ name: this.page }', "{ name: 'Inbox' }");
const silenced = unused.replace('  @Arg', '  // stepwright-ignore SW3011: clients of old send it\n  @Arg');

describe('warnings', { timeout: 240_000 }, () => {
  test('are printed, silenced by a comment, turned off and made errors', async () => {
    const found = await codegen({ 'src/tool.ts': tool, 'src/find.ts': unused });
    expect([codes(found), found.written]).toEqual([['SW3011'], ['generated/registry.ts']]);

    await project.write({ 'src/find.ts': silenced });
    expect(codes(await again())).toEqual([]);
    await project.write({
      'src/find.ts': silenced
        .replace('this.page', 'this.page')
        .replace("{ name: 'Inbox' }", '{ name: this.page }'),
    });
    expect(codes(await again())).toEqual(['SW9013']);

    const registries = [{ include: ['src/*.ts'], out: 'generated/other.ts' }];
    const configured = async (level: string) => {
      const severity = { SW3011: level };
      await project.write({
        'src/find.ts': unused,
        'stepwright.config.json': JSON.stringify({ registries, severity }),
      });
      const { diagnostics, written } = await again();
      return [diagnostics.map(({ severity: own }) => own), written];
    };
    expect(await configured('error')).toEqual([['error'], []]);
    expect(await configured('off')).toEqual([[], ['generated/other.ts']]);
  });

  test('and errors are printed for programs', async () => {
    project = await createProject({ 'src/tool.ts': tool, 'src/find.ts': unused });
    const json = await command(['check', '--format', 'json'], project.root);
    expect(json).toMatchObject({ code: 1, stderr: '' });
    expect(
      json.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({ code: 'SW9001', severity: 'error' }),
      expect.objectContaining({ code: 'SW3011', file: 'src/find.ts', line: 5 }),
    ]);
    const github = await command(['codegen', '--format=github'], project.root);
    expect(github.code).toBe(0);
    expect(github.stdout).toMatch(
      /^::warning file=src\/find\.ts,line=5,.*title=SW3011::.*\nwrote generated\/registry\.ts\n$/,
    );
  });
});
