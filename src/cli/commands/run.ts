import { Console } from 'node:console';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadWorkflowFiles } from '../../formats/load-files.js';
import type { SpecWorkflow } from '../../formats/spec-files.js';
import { formatOf } from '../../formats/text/read-text.js';
import { hashGraph } from '../../graph/canonical.js';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import { ownProperty } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { Registry } from '../../runtime/index.js';
import { runTraitsOf } from '../../runtime/server/composite/served-workflows.js';
import { type LocalOutcome, runLocally } from '../../runtime/server/local-run.js';
import { cassetteText, RecordingUpstream } from '../../runtime/upstream/cassette.js';
import { secretMask } from '../../runtime/upstream/config.js';
import { and, Misuse, type Output, optionCommand, REGISTRY_HELP, texts } from '../command-line.js';
import { environmentOf, type OpenRegistries, REGISTRY_OPTIONS, withRegistries } from '../registries.js';
import { dryRunCommand } from './dry-run.js';
import { runAsClient } from './run-client.js';
import { openTerminal } from './terminal.js';

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
