import { realpathSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { compilerFile } from '../formats/own-files.js';
import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import { didYouMean, nearestName } from '../graph/names.js';

/** The output of a command: results go to `out`, reports about the input to `err`. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
  /** Whether text for `err` has ANSI colours. */
  readonly color: boolean;
}

/**
 * Runs a command with the arguments after its name, and returns the exit code: 0 for success, 1 for errors in the
 * input, 2 for an invalid command line. The exit code of an internal error, for which it throws, is 3.
 */
export type Command = (args: readonly string[], output: Output) => Promise<number>;

/** An invalid command line. Its message is for the user. */
export class Misuse extends Error {}

/** The kind of an option. One with a value may list its permitted values in `oneOf`. */
type OptionRule =
  | { readonly type: 'boolean' }
  | { readonly type: 'string'; readonly isRepeatable: true }
  | { readonly type: 'string'; readonly oneOf?: readonly string[] };

/** The options of a command, by their long names. */
export type OptionTable = Readonly<Record<string, OptionRule>>;

type ValueOf<R extends OptionRule> = R extends { readonly isRepeatable: true }
  ? readonly string[]
  : R extends { readonly oneOf: readonly (infer V)[] }
    ? V
    : R extends { readonly type: 'string' }
      ? string
      : boolean;

type Values<T extends OptionTable> = { readonly [K in keyof T]?: ValueOf<T[K]> };

/** The options and the other arguments of a command. */
export interface Parsed<T extends OptionTable> {
  readonly values: Values<T>;
  readonly args: readonly string[];
}

/**
 * Reads the options and the other arguments of a command.
 *
 * @param command the command as in messages: `stepwright codegen`.
 * @param most the greatest number of arguments that are not options.
 * @throws Misuse for the first fault.
 */
function parseOptions<T extends OptionTable>(
  command: string,
  args: readonly string[],
  table: T,
  most = 0,
): Parsed<T> {
  const { tokens } = parseArgs({
    args: [...args],
    options: table as ParseArgsConfig['options'] & object,
    // The faults are found below, with messages of their own.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Record<string, string | boolean | readonly string[]> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      if (positionals.length === most) throw new Misuse(texts.needlessArgument(command, token.value, most));
      positionals.push(token.value);
      continue;
    }
    const option = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
    if (option === undefined) {
      const suggestion = nearestName(token.name, Object.keys(table));
      const options = Object.keys(table).map((name) => `--${name}`);
      const nearest = suggestion === undefined ? undefined : `--${suggestion}`;
      throw new Misuse(texts.unknownOption(command, token.rawName, nearest, options));
    }
    if (option.type === 'boolean') {
      if (token.value !== undefined) throw new Misuse(texts.needlessValue(command, token.rawName));
      values[token.name] = true;
    } else {
      // Without `=` the parser took the next word, even if it is an option.
      const isOption = token.inlineValue === false && token.value.startsWith('-');
      if (token.value === undefined || token.value === '' || isOption) {
        throw new Misuse(texts.missingValue(command, token.rawName));
      }
      if ('isRepeatable' in option) {
        values[token.name] = [...((values[token.name] as readonly string[] | undefined) ?? []), token.value];
        continue;
      }
      if (option.oneOf !== undefined && !option.oneOf.includes(token.value)) {
        throw new Misuse(texts.unknownValue(command, token.rawName, token.value, option.oneOf));
      }
      values[token.name] = token.value;
    }
  }
  return { values: values as Values<T>, args: positionals };
}

/**
 * A command with options, of which `--help` prints its help.
 *
 * @param name the command as in messages: `stepwright codegen`.
 * @param most the greatest number of arguments that are not options.
 */
export function optionCommand<T extends OptionTable>(
  name: string,
  help: string,
  table: T,
  most: number,
  work: (parsed: Parsed<T>, output: Output) => Promise<number>,
): Command {
  return async (args, output) => {
    const parsed = parseOptions(name, args, { ...table, help: { type: 'boolean' } } as const, most);
    if (parsed.values.help) {
      output.out(help);
      return 0;
    }
    return work(parsed as unknown as Parsed<T>, output);
  };
}

export const COMMON_OPTIONS = `  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --format FORMAT  how diagnostics are printed: pretty, json (one object a line) or github (default: pretty)
  --json           the same as --format json
  --no-cache       read everything again, and keep nothing of it in node_modules/.cache
  --help           show this
`;

