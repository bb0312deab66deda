import { afterEach, expect, test } from 'vitest';
import { runCodegen } from '../built-package.js';
import { createProject, type Project } from './project.fixture.js';

let project: Project;
afterEach(() => project.remove());

const source = (names: string): string => `
import { call, done, Step, Tool, Workflow } from 'stepwright';
${names}
@Tool({ name: NAMES.tool, description: \`Takes up to \${NAMES.limits.most}\` })
export class Take {
  execute({ count }: { count: number }): { left: number } { return { left: count }; }
}
@Workflow({ name: 'w', description: 'Takes some' })
export class W {
  @Step({ timeoutMs: NAMES.limits.most }) one = call(Take, { count: NAMES.limits.most });
  output = done({ left: this.one.left });
}
`;

const PACKAGE = {
  'node_modules/names/package.json': JSON.stringify({
    ...{ name: 'names', version: '1.0.0', type: 'module', types: './index.d.ts', main: './index.js' },
  }),
  'node_modules/names/index.d.ts': `
export declare const NAMES: { readonly tool: 'take'; readonly limits: { readonly most: 7; readonly least: number } };
`,
  'node_modules/names/index.js': "export const NAMES = { tool: 'take', limits: { most: 7, least: 1 } };",
};

const DOCUMENT = { 'src/names.json': JSON.stringify({ tool: 'take', limits: { most: 7 } }) };

async function codegen() {
  const { diagnostics } = await runCodegen({ root: project.root });
  const registry = await project.read('generated/registry.ts').catch(() => '');
  return { found: diagnostics.map(({ code, message }) => `${code} ${message}`), registry };
}

test.each<[string, Record<string, string>, string]>([
  ['a JSON document', DOCUMENT, "import NAMES from './names.json' with { type: 'json' };"],
  ['a package', PACKAGE, "import { NAMES } from 'names';"],
])('values of %s are constants in options and in steps', async (_, files, names) => {
  const flags = { resolveJsonModule: true, module: 'nodenext', target: 'es2022', strict: true };
  project = await createProject({
    'tsconfig.json': JSON.stringify({ compilerOptions: flags, include: ['src'] }),
    'src/w.ts': source(names),
    ...files,
  });
  const { found, registry } = await codegen();
  expect(found).toEqual([]);
  expect(registry).toContain('take: {');
  expect(registry).toContain("description: 'Takes up to 7'");
  expect(registry).toContain('"timeoutMs": 7');
  expect(registry).toContain('{ "key": "count", "value": { "kind": "literal", "value": 7 } }');
});

test('a change of a JSON document makes the registry stale', async () => {
  const flags = { resolveJsonModule: true, module: 'nodenext', target: 'es2022', strict: true };
  project = await createProject({
    'tsconfig.json': JSON.stringify({ compilerOptions: flags, include: ['src'] }),
    'src/w.ts': source("import NAMES from './names.json' with { type: 'json' };"),
    ...DOCUMENT,
  });
  await codegen();
  await project.write({ 'src/names.json': JSON.stringify({ tool: 'take', limits: { most: 8 } }) });
  expect((await codegen()).registry).toContain('"timeoutMs": 8');
});

test('a part of a package without a literal type is no constant', async () => {
  project = await createProject({
    'src/w.ts': source("import { NAMES } from 'names';").replace('NAMES.tool', 'String(NAMES.limits.least)'),
    ...PACKAGE,
  });
  expect((await codegen()).found).toEqual(['SW1003 option `name` of @Tool is not a literal']);
});
