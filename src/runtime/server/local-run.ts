import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { hashGraph } from '../../graph/canonical.js';
import { defined } from '../../graph/defined.js';
import type { Json } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import type { RunWarning } from '../../graph/run-time-codes.js';
import { planOf } from '../../plan/compile.js';
import type { Failure } from '../engine/contract.js';
import { remainsOf } from '../engine/read.js';
import { valuePort } from '../runs/actions/model-values.js';
import { type RemainingEffects, remainingEffectsOf } from '../runs/run/envelope.js';
import { runInProcess } from '../runs/run/run-in-process.js';
import { RunMask } from '../secrets/run-mask.js';
import type { UntypedFactories } from '../tools/instances.js';
import type { Registry } from '../tools/registry.js';
import { createToolset } from '../tools/toolset.js';
import type { HandOffCall, PromptTrace } from '../trace/messages.js';
import { createProgress, type ReportProgress } from '../trace/progress.js';
import { createTrace } from '../trace/trace.js';
import { START_TIMEOUT_MS } from '../upstream/port.js';
import { type ArgumentProblem, readArguments } from './catalogue/arguments.js';
import { warningsOf } from './composite/results.js';
import { type RunnableWorkflow, servedWorkflows } from './composite/served-workflows.js';
import { Lifecycle } from './lifecycle.js';
import { type ResolvedSettings, resolveSettings, type ServerSettings } from './options.js';
import { RegistrationError } from './registrations.js';
import { verifyCurrent } from './verify-sources.js';

/** How a local run ended. */
export type LocalOutcome =
  | (LocalRemains & { readonly status: 'succeeded'; readonly result?: Json })
  | (LocalRemains & { readonly status: 'failed' | 'cancelled'; readonly failure: Failure })
  /** It was left at a value that a model supplies: `handOff` says what to do, and `calls` lists what remains. */
  | { readonly status: 'left'; readonly handOff: string; readonly calls: readonly HandOffCall[] }
  /** The run was not started. */
  | { readonly status: 'refused'; readonly problems: readonly ArgumentProblem[] };

/** What somebody has to look after now that the run is over: usually nothing. */
interface LocalRemains extends RemainingEffects {
  /** The same in sentences. */
  readonly warnings?: readonly RunWarning[];
}

/** The start of a run in this process, for the user of this process. */
export interface LocalRun {
  readonly registry: Registry;
  readonly options: ServerSettings & UntypedFactories;
  /** A workflow of the registry, or of `workflows`. */
  readonly workflow: string;
  /** Workflows besides those of the registry. */
  readonly workflows?: readonly { readonly graph: Graph }[];
  /** The arguments as texts, as a prompt takes them. */
  readonly args: Readonly<Record<string, string>>;
  readonly progress: ReportProgress;
  /** Cancels the run. */
  readonly signal: AbortSignal;
}

/**
 * Runs a workflow of a registry to its end, without a server and without a limit on its time. A question fails the run
 * with `E_NOBODY_TO_ASK`. A value that a model supplies comes from `model` of the options; without it the run is left
 * there, with the hand-off of a prompt. Secrets are masked.
 *
 * @throws StaleRegistryError, FactoriesError as `createServer` does.
 * @throws RegistrationError where the names of workflows' tools are not unique.
 * @throws ServerStartError when `onStart` throws.
 * @throws Error for a workflow that the registry does not have.
 */
export async function runLocally({
  registry,
  options,
  workflow,
  workflows: built = [],
  args,
  progress: report,
  signal,
}: LocalRun): Promise<LocalOutcome> {
  verifyCurrent(registry);
  const settings = resolveSettings(options);
  const schemas = new SchemaCompiler();
  const toolset = createToolset<Registry>(registry, { ...options, ...settings, schemas });
  const runnable = built.map(({ graph }) => ({ graph, hash: hashGraph(graph) }));
  const { workflows, problems } = servedWorkflows(registry, runnable, settings.workflowPrefix);
  if (problems.length > 0) throw new RegistrationError(problems);
  const served = workflows.get(workflow);
  if (served === undefined) throw new Error(`the registry has no workflow ${workflow}`);
  const { graph } = served;
  const reading = readArguments(graph.inputs, args, schemas);
  if (!reading.ok) return { status: 'refused', problems: reading.problems };
  const { input } = reading;
  const { secretInputs, toolSafety } = toolset;
  const mask = new RunMask(graph, { input, argumentTexts: Object.entries(args), secretInputs });
  const progress = createProgress(graph, report);
  const trace = createTrace({
    graph,
    mask,
    describeTool: (name) => toolset.describeTool(name),
    isPrivate: toolset.isPrivate,
    args: Object.entries(args),
    instructions: [],
  });
  const lifecycle = new Lifecycle(settings.hooks, settings.log);
  const stop = async (): Promise<void> => {
    await lifecycle.stop(settings.drainTimeoutMs);
    await settings.upstream?.close();
  };
  await lifecycle.start();
  const drift = await driftOf(served, registry, settings);
  if (drift !== undefined) {
    await stop();
    return { status: 'failed', failure: drift };
  }
  const { status, result, failure, state } = await runInProcess({
    graph,
    input,
    runId: settings.newRunId(),
    mask,
    calls: toolset,
    toolSafety,
    signal,
    context: { requestId: 'local', principal: { kind: 'local' }, peer: {}, progress: progress.ofTool },
    observe(fact, run) {
      trace.observe(fact, run);
      progress.observe(fact, run);
    },
    leavesValues: true,
    values: valuePort({ ...settings, schemas }),
    ...defined({ journal: settings.journal, telemetry: settings.telemetry }),
  }).finally(stop);
  if (status === 'running') return handedOff(trace.finish(state));
  const remains = remainingEffectsOf({ mask, remains: remainsOf(planOf(graph), state) });
  const warnings = warningsOf(remains);
  const remainsAndWarnings: LocalRemains = warnings.length === 0 ? {} : { ...remains, warnings };
  if (status === 'succeeded') {
    return {
      status,
      ...(result === undefined ? {} : { result: mask.result(result, state.run.endedBy) }),
      ...remainsAndWarnings,
    };
  }
  const { code = 'E_FAIL', message = status } = failure ?? {};
  return {
    status: status === 'cancelled' ? 'cancelled' : 'failed',
    failure: { code, message: mask.text(message) },
    ...remainsAndWarnings,
  };
}

/** Why upstream servers keep a workflow from running, if they do. */
async function driftOf(
  workflow: RunnableWorkflow,
  registry: Registry,
  { upstream, log }: ResolvedSettings,
): Promise<Failure | undefined> {
  if (upstream === undefined) return undefined;
  const { UpstreamDrift } = await import('./catalogue/upstream-drift.js');
  // The limits of its calls begin when a process that was never started before is there.
  const drift = new UpstreamDrift({ registry, upstream, log, listTimeoutMs: START_TIMEOUT_MS });
  await drift.add([workflow]);
  return drift.failureOf(workflow);
}

/** The last messages of a conversation that its reader continues: the guidance of the calls, and the hand-off. */
function handedOff({ messages, _meta: { calls } }: PromptTrace): LocalOutcome {
  const count = 1 + calls.filter(({ guidance }) => guidance !== undefined).length;
  const texts = messages.slice(-count).map(({ content }) => (content.type === 'text' ? content.text : ''));
  return { status: 'left', handOff: texts.join('\n\n'), calls };
}
