import { defined } from '../../../graph/defined.js';
import { Budget } from '../../../graph/expression/evaluate.js';
import type { Json, JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import type { RunState } from '../../engine/contract.js';
import { Evaluation } from '../../engine/evaluation.js';
import { nodeRecord, outputOf } from '../../engine/read.js';
import type { Envelope } from '../../runs/run/envelope.js';
import type { InspectedRun } from '../../runs/run-store.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { isListed, type Ledger, stepsMeta } from '../../trace/ledger.js';
import type {
  HandOffCall,
  PauseReason,
  StepMeta,
  StepStatus,
  TaskStatus,
  TraceError,
} from '../../trace/messages.js';
import { pauseFacts } from '../../trace/paused-calls.js';
import { storedLedger } from '../../trace/stored-ledger.js';
import { closingOf, type TracedRun } from '../../trace/trace.js';
import {
  progressVariable,
  WORKFLOW_PAUSE_REASON_KEY,
  WORKFLOW_PROGRESS_KEY,
  WORKFLOW_SCHEMA_VERSION,
  type WorkflowProgress,
  type WorkflowStepProgress,
  type WorkflowStepStatus,
  workflowResultKey,
} from './progress.js';

/** What `_meta` says of a task: of a prompt, and of each call that continues it. Plain JSON. */
export type TaskMeta = {
  readonly task_id: string;
  readonly task_status: TaskStatus;
  readonly steps: readonly WorkflowStepProgress[];
  /** Of a task that did not succeed: why it stopped, or what it waits for. */
  readonly pause_reason?: PauseReason;
  /** The calls that continue a paused task: one for each step that waits to be made, in the order of the plan. */
  readonly next?: readonly HandOffCall[];
};

function taskStatusOf({ status, actions }: Pick<Envelope, 'status' | 'actions'>): TaskStatus {
  if (status === 'completed' || status === 'failed' || status === 'cancelled') return status;
  const isAsking = actions.some(({ type }) => type !== 'wait' && type !== 'step');
  return status === 'waiting' && isAsking ? 'input_required' : 'working';
}

/** What is known of a task from an account of its run. */
export interface TaskAccount {
  readonly steps: readonly StepMeta[];
  readonly pause_reason?: PauseReason;
  readonly calls: readonly HandOffCall[];
  readonly errors: readonly TraceError[];
}

/** What `_meta` says of a task, from an account of its run. */
export function taskMeta(
  { workflow_id, ...envelope }: Pick<Envelope, 'workflow_id' | 'status' | 'actions'>,
  { steps, pause_reason, calls }: Omit<TaskAccount, 'errors'>,
  toolOf: (step: string) => string | undefined,
): TaskMeta {
  const open = new Set(
    envelope.actions.flatMap((action) => (action.type === 'step' ? [action.step_id] : [])),
  );
  const status = taskStatusOf({ ...envelope });
  const next = calls.filter(({ step, undoes }) => undoes !== true && open.has(step));
  return {
    task_id: workflow_id,
    task_status: status,
    steps: steps.map(({ name, status }) => ({
      name,
      ...defined({ tool: toolOf(name) }),
      status: STATUSES[status],
    })),
    // A task that was cancelled does not wait for the step that it was paused at.
    ...(status === 'cancelled' ? {} : defined({ pause_reason })),
    ...(next.length === 0 ? {} : { next }),
  };
}

const STATUSES: Readonly<Record<StepStatus, WorkflowStepStatus>> = {
  pending: 'pending',
  running: 'pending',
  waiting: 'pending',
  completed: 'completed',
  failed: 'failed',
  // Another step took its place.
  handled: 'failed',
  skipped: 'skipped',
};

/** What is known of the tools of a run. */
export type KnownTools = Omit<TracedRun, 'graph' | 'mask'>;

/** A task, as a request finds it. */
export interface InspectedTask {
  readonly meta: TaskMeta;
  /** The values of the steps that have succeeded, by step; of one with a summary, that. */
  readonly results: JsonObject;
  readonly variables: JsonObject;
}

export function inspectTask(run: InspectedRun, tools: KnownTools): InspectedTask {
  const { graph, envelope, state, mask } = run;
  if (state === undefined) {
    const meta = taskMeta(envelope, { steps: [], calls: [] }, () => undefined);
    return { meta, results: {}, variables: run.variables };
  }
  const ledger = storedLedger(state);
  const account = accountOf(run, state, ledger, tools);
  const meta = taskMeta(envelope, account, toolsOf(ledger));
  const results = resultsOf(graph, state, mask);
  const failed = account.errors.flatMap(({ step, message }) =>
    step === undefined ? [] : [[step, { error: message }] as const],
  );
  const values = Object.entries({ ...Object.fromEntries(failed), ...results });
  const progress: WorkflowProgress = {
    goal: `${graph.name}: ${graph.description}`,
    steps: meta.steps,
    schemaVersion: WORKFLOW_SCHEMA_VERSION,
  };
  const variables = {
    [WORKFLOW_PROGRESS_KEY]: progressVariable(progress),
    ...Object.fromEntries(values.map(([step, value]) => [workflowResultKey(step), value])),
    ...(meta.pause_reason === undefined ? {} : { [WORKFLOW_PAUSE_REASON_KEY]: { ...meta.pause_reason } }),
    ...run.variables,
  };
  return { meta, results, variables };
}

/** The tool of a step of a plan, by its key. */
export function toolsOf(ledger: Pick<Ledger, 'find'>): (step: string) => string | undefined {
  return (step) => {
    const node = ledger.find(step)?.planned.node;
    return node?.kind === 'call' ? node.tool : undefined;
  };
}

/** The account of a run by its state. */
function accountOf(
  { graph, mask }: Pick<InspectedRun, 'graph' | 'mask'>,
  state: RunState,
  ledger: Ledger,
  tools: KnownTools,
): TaskAccount {
  for (const fact of pauseFacts(state)) ledger.observe(fact, state);
  const { status, id } = state.run;
  const steps = stepsMeta(ledger, status === 'running');
  if (status === 'succeeded') return { steps, calls: [], errors: [] };
  const run = { ...tools, graph, mask, ledger, state };
  const { pause_reason, calls, errors } = closingOf(run, { workflowId: id });
  return { steps, pause_reason, calls, errors };
}

/** What one summary may cost. See `Budget` for the unit. */
const SUMMARY_BUDGET = 1_000_000;

/** The values of the steps at the top that have succeeded. Secrets are masked. */
export function resultsOf({ nodes }: Graph, state: RunState, mask: RunMask): JsonObject {
  const results: [string, Json][] = [];
  for (const node of nodes) {
    const { id, summary } = node;
    const value = outputOf(state, id);
    if (!isListed(node) || nodeRecord(state, id)?.status !== 'succeeded' || value === undefined) continue;
    const text =
      summary && new Evaluation(state, new Budget(SUMMARY_BUDGET), state.root).text(summary, 'summary');
    const isSummed = text?.ok === true && text.value !== '';
    results.push([id, isSummed ? mask.text(text.value) : mask.outputOf(id, value)]);
  }
  return Object.fromEntries(results);
}
