import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** The functions of `node:fs` that write to an open file, named by its number. */
const WRITERS = [
  'write',
  'writeSync',
  'writev',
  'writevSync',
  'writeFile',
  'writeFileSync',
  'appendFile',
  'appendFileSync',
] as const;

type Writer = (...args: unknown[]) => unknown;

const STDOUT = 1;
const STDERR = 2;

/** The process's stdout, taken over for one writer. */
export interface ClaimedStdout {
  /** Writes to stdout; false where it is to be given time. */
  readonly write: (text: string) => boolean;
  /** Gives stdout back. */
  release(): void;
}

/**
 * Takes stdout over. Everything else in this thread that writes to it reaches stderr instead: `console.*`,
 * `process.stdout` and the functions of `node:fs` for the file number 1, which some loggers use.
 *
 * Writes of child processes that inherit stdout, of worker threads that use the file number, and to `/dev/stdout` cannot
 * be seen here.
 *
 * @param onStray called before each such write.
 */
export function claimStdout(onStray: () => void): ClaimedStdout {
  // Reading `process.stdout` loads what it writes with, which must be the original.
  const { stdout, stderr } = process;
  const toClient = stdout.write;
  stdout.write = ((...args: Parameters<typeof stderr.write>) => {
    onStray();
    return stderr.write(...args);
  }) as typeof stdout.write;
  const releases = WRITERS.map((name) => redirect(name, onStray));
  // For programs that import the functions by name.
  syncBuiltinESMExports();
  return {
    write: (text) => toClient.call(stdout, text),
    release: () => {
      stdout.write = toClient;
      for (const release of releases) release();
      syncBuiltinESMExports();
    },
  };
}

function redirect(name: (typeof WRITERS)[number], onStray: () => void): () => void {
  const functions = fs as unknown as Record<typeof name, Writer>;
  const original = functions[name];
  const redirected = function (this: unknown, file: unknown, ...rest: unknown[]): unknown {
    if (file !== STDOUT) return original.call(this, file, ...rest);
    onStray();
    return original.call(this, STDERR, ...rest);
  };
  // `util.promisify` finds its own form of a function in a property.
  Object.defineProperties(redirected, Object.getOwnPropertyDescriptors(original));
  functions[name] = redirected;
  return () => {
    // Something that replaced it later keeps its place.
    if (functions[name] === redirected) functions[name] = original;
  };
}
