import path from 'node:path';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { isCommonJs } from './schemas/loader/compile.js';

/** The first version of Node.js whose `require` reads ES modules through the file system that Yarn replaces. */
const FIRST_THAT_REQUIRES = 22;

/**
 * Reports registries that are CommonJS under Yarn's Plug'n'Play in a Node.js that cannot `require` them: they load this
 * package, an ES module, from an archive.
 *
 * @param root - absolute path of the project.
 * @param outs - the files of the registries, relative to the root.
 * @param versions - those of this process.
 */
export function archiveFaults(
  root: string,
  outs: readonly string[],
  versions: { readonly node: string; readonly pnp?: string | undefined } = process.versions,
): readonly Diagnostic[] {
  const { node, pnp } = versions;
  if (pnp === undefined || Number.parseInt(node, 10) >= FIRST_THAT_REQUIRES) return [];
  return outs
    .filter((out) => isCommonJs(path.join(root, out)))
    .map((file) => diagnostic('SW9019', undefined, { file, version: node }));
}
