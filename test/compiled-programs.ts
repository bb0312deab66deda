import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Programs of tests as JavaScript, with this checkout in them. They start in a fraction of the time a loader takes. */
export interface CompiledPrograms {
  /** The file of a program, by the name it was compiled under. */
  file(name: string): string;
  remove(): Promise<void>;
}

/** Compiles programs into a folder of their own. The caller removes it. */
export async function compilePrograms(sources: Readonly<Record<string, string>>): Promise<CompiledPrograms> {
  const folder = await mkdtemp(join(tmpdir(), 'stepwright-programs-'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  // What the sources load by a name that their package gives it.
  await writeFile(join(folder, 'package.json'), JSON.stringify({ imports: { '#re2js': 're2js' } }));
  const outDir = join(folder, 'dist');
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: ['stepwright'], resolve: { conditions: ['@stepwright/source'] } },
    build: {
      ssr: true,
      target: 'node20',
      minify: false,
      outDir,
      rolldownOptions: {
        input: { ...sources },
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs', keepNames: true },
      },
    },
  });
  return {
    file: (name) => join(outDir, `${name}.mjs`),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
