import path, { posix } from 'node:path';
import { glob } from 'tinyglobby';
import { realPath } from '../formats/source-record.js';
import { formatOf } from '../formats/text/read-text.js';
import { compareText } from '../graph/names.js';

/** The spec files of a registry. */
export interface SpecPlan {
  /** As they are configured. */
  readonly patterns: readonly string[];
  /** Relative to the root, with `/`, sorted. */
  readonly files: readonly string[];
  /** The JSON Schema of such files, for editors; relative to the root. */
  readonly schema: string;
}

const NEVER = ['**/node_modules/**', '**/*.specs.schema.json'];

/** What `exclude` is for spec files where it is left out. */
const EXCLUDED_BY_DEFAULT = ['**/dist/**'];

/** Finds the spec files of a registry. */
export async function planSpecs(
  root: string,
  out: string,
  {
    patterns,
    exclude = EXCLUDED_BY_DEFAULT,
  }: {
    readonly patterns: readonly string[];
    readonly exclude?: readonly string[] | undefined;
  },
): Promise<SpecPlan> {
  const match = await matchingFiles(root, patterns, [...NEVER, ...exclude]);
  const files = match.filter((file) => formatOf(file) !== undefined);
  return { patterns, files, schema: specSchemaFile(out) };
}

/**
 * The files of a project that match glob patterns, sorted. Links are followed, as the compiler does it: a folder that
 * several paths lead to is read by the shortest.
 *
 * @param root - absolute path of the project.
 * @returns relative to the root, with `/`.
 */
export async function matchingFiles(
  root: string,
  patterns: readonly string[],
  ignore: readonly string[],
): Promise<readonly string[]> {
  const match = await glob([...patterns], {
    ...{ cwd: root, ignore: [...ignore] },
    ...{ onlyFiles: true, expandDirectories: false },
  });
  const folders = new Map<string, string>();
  const realFolderOf = (folder: string): string => {
    const real = folders.get(folder) ?? realPath(path.join(root, folder));
    folders.set(folder, real);
    return real;
  };
  const shortest = new Map<string, string>();
  for (const file of match) {
    const key = path.join(realFolderOf(posix.dirname(file)), posix.basename(file));
    const other = shortest.get(key);
    if (other === undefined || file.length < other.length) shortest.set(key, file);
  }
  return [...shortest.values()].sort(compareText);
}

/** Beside the registry: `generated/registry.specs.schema.json` of `generated/registry.ts`. */
function specSchemaFile(out: string): string {
  return `${out.slice(0, -posix.extname(out).length)}.specs.schema.json`;
}
