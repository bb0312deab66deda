import type { Graph } from '../../../graph/model.js';
import { StoredRunReader } from '../../../runtime/runs/operate/stored-view.js';
import type { LoadedRun } from '../../../runtime/runs/store/journal.js';
import { type ReadRun, StoreReader } from '../../../runtime/runs/store/sqlite/store-reader.js';
import type { Head } from '../../../runtime/runs/store/sqlite/store-tables.js';
import { StoreError } from '../../../runtime/runs/store/store-error.js';
import { type Command, misused, type OptionTable, type Output, parseOptions } from '../../command-line.js';
import { runsTexts } from '../../runs-texts.js';

/** The options of every command on a store. */
export const STORE_OPTIONS = {
  store: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** The parsed options and arguments of a command. */
type Parsed<T extends OptionTable> = Extract<
  ReturnType<typeof parseOptions<T>>,
  { readonly kind: 'options' }
>;

/**
 * A command on the file of a store. A store that cannot be used is reported, with exit code 2.
 *
 * @param name the command as in messages: `stepwright runs list`.
 * @param most the greatest number of arguments that are not options.
 * @param work gets the path of the file.
 */
export function storeCommand<T extends OptionTable & typeof STORE_OPTIONS>(
  name: string,
  help: string,
  table: T,
  most: number,
  work: (path: string, parsed: Parsed<T>, output: Output) => Promise<number>,
): Command {
  return async (given, output) => {
    const parsed = parseOptions(name, given, table, most);
    if (parsed.kind === 'fault') return misused(parsed.text, output);
    const values: { readonly store?: string; readonly help?: boolean } = parsed.values;
    if (values.help) {
      output.out(help);
      return 0;
    }
    return storeFile(values.store, name, output, (path) => work(path, parsed, output));
  };
}

/**
 * Hands the path of a store's file to `work`. A store that cannot be used is reported, with exit code 2.
 *
 * @param name the command as in messages.
 */
export async function storeFile(
  store: string | undefined,
  name: string,
  output: Output,
  work: (path: string) => Promise<number>,
): Promise<number> {
  if (store === undefined) return misused(runsTexts.missingStore(name), output);
  const path = /^sqlite:(?!:memory:$)(.+)$/s.exec(store)?.[1];
  if (path === undefined) return misused(runsTexts.badStore(store), output);
  try {
    return await work(path);
  } catch (error) {
    if (error instanceof StoreError) return misused(runsTexts.store(error.message), output);
    throw error;
  }
}

/** Reads a store, and closes it. @throws StoreError for a file that is not a store. */
export async function withReader<T>(path: string, read: (reader: StoreReader) => T | Promise<T>): Promise<T> {
  const reader = await StoreReader.open(path);
  try {
    return await read(reader);
  } finally {
    reader.close();
  }
}

/** A run that was found. */
export interface FoundRun {
  readonly head: Head;
  readonly run: StoredRunReader;
  readonly loaded: LoadedRun;
  readonly graph: Graph;
}

/** Finds a run by its name, and hands it to `work`. Reports one that there is not, with exit code 2. */
export function withRun(
  path: string,
  name: string | undefined,
  command: string,
  output: Output,
  work: (found: FoundRun, reader: StoreReader) => number | Promise<number>,
): Promise<number> {
  if (name === undefined) return Promise.resolve(misused(runsTexts.missingRun(command), output));
  return withReader(path, (reader) => {
    const [head, ...others] = reader.find(name);
    if (others.length > 0) return misused(runsTexts.severalRuns(name), output);
    const read = head && reader.read(head);
    if (read === undefined) return misused(runsTexts.unknownRun(name, path), output);
    const run = readable(read);
    if (run instanceof Error) {
      output.err(`${runsTexts.unreadableRun(name, run.message)}\n`);
      return 1;
    }
    const { head: found, loaded, graph } = read;
    return work({ head: found, run, loaded, graph }, reader);
  });
}

/** A run of a later version is a fault of the input, not of this program. */
function readable({ loaded, graph, head }: ReadRun): StoredRunReader | Error {
  try {
    return new StoredRunReader(loaded, graph, { isHeld: head.holder !== null });
  } catch (error) {
    if (error instanceof Error && error.name === 'StateVersionError') return error;
    throw error;
  }
}

/** A number among the options; a text says what is wrong with it. */
export function numberIn(
  option: string,
  given: string | undefined,
  { least, most }: { readonly least: number; readonly most?: number },
): number | undefined | { readonly fault: string } {
  if (given === undefined) return undefined;
  const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= (most ?? value)) return value;
  return { fault: runsTexts.badNumber(option, given, least, most) };
}
