import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const own = fileURLToPath(import.meta.url);

/** Whether this package runs from its sources: its modules are TypeScript then. */
export const isFromSource = extname(own) === '.ts';

/** A file of this package as an absolute path, by its path in the folder of `package.json`. */
export function packageFile(path: string): string {
  return join(rootAbove(dirname(own)), path);
}

/** A module of this package that is started by path, without its extension: `cli/main`. */
export function programFile(name: string): string {
  return packageFile(isFromSource ? `src/${name}.ts` : `dist/${name}.js`);
}

/** Flags of Node for a {@link programFile}. */
export function programFlags(): string[] {
  const loader = ['--import', pathToFileURL(packageFile('scripts/register.mjs')).href];
  return isFromSource ? ['--conditions=@stepwright/source', ...loader] : [];
}

export function packageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/**
 * Finds a compiler, which a project has among its development dependencies. It is not a peer of this package: npm keeps
 * optional peers where development dependencies are left out.
 *
 * @param root - the project, where package managers have it that keep the packages of others apart.
 * @param from - a file of this package.
 * @throws Error where it is not installed.
 */
export function compilerFile(name: string, root = process.cwd(), from = own): string {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return createRequire(join(root, 'package.json')).resolve(name);
  }
}

/** A bundler decides how deep in the package this code is. */
function rootAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder));
}
