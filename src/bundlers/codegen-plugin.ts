import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { CodegenOptions, CodegenResult } from '../codegen/codegen.js';

/** Options of the plugins for bundlers. */
export type PluginOptions = Omit<CodegenOptions, 'check' | 'overlay'>;

/** What a run of codegen in a bundler came to. */
export interface BundlerRun {
  readonly result: CodegenResult;
  /** Absolute paths of the files of the project that it has read: a bundler that watches must watch them too. */
  readonly files: readonly string[];
}

/** Runs codegen once. The compilers are loaded here: a configuration that names a plugin is loaded for other commands as well. */
export async function runForBundler(options: PluginOptions, defaultRoot: string): Promise<BundlerRun> {
  const { runRecorded } = await import('../codegen/codegen.js');
  const { Inputs } = await import('../codegen/incremental/inputs.js');
  const root = realpathSync(options.root ?? defaultRoot);
  const inputs = new Inputs(root);
  const result = await runRecorded({ ...options, root }, inputs);
  const outputs = new Set([...result.written, ...result.current].map((file) => path.join(root, file)));
  const files = [...inputs.paths]
    .filter(([file, state]) => state.startsWith('file ') && file.startsWith(root + path.sep))
    .map(([file]) => file)
    .filter((file) => !file.split(path.sep).includes('node_modules') && !outputs.has(file));
  return { result, files };
}
