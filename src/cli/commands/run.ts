import { Console } from 'node:console';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { loadWorkflowFiles } from '../../formats/load-files.js';
import type { SpecWorkflow } from '../../formats/spec-files.js';
import { formatOf } from '../../formats/text/read-text.js';
import { hashGraph } from '../../graph/canonical.js';
import { defined } from '../../graph/defined.js';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import { type Json, type JsonObject, ownProperty } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { bodyText, jsonText } from '../../graph/printable-text.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { Registry, StepwrightServer, ToolResult } from '../../runtime/index.js';
import type { Envelope } from '../../runtime/runs/run/envelope.js';
import { readArguments } from '../../runtime/server/catalogue/arguments.js';
import { runTraitsOf } from '../../runtime/server/composite/served-workflows.js';
import { type LocalOutcome, type LocalRun, runLocally } from '../../runtime/server/local-run.js';
import { untypedServer } from '../../runtime/transports/start-server.js';
import { cassetteText, RecordingUpstream } from '../../runtime/upstream/cassette.js';
import { secretMask } from '../../runtime/upstream/config.js';
import { and, Misuse, type Output, optionCommand, REGISTRY_HELP, texts } from '../command-line.js';
import { environmentOf, type OpenRegistries, REGISTRY_OPTIONS, withRegistries } from '../registries.js';
import { dryRunCommand } from './dry-run.js';
import { isYes, openTerminal, runProgram, type Terminal } from './terminal.js';

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  arg: { type: 'string', isRepeatable: true },
  workflow: { type: 'string' },
  json: { type: 'boolean' },
  format: { type: 'string', oneOf: ['text', 'json'] },
  record: { type: 'string' },
  dry: { type: 'boolean' },
  yes: { type: 'boolean' },
  'deny-shell': { type: 'boolean' },
  agent: { type: 'string' },
  stubs: { type: 'string' },
} as const;

/** `stepwright run WORKFLOW|FILE`: runs a workflow of a registry or of a file in this process. */
export const runCommand = optionCommand(
  'stepwright run',
  `Usage: stepwright run WORKFLOW|FILE [options]

Runs a workflow of a registry, or of a file of YAML, JSON or XML with the tools of a registry, in this process:
\`stepwright run greet-all --arg name=Ada\`, \`stepwright run flights.yaml --arg origin=NYC\`. Its steps are shown on
stderr, its result on stdout. The exit code is 1 for a run that does not succeed. A value of \`ask.model\` comes from
\`model\` of the server's options; without it the run ends there, and the calls that remain are shown on stderr.

A workflow with work for its client is run on the terminal: commands are shown, and run if you agree; questions, tasks and
the results of your tools are asked for, line by line from stdin. Without that, a question fails the run.

Options:
  --arg NAME=TEXT  an argument, as a prompt takes it; may be repeated
  --yes            run commands without asking
  --deny-shell     run no command: each step with one fails
  --agent COMMAND  does tasks: it gets the instructions on stdin, and prints the response; the name of the agent is in
                   STEPWRIGHT_AGENT
  --dry            call no tool: show the path on results made up from output schemas, and every call's input
  --stubs FILE     of --dry: results and errors in YAML or JSON, by the id of a step or the name of a tool
  --record FILE    write the calls of upstream servers and their results to a cassette, for tests
  --workflow NAME  the workflow of the file, where it has several
  --json           print one JSON object: { status, result?, failure?, … }, or the path of --dry
  --format FORMAT  text, or json, which is --json (default: text)
${REGISTRY_HELP}`,
  OPTIONS,
  1,
  async (parsed, output) => {
    const { values, args } = parsed;
    const [name] = args;
    if (name === undefined) throw new Misuse(texts.missingWorkflow('stepwright run'));
    const pairs = readPairs(values.arg ?? []);
    const { record, dry = false, stubs, root = '.' } = values;
    if (stubs !== undefined && !dry)
      throw new Misuse('stepwright: `--stubs` is for `stepwright run --dry`, which calls no tool');
    if (record !== undefined && dry)
      throw new Misuse('stepwright: `--record` records calls, and `--dry` makes none');
    const json = values.json === true || values.format === 'json';
    const hasFiles = formatOf(name) !== undefined;
    return withRegistries(
      'run',
      { ...values, callsNothing: dry, hasFiles, specs: hasFiles ? 'sound' : 'needed' },
      output,
      async (open) => {
        const target = await find(open, name, values, output);
        if (typeof target === 'number') return target;
        // Stdout has the result alone.
        globalThis.console = new Console(process.stderr);
        if (dry) {
          return dryRunCommand({ ...target, arguments: pairs, stubs, root, json }, output);
        }
        const stop = new AbortController();
        process.once('SIGINT', () => stop.abort(new Error('interrupted')));
        const { upstream } = open.options;
        if (record !== undefined && upstream === undefined)
          throw new Misuse(
            'stepwright: `--record` records calls of upstream servers, and the project has none',
          );
        const recording =
          record === undefined || upstream === undefined
            ? undefined
            : new RecordingUpstream(upstream, secretMask(open.upstream ?? {}, process.env));
        const run = {
          registry: target.registry,
          options: recording === undefined ? open.options : { ...open.options, upstream: recording },
          workflow: target.workflow,
          workflows: target.workflows,
          args: pairs,
          signal: stop.signal,
        };
        const graph = graphOf(target);
        const outcome = runTraitsOf(graph, target.registry).needsAgent
          ? await runAsClient({ ...run, graph, choice: values, terminal: openTerminal(output) })
          : await runLocally({
              ...run,
              progress: (_progress, _total, message) => {
                if (message !== undefined) output.err(`${message}\n`);
              },
            });
        if (record !== undefined && recording !== undefined) {
          const file = path.resolve(root, record);
          await mkdir(path.dirname(file), { recursive: true });
          await writeFile(file, cassetteText(recording.cassette));
          output.err(`${texts.written(record)}\n`);
        }
        return report(outcome, json, output);
      },
    );
  },
);

