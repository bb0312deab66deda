import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { builtPackage } from '../built-package.js';

/** A project elsewhere, in which the built package is installed. */
export interface CliProject {
  /** Absolute. */
  readonly root: string;
  /** The program of the command line. */
  readonly main: string;
  write(file: string, text: string): void;
  /** Runs a command in a process of its own. */
  stepwright(...args: readonly string[]): {
    readonly code: number | null;
    readonly out: string;
    readonly err: string;
  };
  remove(): void;
}

/** Makes a project whose `tsconfig.json` has these compiler options beside the usual ones. */
export function cliProject(compilerOptions: object = {}): CliProject {
  const root = mkdtempSync(path.join(tmpdir(), 'stepwright-cli-'));
  const main = path.join(builtPackage(), 'dist/cli/main.js');
  const project: CliProject = {
    root,
    main,
    write(file, text) {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), text);
    },
    stepwright(...args) {
      const options = { cwd: root, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], options);
      return { code: status, out: stdout, err: stderr };
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  mkdirSync(path.join(root, 'node_modules'));
  symlinkSync(builtPackage(), path.join(root, 'node_modules/stepwright'), 'junction');
  const usual = { module: 'NodeNext', target: 'ES2022', lib: ['ES2023'], strict: true };
  project.write('package.json', '{ "type": "module" }\n');
  project.write('tsconfig.json', JSON.stringify({ compilerOptions: { ...usual, ...compilerOptions } }));
  return project;
}