/** How diagnostics are printed. */
export const FORMAT_OPTIONS = {
  format: { type: 'string', oneOf: ['pretty', 'json', 'github'] },
  json: { type: 'boolean' },
} as const;

export type DiagnosticFormat = (typeof FORMAT_OPTIONS.format.oneOf)[number];

interface Printable {
  readonly diagnostics: readonly Diagnostic[];
  readonly readSource: (file: string) => string | undefined;
}

/** Prints diagnostics, and returns whether one of them is an error. What it needs is loaded here: most runs have none. */
export async function printDiagnostics(
  { diagnostics, readSource }: Printable,
  format: DiagnosticFormat,
  output: Output,
): Promise<boolean> {
  const { formatDiagnostics, formatGithub, formatJson } = await import('../graph/diagnostics/format.js');
  switch (format) {
    case 'pretty':
      output.err(formatDiagnostics(diagnostics, readSource, { color: output.color }));
      break;
    case 'json':
      output.out(formatJson(diagnostics));
      break;
    case 'github':
      output.out(formatGithub(diagnostics));
      break;
    default:
      format satisfies never;
  }
  const { hasErrors } = await import('../graph/diagnostics/diagnostic.js');
  return hasErrors(diagnostics);
}

export const REGISTRY_HELP = `  --registry FILE  the registry: a compiled module (.js, .mjs, .cjs), or one of the configuration, where it has several
  --options FILE   a module whose default export is the options of the server, such as factories of classes
                   (default: \`server\` of the configuration)
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --help           show this
`;

/** All texts of the command line. */
export const texts = {
  help: `Usage: stepwright <command> [options]

Commands:
  init        write a project to begin with
  dev         serve a project, and again after each change
  codegen     read the workflows, check them, and write the registries
  check       do the same, and write nothing
  pull        record the tools of upstream MCP servers, and write classes of them
  sign-in     sign in at an upstream server by a browser
  graph       show a workflow as an outline or a chart
  list        list the tools, workflows, prompts and resources of the registries
  run         run a workflow in this process, and print its result
  validate    check workflows in files of YAML, JSON or XML
  serve       serve a registry over stdio or HTTP
  worker      execute runs that servers keep on Temporal
  studio      serve a page that shows the runs of a store
  runs        show and keep the runs of a store
  skills      write workflows as skills for hosts that read them from files
  infer       infer the order of tools from their hints, schemas and descriptions
  doctor      check what a project needs, each fault with its repair
  explain     show what a code means, of a diagnostic or a failure, and its repair

Options:
  --help      show this, or the help of a command
  --version   show the version
`,
  unknownOption: (
    command: string,
    option: string,
    suggestion: string | undefined,
    names: readonly string[],
  ) =>
    `stepwright: \`${command}\` has no option \`${option}\`${suggestionOrNames(suggestion, names)}; \`${command} --help\` lists all`,
  missingValue: (command: string, option: string) =>
    `stepwright: option \`${option}\` of \`${command}\` needs a value`,
  needlessValue: (command: string, option: string) =>
    `stepwright: option \`${option}\` of \`${command}\` takes no value`,
  unknownValue: (command: string, option: string, value: string, values: readonly string[]) =>
    `stepwright: option \`${option}\` of \`${command}\` takes ${values.slice(0, -1).join(', ')} or ${values.at(-1)}, not \`${value}\`${suggestionOrNames(nearestName(value, values))}`,
  needlessArgument: (command: string, argument: string, most: number) =>
    `stepwright: \`${command}\` takes ${most === 0 ? 'no argument' : 'one argument'}, and was given \`${argument}\``,
  missingPackages: (command: string, names: readonly string[]) =>
    `stepwright: \`stepwright ${command}\` needs ${names.map((name) => `\`${name}\``).join(' and ')}, which ${names.length === 1 ? 'is' : 'are'} not installed: run \`npm install --save-dev ts-morph@28 esbuild@0\``,
  missingWorkflow: (command: string) => `stepwright: \`${command}\` needs the name of a workflow`,
  noModule: (file: string, why: string) => `stepwright: cannot load \`${file}\`: ${why}`,
  chooseRegistry: (names: readonly string[]) =>
    `stepwright: the project has the registries ${and(names.map((name) => `\`${name}\``))}; choose one with \`--registry\``,
  unknownWorkflow: (name: string, names: readonly string[]) =>
    `stepwright: there is no workflow \`${name}\`${suggestionOrNames(nearestName(name, names), names)}`,
  severalWorkflows: (name: string, registries: readonly string[]) =>
    `stepwright: workflow \`${name}\` is in ${and(registries)}; choose one with \`--registry\``,
  unknownRegistry: (name: string, names: readonly string[]) =>
    `stepwright: there is no registry \`${name}\` with workflows in it${suggestionOrNames(nearestName(name, names), names)}`,
  unknownServer: (name: string, names: readonly string[]) =>
    `stepwright: the configuration has no upstream server \`${name}\`${suggestionOrNames(nearestName(name, names), names)}`,
  refusedArguments: (problems: readonly { readonly message: string }[]) =>
    [
      ...problems.map(({ message }) => `stepwright: ${message}`),
      'Arguments are given with `--arg NAME=TEXT`; `stepwright list` shows those of each workflow.',
    ].join('\n'),
  noServers:
    'stepwright: the configuration names no upstream servers: add `"upstream": { "NAME": { "command": "…" } }`',
  pullFailed: (message: string) => `stepwright: ${message}`,
  recordedFailure: (tool: string, message: string) => `'${tool}' answered with a failure: ${message}`,
  noToolList: (file: string, why: string) => `stepwright: cannot read tools from \`${file}\`: ${why}`,
  noFolder: (folder: string) => `stepwright: there is no folder \`${folder}\``,
  written: (file: string) => `wrote ${file}`,
  current: (file: string) => `${file} is current`,
} as const;