function readPairs(pairs: readonly string[]): Readonly<Record<string, string>> {
  const byName = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    if (at < 1)
      throw new Misuse(
        `stepwright: \`--arg ${pair}\` has no ${pair.startsWith('=') ? 'name before the ' : ''}\`=\`: write \`--arg name=value\``,
      );
    if (byName.has(name)) throw new Misuse(`stepwright: argument \`${name}\` is given twice`);
    byName.set(name, pair.slice(at + 1));
  }
  return Object.fromEntries(byName);
}

/** A workflow that can be run, and the workflows of its file. */
interface RunTarget {
  readonly registry: Registry;
  readonly workflow: string;
  readonly workflows: readonly SpecWorkflow[];
}

function graphOf({ registry, workflow, workflows }: RunTarget): Graph {
  const inFile = workflows.find(({ graph }) => graph.name === workflow)?.graph;
  const graph = inFile ?? ownProperty(registry.workflows, workflow)?.graph;
  if (graph === undefined) throw new Error(`the registry has no workflow ${workflow}`);
  return graph;
}

/** Finds a workflow by its name, or by its file. Faults of a file are printed; the result is then the exit code. */
async function find(
  open: OpenRegistries,
  name: string,
  { root = '.', workflow }: { readonly root?: string; readonly workflow?: string },
  output: Output,
): Promise<RunTarget | number> {
  if (formatOf(name) !== undefined) return findInFile(open, { file: name, root, workflow }, output);
  if (workflow !== undefined)
    throw new Misuse(
      'stepwright: `--workflow` is for the workflows of a file: `stepwright run flights.yaml --workflow book`',
    );
  return findRegistered(open, name);
}

function findRegistered({ registries }: OpenRegistries, name: string): RunTarget {
  const [first, ...others] = registries.filter(({ registry }) => Object.hasOwn(registry.workflows, name));
  if (first === undefined) {
    const names = registries.flatMap(({ registry }) => Object.keys(registry.workflows));
    throw new Misuse(texts.unknownWorkflow(name, names));
  }
  if (others.length === 0) return { registry: first.registry, workflow: name, workflows: [] };
  const files = [first, ...others].map(({ file }) => file);
  throw new Misuse(texts.severalWorkflows(name, files));
}

