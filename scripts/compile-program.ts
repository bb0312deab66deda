import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/**
 * Compiles a program of the checkout to one file, which starts in a fraction of the time. Returns its path.
 *
 * @param source - relative to the checkout.
 * @param name - of the folder of the output.
 */
export function compileProgram(source: string, name: string): string {
  const outfile = join(ROOT, `node_modules/.cache/${name}/server.mjs`);
  buildSync({
    entryPoints: [join(ROOT, source)],
    outfile,
    bundle: true,
    packages: 'external',
    alias: {
      'stepwright/runtime': join(ROOT, 'src/runtime/index.ts'),
      stepwright: join(ROOT, 'src/index.ts'),
    },
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    keepNames: true,
    logLevel: 'error',
  });
  return outfile;
}
