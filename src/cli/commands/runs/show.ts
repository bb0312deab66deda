import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import { eventLine, runLines, runText } from '../../../print/runs.js';
import { type ListedRow, type StoreReader, shownState } from '../../../runtime/runs/store/reader.js';
import { changeSince, type Definitions } from '../../../runtime/server/definitions.js';
import {
  COMMON,
  DEFINITION_OPTIONS,
  type NamedRun,
  namesRegistry,
  numberIn,
  REGISTRY,
  RUN,
  STORE_OPTIONS,
  storeCommand,
  withDefinitions,
  withRun,
} from './store-command.js';

const LIST_OPTIONS = {
  ...STORE_OPTIONS,
  status: { type: 'string', oneOf: ['running', 'waiting', 'paused', 'completed', 'failed', 'cancelled'] },
  workflow: { type: 'string' },
  limit: { type: 'string' },
  before: { type: 'string' },
} as const;

/** `stepwright runs list`: lists the runs of a store, the latest first. */
export const listRuns = storeCommand(
  'stepwright runs list',
  `Usage: stepwright runs list --store STORE [options]

Lists runs, the latest first. A run is named by 12 hexadecimal digits: its id, which reaches the run, is not shown.

Options:
  --status STATUS  running, waiting, paused, completed, failed or cancelled (default: all)
  --workflow NAME  runs of this workflow (default: all)
  --limit N        how many, 1 to 1000 (default: 50)
  --before N       runs before the number that \`next\` gives (default: the latest)
${COMMON}`,
  LIST_OPTIONS,
  0,
  async (store, { values }, output) => {
    const limit = numberIn('limit', values.limit, { least: 1, most: 1_000 }) ?? 50;
    const before = numberIn('before', values.before, { least: 1 });
    const { status, workflow } = values;
    const matches = await store.read((reader) =>
      reader.list({
        // One more says whether there are more.
        limit: limit + 1,
        ...(status === undefined ? {} : { state: status === 'completed' ? 'succeeded' : status }),
        ...defined({ workflow, before }),
      }),
    );
    const rows = matches.slice(0, limit);
    const next = matches.length > limit ? rows.at(-1)?.n : undefined;
    const runs = rows.map(listed);
    if (values.json) output.out(`${JSON.stringify({ runs, ...defined({ next }) })}\n`);
    else if (runs.length === 0) output.err('no run\n');
    else output.out(runLines(runs));
    if (next !== undefined && !values.json) output.err(`there are more: add \`--before ${next}\`\n`);
    return 0;
  },
);

function listed({ ref, workflow, state, startedAt, endedAt, waits, missing }: ListedRow) {
  return {
    run: ref,
    workflow,
    status: shownState(state),
    started_at: time(startedAt),
    ...(endedAt === undefined ? {} : { ended_at: time(endedAt) }),
    ...(waits.length === 0
      ? {}
      : {
          waits_for: waits.map(({ until, ...wait }) => ({
            ...wait,
            ...(until === undefined ? {} : { until: time(until) }),
          })),
        }),
    ...(missing.length === 0 ? {} : { missing_capabilities: missing }),
  };
}

function time(at: number): string {
  return new Date(at).toISOString();
}

/** What was sent to a run and is not taken: values are left out. */
function storedItem({ kind, at, by, content }: NamedRun['inbox'][number]) {
  const { command, action_id, actionId = action_id, step, reason } = content;
  return {
    kind: kind === 'operator' ? String(command) : kind,
    at: time(at),
    ...defined({ by, action_id: actionId, step_id: step, reason }),
  };
}

/** `stepwright runs show RUN`: shows a run of a store. */
export const showRun = storeCommand(
  'stepwright runs show',
  `Usage: stepwright runs show RUN --store STORE [options]

Shows a run: its status and steps, what it waits for, calls whose result is not known, and how it ended.
With a registry it shows whether the workflow was changed since the run started, and which of its tools are gone.
${RUN}

Options:
${COMMON}${REGISTRY}`,
  DEFINITION_OPTIONS,
  1,
  (store, { values, args }, output) => {
    const show = (definitions?: readonly Definitions[]): Promise<number> =>
      withRun(store, args[0], 'stepwright runs show', output, ({ run, graph, head, inbox, missing }) => {
        const change = definitions === undefined ? {} : changeSince(definitions, graph, head.graph);
        const view = {
          ...run.view,
          ...(missing.length === 0 ? {} : { missing_capabilities: missing }),
          ...change,
          ...(inbox.length === 0 ? {} : { stored: inbox.map(storedItem) }),
        };
        output.out(values.json ? `${JSON.stringify(view, null, 2)}\n` : runText(view));
        return 0;
      });
    return namesRegistry(values) ? withDefinitions('runs show', values, output, show) : show();
  },
);

const EVENT_OPTIONS = { ...STORE_OPTIONS, from: { type: 'string' }, to: { type: 'string' } } as const;

/** Entries that are read at once: a long log does not fill the memory. */
const PAGE = 500;

/** `stepwright runs events RUN`: shows the log of a run. */
export const showEvents = storeCommand(
  'stepwright runs events',
  `Usage: stepwright runs events RUN --store STORE [options]

Shows the log of a run: what it took in, in order. Each event has the number of its entry.
${RUN}

Options:
  --from N         entries from this number on (default: 1)
  --to N           entries up to this number (default: the last)
${COMMON}`,
  EVENT_OPTIONS,
  1,
  async (store, parsed, output) => {
    const { values, args } = parsed;
    const from = numberIn('from', values.from, { least: 1 }) ?? 1;
    const to = numberIn('to', values.to, { least: from }) ?? Number.MAX_SAFE_INTEGER;
    return withRun(store, args[0], 'stepwright runs events', output, async (run, reader) => {
      for await (const event of eventsOf(run, reader, from, to))
        output.out(values.json ? `${JSON.stringify(event)}\n` : eventLine(event));
      return 0;
    });
  },
);

/** The events of the entries from one number to another, as they are shown. */
async function* eventsOf(
  { head, run }: NamedRun,
  reader: StoreReader,
  from: number,
  to: number,
): AsyncGenerator<JsonObject> {
  const last = Math.min(to, head.seq);
  for (let at = from; at <= last; at += PAGE) {
    for (const { seq, events } of await reader.entries(head, at, Math.min(PAGE, last - at + 1)))
      for (const event of events) yield { entry: seq, ...run.event(event) };
  }
}

/** `stepwright runs export RUN`: prints a run with its log and its graph. */
export const exportRun = storeCommand(
  'stepwright runs export',
  `Usage: stepwright runs export RUN --store STORE [options]

Prints a run as one JSON value: its state, its log and its graph. ${RUN}

Options:
${COMMON}`,
  STORE_OPTIONS,
  1,
  (store, { args }, output) =>
    withRun(store, args[0], 'stepwright runs export', output, async (run, reader) => {
      const events: JsonObject[] = [];
      for await (const event of eventsOf(run, reader, 1, run.head.seq)) events.push(event);
      const { view, graph } = run.run;
      output.out(`${JSON.stringify({ ...view, graph, events }, null, 2)}\n`);
      return 0;
    }),
);
