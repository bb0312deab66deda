import { posix } from 'node:path';
import { glob } from 'tinyglobby';
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
  const match = await glob(patterns, {
    cwd: root,
    ignore: [...NEVER, ...exclude],
    onlyFiles: true,
    followSymbolicLinks: false,
    expandDirectories: false,
  });
  const files = match.filter((file) => formatOf(file) !== undefined).sort(compareText);
  return { patterns, files, schema: specSchemaFile(out) };
}

/** Beside the registry: `generated/registry.specs.schema.json` of `generated/registry.ts`. */
function specSchemaFile(out: string): string {
  return `${out.slice(0, -posix.extname(out).length)}.specs.schema.json`;
}
