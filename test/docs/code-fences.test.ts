import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { runCodegen } from 'stepwright/codegen';
import { expect, onTestFinished, test } from 'vitest';
import { formatDiagnostics } from '../../src/graph/diagnostics/format.js';
import { sharedClasses } from './diagnostic-examples.js';
import { type Fence, fencesOf, page, ROOT } from './fences.js';
import { type TempProject, tempProject, typeErrors } from './temp-project.js';

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'docs/tutorial.md',
  'docs/how-it-works.md',
  'docs/reference.md',
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
  expect(samples.map(({ file }) => file)).toEqual(['docs/tutorial.md', 'docs/reference.md']);
});

test('the README shows what codegen says of a broken reference', async () => {
  const { root, write } = await project();
  await cp(join(ROOT, 'examples/logseq'), join(root, 'examples/logseq'), { recursive: true });
  const file = 'examples/logseq/add-task.workflow.ts';
  await write(file, page(file).replace('this.verify.path', 'this.verify.paht'));
  await write('stepwright.config.json', page('stepwright.config.json'));
  const { diagnostics, readSource } = await runCodegen({ root });
  const shown = fencesOf(page('README.md')).find((fence) => fence.file === 'broken')?.body;
  expect(formatDiagnostics(diagnostics, readSource)).toBe(shown);
});
