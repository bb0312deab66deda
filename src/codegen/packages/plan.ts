import path from 'node:path';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { JsonObject } from '../../graph/json.js';
import type { Inputs } from '../incremental/inputs.js';
import { MANIFEST_FILE } from '../manifest.js';
import { isCommonJs } from '../schemas/loader/compile.js';
import { isForeign } from '../writer.js';
import { readObject } from './classes.js';

/** A manifest to write, and the package that it is of. */
export interface ManifestPlan {
  /** Relative to the root, with `/`. */
  readonly file: string;
  /** Of the package; relative to the root, empty for the root itself. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  /** The object in its `package.json`. */
  readonly packageFile: JsonObject;
}

interface Planned {
  readonly value?: ManifestPlan;
  /** Why other projects could not use the package by it. */
  readonly problems: readonly string[];
  /** Whether codegen did not write what is there. */
  readonly isForeign: boolean;
}

/**
 * Reads the package that a manifest is of.
 *
 * @param root - absolute path of the project.
 * @param file - relative to the root, with `/`.
 */
export function planManifest(root: string, file: string, inputs: Inputs | undefined): Planned {
  const reading = readPlan(root, file, inputs);
  const match = typeof reading === 'string' ? { problems: [reading] } : { value: reading, problems: [] };
  return { ...match, isForeign: isForeign(root, file) };
}

function readPlan(root: string, file: string, inputs: Inputs | undefined): ManifestPlan | string {
  const folder = path.posix.dirname(file) === '.' ? '' : path.posix.dirname(file);
  const named = path.posix.join(folder, 'package.json');
  inputs?.see(named);
  const packageFile = readObject(path.join(root, named));
  if (packageFile === undefined)
    return `the manifest lies beside the package.json of its package, and \`${named}\` is missing or not valid JSON`;
  const { name, version, files } = packageFile;
  if (typeof name !== 'string')
    return `\`${named}\` has no \`name\`, by which other projects import its tools`;
  if (typeof version !== 'string')
    return `\`${named}\` has no \`version\`, which a manifest is checked against`;
  if (Array.isArray(files) && !files.some(mayMatch))
    return `\`${named}\` would not publish the manifest: add "${MANIFEST_FILE}" to \`files\``;
  return { file, folder, name, version, packageFile };
}

/** Whether an entry of `files` covers the manifest; patterns are not read. */
function mayMatch(entry: unknown): boolean {
  if (typeof entry !== 'string') return false;
  const named = path.posix.join('/', entry);
  return entry.includes('*') || named === `/${MANIFEST_FILE}` || named === '/';
}

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
