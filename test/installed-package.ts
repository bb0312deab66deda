import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtPackage } from './built-package.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/**
 * Makes the folder that `npm install` of the packed package makes: the built package, its dependencies, the commands.
 */
export function install(root: string): void {
  const modules = join(root, 'node_modules');
  const product = join(modules, 'stepwright');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  cpSync(builtPackage(), product, { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) linkPackage(modules, name);
  linkPackage(modules, 'typescript');
  for (const [name, target] of [
    ['stepwright', 'stepwright/dist/cli/main.js'],
    ['tsc', 'typescript/bin/tsc'],
  ] as const) {
    chmodSync(join(modules, target), 0o755);
    symlinkSync(join(modules, target), join(modules, '.bin', name));
  }
}

/** Links a package of this repository into a folder of packages. */
export function linkPackage(modules: string, name: string): void {
  mkdirSync(dirname(join(modules, name)), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'junction');
}
