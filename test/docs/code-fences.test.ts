import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { runCodegen } from 'stepwright/codegen';
import { expect, onTestFinished, test } from 'vitest';
import { formatDiagnostics } from '../../src/graph/diagnostics/format.js';
import { applyRepair, sharedClasses } from './diagnostic-examples.js';
import { type Fence, fencesOf, page, ROOT } from './fences.js';
import { type TempProject, tempProject, typeErrors } from './temp-project.js';

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'docs/tutorial.md',
  'docs/how-it-works.md',
  'docs/reference.md',
  'docs/how-it-checks.md',
  'docs/recipes.md',
  'docs/migration.md',
  'docs/design-patterns.md',
];

/** Code of a page that stands in the repository as well: a fence that names an existing file. */
const excerpts = PAGES.map((file) => ({ file, fences: code(file).filter(isExcerpt) })).filter(isFilled);
/** Code of a page that stands for itself. */
const samples = PAGES.map((file) => ({
  file,
  fences: code(file).filter((fence) => !isExcerpt(fence)),
})).filter(isFilled);

function code(file: string): Fence[] {
  return fencesOf(page(file)).filter((fence) => fence.language === 'ts');
}

function isExcerpt({ file }: Fence): boolean {
  return file !== undefined && existsSync(ROOT + file);
}

function isFilled({ fences }: { fences: readonly Fence[] }): boolean {
  return fences.length > 0;
}

async function project(): Promise<TempProject> {
  const made = await tempProject();
  onTestFinished(() => made.remove());
  return made;
}

test.each(excerpts)('$file shows its excerpts as they are in the repository', ({ fences }) => {
  for (const { file = '', body } of fences) expect(page(file)).toContain(body);
});

test.each(samples)(
  '$file shows code that compiles, and workflows that codegen accepts',
  async ({ fences }) => {
    const { root, write } = await project();
    const files = fences.map((fence, index) => fence.file ?? `src/fence-${index}.ts`);
    const registry = { include: ['src/*.ts'], out: 'generated/registry.ts' };
    await write('stepwright.config.json', JSON.stringify({ registries: [registry] }));
    if (!files.includes('src/tools.ts')) await write('src/tools.ts', sharedClasses());
    for (const [index, fence] of fences.entries()) await write(files[index] ?? '', fence.body);
    const { diagnostics, found } = await runCodegen({ root });
    expect(diagnostics).toEqual([]);
    expect(found.workflows).toBeGreaterThan(0);
    expect(typeErrors(root, [...files, 'generated/registry.ts'])).toEqual([]);
  },
);

test('there are pages of both kinds', () => {
  expect(excerpts.map(({ file }) => file)).toContain('README.md');
  expect(samples.map(({ file }) => file)).toEqual([
    'docs/tutorial.md',
    'docs/reference.md',
    'docs/how-it-checks.md',
    'docs/recipes.md',
    'docs/migration.md',
    'docs/design-patterns.md',
  ]);
});

test('the README shows what codegen says of a broken reference', async () => {
  const file = 'examples/logseq/add-task.workflow.ts';
  const broken = page(file).replace('this.verify.path', 'this.verify.paht');
  expect(await said(file, broken)).toBe(one('README.md', 'broken').body);
});

test('how it checks shows what codegen says of three faults', async () => {
  const file = 'examples/logseq/weekly-review.workflow.ts';
  const broken = applyRepair(page(file), one('docs/how-it-checks.md', file).body);
  expect(await said(file, broken)).toBe(one('docs/how-it-checks.md', 'said').body);
});

test('the workflow that the reference builds can be built, and needs what it says', async () => {
  const { root, write } = await project();
  await write('src/tools.ts', sharedClasses());
  const fence = fencesOf(page('docs/reference.md')).find(({ body }) => body.includes("'stepwright/builder'"));
  await write('src/builder.ts', fence?.body ?? '');
  const { needed } = (await import(join(root, 'src/builder.ts'))) as { needed: readonly string[] };
  expect(needed).toEqual(['find-page', 'add-line', 'resource://notes/guide']);
});

/** What codegen prints about the examples with one file changed. */
async function said(file: string, text: string): Promise<string> {
  const { root, write } = await project();
  await cp(join(ROOT, 'examples'), join(root, 'examples'), { recursive: true });
  await write(file, text);
  await write('stepwright.config.json', page('stepwright.config.json'));
  const { diagnostics, readSource } = await runCodegen({ root });
  return formatDiagnostics(diagnostics, readSource);
}

/** The one fence of a page under this name. */
function one(file: string, name: string): Fence {
  const [fence, ...others] = fencesOf(page(file)).filter((each) => each.file === name);
  if (fence === undefined || others.length > 0) throw new Error(`${file} has not one fence \`${name}\``);
  return fence;
}
