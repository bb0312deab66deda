import { environmentOf } from '../check/environment.js';
import type { ArgsOf } from '../decorators/arg.js';
import type { ToolContext } from '../decorators/context.js';
import { readMetadata } from '../decorators/metadata.js';
import type { ResultOf } from '../decorators/verbs.js';
import { loadWorkflowFiles } from '../formats/load-files.js';
import { formatOf } from '../formats/text/read-text.js';
import { hashGraph } from '../graph/canonical.js';
import { formatDiagnostics } from '../graph/diagnostics/format.js';
import type { Json, JsonObject } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import { nearestName, withSuggestion } from '../graph/names.js';
import { sampleResult } from '../runtime/runs/operate/stubs.js';
import { servedWorkflows } from '../runtime/server/composite/served-workflows.js';
import type { ServerSettings } from '../runtime/server/options.js';
import type { WorkflowArguments, WorkflowResultOf } from '../runtime/server/stepwright-server.js';
import type { UntypedFactories } from '../runtime/tools/instances.js';
import type { AnyClass, Registry, ToolEntry } from '../runtime/tools/registry.js';
import { type ScriptedRun, TestedRun } from './tested-run.js';

/** A workflow by its class, by its name in a registry, or by its file. */
type WorkflowOf<R extends Registry> =
  | (new () => object)
  | (keyof R['workflows'] & string)
  | `${string}.${'yaml' | 'yml' | 'json' | 'xml'}`;

type ArgumentsFor<R extends Registry, W> = W extends keyof R['workflows']
  ? WorkflowArguments<R, W>
  : W extends new () => infer I
    ? ArgsOf<I>
    : Readonly<Record<string, Json>>;

type ResultFor<R extends Registry, W> = W extends keyof R['workflows']
  ? WorkflowResultOf<R, W>
  : W extends new () => infer I
    ? ResultOf<I>
    : unknown;

/** How a workflow is tested. */
export interface WorkflowTestOptions<R extends Registry, Args = unknown>
  extends ScriptedRun<keyof R['tools'] & string> {
  /** The arguments, as a program gives them. */
  readonly args?: Args;
  /** What answers in the place of tools, by their names. Default: the tools themselves. */
  readonly tools?: ToolStubs<R>;
  /** What the other tools do. Default: `'real'`. */
  readonly otherTools?: OtherTools;
  /** The workflow of a file that has several. */
  readonly workflow?: string;
  /** Options of the server: factories of classes as `tools`, `middleware`, `upstream` with doubles. */
  readonly server?: Omit<ServerSettings, 'store' | 'journal' | 'model'> & UntypedFactories;
}

/**
 * Runs a workflow in this process, on the engine and with the checks of a server. Resolves when the run is over, or when it
 * waits for what the test has not said.
 *
 * @param workflow its class, its name in the registry, or a file of YAML, JSON or XML.
 * @throws TypeError for a workflow or a tool that the registry does not have.
 * @throws Error for arguments that do not fit, and for a file with errors.
 * @example
 * ```ts
 * const run = await testWorkflow(registry, TakeNote, {
 *   args: { text: 'Buy bread' },
 *   tools: { 'list-notes': () => ({ notes: [] }), 'add-note': [{ number: 1 }] },
 *   answers: { confirm: true },
 * });
 * expect(run.result).toEqual({ number: 1 });
 * ```
 */
export async function testWorkflow<const R extends Registry, W extends WorkflowOf<R>>(
  registry: R,
  workflow: W,
  options: WorkflowTestOptions<R, ArgumentsFor<R, W>> = {},
): Promise<TestedRun<ResultFor<R, W>>> {
  checkOptions(registry, workflow, options);
  const { tools = {}, otherTools = 'real', server = {}, args = {}, ...how } = options;
  const graph = await graphOf(registry, workflow, options.workflow);
  const stubs = stubFactories(registry, tools, otherTools, server.tools);
  const run = new TestedRun<ResultFor<R, W>>(registry, graph, {
    ...how,
    server: { log: () => {}, ...server, tools: { ...server.tools, ...stubs } },
  });
  runs.add(run);
  await run.start(args as JsonObject);
  return run;
}

