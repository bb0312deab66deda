import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
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
import { buildSync } from 'esbuild';
import type { CodegenOptions, CodegenResult } from '../src/codegen/index.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PARENT = join(ROOT, 'test/.tmp');
const PREFIX = 'package-';
const INSTALLED = 'node_modules/stepwright';
const HOUR_MS = 3_600_000;
const LOOK_AGAIN_MS = 100;

/** What the build depends on, beside the sources. */
const BUILD_FILES = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/build.mjs',
  'test/built-package.ts',
];

/** Modules that tests import from the built package and users cannot. */
const INNER_MODULES = [
  'src/cli/dispatch.ts',
  'src/codegen/schemas/read-schemas.ts',
  'src/codegen/incremental/run-record.ts',
];

let folder: string | undefined;

/**
 * The absolute path of the package as it is published: `package.json`, `dist` and `templates`. Programs start from it in a fraction
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

/** What a command printed, with its exit code. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command in this process, which takes a fraction of the time of another one. It must import no module of the
 * project: those would be loaded once for all tests.
 *
 * @param installed - the folder of the package, {@link builtPackage} or a copy.
 */
export async function runCommand(
  installed: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const { dispatch } = (await import(
    pathToFileURL(join(installed, 'dist/cli/dispatch.js')).href
  )) as typeof import('../src/cli/dispatch.js');
  const folder = process.cwd();
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  const printed = { stdout: '', stderr: '' };
  process.chdir(cwd);
  Object.assign(process.env, env);
  try {
    const code = await dispatch(args, {
      out: (text) => {
        printed.stdout += text;
      },
      err: (text) => {
        printed.stderr += text;
      },
      color: false,
    });
    return { code, ...printed };
  } finally {
    process.chdir(folder);
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/**
 * A TypeScript program of this repository as one JavaScript file, whose `stepwright` is the built package. It starts in
 * a third of the time that a loader takes.
 *
 * @param file - from the repository's root.
 */
export function programWithPackage(file: string): string {
  // Another worker may start what this one would overwrite.
  const folder = join(builtPackage(), '../../programs', String(process.pid));
  const compiled = join(folder, file.replaceAll('/', '-').replace(/\.ts$/, '.mjs'));
  if (!programs.has(compiled)) {
    // Without a package of their own the name of this one would resolve to this checkout.
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "name": "programs", "type": "module" }');
    buildSync({
      entryPoints: [join(ROOT, file)],
      outfile: compiled,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'es2022',
      keepNames: true,
      sourcemap: 'inline',
      logLevel: 'error',
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    });
    programs.add(compiled);
  }
  return compiled;
}

const programs = new Set<string>();

function findOrBuild(): string {
  const target = join(PARENT, PREFIX + sourceHash());
  while (!existsSync(target)) {
    const lock = `${target}.pid`;
    if (!isMine(lock)) {
      pause(LOOK_AGAIN_MS);
      continue;
    }
    try {
      build(target);
    } finally {
      rmSync(lock, { force: true });
    }
  }
  return join(target, INSTALLED);
}

/** True for the one worker that builds. A lock that a killed run left behind is removed. */
function isMine(lock: string): boolean {
  mkdirSync(PARENT, { recursive: true });
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (isOrphan(lock)) rmSync(lock, { force: true });
    return false;
  }
}

/** True for a file that names a process that has ended. */
function isOrphan(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    return pid > 0 && !process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function sourceHash(): string {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(file))
    .map((file) => join('src', file));
  const templates = readdirSync(join(ROOT, 'templates'), { recursive: true, encoding: 'utf8' })
    .map((file) => join('templates', file))
    .filter((file) => statSync(join(ROOT, file)).isFile());
  const hash = createHash('sha256');
  for (const file of [...files, ...templates, ...BUILD_FILES].sort()) {
    hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Builds beside the target and renames: a build that is interrupted leaves no target. */
function build(target: string): void {
  removeOld();
  const work = `${target}.${process.pid}`;
  const installed = join(work, INSTALLED);
  const program = join(ROOT, 'scripts/build.mjs');
  const args = [program, join(installed, 'dist'), ...INNER_MODULES];
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string | Record<string, string>>;
  };
  for (const entry of Object.values(manifest.exports)) {
    if (typeof entry === 'object') delete entry['@stepwright/source'];
  }
  // The build imports what it has built, which looks for its manifest.
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest));
  const built = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the package does not build:\n${built.stdout}${built.stderr}`);
  cpSync(join(ROOT, 'templates'), join(installed, 'templates'), { recursive: true });
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
