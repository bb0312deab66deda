import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import { nearestName } from '../graph/suggest.js';
import { texts } from './texts.js';

/** Where a command writes: results to `out`, what it has to say about the input to `err`. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
  /** Whether `err` shows ANSI colours. */
  readonly color: boolean;
}

/**
 * A command: its arguments in, its exit code out. 0 is success, 1 faults in the input, 2 a wrong command line, 3 a fault
 * of our own.
 */
type Command = (args: readonly string[], output: Output) => Promise<number>;

/** Loaded when they are called: `--help` waits for no compiler. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  codegen: async () => (await import('./commands/codegen.js')).codegenCommand,
  check: async () => (await import('./commands/codegen.js')).checkCommand,
  graph: async () => (await import('./commands/graph.js')).graphCommand,
  explain: async () => (await import('./commands/explain.js')).explainCommand,
};

/** Commands that read TypeScript. The compilers are optional peers: a server that only runs is installed without them. */
const NEED_COMPILERS: ReadonlySet<string> = new Set(['codegen', 'check', 'graph']);

const COMPILERS = ['ts-morph', 'ts-node'];

function missingCompilers(): readonly string[] {
  const { resolve } = createRequire(import.meta.url);
  return COMPILERS.filter((name) => {
    try {
      resolve(name);
      return false;
    } catch {
      return true;
    }
  });
}

/** Runs a command line, without the names of the interpreter and the script. */
export async function dispatch(args: readonly string[], output: Output): Promise<number> {
  const [first, ...rest] = args;
  if (first === undefined) {
    output.err(texts.help);
    return 2;
  }
  if (first === '--help' || first === '-h' || first === 'help') {
    const [about] = rest;
    if (about !== undefined && !about.startsWith('-')) return dispatch([about, '--help'], output);
    output.out(texts.help);
    return 0;
  }
  if (first === '--version' || first === '-v') {
    output.out(`${await packageVersion()}\n`);
    return 0;
  }
  const load = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (load === undefined) {
    const text = first.startsWith('-') ? unknownOption(first) : unknownCommand(first);
    output.err(`${text}\n`);
    return 2;
  }
  const missing = NEED_COMPILERS.has(first) && !rest.includes('--help') ? missingCompilers() : [];
  if (missing.length > 0) {
    output.err(`${texts.missingPackages(first, missing)}\n`);
    return 1;
  }
  try {
    const command = await load();
    return await command(rest, output);
  } catch (error) {
    reportInternal(error, output);
    return 3;
  }
}

const OPTIONS = ['--help', '--version'];

/** Names that other tools have for our commands. */
const SYNONYMS: Readonly<Record<string, string>> = {
  build: 'codegen',
  compile: 'codegen',
  gen: 'codegen',
  generate: 'codegen',
  lint: 'check',
  validate: 'check',
  verify: 'check',
  chart: 'graph',
  draw: 'graph',
  show: 'graph',
  print: 'graph',
};

function unknownCommand(name: string): string {
  const known = Object.keys(commands);
  const synonym = Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : undefined;
  return texts.unknownCommand(name, synonym ?? nearestName(name, known), known);
}

/** `--codegen` is the command most likely. */
function unknownOption(option: string): string {
  const bare = option.replace(/^-+/, '');
  const suggestion = Object.hasOwn(commands, bare) ? bare : nearestName(option, OPTIONS);
  return texts.unknownOption('stepwright', option, suggestion, OPTIONS);
}

/** Reports an error that is no author's fault: in one line, with its stack where `STEPWRIGHT_DEBUG` is set. */
export function reportInternal(error: unknown, { err }: Output): void {
  const reason = error instanceof Error ? error.message : String(error);
  err(`${texts.internalError(reason.split('\n', 1)[0] ?? '')}\n`);
  if (process.env.STEPWRIGHT_DEBUG) err(`${inspect(error)}\n`);
}

async function packageVersion(): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
