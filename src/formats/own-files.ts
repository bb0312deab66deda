import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

export function packageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** A bundler decides how deep in the package this code is. */
function rootAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder));
}
