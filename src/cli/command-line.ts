import { type ParseArgsConfig, parseArgs } from 'node:util';
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

/** Reports an invalid command line, and returns the exit code. */
export function misused(text: string, { err }: Output): number {
  err(`${text}\n`);
  return 2;
}

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

export type ParsedOptions<T extends OptionTable> =
  | { readonly kind: 'options'; readonly values: Values<T>; readonly args: readonly string[] }
  /** `text` is one line. */
  | { readonly kind: 'fault'; readonly text: string };

/**
 * Reads the options and the other arguments of a command. Returns the first fault; never throws.
 *
 * @param command the command as in messages: `stepwright codegen`.
 * @param most the greatest number of arguments that are not options.
 */
export function parseOptions<T extends OptionTable>(
  command: string,
  args: readonly string[],
  table: T,
  most = 0,
): ParsedOptions<T> {
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
      if (positionals.length === most) return fault(texts.needlessArgument(command, token.value, most));
      positionals.push(token.value);
      continue;
    }
    const option = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
    if (option === undefined) {
      const suggestion = nearestName(token.name, Object.keys(table));
      const known = Object.keys(table).map((name) => `--${name}`);
      const nearest = suggestion === undefined ? undefined : `--${suggestion}`;
      return fault(texts.unknownOption(command, token.rawName, nearest, known));
    }
    if (option.type === 'boolean') {
      if (token.value !== undefined) return fault(texts.needlessValue(command, token.rawName));
      values[token.name] = true;
    } else {
      // Without `=` the parser took the next word, even if it is an option.
      const isOption = token.inlineValue === false && token.value.startsWith('-');
      if (token.value === undefined || token.value === '' || isOption) {
        return fault(texts.missingValue(command, token.rawName));
      }
      if ('isRepeatable' in option) {
        values[token.name] = [...((values[token.name] as readonly string[] | undefined) ?? []), token.value];
        continue;
      }
      if (option.oneOf !== undefined && !option.oneOf.includes(token.value)) {
        return fault(texts.unknownValue(command, token.rawName, token.value, option.oneOf));
      }
      values[token.name] = token.value;
    }
  }
  return { kind: 'options', values: values as Values<T>, args: positionals };
}

function fault<T extends OptionTable>(text: string): ParsedOptions<T> {
  return { kind: 'fault', text };
}

const COMMON_OPTIONS = `  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --format FORMAT  how diagnostics are printed: pretty, json (one object a line) or github (default: pretty)
  --no-cache       read everything again, and keep nothing of it in node_modules/.cache
  --help           show this
`;