/** How many changed files a line names at most. */
const MOST_CHANGES = 3;

export function changedFiles(files: readonly string[]): string {
  if (files.length === 0) return 'watching';
  const more = files.length - MOST_CHANGES;
  const shown = files.slice(0, MOST_CHANGES).join(', ');
  return `changed ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}

/** How many known names a message lists at most. */
const MAX_NAMES = 12;

/** The suggestion, if there is one, else the known names. */
export function suggestionOrNames(suggestion: string | undefined, names: readonly string[] = []): string {
  if (suggestion !== undefined) return ` (${didYouMean(suggestion)})`;
  if (names.length === 0) return '';
  const named = names.slice(0, MAX_NAMES).map((name) => `\`${name}\``);
  const rest = names.length - named.length;
  return ` (known: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''})`;
}

export function and(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Whether a registry has this path or short name: that of `examples/greeting/generated/greeting.registry.ts` is `greeting`. */
export function isNamed(file: string, name: string): boolean {
  return file === posix.normalize(name) || shortName(file) === name;
}

/** The name of a registry's file, up to its first dot. */
export function shortName(file: string): string {
  return posix.basename(file).replace(/\..*$/, '');
}

/** The path of a folder without links. @throws Misuse where there is no such folder. */
export function folderAt(root: string): string {
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(root);
  throw new Misuse(texts.noFolder(root));
}

const COMPILERS = ['ts-morph', 'esbuild'];

/** The packages that read TypeScript and are not installed. */
export function missingCompilers(): readonly string[] {
  return COMPILERS.filter((name) => {
    try {
      compilerFile(name);
      return false;
    } catch {
      return true;
    }
  });
}

/**
 * The words of a command line: parted by spaces, but for those in quotes. Nothing else has a meaning of its own, so that
 * the same text works on every system. `undefined` for a quote without its end.
 */
export function wordsOf(line: string): string[] | undefined {
  const parts = /(?:"([^"]*)"|'([^']*)'|([^\s"']+))/y;
  const words: string[] = [];
  let isInWord = false;
  for (let at = 0; at < line.length; ) {
    if (/\s/.test(line.charAt(at))) {
      isInWord = false;
      at += 1;
      continue;
    }
    parts.lastIndex = at;
    const part = parts.exec(line);
    if (part === null) return undefined;
    const text = part[1] ?? part[2] ?? part[3] ?? '';
    if (isInWord) words.push(`${words.pop() ?? ''}${text}`);
    else words.push(text);
    isInWord = true;
    at = parts.lastIndex;
  }
  return words;
}
