import { type Answerer, describeAnswerers } from '../graph/answerers.js';
import type { JsonObject } from '../graph/json.js';
import { singleLine } from '../graph/printable-text.js';

interface ListedRun {
  readonly run: string;
  readonly status: string;
  readonly workflow: string;
  readonly started_at: string;
  readonly ended_at?: string;
  readonly waits_for?: readonly { readonly for: string; readonly of: string; readonly until?: string }[];
  readonly missing_capabilities?: readonly { readonly kind: string; readonly name: string }[];
}

export function runLines(runs: readonly ListedRun[]): string {
  const rows = runs.map(({ run, status, workflow, started_at, ended_at = '', ...waits }) => [
    ...[run, status, singleLine(workflow)],
    ...[started_at, ended_at, waitsText(waits)],
  ]);
  return table([['RUN', 'STATUS', 'WORKFLOW', 'STARTED', 'ENDED', 'WAITS FOR'], ...rows]);
}

/** The first few of what a run waits for. */
function waitsText({
  waits_for = [],
  missing_capabilities = [],
}: Pick<ListedRun, 'waits_for' | 'missing_capabilities'>): string {
  const all = [
    ...missing_capabilities.map(needText),
    ...waits_for.map(({ for: what, of, until }) =>
      what === 'time' ? `${until} (${of})` : `${what} ${of}${until === undefined ? '' : ` until ${until}`}`,
    ),
  ];
  const more = all.length > MOST_WAITS ? [`and ${all.length - MOST_WAITS} more`] : [];
  return singleLine([...all.slice(0, MOST_WAITS), ...more].join(', '));
}

/** What a run needs that is not there. */
export function needText({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return kind === 'worker'
    ? `a worker of the queue ${name}: start \`stepwright worker\``
    : `a server with ${kind} ${name}`;
}

const MOST_WAITS = 3;

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}

/** How a store does. */
interface ShownMetrics {
  readonly open: number;
  readonly waiting: number;
  readonly paused: number;
  readonly missing: number;
  readonly finished: number;
  readonly inbox: number;
  readonly overdue: number;
  readonly next_due_at?: string;
  readonly servers: readonly {
    readonly id: string;
    readonly runs: number;
    readonly beat: number;
    readonly lease_ms: number;
  }[];
  readonly bytes: number;
}

/** Metrics of a store, with a line for each topic. */
export function metricsText(metrics: ShownMetrics): string {
  const {
    open,
    waiting,
    paused,
    missing,
    finished,
    inbox,
    overdue,
    next_due_at: next,
    servers,
    bytes,
  } = metrics;
  const unserved = missing === 0 ? '' : `, ${missing} without a server that has their tools`;
  const lines = [
    `runs: ${open} open (${waiting} waiting, ${paused} paused${unserved}), ${finished} finished`,
    `inbox: ${inbox} sent and not taken`,
    `times: ${overdue} overdue, the next one ${next ?? 'none'}`,
    `size: ${bytes} bytes`,
    ...servers.map(
      ({ id, runs, beat, lease_ms: lease }) => `server ${id}: ${runs} runs, beat ${beat}, lease ${lease} ms`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

interface ShownRun {
  readonly run: string;
  readonly status: string;
  readonly definition: { readonly name: string; readonly version?: string };
  readonly steps: readonly { readonly step_id: string; readonly status: string }[];
  readonly calls: readonly {
    readonly step_id: string;
    readonly tool: string;
    readonly attempt: number;
    readonly retry_safety: string;
  }[];
  readonly paused_steps?: readonly { readonly step_id: string; readonly tool: string }[];
  readonly actions: readonly {
    readonly action_id: string;
    readonly type: string;
    readonly parameters: object;
    readonly answer_by?: readonly Answerer[];
    readonly expires_at?: string;
    readonly reminded_at?: string;
  }[];
}

/** A question or a wait has a message; work of the client is shown with all its parameters. */
function parametersText(parameters: object): string {
  return 'message' in parameters ? String(parameters.message) : JSON.stringify(parameters);
}

/** A run as an outline: a line for each step, call and question, then what else is known of it. */
export function runText(shownRun: ShownRun): string {
  const { run, status, definition, steps, calls, actions, paused_steps: paused = [], ...rest } = shownRun;
  const { name, version } = definition;
  const part = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
  const lines = [
    `${run}  ${status}  ${singleLine(version === undefined ? name : `${name} ${version}`)}`,
    ...part(
      'steps',
      steps.map((step) => `${step.step_id}: ${step.status}`),
    ),
    ...part(
      'calls without a result',
      calls.map(
        ({ step_id, tool, attempt, retry_safety }) =>
          `${step_id}: ${tool}, attempt ${attempt}, retry safety ${retry_safety}`,
      ),
    ),
    ...part(
      'paused: an operator decides',
      paused.flatMap(({ step_id, tool }) => [
        singleLine(
          `${step_id}: ${tool} may have taken effect before its server stopped; find out, then type`,
        ),
        singleLine(`  stepwright runs answer ${run} happened VALUE --call ${step_id}`),
        singleLine(`  stepwright runs answer ${run} did-not-happen --call ${step_id}`),
      ]),
    ),
    ...part(
      'waits for',
      actions.map(({ action_id, type, parameters, answer_by = OWNER, expires_at, reminded_at }) => {
        const by = type === 'prompt' ? [`by ${describeAnswerers(answer_by)}`] : [];
        const reminder = reminded_at === undefined ? [] : [`reminded at ${reminded_at}`];
        const about = [...by, ...(expires_at === undefined ? [] : [`until ${expires_at}`]), ...reminder].join(
          ', ',
        );
        return singleLine(`${action_id}: ${parametersText(parameters)}${about === '' ? '' : ` (${about})`}`);
      }),
    ),
    ...Object.entries(rest as JsonObject).map(
      ([key, value]) => `${key}: ${singleLine(typeof value === 'string' ? value : JSON.stringify(value))}`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** Who answers a question that names no one else. */
const OWNER: readonly Answerer[] = [{ kind: 'owner' }];

export function eventLine({ entry, at, kind, ...rest }: JsonObject): string {
  return `${entry}  ${at}  ${kind}  ${singleLine(JSON.stringify(rest))}\n`;
}