async function findInFile(
  { registries }: OpenRegistries,
  {
    file,
    root,
    workflow,
  }: { readonly file: string; readonly root: string; readonly workflow: string | undefined },
  output: Output,
): Promise<RunTarget | number> {
  const [{ registry }, ...others] = registries;
  if (others.length > 0) throw new Misuse(texts.chooseRegistry(registries.map((each) => each.file)));
  const registered = environmentOf(registries);
  const { workflows, diagnostics, readSource } = await loadWorkflowFiles([file], { root, registered });
  const print = (list: readonly Diagnostic[]): void => {
    if (list.length > 0) output.err(formatDiagnostics(list, readSource, { color: output.color }));
  };
  const graphs = workflows.map(({ graph }) => graph);
  const names = graphs.map(({ name }) => name);
  const [first] = names;
  if (first === undefined) {
    print(diagnostics);
    return 1;
  }
  if (workflow === undefined && names.length > 1)
    throw new Misuse(
      `stepwright: \`${file}\` has the workflows ${and(names.map((name) => `\`${name}\``))}; choose one with \`--workflow\``,
    );
  const chosen = graphs.find(({ name }) => name === (workflow ?? first));
  if (chosen === undefined) throw new Misuse(texts.unknownWorkflow(workflow ?? first, names));
  print(diagnosticsOfChosen(diagnostics, graphs, chosen));
  const unregistered = workflows.filter((each) => !isRegistered(each, registry));
  return { registry, workflow: chosen.name, workflows: unregistered };
}

/** Whether codegen has read the workflow from its file, as it is now. */
function isRegistered(
  { graph: { tasks: _tasks, ...graph } }: SpecWorkflow,
  { workflows }: Registry,
): boolean {
  return ownProperty(workflows, graph.name)?.hash === hashGraph(graph);
}

function report(outcome: LocalOutcome, json: boolean, output: Output): number {
  if (outcome.status === 'refused') {
    throw new Misuse(texts.refusedArguments(outcome.problems));
  }
  if (json) output.out(`${JSON.stringify(outcome)}\n`);
  else if (outcome.status === 'left') output.err(`${outcome.handOff}\n`);
  else if (outcome.status !== 'succeeded')
    output.err(`${outcome.failure.code}: ${outcome.failure.message}\n`);
  else if (typeof outcome.result === 'string') output.out(`${outcome.result}\n`);
  else if (outcome.result !== undefined) output.out(`${JSON.stringify(outcome.result, null, 2)}\n`);
  if (!json && 'warnings' in outcome) {
    for (const { code, message } of outcome.warnings ?? []) output.err(`${code}: ${message}\n`);
  }
  return outcome.status === 'succeeded' ? 0 : 1;
}

/**
 * The diagnostics that concern a run of one workflow of a file: those of the workflow and of what it runs, and those that
 * are about no workflow.
 *
 * @param graphs the workflows of the file in the order of writing; the chosen one is bundled with what it runs.
 */
function diagnosticsOfChosen(
  diagnostics: readonly Diagnostic[],
  graphs: readonly Graph[],
  chosen: Graph,
): readonly Diagnostic[] {
  const concerned = new Set([chosen, ...(chosen.tasks ?? [])].map(({ name }) => name));
  return diagnostics.filter(({ place }) => {
    // Workflows follow each other in a file: one ends where the next begins.
    const around = place && graphs.findLast(({ source }) => source !== undefined && begins(source, place));
    return around === undefined || concerned.has(around.name);
  });
}

/** Whether a place is not before another one of the same file. */
function begins(start: SourceLocation, place: SourceLocation): boolean {
  if (start.file !== place.file) return false;
  const [line, column] = place.span;
  const [startLine, startColumn] = start.span;
  return startLine < line || (startLine === line && startColumn <= column);
}

/** How the client of a terminal does work. */
export interface ClientChoice {
  /** Whether commands are run without a question. */
  readonly yes?: boolean;
  readonly 'deny-shell'?: boolean;
  /** A command that does tasks: instructions on stdin, the response on stdout. */
  readonly agent?: string;
}

/** A run that a terminal plays the client of. */
interface ClientRun extends Omit<LocalRun, 'progress'> {
  readonly graph: Graph;
  readonly terminal: Terminal;
  readonly choice: ClientChoice;
}

type Action = Envelope['actions'][number];

/** What is sent for an action. */
type Answer =
  | { readonly result?: Json }
  | { readonly error: { readonly code?: string; readonly message: string } };

/** Runs a workflow to its end, and does the work of its client on a terminal. */
export async function runAsClient(run: ClientRun): Promise<LocalOutcome> {
  const reading = readArguments(run.graph.inputs, run.args, new SchemaCompiler());
  if (!reading.ok) return { status: 'refused', problems: reading.problems };
  const { terminal, registry, options, workflows = [] } = run;
  const server = untypedServer(registry, { ...options, workflows });
  try {
    return await new TerminalClient(server, run).start(reading.input);
  } finally {
    terminal.close();
    await server.drain();
  }
}

