import { nearestName } from '../graph/suggest.js';
import { texts } from './texts.js';

/** Where a command writes: results to `out`, what it has to say about the input to `err`. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
  /** Whether `err` shows ANSI colours. */
  readonly color: boolean;
}

/** A command: its arguments in, its exit code out. 0 is success, 1 faults in the input, 2 a wrong command line. */
export type Command = (args: readonly string[], output: Output) => Promise<number>;

/** Loaded when they are called: `--help` waits for no compiler. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  codegen: async () => (await import('./commands/codegen.js')).codegenCommand,
  check: async () => (await import('./commands/codegen.js')).checkCommand,
  graph: async () => (await import('./commands/graph.js')).graphCommand,
  explain: async () => (await import('./commands/explain.js')).explainCommand,
};

/** Runs a command line, without the names of the interpreter and the script. */
export async function dispatch(args: readonly string[], output: Output): Promise<number> {
  const [first, ...rest] = args;
  if (first === undefined) {
    output.err(texts.help);
    return 2;
  }
  if (first === '--help' || first === '-h' || first === 'help') {
    output.out(texts.help);
    return 0;
  }
  if (first === '--version' || first === '-v') {
    output.out(`${await packageVersion()}\n`);
    return 0;
  }
  const load = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (load === undefined) {
    const text = first.startsWith('-')
      ? texts.unknownOption('stepwright', first, nearestName(first, ['--help', '--version']))
      : texts.unknownCommand(first, nearestName(first, Object.keys(commands)));
    output.err(`${text}\n`);
    return 2;
  }
  const command = await load();
  return command(rest, output);
}

async function packageVersion(): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
