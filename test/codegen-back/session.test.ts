import { readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type CodegenResult, CodegenSession, runCodegen } from '../../src/codegen/index.js';
import { readSourceRecords, textHash } from '../../src/formats/source-record.js';
import { isNightly, nightlyTest } from '../nightly.js';
import { createProject, type Project } from './project.fixture.js';

let projects: Project[] = [];
afterEach(async () => {
  for (const project of projects) await project.remove();
  projects = [];
});

async function open(files: Readonly<Record<string, string>>): Promise<Project> {
  const project = await createProject(files);
  projects.push(project);
  return project;
}

const tool = (name: string, input: string, output: string, more = ''): string => `
  import { Tool } from 'stepwright';
  import type { Shared } from '../types.js';
  @Tool({ name: '${name}', description: 'Does it'${more} })
  export class First { execute(input: ${input}): ${output} { throw new Error(String(input)); } }
`;

const called = (output: string, head = ''): string => `
  import { Arg, call, done, Step, Workflow } from 'stepwright';
  import { LIMIT } from '../limits.js';
  import { First } from '../tools/first.js';
  ${head}
  @Workflow({ name: 'called', description: 'Calls' })
  export class Called {
    @Arg({ description: 'Who' }) who!: Arg<string>;
    @Step({ guidance: 'Not more than \`twice\`' }) first = call(First, { name: this.who, count: LIMIT });
    output = done(${output});
  }
`;

const caller = (args: string): string => `
  import { Arg, done, run, Step, Workflow } from 'stepwright';
  import { Called } from './called.js';
  @Workflow({ name: 'caller', description: 'Runs' })
  export class Caller {
    @Arg({ description: 'Who' }) who!: Arg<string>;
    @Step() inner = run(Called, ${args});
    output = done({ text: this.inner.text });
  }
`;

const functions = (body: string): string => `export function pick(text: string): string { ${body} }`;

const picking = (from: string): string => `
  import { Arg, done, Step, Workflow } from 'stepwright';
  import { pick } from '../${from}.js';
  @Workflow({ name: 'picking-${from}', description: 'Computes' })
  export class Picking {
    @Arg({ description: 'Who' }) who!: Arg<string>;
    @Step() picked = pick(this.who);
    output = done({ text: this.picked });
  }
`;

/** The texts that each file of the project may have; a missing one means that there is no such file. */
const TEXTS: Readonly<Record<string, readonly (string | undefined)[]>> = {
  'src/types.ts': [
    'export interface Shared { name: string; count: number }',
    'export interface Shared { name: string; count?: number; more?: Ambient }',
    "export type { Shared } from './further.js';",
    undefined,
  ],
  'src/further.ts': ['export interface Shared { name: string; count: string }', 'export const nothing = 1;'],
  'src/ambient.d.ts': ['interface Ambient { a: string }', 'interface Ambient { b: number }', undefined],
  'src/limits.ts': [
    'export const LIMIT = 1;',
    'export const LIMIT = 2;',
    "export const LIMIT: string = 'x';",
    'export const LIMIT = 1e999;',
    'export const LIMIT = -0;',
  ],
  'src/tools/first.ts': [
    tool('first', 'Shared', '{ text: string; list: string[] }'),
    // What no workflow reads of a tool: its description, and the body of its method.
    tool('first', 'Shared', '{ text: string; list: string[] }').replace(
      "'Does it'",
      "'Does it, and says so'",
    ),
    tool('first', 'Shared', '{ text: string; list: string[] }').replace(
      'throw',
      "\n\n  const other = 'x';\n  throw",
    ),
    `\n${tool('first', 'Shared', '{ text: string; list: string[] }')}`,
    tool('first', 'Shared', '{ text: string; list?: string }', ', annotations: { readOnlyHint: true }'),
    tool('twice', 'Shared', '{ text: string; list: number }', ", visibility: 'workflow'"),
    tool('second', '{ name: string; count: number }', '{ text: string; list: string[] }'),
    tool('first', 'Shared', '{ text: '),
    `import { z } from 'zod';${tool('first', 'Shared', '{ text: string }', ', input: z.looseObject({ name: z.string() })')}`,
  ],
  'src/tools/another.ts': [
    tool('other', 'Shared', '{ text: string }'),
    tool('second', 'Shared', '{ text: string }'),
    tool('twice', 'Shared', '{ text: string }', ", visibility: 'workflow'"),
  ],
  'src/flows/called.ts': [
    called('{ text: this.first.text }'),
    called("{ text: this.first.list ? 'some' : 'none' }"),
    called('{ text: this.first.lists }'),
    called('{ text: short(this.first.text) }', "import { pick as short } from '../one.js';"),
    `\n\n${called('{ text: this.first.text, more: LIMIT }')}`,
  ],
  'src/flows/caller.ts': [caller('{ who: this.who }'), caller('{ whom: this.who }'), undefined],
  'src/flows/one.ts': [picking('one')],
  'src/flows/two.ts': [
    undefined,
    picking('two'),
    picking('two').replace("from '../two.js'", "from '../one.js'"),
  ],
  'src/one.ts': [functions('return text;'), functions('return text.trim();')],
  'src/two.ts': [functions('return text;'), 'export const pick = (text: string) => text.length;'],
  'src/main.ts': [
    "import { registry } from '../generated/registry.js';\nexport const names = Object.keys(registry);",
    "export type { Registry } from '../generated/registry.js';",
    undefined,
  ],
  'generated/registry.ts': [undefined],
  'stepwright.config.json': [
    undefined,
    '{ "severity": { "SW1050": "off" } }',
    '{ "include": ["src/flows"] }',
  ],
};