const REGISTRY_OPTIONS = `  --registry FILE  the registry: a compiled module (.js, .mjs, .cjs), or one of the configuration, where it has several
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
  codegen     read the workflows, check them, and write the registries
  check       do the same, and write nothing
  pull        record the tools of upstream MCP servers, and write classes of them
  graph       show a workflow as an outline or a chart
  list        list the tools, workflows, prompts and resources of the registries
  run         run a workflow in this process, and print its result
  validate    check workflows in files of YAML, JSON or XML
  serve       serve a registry over stdio or HTTP
  runs        show and keep the runs of a store
  infer       infer the order of tools from their hints, schemas and descriptions
  explain     show what a code means, of a diagnostic or a failure, and its repair

Options:
  --help      show this, or the help of a command
  --version   show the version
`,
  codegenHelp: `Usage: stepwright codegen [options]

Reads the project's workflows, checks them, and writes its registries. With any error nothing is written.

Options:
  --check          write nothing; fail when a registry is stale or missing
  --watch          go on, and do it again whenever something changes that a registry depends on
${COMMON_OPTIONS}`,
  checkHelp: `Usage: stepwright check [options]

Reads the project's workflows and checks them. Fails with any error, and when a registry is stale or missing.
No registry is written.

Options:
${COMMON_OPTIONS}`,
  pullHelp: `Usage: stepwright pull [NAME] [options]

Connects to the upstream server NAME of the configuration, records its tools as a snapshot, and writes a tool class for
each of them beside it, and doubles for tests. Without a name it does so for all servers.

Options:
  --record         also make the calls that the configuration has as \`record\`, and write the answers to a cassette
  --allow-writes   of --record: call tools, too, that do not say that they only read
  --check          write nothing; fail where a server lacks what a workflow needs, or does not fit a cassette, and list
                   its other changes
  --cassette FILE  of --check: a cassette of \`stepwright run --record\` to check; may be repeated
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --help           show this
`,
  graphHelp: `Usage: stepwright graph WORKFLOW [options]
       stepwright graph --format html [options]
       stepwright graph --run RUN --store sqlite:PATH --format svg|html

Shows a workflow of the project, as it is in its sources: \`stepwright graph add-task --format mermaid\`. A page (html)
without a workflow has all of them. A run of a store is shown on the workflow that it was started on.

Options:
  --format FORMAT  text, an outline; mermaid, a chart; svg, an image; or html, a page with a search and the details of
                   each step (default: text)
  --run RUN        show the states, attempts and times of a run
  --store STORE    of --run: where the run is kept, sqlite:PATH
  --registry FILE  the registry it belongs to, where several have one of this name: the file, or its name up to a dot
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --no-cache       read everything again, and keep nothing of it in node_modules/.cache
  --help           show this
`,
  listHelp: `Usage: stepwright list [options]

Lists the tools, workflows with their arguments, prompts and resources of the project's registries.

Options:
  --json           print one JSON value
${REGISTRY_OPTIONS}`,
  validateHelp: `Usage: stepwright validate FILE… [options]

Checks workflows in files (.yaml, .yml, .json, .xml): \`stepwright validate flights.yaml\`. The files may run each
other's workflows. Calls are checked against the tools of the registries of the configuration, if there is one; else
each tool is a warning. Fails with any error.

Options:
  --strict         warnings are errors
  --format FORMAT  how diagnostics are printed: pretty, json (one object a line) or github (default: pretty)
${REGISTRY_OPTIONS}`,
  runHelp: `Usage: stepwright run WORKFLOW|FILE [options]

Runs a workflow of a registry, or of a file of YAML, JSON or XML with the tools of a registry, in this process:
\`stepwright run greet-all --arg name=Ada\`, \`stepwright run flights.yaml --arg origin=NYC\`. Its steps are shown on
stderr, its result on stdout. The exit code is 1 for a run that does not succeed. A question fails the run. A value of
\`ask.model\` comes from \`model\` of the server's options; without it the run ends there, and the calls that remain are
shown on stderr.

Options:
  --arg NAME=TEXT  an argument, as a prompt takes it; may be repeated
  --dry            call no tool: show the path on results made up from output schemas, and every call's input
  --stubs FILE     of --dry: results and errors in YAML or JSON, by the id of a step or the name of a tool
  --record FILE    write the calls of upstream servers and their results to a cassette, for tests
  --workflow NAME  the workflow of the file, where it has several
  --json           print one JSON object: { status, result?, failure?, … }, or the path of --dry
  --format FORMAT  text, or json, which is --json (default: text)
${REGISTRY_OPTIONS}`,
  serveHelp: `Usage: stepwright serve [FILE…] [options]

Serves a registry over stdio, or over HTTP at http://127.0.0.1:PORT/mcp. FILE is a spec file (YAML, JSON or XML), or a
glob of such files in quotes. Files are read again when they change.

Options:
  --stdio          over stdio (default)
  --http           over HTTP
  --port N         where to listen over HTTP (default: 3000)
  --store STORE    where runs are kept: memory (default), or sqlite:PATH
  --no-workflows   tools without workflows
${REGISTRY_OPTIONS}`,
  inferHelp: `Usage: stepwright infer [FILE] [options]

Infers which tools come before which: from hints, schemas and descriptions. Nothing is called. FILE is a JSON file with
a list of tools, such as a result of \`tools/list\`. A server that an option names is asked for its list. Without both
the tools of the project's registries are read.

Options:
  --upstream NAME  an upstream server of the configuration
  --command LINE   the command of a server over stdio: \`--command "node server.js"\`
  --url URL        the address of a server over HTTP
  --format FORMAT  text, mermaid, json, or spec, a draft of a spec file (default: text)
  --goal TEXT      what to reach: the workflows that fit, else the calls that may lead to it (text or json)
${REGISTRY_OPTIONS}`,
  explainHelp: `Usage: stepwright explain CODE

Shows what a diagnostic means, an example, and its repair: \`stepwright explain SW3001\`.
Of a code that a run gives it shows the meaning, the cause and the repair: \`stepwright explain E_TIMEOUT\`.

Options:
  --help           show this
`,
  unknownCommand: (command: string, suggestion: string | undefined, known: readonly string[]) =>
    `stepwright: there is no command \`${command}\`${orKnown(suggestion, known)}; \`stepwright --help\` lists all`,
  unknownOption: (
    command: string,
    option: string,
    suggestion: string | undefined,
    known: readonly string[],
  ) =>
    `stepwright: \`${command}\` has no option \`${option}\`${orKnown(suggestion, known)}; \`${command} --help\` lists all`,
  missingValue: (command: string, option: string) =>
    `stepwright: option \`${option}\` of \`${command}\` needs a value`,
  needlessValue: (command: string, option: string) =>
    `stepwright: option \`${option}\` of \`${command}\` takes no value`,
  unknownValue: (command: string, option: string, value: string, known: readonly string[]) =>
    `stepwright: option \`${option}\` of \`${command}\` takes ${list(known)}, not \`${value}\`${orKnown(nearestName(value, known))}`,
  needlessArgument: (command: string, argument: string, most: number) =>
    `stepwright: \`${command}\` takes ${most === 0 ? 'no argument' : 'one argument'}, and was given \`${argument}\``,
  missingPackages: (command: string, names: readonly string[]) =>
    `stepwright: \`stepwright ${command}\` needs ${names.map((name) => `\`${name}\``).join(' and ')}, which ${names.length === 1 ? 'is' : 'are'} not installed: run \`npm install --save-dev ts-morph@28 esbuild@0\``,
  missingFile: (command: string) => `stepwright: \`${command}\` needs a file, such as \`flights.yaml\``,
  validated: (names: readonly string[]) =>
    `${names.length} ${names.length === 1 ? 'workflow' : 'workflows'} without errors: ${names.join(', ')}`,
  chooseWorkflow: (file: string, known: readonly string[]) =>
    `stepwright: \`${file}\` has the workflows ${and(known.map((name) => `\`${name}\``))}; choose one with \`--workflow\``,
  needlessWorkflow:
    'stepwright: `--workflow` is for the workflows of a file: `stepwright run flights.yaml --workflow book`',
  missingWorkflow: (command: string) => `stepwright: \`${command}\` needs the name of a workflow`,
  noModule: (file: string, why: string) => `stepwright: cannot load \`${file}\`: ${why}`,
  noRegistryFile: 'there is no such file; `stepwright codegen` writes the registries',
  noRegistryExport: 'it exports no `registry`',
  noOptionsExport: 'its default export is not an object: write `export default { tools: { … } }`',
  chooseRegistry: (known: readonly string[]) =>
    `stepwright: the project has the registries ${and(known.map((name) => `\`${name}\``))}; choose one with \`--registry\``,
  unreadableArgument: (text: string) =>
    `stepwright: \`--arg ${text}\` has no ${text.startsWith('=') ? 'name before the ' : ''}\`=\`: write \`--arg name=value\``,
  repeatedArgument: (name: string) => `stepwright: argument \`${name}\` is given twice`,
  badStore: (given: string) =>
    `stepwright: --store is 'memory' or 'sqlite:PATH', such as sqlite:runs.db, not '${given}'`,
  badPort: (text: string) => `stepwright: \`--port\` takes a whole number from 0 to 65535, not \`${text}\``,
  twoTransports: 'stepwright: `stepwright serve` takes `--stdio` or `--http`, not both',
  portOverStdio: 'stepwright: `--port` is for `stepwright serve --http`',
  missingFactories:
    'Options for classes whose constructor takes parameters come from a module: `export default { tools: { … } }`. Name it with `--options FILE`, or as `server` in stepwright.config.json.',
  unknownWorkflow: (name: string, known: readonly string[]) =>
    `stepwright: there is no workflow \`${name}\`${orKnown(nearestName(name, known), known)}`,
  severalWorkflows: (name: string, registries: readonly string[]) =>
    `stepwright: workflow \`${name}\` is in ${and(registries)}; choose one with \`--registry\``,
  unknownRegistry: (name: string, known: readonly string[]) =>
    `stepwright: there is no registry \`${name}\` with workflows in it${orKnown(nearestName(name, known), known)}`,
  unknownServer: (name: string, known: readonly string[]) =>
    `stepwright: the configuration has no upstream server \`${name}\`${orKnown(nearestName(name, known), known)}`,
  refusedArguments: (problems: readonly { readonly message: string }[]) =>
    [
      ...problems.map(({ message }) => `stepwright: ${message}`),
      'Arguments are given with `--arg NAME=TEXT`; `stepwright list` shows those of each workflow.',
    ].join('\n'),
  graphOfFile: (file: string) =>
    `stepwright: \`stepwright graph\` takes the name of a workflow, not a file: let codegen read \`${file}\` by \`specs\` in the configuration`,
  runFormat: (format: string) =>
    `stepwright: \`--run\` is for \`--format svg\` and \`--format html\`, not \`${format}\``,
  runOfWorkflow: (name: string) =>
    `stepwright: \`--run\` shows the workflow of the run: leave out \`${name}\``,
  storeWithoutRun: 'stepwright: `--store` is for `stepwright graph --run RUN`',
  noWorkflows: 'stepwright: the project has no workflow',
  stubsWithoutDry: 'stepwright: `--stubs` is for `stepwright run --dry`, which calls no tool',
  recordWithDry: 'stepwright: `--record` records calls, and `--dry` makes none',
  nothingToRecord: 'stepwright: `--record` records calls of upstream servers, and the project has none',
  noServers:
    'stepwright: the configuration names no upstream servers: add `"upstream": { "NAME": { "command": "…" } }`',
  pullFailed: (message: string) => `stepwright: ${message}`,
  pullChange: (server: string, change: string) => `${server}: ${change}; no workflow depends on it`,
  pullUnchanged: (server: string) => `${server} is as recorded`,
  allowWrites: 'add `--allow-writes` to call it all the same',
  recordWithCheck: 'stepwright: `stepwright pull` takes `--record` or `--check`, not both',
  writesWithoutRecord: 'stepwright: `--allow-writes` is for `stepwright pull --record`',
  cassetteWithoutCheck: 'stepwright: `--cassette` is for `stepwright pull --check`',
  nothingPlanned: (servers: readonly string[]) =>
    `stepwright: \`--record\` makes the calls that the configuration has as \`record\` of a server, and there are none of ${servers.map((name) => `\`${name}\``).join(', ')}: add \`"record": { "TOOL": [{ … }] }\``,
  recordAgain: (server: string) => `stepwright pull ${server} --record`,
  recordRunAgain: 'stepwright run --record',
  recordedFailure: (tool: string, message: string) => `'${tool}' answered with a failure: ${message}`,
  goneTool: (tool: string) => `the server does not offer '${tool}' any more`,
  misfitOfCall: (tool: string, message: string) => `a call of '${tool}': ${message}`,
  missingCall: (tool: string, input: string) => `it has no call of '${tool}' with the input ${input}`,
  needlessCall: (tool: string) => `a call of '${tool}' is not in the configuration`,
  pullNote: (server: string, note: string) => `${server}: ${note}`,
  missingCode: 'stepwright: `stepwright explain` needs a code, such as `SW3001` or `E_TIMEOUT`',
  unknownCode: (code: string, suggestion: string | undefined) =>
    `stepwright: there is no code \`${code}\`${orKnown(suggestion)}; \`docs/diagnostics/README.md\` and \`docs/run-time-codes.md\` of the package list all`,
  unwritableOutput: (why: string) => `stepwright: the output cannot be written: ${why}`,
  internalError: (reason: string) =>
    `stepwright: internal error: ${reason}\nThis is a fault of stepwright: please report it with the command and its sources. STEPWRIGHT_DEBUG=1 shows where it happened.`,
  noToolList: (file: string, why: string) => `stepwright: cannot read tools from \`${file}\`: ${why}`,
  longToolList: (most: number) => `it has more than ${most} bytes`,
  notToolList: 'it is not a list of tools, such as `{ "tools": [{ "name": "…", "inputSchema": { … } }] }`',
  twoToolLists: (given: readonly string[]) =>
    `stepwright: \`stepwright infer\` reads one list of tools, and was given ${and(given)}`,
  badUrl: (url: string) =>
    `stepwright: \`--url\` takes an address such as \`http://127.0.0.1:3000/mcp\`, not \`${url}\``,
  badCommand: (line: string) =>
    `stepwright: \`--command\` takes a program and its arguments, such as \`node server.js\`, with every quote closed, not \`${line}\``,
  goalFormat: 'stepwright: `--goal` takes `--format text` or `--format json`',
  noFolder: (folder: string) => `stepwright: there is no folder \`${folder}\``,
  written: (file: string) => `wrote ${file}`,
  current: (file: string) => `${file} is current`,
  checkOrWatch: 'stepwright: `stepwright codegen` takes `--check` or `--watch`, not both',
  watched: (changes: readonly string[], outcome: string, milliseconds: number) =>
    `${changedFiles(changes)}: ${outcome} (${(milliseconds / 1000).toFixed(2)} s)`,
  errorCount: (count: number) => `${count} ${count === 1 ? 'error' : 'errors'}`,
  codegenFailed: (reason: string) => `stepwright failed: ${reason}`,
  unwatchable: (reason: string) => `stepwright: cannot watch the files: ${reason}`,
} as const;

/** How many changed files a line names at most. */
const MOST_CHANGES = 3;

function changedFiles(files: readonly string[]): string {
  if (files.length === 0) return 'watching';
  const more = files.length - MOST_CHANGES;
  const shown = files.slice(0, MOST_CHANGES).join(', ');
  return `changed ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}

/** How many known names a message lists at most. */
const MAX_NAMES = 12;

/** The suggestion, if there is one, else the known names. */
function orKnown(suggestion: string | undefined, known: readonly string[] = []): string {
  if (suggestion !== undefined) return ` (${didYouMean(suggestion)})`;
  if (known.length === 0) return '';
  const named = known.slice(0, MAX_NAMES).map((name) => `\`${name}\``);
  const rest = known.length - named.length;
  return ` (known: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''})`;
}

function and(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function list(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