const POLL_MS = 50;

/** After so many refused results a run is not continued: a question may be for other people. */
const MOST_REFUSALS = 20;

class TerminalClient {
  readonly #server: StepwrightServer;
  readonly #run: ClientRun;
  #refusals = 0;

  constructor(server: StepwrightServer, run: ClientRun) {
    this.#server = server;
    this.#run = run;
  }

  async start(inputs: JsonObject): Promise<LocalOutcome> {
    const { workflow } = this.#run;
    let reply = await this.#call('start_workflow', { name: workflow, inputs });
    for (;;) {
      const envelope = reply as unknown as Envelope;
      const { workflow_id, status, actions } = envelope;
      if (status !== 'running' && status !== 'waiting') return outcomeOf(envelope);
      const action = actions.find(({ type }) => type !== 'wait');
      if (action === undefined) {
        await this.#pause();
        reply = await this.#call('get_workflow_status', { workflow_id });
      } else if ('children' in action.parameters) {
        for (const child of action.parameters.children) await this.#child(child.workflow_id, child.item);
        reply = await this.#call('get_workflow_status', { workflow_id });
      } else {
        const { action_id } = action;
        const sent = { workflow_id, action_id, ...(await this.#answer(action)) };
        reply =
          (await this.#submit('submit_result', sent)) ??
          (await this.#call('get_workflow_status', { workflow_id }));
      }
    }
  }

  /** Does the steps of an item of a loop that agents drive. */
  async #child(workflow_id: string, item: Json): Promise<void> {
    this.#run.terminal.print(`Task for item ${jsonText(item)}`);
    let reply = await this.#call('get_next_step', { workflow_id });
    for (;;) {
      const { status, step } = reply as unknown as { readonly status: string; readonly step?: Action };
      if (status === 'waiting') {
        await this.#pause();
        reply = await this.#call('get_next_step', { workflow_id });
      } else if (step === undefined) return;
      else {
        const { step_id, action_id } = step;
        const sent = { workflow_id, step_id, action_id, ...(await this.#answer(step)) };
        reply =
          (await this.#submit('submit_step_result', sent)) ??
          (await this.#call('get_next_step', { workflow_id }));
      }
    }
  }

  async #answer(action: Action): Promise<Answer> {
    const { step_id, schema = {} } = action;
    const refused = action.refused_values?.at(-1)?.problems ?? [];
    for (const problem of refused) this.#run.terminal.print(`Step '${step_id}': ${problem}`);
    try {
      switch (action.type) {
        case 'shell':
          return await this.#shell(step_id, action.parameters);
        case 'mcp_call':
          return await this.#tool(step_id, action.parameters);
        case 'delegate':
          if ('children' in action.parameters) throw new Error('Nested agents are not driven here');
          return await this.#delegate(step_id, action.parameters);
        case 'prompt':
          return await this.#prompt(action.parameters, schema);
        default:
          throw new Error(`Step '${step_id}' has no answer`);
      }
    } catch (fault) {
      this.#run.signal.throwIfAborted();
      if (!(fault instanceof Error)) return { error: { message: String(fault) } };
      const isLate = fault.name === 'TimeoutError';
      return { error: { ...(isLate ? { code: 'E_TIMEOUT' } : {}), message: fault.message } };
    }
  }

  async #shell(step: string, { command, argv, env, timeout }: ParametersOf<'shell'>): Promise<Answer> {
    const { terminal, choice, signal } = this.#run;
    const shown =
      argv === undefined
        ? bodyText(command.trim())
        : [command, ...argv].map((word) => jsonText(word)).join(' ');
    const variables = Object.entries(env ?? {}).map(
      ([name, value]) => `${bodyText(name)}=${jsonText(value)}`,
    );
    const what = argv === undefined ? 'command' : 'program to run without a shell';
    const more = variables.length === 0 ? '' : `, with the variables ${variables.join(' ')}`;
    terminal.print(`Step '${step}' has a ${what}${more}:\n  ${shown.replaceAll('\n', '\n  ')}`);
    if (choice['deny-shell'] === true) return denied('Commands are denied by --deny-shell');
    if (choice.yes !== true && !isYes(await terminal.ask('Run it? [y/N]')))
      return denied('The user does not run the command');
    const program = { command, ...defined({ argv, env }), timeoutMs: timeout * 1_000, signal };
    const printed = await runProgram(program);
    return { result: { ...printed } };
  }

  /** Calls a tool that the server has as well, or asks for its result. */
  async #tool(step: string, { tool, args }: ParametersOf<'mcp_call'>): Promise<Answer> {
    const { terminal, registry } = this.#run;
    terminal.print(`Step '${step}' calls ${tool} ${jsonText(args)}`);
    if (Object.hasOwn(registry.tools, tool)) {
      const result = await this.#server.callTool(tool, args, this.#request());
      return { result: result as unknown as Json };
    }
    const line = await terminal.ask('Its result, as JSON or text:');
    return line === undefined ? unanswered() : { result: jsonOrText(line) };
  }

  async #delegate(step: string, parameters: ParametersOf<'delegate'>): Promise<Answer> {
    const { instructions, agent } = parameters;
    const { terminal, choice, signal } = this.#run;
    terminal.print(
      `Step '${step}' has a task for ${agent ?? 'you'}:\n  ${instructions.replaceAll('\n', '\n  ')}`,
    );
    if (choice.agent === undefined) {
      const line = await terminal.ask('The response:');
      return line === undefined ? unanswered() : { result: { response: line } };
    }
    const env = agent === null ? {} : { env: { STEPWRIGHT_AGENT: agent } };
    const printed = await runProgram({ command: choice.agent, input: instructions, ...env, signal });
    if (printed.exit_code === 0) return { result: { response: printed.stdout.trimEnd() } };
    const why = printed.stderr.trim();
    throw new Error(`The agent ended with exit code ${printed.exit_code}${why === '' ? '' : `: ${why}`}`);
  }

  async #prompt({ message, type, options }: ParametersOf<'prompt'>, schema: JsonObject): Promise<Answer> {
    const { terminal } = this.#run;
    terminal.print(message);
    if (type === 'info') return { result: { acknowledged: true } };
    const hint = { confirm: '[y/N]', text: '>', choice: `[${options?.join('/')}]` };
    const line = await terminal.ask(
      type in hint ? hint[type as keyof typeof hint] : `JSON ${jsonText(schema)}:`,
    );
    if (line === undefined) return unanswered();
    if (type === 'confirm') return { result: { confirmed: isYes(line) } };
    if (type === 'text') return { result: { input: line } };
    return { result: type === 'choice' ? { selected: line.trim() } : jsonOrText(line) };
  }

  async #pause(): Promise<void> {
    await setTimeout(POLL_MS, undefined, { signal: this.#run.signal });
  }

  async #call(tool: string, args: JsonObject): Promise<JsonObject> {
    const result = await this.#server.callTool(tool, args, this.#request());
    if (result.structuredContent !== undefined) return result.structuredContent as JsonObject;
    throw new Error(textIn(result));
  }

  /** Undefined for a result that is refused: its action is still open, and the person reads why. */
  async #submit(tool: string, args: JsonObject): Promise<JsonObject | undefined> {
    const result = await this.#server.callTool(tool, args, this.#request());
    if (result.structuredContent !== undefined) return result.structuredContent as JsonObject;
    this.#refusals += 1;
    if (this.#refusals === MOST_REFUSALS) throw new Error(textIn(result));
    this.#run.terminal.print(textIn(result));
    return undefined;
  }

  #request() {
    const { signal } = this.#run;
    return { requestId: 'terminal', local: true, peer: {}, progress: () => {}, signal };
  }
}

type ParametersOf<T extends Action['type']> = Exclude<
  Extract<Action, { type: T }>['parameters'],
  { readonly children: unknown }
>;

function outcomeOf({ status, result, error }: Envelope): LocalOutcome {
  if (status === 'completed') return { status: 'succeeded', ...(result === undefined ? {} : { result }) };
  const { code = 'E_FAIL', message = status } = error ?? {};
  return { status: status === 'cancelled' ? 'cancelled' : 'failed', failure: { code, message } };
}

function denied(message: string): Answer {
  return { error: { message } };
}

function unanswered(): Answer {
  return { error: { code: 'E_NOBODY_TO_ASK', message: 'The input ended without an answer' } };
}

function jsonOrText(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return line;
  }
}

function textIn({ content }: ToolResult): string {
  return content.map((part) => ('text' in part ? part.text : '')).join('\n');
}