const FILES = Object.keys(TEXTS);

const anyEdit = fc.constantFrom(...FILES).chain((file) => {
  const texts = TEXTS[file] ?? [];
  return fc.record({ file: fc.constant(file), text: fc.constantFrom(...texts) });
});

async function apply(
  project: Project,
  { file, text }: { file: string; text: string | undefined },
): Promise<void> {
  if (text === undefined) await rm(path.join(project.root, file), { force: true });
  else await project.write({ [file]: text });
}

/** What a run says, but for whether it has written. */
function outcomeOf({ diagnostics, found, workflows }: CodegenResult) {
  return { diagnostics: diagnostics.filter(({ code }) => code !== 'SW9001'), found, workflows };
}

/** Empty where it was deleted. */
const registryOf = ({ root }: Project): Promise<string> =>
  readFile(path.join(root, 'generated/registry.ts'), 'utf8').catch(() => '');

describe('a session', { timeout: 240_000 }, () => {
  nightlyTest(
    'comes to what a run without it comes to, whatever was edited, and so do runs of several processes',
    async () => {
      const sequences = fc.array(anyEdit, { minLength: 12, maxLength: 12 });
      const first = Object.entries(TEXTS).flatMap(([file, [text]]) =>
        text === undefined ? [] : [[file, text]],
      );
      await fc.assert(
        fc.asyncProperty(sequences, async (edits) => {
          const project = await open(Object.fromEntries(first));
          // In it, each run has a session of its own: what it knows of earlier ones comes from the cache.
          const other = await open(Object.fromEntries(first));
          const { root } = project;
          const session = new CodegenSession();
          expect((await runCodegen({ root, session })).written).toHaveLength(1);
          expect((await runCodegen({ root: other.root })).written).toHaveLength(1);
          for (const edit of edits) {
            await apply(project, edit);
            await apply(other, edit);
            const kept = await runCodegen({ root, session });
            const recalled = await runCodegen({ root: other.root });
            const fresh = await runCodegen({ root, cache: false, check: true });
            expect(outcomeOf(kept)).toEqual(outcomeOf(fresh));
            expect(outcomeOf(recalled)).toEqual(outcomeOf(fresh));
            expect(await registryOf(other)).toBe(await registryOf(project));
            if ([...kept.written, ...kept.current].length > 0) expect(fresh.current).toHaveLength(1);
          }
        }),
        { numRuns: isNightly ? 4 : 1 },
      );
    },
  );

  nightlyTest.each(['several processes', 'one session'])(
    'checks workflows again where a schema from outside of the project has changed, in %s',
    async (runs) => {
      const project = await open({
        'src/types.ts': 'export interface Shared { name: string; count: number }',
        'src/limits.ts': 'export const LIMIT = 1;',
        'src/flows/called.ts': called('{ text: this.first.text }'),
        'src/tools/first.ts': `import { shape } from 'linked';${tool('first', 'Shared', '{ text: string }', ', input: shape')}`,
      });
      const { root } = project;
      const linked = await open({
        'package.json': '{ "name": "linked", "type": "module", "exports": "./index.js" }',
        'index.d.ts': 'export declare const shape: import("zod").ZodType<{ name: string; count: number }>;',
      });
      const write = (more: string) =>
        linked.write({
          'index.js': `import { z } from 'zod';\nexport const shape = z.object({ name: z.string(), count: z.number()${more} });`,
        });
      await write('');
      await symlink(linked.root, path.join(root, 'node_modules/linked'), 'dir');
      const shared = new CodegenSession();
      const session = () => (runs === 'one session' ? shared : new CodegenSession());
      expect((await runCodegen({ root, session: session() })).diagnostics).toEqual([]);
      await write(', more: z.string()');
      const { diagnostics } = await runCodegen({ root, session: session() });
      expect(diagnostics.map(({ code }) => code)).toEqual(['SW4003']);
      await write('');
      expect((await runCodegen({ root, session: session() })).diagnostics).toEqual([]);
    },
  );

  nightlyTest.each(['several processes', 'one session'])(
    'writes a deleted registry again that a source imports, in %s',
    async (runs) => {
      const tool = (description: string) => `
        import { Tool } from 'stepwright';
        @Tool({ name: 'greet', description: '${description}' })
        export class Greet { execute(input: { name: string }): { text: string } { return { text: input.name }; } }
      `;
      const project = await open({
        'src/main.ts': "export { registry } from '../generated/registry.js';",
        'src/tool.ts': tool('Greets'),
      });
      const { root } = project;
      const shared = new CodegenSession();
      const codegen = async (check = false) => {
        const session = runs === 'one session' ? shared : new CodegenSession();
        const { diagnostics, written, current } = await runCodegen({ root, session, check });
        return { faults: diagnostics.map(({ code }) => code), written, current };
      };
      const out = 'generated/registry.ts';
      const written = { faults: [], written: [out], current: [] };
      expect(await codegen()).toEqual(written);
      for (const description of ['Welcomes', 'Salutes']) {
        await project.write({ 'src/tool.ts': tool(description) });
        expect(await codegen()).toEqual(written);
        await rm(path.join(root, 'generated'), { recursive: true });
        expect(await codegen(true)).toEqual({ faults: ['SW9001'], written: [], current: [] });
        expect(await codegen()).toEqual(written);
        expect(await codegen()).toEqual({ faults: [], written: [], current: [out] });
      }
    },
  );

  test('names the field that another one was renamed to', async () => {
    const workflow = `
      import { Arg, call, done, Step, Workflow } from 'stepwright';
      import { Greet } from './tool.js';
      @Workflow({ name: 'hello', description: 'Greets' })
      export class Hello {
        @Arg({ description: 'Who' }) task!: Arg<string>;
        @Step() found = call(Greet, { name: this.task });
        @Step({ guidance: 'About {task}', after: ['found'] }) last = call(Greet, { name: this.found.text });
        output = done({ text: this.last.text });
      }
    `;
    const project = await open({
      'src/workflow.ts': workflow,
      'src/tool.ts': `
        import { Tool } from 'stepwright';
        @Tool({ name: 'greet', description: 'Greets' })
        export class Greet { execute(input: { name: string }): { text: string } { return { text: input.name }; } }
      `,
    });
    const hints = async () =>
      (await runCodegen({ root: project.root })).diagnostics.map(({ code, hint }) => `${code} ${hint}`);
    expect(await hints()).toEqual([]);
    // As an editor renames fields: texts stay as they are.
    const renamed = workflow
      .replace('task!', 'subject!')
      .replace('found =', 'match =')
      .replaceAll('this.task', 'this.subject')
      .replaceAll('this.found', 'this.match');
    await project.write({ 'src/workflow.ts': renamed });
    const expected = ['SW3006 did you mean `subject`?', 'SW3005 did you mean `match`?'];
    expect(await hints()).toEqual(expected);
    expect(await hints()).toEqual(expected);
    const { diagnostics } = await runCodegen({ root: project.root, cache: false });
    expect(diagnostics.map(({ hint }) => hint)).toEqual([
      'name one of `subject`, `match`, or write the braces twice for literal text',
      'name one of `match`, `output`',
    ]);
  });

  test('names the class that another one was renamed to, and shows the text that it has checked', async () => {
    const greet = (className: string, name = 'greet') => `
      import { Tool } from 'stepwright';
      @Tool({ name: '${name}', description: 'Greets' })
      export class ${className} { execute(input: { name: string }): { text: string } { return { text: input.name }; } }
    `;
    const other = greet('Say', 'say');
    const workflow = `
      import { Arg, call, done, Step, Workflow } from 'stepwright';
      import { Greet } from './tool.js';
      @Workflow({ name: 'hello', description: 'Greets' })
      export class Hello {
        @Arg({ description: 'Who' }) who!: Arg<string>;
        @Step() said = call(Greet, { name: this.who });
        output = done({ text: this.said.text });
      }
    `;
    const project = await open({
      'src/workflow.ts': workflow,
      'src/tool.ts': greet('Greet'),
      'src/other.ts': other,
    });
    const run = () => runCodegen({ root: project.root });
    const hints = async () => (await run()).diagnostics.map(({ code, hint }) => `${code} ${hint}`);
    expect(await hints()).toEqual([]);
    await project.write({ 'src/tool.ts': greet('Welcome') });
    expect(await hints()).toEqual(['SW3007 was it renamed to `Welcome`?']);
    // Moved as well, beside a new one of its kind.
    await project.write({
      'src/tool.ts': greet('Added', 'added'),
      'src/other.ts': other + greet('Moved').replace(/import .*\n/g, ''),
    });
    expect(await hints()).toEqual(['SW3007 was it renamed to `Moved`?']);
    // Clients know it by another name too.
    await project.write({ 'src/tool.ts': greet('Welcome', 'welcome'), 'src/other.ts': other });
    const { readSource } = await run();
    expect(await hints()).toEqual(['SW3007 was it renamed to `Welcome`?']);
    await project.write({ 'src/workflow.ts': '// another text' });
    expect(readSource('src/workflow.ts')).toBe(workflow);
    await project.write({ 'src/tool.ts': greet('Greet'), 'src/workflow.ts': workflow });
    expect(await hints()).toEqual([]);
  });

  nightlyTest('frames the text that was checked of a file that has changed meanwhile', async () => {
    const checked = `
      import { done, Workflow } from 'stepwright';
      import './tool.js';
      @Workflow({ name: 'hello', description: 'Greets' })
      export class Hello { output = done({ text: this.missing }); }
    `;
    const project = await open({
      'src/workflow.ts': checked,
      'src/tool.ts': `
        import { appendFileSync } from 'node:fs';
        import { Tool } from 'stepwright';
        appendFileSync(new URL('workflow.ts', import.meta.url), '// changed');
        const description = ['Greets'].join();
        @Tool({ name: 'greet', description: String(description) })
        export class Greet { execute(): void {} }
      `,
    });
    const { diagnostics, readSource } = await runCodegen({ root: project.root });
    expect(diagnostics.map(({ place }) => place?.file)).toContain('src/workflow.ts');
    expect(await project.read('src/workflow.ts')).toContain('// changed');
    expect(readSource('src/workflow.ts')).toBe(checked);
  });

  test('notes for servers what it has written, also where a later run finds an error', async () => {
    const tool = (description: string) => `
      import { Tool } from 'stepwright';
      @Tool({ name: 'greet', description: '${description}' })
      export class Greet { execute(input: { name: string }): { text: string } { return { text: input.name }; } }
    `;
    const project = await open({ 'src/tool.ts': tool('Greets') });
    const options = { root: project.root, session: new CodegenSession() };
    await runCodegen(options);
    await project.write({ 'src/tool.ts': tool('Welcomes') });
    await runCodegen(options);
    const written = textHash(path.join(project.root, 'src/tool.ts'));
    await project.write({ 'src/tool.ts': `${tool('Salutes')} (` });
    expect((await runCodegen(options)).diagnostics).not.toEqual([]);
    const [record] = readSourceRecords(project.root);
    const [checksum] = record?.registries['generated/registry.ts'] ?? [];
    expect(await registryOf(project)).toContain(`checksum: '${checksum}'`);
    expect(record?.sources).toMatchObject({ 'src/tool.ts': written });
  });
});
