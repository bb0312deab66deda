import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { runCodegen } from '../built-package.js';
import { createProject, type Project } from './project.fixture.js';

let project: Project;
afterEach(() => project.remove());

const HEAD =
  "import { Arg, call, done, Step, Tool, Workflow } from 'stepwright';\nimport { z } from 'zod';\n";

const PAGES = `
@Tool({ name: 'pages', description: 'Finds pages' })
export class Pages {
  execute({ word }: { word: string }): { found: boolean; names: string[]; first?: { name: string }; form: { id: string; code?: undefined } | { code: string; id?: undefined } } {
    return { found: word !== '', names: [word], form: { id: word } };
  }
}
`;

const flow = (steps: string, head = ''): string => `${HEAD}${PAGES}${head}
@Workflow({ name: 'flow', description: 'Finds' })
export class Flow {
  @Arg({ description: 'A word' }) word!: Arg<string>;
  @Step() pages = call(Pages, { word: this.word });
  ${steps}
}
`;

/** What codegen reports, by code and line. */
async function reported(text: string): Promise<readonly string[]> {
  project = await createProject({ 'src/flow.ts': text });
  const { diagnostics } = await runCodegen({ root: project.root, cache: false });
  return diagnostics.map(({ code, message }) => `${code} ${message}`);
}

describe('what the compiler knows of expressions', { timeout: 120_000 }, () => {
  test.each([
    ['a list', 'this.pages.names'],
    ['an object that may be missing', 'this.pages.first'],
    ['a list in a question', 'this.pages.found || this.pages.names'],
  ])('is asked where a condition may be %s', async (_, condition) => {
    expect(await reported(flow(`output = done({ is: ${condition} ? 'yes' : 'no' });`))).toEqual([
      expect.stringMatching(/^SW2005 /),
    ]);
  });

  test('is asked where no schema says what a condition is', async () => {
    const head = 'export const listOf = (word: string): string[] => [word];\n';
    const steps = "@Step() list = listOf(this.word);\n  output = done({ is: this.list ? 'yes' : 'no' });";
    expect(await reported(flow(steps, head))).toEqual([expect.stringMatching(/^SW2005 /)]);
  });

  test('allows reads of what a form says is not there', async () => {
    const steps = 'output = done({ id: this.pages.form.id });';
    expect(await reported(flow(steps))).toEqual([]);
    expect(await project.read('generated/registry.ts')).toContain('coalesce');
  });

  test('is asked for the type of an input whose schema has defaults', async () => {
    const tool = `${HEAD}
const input = z.object({ size: z.number().default(5) });
@Tool({ name: 'sized', description: 'Has a size', input })
export class Sized { execute({ size }: z.infer<typeof input>): { size: number } { return { size }; } }
`;
    expect(await reported(tool)).toEqual([expect.stringMatching(/^SW6020 /)]);
    await project.remove();
    expect(await reported(tool.replace('.default(5)', ''))).toEqual([]);
  });
});

describe('the declarations of packages', { timeout: 120_000 }, () => {
  /** Whether a run has read them, as only the compiler does. */
  async function areRead(steps: string): Promise<boolean> {
    project = await createProject({ 'src/flow.ts': flow(steps) });
    await mkdir(path.join(project.root, 'node_modules/.cache'));
    const { diagnostics } = await runCodegen({ root: project.root });
    expect(diagnostics).toEqual([]);
    const folder = path.join(project.root, 'node_modules/.cache/stepwright');
    const entries = await Promise.all(
      (await readdir(folder)).map((file) => readFile(path.join(folder, file), 'utf8')),
    );
    expect(entries.join()).toContain('src/flow.ts');
    return entries.join().includes('dist/decorators/arg.d.ts');
  }

  test('are not read where texts and schemas say all', async () => {
    expect(await areRead('output = done({ is: this.pages.found ? this.pages.names.length : 0 });')).toBe(
      false,
    );
  });

  test('are read where the compiler is asked', async () => {
    expect(await areRead('output = done({ id: this.pages.form.id });')).toBe(true);
  });
});
