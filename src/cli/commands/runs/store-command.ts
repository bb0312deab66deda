import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../../../graph/json.js';
import { singleLine } from '../../../graph/printable-text.js';
import { openStore, STORE_FORMS } from '../../../runtime/runs/operate/run-stores.js';
import type { StoreOperator } from '../../../runtime/runs/operate/store-operator.js';
import { readStoredRun, type StoredRunReader } from '../../../runtime/runs/operate/stored-view.js';
import type { ReadRun, StoreReader } from '../../../runtime/runs/store/reader.js';
import { StoreError } from '../../../runtime/runs/store/store-error.js';
import { type Definitions, definitionsOf } from '../../../runtime/server/definitions.js';
import {
  type Command,
  Misuse,
  type OptionTable,
  type Output,
  optionCommand,
  type Parsed,
} from '../../command-line.js';
import { REGISTRY_OPTIONS, type RegistryChoice, withRegistries } from '../../registries.js';

export const STORE_OPTIONS = {
  store: { type: 'string' },
  json: { type: 'boolean' },
} as const;

// Parts of help texts.

const STORE = `  --store STORE    the store, as \`stepwright serve\` takes it: sqlite:PATH or
                   temporal://HOST:PORT/NAMESPACE?taskQueue=QUEUE
`;

export const COMMON = `  --json           print JSON
${STORE}  --help           show this
`;

export const REGISTRY = `  --registry FILE  a registry: a compiled module (.js, .mjs, .cjs), or one of the configuration
  --options FILE   a module whose default export is the options of the server (default: \`server\` of the configuration)
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
`;

export const RUN = 'RUN is the name of a run in a list, or its id.';

/**
 * A command on the file of a store. A store that cannot be used is reported, with exit code 2.
 *
 * @param name the command as in messages: `stepwright runs list`.
 * @param most the greatest number of arguments that are not options.
 */
export function storeCommand<T extends OptionTable & typeof STORE_OPTIONS>(
  name: string,
  help: string,
  table: T,
  most: number,
  work: (store: StoreOperator, parsed: Parsed<T>, output: Output) => Promise<number>,
): Command {
  return optionCommand(name, help, table, most, (parsed, output) => {
    const values: { readonly store?: string } = parsed.values;
    return withStore(values.store, name, (store) => work(store, parsed, output));
  });
}

/**
 * Opens a store for `work`. A store that cannot be used is reported, with exit code 2.
 *
 * @param name the command as in messages.
 */
export async function withStore(
  option: string | undefined,
  name: string,
  work: (store: StoreOperator) => Promise<number>,
): Promise<number> {
  const store = option ?? process.env.STEPWRIGHT_STORE;
  if (store === undefined)
    throw new Misuse(`stepwright: \`${name}\` needs \`--store STORE\`, which a server uses: ${STORE_FORMS}`);
  try {
    return await work(await operatorOf(store));
  } catch (error) {
    if (error instanceof StoreError) throw new Misuse(`stepwright: ${singleLine(error.message)}`);
    throw error;
  }
}

/** What operates the store of a name. @throws Misuse for any other text. */
export async function operatorOf(store: string): Promise<StoreOperator> {
  const operator = await openStore(store);
  if (operator !== undefined) return operator;
  throw new Misuse(`stepwright: \`--store\` is ${STORE_FORMS}, not \`${singleLine(store)}\``);
}

export interface NamedRun extends ReadRun {
  readonly run: StoredRunReader;
}

/** Finds a run by its name, and hands it to `work`. Reports one that there is not, with exit code 2. */
export function withRun(
  store: StoreOperator,
  name: string | undefined,
  command: string,
  output: Output,
  work: (run: NamedRun, reader: StoreReader) => number | Promise<number>,
): Promise<number> {
  if (name === undefined)
    throw new Misuse(
      `stepwright: \`${command}\` needs a run; \`stepwright runs list\` shows the names of runs`,
    );
  return store.read(async (reader) => {
    const [head, ...others] = await reader.find(name);
    if (others.length > 0)
      throw new Misuse(`stepwright: several runs have the name \`${name}\`: give the id of the run`);
    const stored = head && (await reader.read(head));
    if (stored === undefined)
      throw new Misuse(
        `stepwright: the store '${store.path}' has no run \`${singleLine(name)}\`: give a name from \`stepwright runs list\`, or the id of a run`,
      );
    const run = readStoredRun(stored);
    if (run instanceof Error) {
      output.err(`${unreadableRun(name, run.message)}\n`);
      return 1;
    }
    return work({ ...stored, run }, reader);
  });
}

export function unreadableRun(name: string, why: string): string {
  return `stepwright: run \`${name}\` cannot be read: ${singleLine(why)}`;
}

/** A number among the options; a text says what is wrong with it. */
export function numberIn(
  option: string,
  text: string | undefined,
  { least, most }: { readonly least: number; readonly most?: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= (most ?? value)) return value;
  throw new Misuse(
    `stepwright: \`--${option}\` takes a whole number from ${least}${most === undefined ? ' on' : ` to ${most}`}, not \`${singleLine(text)}\``,
  );
}

/** The options of a command on a store that may read registries. */
export const DEFINITION_OPTIONS = { ...STORE_OPTIONS, ...REGISTRY_OPTIONS } as const;

/** Whether the options name a registry, or a project that has some. */
export function namesRegistry({ registry, options, root, config }: RegistryChoice): boolean {
  return [registry, options, root, config].some((option) => option !== undefined);
}

/** Reads the definitions of the registries that the options name. */
export function withDefinitions(
  command: string,
  choice: RegistryChoice,
  output: Output,
  work: (definitions: readonly Definitions[]) => Promise<number>,
): Promise<number> {
  return withRegistries(command, choice, output, ({ registries, options }) =>
    work(registries.map(({ registry }) => definitionsOf(registry, options))),
  );
}

/** The most bytes of a file that an option names. */
const MOST_BYTES = 10_000_000;

/**
 * Reads the JSON object in a file that an option names.
 *
 * @param example of what to write instead.
 */
export function readObject(option: string, file: string, example: string): JsonObject {
  const misuse = (why: string): Misuse =>
    new Misuse(`stepwright: \`--${option} ${singleLine(file)}\` ${why}`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw misuse(`cannot be read: ${singleLine(code ?? message)}`);
  }
  if (text.length > MOST_BYTES) throw misuse(`cannot be read: it is longer than ${MOST_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw misuse(`is not valid JSON: ${singleLine((error as Error).message)}`);
  }
  if (isJsonObject(value)) return value;
  throw misuse(`is not a JSON object: write ${example}`);
}
