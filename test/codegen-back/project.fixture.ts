import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { builtPackage, type Ran, runCommand } from '../built-package.js';

export type { Ran };

const repository = path.resolve(import.meta.dirname, '../..');

/** A minimal project of an author, in which `stepwright` is an installed package. */
export interface Project {
  /** Absolute. */
  readonly root: string;
  write(files: Readonly<Record<string, string>>): Promise<void>;
  read(file: string): Promise<string>;
  remove(): Promise<void>;
}

const tsconfig = {
  compilerOptions: {
    target: 'ES2022',
    module: 'NodeNext',
    lib: ['ES2023'],
    // Those of Node are larger than all else together, and codegen does not read them.
    types: [],
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noUnusedLocals: true,
    verbatimModuleSyntax: true,
    experimentalDecorators: true,
    skipLibCheck: true,
  },
  include: ['src', 'generated'],
};

/**
 * Makes a project inside the repository, where `zod` resolves. Files replace the usual ones.
 *
 * @param prefix - of the name of its folder.
 */
export async function createProject(
  files: Readonly<Record<string, string>>,
  prefix = 'project-',
): Promise<Project> {
  const parent = path.join(repository, 'test/.tmp');
  await mkdir(parent, { recursive: true });
  const root = await mkdtemp(path.join(parent, prefix));
  const project: Project = {
    root,
    async write(more) {
      for (const [file, text] of Object.entries(more)) {
        await mkdir(path.dirname(path.join(root, file)), { recursive: true });
        await writeFile(path.join(root, file), text);
      }
    },
    read: (file) => readFile(path.join(root, file), 'utf8'),
    remove: () => rm(root, { recursive: true, force: true }),
  };
  await mkdir(path.join(root, 'node_modules'));
  await symlink(builtPackage(), path.join(root, 'node_modules/stepwright'), 'dir');
  await project.write({
    'package.json': JSON.stringify({ name: 'author', type: 'module' }),
    'tsconfig.json': JSON.stringify(tsconfig),
    ...files,
  });
  return project;
}

type Environment = Readonly<Record<string, string>>;

/** Runs this Node, or another program, with arguments. */
export function run(
  args: readonly string[],
  cwd: string,
  more: Environment = {},
  program = process.execPath,
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '', ...more };
    const child = spawn(program, args, { cwd, env });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      stderr += String(chunk);
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Runs a command of the built package that imports no module of the project, in this process. */
export function command(args: readonly string[], cwd: string, env?: Environment): Promise<Ran> {
  return runCommand(builtPackage(), args, cwd, env);
}

/** Runs the command line of the built package in a process of its own. */
export function stepwright(args: readonly string[], cwd: string, more?: Environment): Promise<Ran> {
  return run([path.join(builtPackage(), 'dist/cli/main.js'), ...args], cwd, more);
}

/** Type-checks the project, by the fastest compiler unless another one is named. */
export function tsc(project: Project, compiler = 'typescript-7'): Promise<Ran> {
  return run(
    [path.join(repository, 'node_modules', compiler, 'bin/tsc'), '-p', 'tsconfig.json', '--types', 'node'],
    project.root,
  );
}

const loader = new URL('../../scripts/register.mjs', import.meta.url).href;

/** Runs a module of the project. */
export function runModule(project: Project, file: string): Promise<Ran> {
  return run(['--import', loader, path.join(project.root, file)], project.root);
}
