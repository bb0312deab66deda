import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CodegenOptions, CodegenResult } from '../src/codegen/index.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PARENT = join(ROOT, 'test/.tmp');
const PREFIX = 'package-';
const INSTALLED = 'node_modules/stepwright';
const HOUR_MS = 3_600_000;

/** What the build depends on, beside the sources. */
const BUILD_FILES = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];

/** Modules that tests import from the built package and users cannot. */
const INNER_MODULES = ['src/codegen/schemas/read-schemas.ts'];

let folder: string | undefined;

/**
 * The absolute path of the package as it is published: `package.json` and `dist`. Programs start from it in a fraction
 * of the time that a TypeScript loader takes. It is built once for each state of the sources, by the first test that
 * needs it.
 *
 * Its folder is an installed one: codegen reads every file of a package that is linked from elsewhere, in each run.
 */
export function builtPackage(): string {
  folder ??= findOrBuild();
  return folder;
}

/** Imports an entry of the built package or one of {@link INNER_MODULES}, named by its path under `dist`. */
export async function importBuilt<Module>(file: string): Promise<Module> {
  return (await import(pathToFileURL(join(builtPackage(), 'dist', file)).href)) as Module;
}

/** Runs codegen of the built package in this process. */
export async function runCodegen(options: CodegenOptions): Promise<CodegenResult> {
  const codegen = await importBuilt<typeof import('../src/codegen/index.js')>('codegen/index.js');
  return codegen.runCodegen(options);
}

/** Arguments of a Node that runs TypeScript programs of this repository with the built package as their `stepwright`. */
export function nodeWithPackage(): readonly string[] {
  const packageUrl = pathToFileURL(join(builtPackage(), 'package.json')).href;
  const loader = new URL('dist/codegen/schemas/loader/hooks.js', packageUrl).href;
  const resolve = `export const resolve = (name, context, next) =>
    next(name, /^stepwright(\\/|$)/.test(name) ? { ...context, parentURL: '${packageUrl}' } : context);`;
  const register = `import { register } from 'node:module';
    register('${loader}', { data: { experimentalDecorators: true } });
    register(${JSON.stringify(dataUrl(resolve))});`;
  return ['--import', dataUrl(register)];
}

const dataUrl = (program: string): string => `data:text/javascript,${encodeURIComponent(program)}`;

function findOrBuild(): string {
  const target = join(PARENT, PREFIX + sourceHash());
  if (!existsSync(target)) build(target);
  return join(target, INSTALLED);
}

function sourceHash(): string {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(file))
    .map((file) => join('src', file));
  const hash = createHash('sha256');
  for (const file of [...files, ...BUILD_FILES].sort()) {
    hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Builds beside the target and renames: workers that build at the same time do not meet. */
function build(target: string): void {
  mkdirSync(PARENT, { recursive: true });
  removeOld();
  const work = `${target}.${process.pid}`;
  const installed = join(work, INSTALLED);
  const program = join(ROOT, 'scripts/build.mjs');
  const args = [program, join(installed, 'dist'), ...INNER_MODULES];
  const built = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the package does not build:\n${built.stdout}${built.stderr}`);
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string | Record<string, string>>;
  };
  for (const entry of Object.values(manifest.exports)) {
    if (typeof entry === 'object') delete entry['@stepwright/source'];
  }
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest));
  try {
    renameSync(work, target);
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
}

/** Packages of earlier sources, unless a run that is still going on may use them. */
function removeOld(): void {
  for (const name of readdirSync(PARENT).filter((each) => each.startsWith(PREFIX))) {
    const path = join(PARENT, name);
    if (Date.now() - statSync(path).mtimeMs > HOUR_MS) rmSync(path, { recursive: true, force: true });
  }
}
