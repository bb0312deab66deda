// Goes on with the runs of a store until each has ended, starts another one, and is killed at a point of it: before a
// commit, after a commit, or after an effect of a tool. Prints the id of a run that was acknowledged, and `whole` where
// there is no such point. Arguments: path of the store, path of the ledger, name of a workflow, number of the point.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { SchemaCompiler } from '../../src/formats/json-schema/schema-compiler.js';
import type { Json } from '../../src/graph/json.js';
import { type OperatorCommand, operatorItem } from '../../src/runtime/runs/actions/operator-commands.js';
import { JournalRunStore } from '../../src/runtime/runs/journal-run-store.js';
import { processClock } from '../../src/runtime/runs/run/clock.js';
import { FILE_LIMITS, type Waiter } from '../../src/runtime/runs/run-store.js';
import { SqliteJournal } from '../../src/runtime/runs/store/sqlite/sqlite-journal.js';
import { ada, broken, ok } from '../../src/runtime/runs/store.fixture.js';
import { runRef } from '../../src/runtime/tools/port.js';
import { BROKEN, CRASH_WORKFLOWS, ONCE } from './crash-workflows.js';

const [path = '', ledger = '', workflow = '', point = ''] = process.argv.slice(2);

let points: number | undefined;

function reached(): void {
  if (points === undefined) return;
  points += 1;
  if (points === Number(point)) process.kill(process.pid, 'SIGKILL');
}

const journal = await SqliteJournal.open(path, { leaseMs: 60, pollMs: 5 });
const append = journal.append.bind(journal);
journal.append = async (entry) => {
  reached();
  await append(entry);
  reached();
};

const store = new JournalRunStore(
  { hasRuns: true, open: async () => ({ journal }) },
  {
    calls: {
      async callTool(tool, _input, { idempotencyKey, origin }) {
        if (origin?.source !== 'workflow') throw new Error('a call of no workflow');
        appendFileSync(ledger, `${origin.run} ${origin.node} ${tool} ${idempotencyKey}\n`);
        reached();
        return tool === BROKEN ? broken('no') : ok(tool);
      },
      readResource: async (_name, uri) => ({ ok: true, value: { uri } }),
      evaluate: async () => ok(null),
    },
    schemas: new SchemaCompiler(),
    clock: processClock,
    secretInputs: () => [],
    toolSafety: (tool) => (tool === ONCE ? 'none' : 'key'),
    holdsUnsafeCalls: true,
    log: (text, { level }) => {
      if (level === 'error') process.stderr.write(`${text}\n`);
    },
    newRunId: () => crypto.randomUUID(),
    limits: FILE_LIMITS,
  },
);

const waiter = (): Waiter => ({
  answerMs: 45_000,
  request: {
    signal: new AbortController().signal,
    requestId: '1',
    progress: () => {},
    principal: ada,
  },
});

/** What an operator knows who looks into the ledger. */
function decision(run: string, node: string): OperatorCommand {
  const effects = existsSync(ledger) ? readFileSync(ledger, 'utf8') : '';
  return {
    command: 'decide',
    step: node,
    outcome: effects.includes(`${runRef(run)} ${node} `)
      ? { kind: 'happened', value: ONCE }
      : { kind: 'didNotHappen' },
  };
}

/** What is submitted for actions, by their types. */
const RESULTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['prompt', true],
  ['shell', { exit_code: 0 }],
  ['delegate', 'done'],
  ['mcp_call', { ok: true }],
  ['step', 'made outside'],
]);

/** Agents do one step each. */
async function work(children: readonly { readonly workflow_id: string }[]): Promise<void> {
  for (const { workflow_id: child } of children) {
    const answer = await store.nextStep(ada, child, waiter());
    if (!answer.ok || answer.next.status !== 'pending_step') continue;
    const { action_id: actionId, type } = answer.next.step;
    const result = RESULTS.get(type);
    if (result !== undefined) await store.nextStep(ada, child, waiter(), { actionId, result });
  }
}

async function attend(run: string): Promise<void> {
  const answer = await store.get(ada, run);
  if (!answer.ok) return;
  for (const action of answer.envelope.actions ?? []) {
    const { action_id: actionId, type } = action;
    const result = RESULTS.get(type);
    if ('children' in action.parameters) await work(action.parameters.children);
    else if (result !== undefined) await store.submit(ada, run, { actionId, result }, waiter());
  }
  for (const { step_id: step } of answer.envelope.paused_steps ?? []) {
    const head = { run, id: `decide ${step}`, at: processClock.now() };
    await journal.send(operatorItem(head, decision(run, step), { kind: 'operator', name: 'test' }));
  }
}

async function finishAll(): Promise<void> {
  for (;;) {
    const open = await journal.openRuns();
    if (open.length === 0) return;
    for (const { run } of open) await attend(run);
    await delay(2);
  }
}

await store.resumeAll();
await finishAll();
const graph = Object.entries(CRASH_WORKFLOWS).find(([name]) => name === workflow)?.[1];
if (graph !== undefined) {
  points = 0;
  const started = await store.start({ owner: ada, graph, input: {} }, waiter());
  if (started.ok) process.stdout.write(`${started.envelope.workflow_id}\n`);
  await finishAll();
  points = undefined;
  process.stdout.write('whole\n');
}
store.endAll('the end');
process.exit();
