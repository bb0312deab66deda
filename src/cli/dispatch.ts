import { inspect } from 'node:util';
import { nearestName } from '../graph/names.js';
import { type Command, Misuse, type Output, suggestionOrNames, texts } from './command-line.js';

/** The commands, loaded when they run: `--help` does not wait for the compiler. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./commands/init.js')).initCommand,
  dev: async () => (await import('./commands/dev.js')).devCommand,
  codegen: async () => (await import('./commands/codegen.js')).codegenCommand,
  check: async () => (await import('./commands/codegen.js')).checkCommand,
  pull: async () => (await import('./commands/pull.js')).pullCommand,
  'sign-in': async () => (await import('./commands/sign-in.js')).signInCommand,
  graph: async () => (await import('./commands/graph.js')).graphCommand,
  list: async () => (await import('./commands/list.js')).listCommand,
  run: async () => (await import('./commands/run.js')).runCommand,
  validate: async () => (await import('./commands/validate.js')).validateCommand,
  serve: async () => (await import('./commands/serve.js')).serveCommand,
  worker: async () => (await import('./commands/worker.js')).workerCommand,
  studio: async () => (await import('./commands/studio.js')).studioCommand,
  runs: async () => (await import('./commands/runs.js')).runsCommand,
  skills: async () => (await import('./commands/skills.js')).skillsCommand,
  infer: async () => (await import('./commands/infer.js')).inferCommand,
  doctor: async () => (await import('./commands/doctor.js')).doctorCommand,
  explain: async () => (await import('./commands/explain.js')).explainCommand,
};

/**
 * Runs a command line.
 *
 * @param args the arguments, without the names of the interpreter and the script.
 * @returns the exit code.
 */
export async function dispatch(args: readonly string[], output: Output): Promise<number> {
  const [first, ...others] = args;
  // No name and no value starts with `-`.
  const rest = others.map((arg) => (arg === '-h' ? '--help' : arg));
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
  try {
    const command = await load();
    return await command(rest, output);
  } catch (error) {
    if (error instanceof Misuse) {
      output.err(`${error.message}\n`);
      return 2;
    }
    reportInternal(error, output);
    return 3;
  }
}

const OPTIONS = ['--help', '--version'];

/** Names of similar commands in other tools, and the command to suggest for each. */
const SYNONYMS: Readonly<Record<string, string>> = {
  create: 'init',
  new: 'init',
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
  execute: 'run',
  exec: 'run',
  ls: 'list',
  start: 'serve',
  watch: 'dev',
  tools: 'list',
  plan: 'infer',
  print: 'graph',
};

function unknownCommand(name: string): string {
  const names = Object.keys(commands);
  const synonym = Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : undefined;
  return `stepwright: there is no command \`${name}\`${suggestionOrNames(synonym ?? nearestName(name, names), names)}; \`stepwright --help\` lists all`;
}

/** For `--codegen` the suggestion is the command `codegen`. */
function unknownOption(option: string): string {
  const bare = option.replace(/^-+/, '');
  const suggestion = Object.hasOwn(commands, bare) ? bare : nearestName(option, OPTIONS);
  return texts.unknownOption('stepwright', option, suggestion, OPTIONS);
}

/** Writes the message of an internal error with a request to report it, and its stack if `STEPWRIGHT_DEBUG` is set. */
export function reportInternal(error: unknown, { err }: Output): void {
  const reason = error instanceof Error ? error.message : String(error);
  err(
    `${`stepwright: internal error: ${reason.split('\n', 1)[0] ?? ''}\nThis is a fault of stepwright: please report it with the command and its sources. STEPWRIGHT_DEBUG=1 shows where it happened.`}\n`,
  );
  if (process.env.STEPWRIGHT_DEBUG) err(`${inspect(error)}\n`);
}

async function packageVersion(): Promise<string> {
  return (await import('../formats/own-files.js')).packageVersion();
}

/** The output of this process. Colours depend on the terminal, `NO_COLOR` and `FORCE_COLOR`. */
export const processOutput: Output = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  color: process.stderr.isTTY && process.stderr.hasColors(),
};
