import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';

/** What modules have looked at while they were imported, beside what they load. */
export interface Reads {
  /** Names of environment variables. */
  readonly variables: readonly string[];
  /** Whether all of the environment was listed. */
  readonly allVariables: boolean;
  /** Absolute paths of files and folders, with their {@link stateOf} when they were first looked at. */
  readonly paths: Readonly<Record<string, string>>;
  /** Whether they have done what cannot be looked at again: started a process, or read more than can be kept. */
  readonly beyond: boolean;
}

export const NO_READS: Reads = { variables: [], allVariables: false, paths: {}, beyond: false };

/** Larger files stand with their size and time. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024;

// Kept apart from the module's exports, which the child replaces to see them called.
const own = { readdirSync, readFileSync, statSync };

/** What is at a path: a file by its bytes, a folder by the names in it. */
export function stateOf(path: string): string {
  try {
    const stats = own.statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return 'nothing';
    if (stats.isDirectory()) return `folder ${hash(JSON.stringify(own.readdirSync(path).sort()))}`;
    if (!stats.isFile()) return 'other';
    return stats.size > MAX_HASHED_BYTES
      ? `large ${stats.size} ${stats.mtimeMs}`
      : `file ${hash(own.readFileSync(path))}`;
  } catch (error) {
    return `fault ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** The union; a path that was in two states is in none that could come again. */
export function mergeReads(all: readonly Reads[]): Reads {
  const paths: Record<string, string> = {};
  for (const reads of all) {
    for (const [path, state] of Object.entries(reads.paths)) {
      paths[path] = (paths[path] ?? state) === state ? state : 'changed';
    }
  }
  return {
    variables: [...new Set(all.flatMap(({ variables }) => variables))].sort(),
    allVariables: all.some(({ allVariables }) => allVariables),
    paths,
    beyond: all.some(({ beyond }) => beyond),
  };
}

/** True where all paths are as they were. */
export function areCurrent({ paths }: Reads): boolean {
  return Object.entries(paths).every(([path, state]) => stateOf(path) === state);
}

/** The values of the variables that were looked at, without telling them. */
export function environmentHash({ variables, allVariables }: Reads, env: NodeJS.ProcessEnv): string {
  const names = allVariables ? Object.keys(env).sort() : variables;
  return hash(JSON.stringify(names.map((name) => [name, env[name] ?? null])));
}

function hash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