/** The values of options that are one of several words; others are free. */
const OPTIONS: Readonly<Record<keyof WorkflowTestOptions<Registry>, readonly string[] | undefined>> = {
  ...{ args: undefined, tools: undefined, otherTools: ['real', 'sample', 'refuse'], workflow: undefined },
  ...{ server: undefined, answers: undefined, model: undefined, clock: ['skip', 'hold'] },
  ...{ startsAt: undefined, owner: undefined, crashAt: undefined },
};

/** @throws TypeError for what only a test without types can give. */
function checkOptions(registry: unknown, workflow: unknown, options: object): void {
  for (const [name, value] of Object.entries({ registry, workflow }))
    if (value === undefined || value === null)
      throw new TypeError(
        `The ${name} is ${value}: import it from its own module; modules that import each other see it too early`,
      );
  if (typeof (registry as Partial<Registry>).registryVersion !== 'number')
    throw new TypeError(
      `The registry is not one, but a value of type ${typeof registry}: pass \`registry\` of a module that codegen wrote`,
    );
  if (typeof workflow !== 'string' && typeof workflow !== 'function')
    throw new TypeError(
      `The workflow is ${JSON.stringify(workflow)}: pass its class, its name in the registry, or a file`,
    );
  const names = Object.keys(OPTIONS);
  for (const [name, value] of Object.entries(options)) {
    if (!names.includes(name))
      throw new TypeError(withSuggestion(`There is no option '${name}'`, nearestName(name, names)));
    checkWord(name, value, OPTIONS[name as keyof typeof OPTIONS]);
  }
  const { crashAt, startsAt } = options as ScriptedRun;
  checkWord('crashAt.when', crashAt?.when, ['before', 'after']);
  if (startsAt !== undefined && !(startsAt instanceof Date && Number.isFinite(startsAt.getTime())))
    throw new TypeError(
      `\`startsAt\` is a valid Date, not ${String(startsAt)}: write new Date('2026-01-01')`,
    );
}

function checkWord(name: string, value: unknown, words: readonly string[] | undefined): void {
  if (value === undefined || words === undefined || words.some((word) => word === value)) return;
  const list = words.map((word) => `'${word}'`).join(' or ');
  throw new TypeError(`\`${name}\` is ${list}, not ${JSON.stringify(value)}`);
}

const runs = new Set<TestedRun<unknown>>();

/** Stops the runs that tests have left open, with the hooks of their servers: `afterEach(stopRuns)`. */
export async function stopRuns(): Promise<void> {
  const open = [...runs];
  runs.clear();
  await Promise.all(open.map((run) => run.stop()));
}

async function graphOf(
  registry: Registry,
  workflow: string | (new () => object),
  inFile: string | undefined,
): Promise<Graph> {
  const name = typeof workflow === 'string' ? workflow : nameOf(workflow);
  const file = formatOf(name) === undefined ? undefined : await graphsIn(name, registry);
  const { workflows } = servedWorkflows(
    registry,
    (file ?? []).map(({ graph }) => ({ graph, hash: hashGraph(graph) })),
  );
  const names = file?.map(({ graph }) => graph.name) ?? [...workflows.keys()];
  const chosen = file === undefined ? name : (inFile ?? (names.length === 1 ? names[0] : undefined));
  if (chosen === undefined)
    throw new TypeError(`${name} has the workflows ${names.join(', ')}: choose one with \`workflow\``);
  const served = names.includes(chosen) ? workflows.get(chosen) : undefined;
  if (served !== undefined) return served.graph;
  const where = file === undefined ? 'The registry' : name;
  throw new TypeError(withSuggestion(`${where} has no workflow '${chosen}'`, nearestName(chosen, names)));
}

function nameOf(workflow: new () => object): string {
  const metadata = readMetadata(workflow);
  if (metadata?.kind === 'workflow') return metadata.options.name;
  throw new TypeError(`${workflow.name} is not a workflow: give it the decorator @Workflow`);
}

