import { existsSync, readdirSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodegenResult, Diagnostic } from 'stepwright/codegen';
import { onTestFinished } from 'vitest';
import { formatDiagnostics } from '../../src/graph/diagnostics/format.js';
import { runCodegen } from '../built-package.js';
import { sharedClasses } from './diagnostic-examples.js';
import { type Fence, fencesOf, page, ROOT } from './fences.js';
import { type TempProject, tempProject } from './temp-project.js';

const pagesIn = (folder: string): string[] =>
  readdirSync(ROOT + folder)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => folder + file);

/** The pages of the reference; the first one is the index. */
export const REFERENCE: readonly string[] = pagesIn('docs/reference/');

/** Every page except those of the diagnostics, whose examples have a separate test. */
export const PAGES: readonly string[] = [...pagesIn(''), ...pagesIn('docs/'), ...REFERENCE];

/** The code of a page, and its excerpts of files in the repository. */
export function excerptsOf(file: string): Fence[] {
  return fencesOf(page(file)).filter(isExcerpt);
}

/** The code of a page that is not an excerpt of a file in the repository. */
export function samplesOf(file: string): Fence[] {
  return fencesOf(page(file)).filter((fence) => fence.language === 'ts' && !isExcerpt(fence));
}

/** A fence of code or text that names a file of the repository. */
function isExcerpt({ language, file }: Fence): boolean {
  return ['ts', 'text'].includes(language) && file !== undefined && existsSync(ROOT + file);
}

/** The only fence of a page with this name. */
export function fenceNamed(file: string, name: string): Fence {
  const [fence, ...others] = fencesOf(page(file)).filter((each) => each.file === name);
  if (fence === undefined || others.length > 0) throw new Error(`${file} has not one fence \`${name}\``);
  return fence;
}

/** Makes an empty project, which is removed after its test. */
export async function project(): Promise<TempProject> {
  const made = await tempProject();
  onTestFinished(() => made.remove());
  return made;
}

/** A project with all samples of a page, and a registry of them. */
export interface PageProject extends TempProject {
  /** The samples, relative to the root. */
  readonly files: readonly string[];
  /** The result of codegen. */
  readonly result: CodegenResult;
  /** Imports one of its modules. */
  load(file: string): Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Makes a project of the samples of pages, with the shared classes unless a page has its own. The caller removes it.
 */
export async function pageProject(...pages: string[]): Promise<PageProject> {
  const made = await tempProject();
  const samples = pages.flatMap(samplesOf);
  const files = samples.map((fence, index) => fence.file ?? `src/fence-${index}.ts`);
  const registry = { include: ['src/**/*.ts'], out: 'generated/registry.ts' };
  await made.write('stepwright.config.json', JSON.stringify({ registries: [registry] }));
  if (!files.includes('src/tools.ts')) await made.write('src/tools.ts', sharedClasses());
  for (const [index, { body }] of samples.entries()) await made.write(files[index] ?? '', body);
  const result = await runCodegen({ root: made.root });
  return { ...made, files, result, load: (module) => import(join(made.root, module)) };
}

/** Runs codegen on an example with one file changed, and returns the diagnostics and their printed form. */
export async function examplesWith(
  file: string,
  text: string,
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly said: string }> {
  const { root, write, remove } = await tempProject();
  try {
    await cp(join(ROOT, 'examples'), join(root, 'examples'), { recursive: true });
    await write(file, text);
    const config = JSON.parse(page('stepwright.config.json')) as { registries: { include: string[] }[] };
    const registries = config.registries.filter(({ include }) =>
      include.some((glob) => file.startsWith(glob.replace('**/*.ts', ''))),
    );
    await write('stepwright.config.json', JSON.stringify({ ...config, registries }));
    const { diagnostics, readSource } = await runCodegen({ root });
    return { diagnostics, said: formatDiagnostics(diagnostics, readSource) };
  } finally {
    await remove();
  }
}
