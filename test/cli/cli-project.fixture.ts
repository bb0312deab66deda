import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtPackage, runCommand } from '../built-package.js';

/** What a command printed, with its exit code. */
export interface Printed {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A project elsewhere, in which the built package is installed. */
export interface CliProject {
  /** Absolute. */
  readonly root: string;
  /** The program of the command line. */
  readonly main: string;
  write(file: string, text: string): void;
  /** Runs a command that imports no module of the project, in this process. */
  command(...args: readonly string[]): Promise<Printed>;
  /** Runs a command in a process of its own. */
  stepwright(...args: readonly string[]): Printed;
  remove(): void;
}

/** Makes a project whose `tsconfig.json` has these compiler options beside the usual ones. */
export function cliProject(compilerOptions: object = {}): CliProject {
  const project = emptyProject(builtPackage());
  const usual = { module: 'NodeNext', target: 'ES2022', lib: ['ES2023'], strict: true };
  project.write('package.json', '{ "type": "module" }\n');
  project.write('tsconfig.json', JSON.stringify({ compilerOptions: { ...usual, ...compilerOptions } }));
  return project;
}

/** Makes an empty project with a Stepwright without compilers: it has its own dependencies alone. */
export function bareProject(): CliProject {
  const installed = mkdtempSync(path.join(tmpdir(), 'stepwright-bare-'));
  const own = path.join(installed, 'node_modules/stepwright');
  cpSync(builtPackage(), own, { recursive: true });
  const manifest = JSON.parse(readFileSync(path.join(own, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const { dependencies } = manifest;
  // Commands that run in this process have its condition of the sources, which names packages that users have not got.
  const imports = { '#re2js': './dist/re2js.cjs' };
  writeFileSync(path.join(own, 'package.json'), JSON.stringify({ ...manifest, imports }));
  for (const name of Object.keys(dependencies)) {
    const link = path.join(installed, 'node_modules', name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url)), link, 'junction');
  }
  const project = emptyProject(own);
  const remove = (): void => {
    project.remove();
    rmSync(installed, { recursive: true, force: true });
  };
  return { ...project, remove };
}

/** Makes an empty folder in which a package is installed. */
function emptyProject(installed: string): CliProject {
  const root = mkdtempSync(path.join(tmpdir(), 'stepwright-cli-'));
  const main = path.join(installed, 'dist/cli/main.js');
  mkdirSync(path.join(root, 'node_modules'));
  symlinkSync(installed, path.join(root, 'node_modules/stepwright'), 'junction');
  return {
    root,
    main,
    write(file, text) {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), text);
    },
    async command(...args) {
      const { code, stdout, stderr } = await runCommand(installed, args, root);
      return { code, out: stdout, err: stderr };
    },
    stepwright(...args) {
      const options = { cwd: root, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], options);
      return { code: status, out: stdout, err: stderr };
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