async function graphsIn(file: string, registry: Registry): Promise<readonly { readonly graph: Graph }[]> {
  const graphs = Object.values(registry.workflows).map(({ graph }) => graph);
  const registered = environmentOf(registry, graphs);
  const { workflows, diagnostics, readSource } = await loadWorkflowFiles([file], { registered });
  if (workflows.length > 0) return workflows;
  throw new Error(formatDiagnostics(diagnostics, readSource, { color: false }));
}

type InstanceOf<C extends AnyClass> = C extends abstract new (...args: never[]) => infer I ? I : never;

type OutputOf<I> = I extends { execute(...args: never[]): infer Output } ? Awaited<Output> : unknown;

type InputOf<I> = I extends { execute(input: infer Input, ...rest: never[]): unknown } ? Input : unknown;

/** What answers in the place of a tool, with the types of its class. */
type ToolStub<I> =
  /** Gets the input, the context, and which call of the tool it is, counted from 1. */
  | ((input: InputOf<I>, context: ToolContext, call: number) => OutputOf<I> | Promise<OutputOf<I>>)
  /** The result of each call; the last one is repeated. A call whose result is an `Error` fails with it. */
  | readonly (OutputOf<I> | Error)[];

/** Stubs by the name of the tool. */
export type ToolStubs<R extends Registry> = {
  readonly [N in keyof R['tools']]?: ToolStub<InstanceOf<R['tools'][N]['class']>>;
};

/** What tools without a stub do: their own work, a value made up from the output schema, or refuse each call. */
export type OtherTools = 'real' | 'sample' | 'refuse';

type AnyStub = ToolStub<{ execute(input: unknown, context: ToolContext): unknown }>;

/** A tool in the place of an instance of its class. */
interface Instance {
  execute(input: unknown, context: ToolContext): unknown;
}

/**
 * Factories that put stubs in the place of the instances of tools. They count calls across restarts of a server.
 *
 * @param factories those of the test, for tools that do their own work.
 * @throws TypeError for a stub of a tool that the registry does not have.
 */
function stubFactories(
  { tools }: Registry,
  stubs: Readonly<Record<string, unknown>>,
  others: OtherTools,
  factories: object = {},
): Readonly<Record<string, () => Instance>> {
  const names = Object.keys(tools);
  for (const name of Object.keys(stubs))
    if (!names.includes(name))
      throw new TypeError(withSuggestion(`There is no tool '${name}' to stub`, nearestName(name, names)));
  return Object.fromEntries(
    Object.entries(tools).flatMap(([name, entry]) => {
      const other = Object.hasOwn(factories, name) ? undefined : otherStub(name, entry, others);
      const stub = Object.hasOwn(stubs, name) ? (stubs[name] as AnyStub) : other;
      if (stub === undefined) return [];
      const instance = instanceOf(name, stub);
      return [[name, () => instance] as const];
    }),
  );
}

function otherStub(name: string, entry: ToolEntry, others: OtherTools): AnyStub | undefined {
  if (others === 'real' && entry.class.length === 0) return undefined;
  const sample = others === 'sample' ? sampleResult(entry) : undefined;
  if (sample !== undefined) return [sample];
  const why = { real: ': its class needs a factory', sample: ': it has no output schema', refuse: '' }[
    others
  ];
  return [
    new Error(
      `Tool '${name}' is not called in tests${why}. Give the test a stub: tools: { '${name}': () => … }`,
    ),
  ];
}

/** @throws TypeError for a stub that is neither a function nor a list with a result. */
function instanceOf(name: string, stub: AnyStub): Instance {
  if (typeof stub !== 'function' && !Array.isArray(stub))
    throw new TypeError(
      `The stub of '${name}' is ${stub === null ? 'null' : `of type ${typeof stub}`}: write a function, or a list of results: tools: { '${name}': [result] }`,
    );
  if (stub.length === 0 && typeof stub !== 'function')
    throw new TypeError(
      `The stub of '${name}' is a list without a result: write tools: { '${name}': [result] }`,
    );
  let calls = 0;
  return {
    async execute(input, context) {
      calls += 1;
      if (typeof stub === 'function') return stub(input, context, calls);
      const result = stub[calls - 1] ?? stub.at(-1);
      if (result instanceof Error) throw result;
      return result;
    },
  };
}
