import { describe, expect, test } from 'vitest';
import type { Expr } from '../../graph/expression/tree.js';
import type { JsonObject } from '../../graph/json.js';
import type { Graph, Input } from '../../graph/model.js';
import {
  ask,
  body,
  field,
  foreach,
  item,
  parallel,
  required,
  set,
  undo,
  wait,
} from '../engine/constructs.fixture.js';
import { call, chain, done, graph, input, lit, step, stop, text } from '../engine/graph.fixture.js';
import { RunMask } from '../secrets/run-mask.js';
import { createProgress } from '../trace/progress.js';
import { createTrace } from '../trace/trace.js';
import type { Submission } from './actions/action.js';
import type { SubmitAnswer } from './run/envelope.js';
import { FaultyJournal } from './store/faulty-journal.fixture.js';
import type { JournalEntry } from './store/journal.js';
import { MemoryJournal } from './store/memory-journal.js';
import { ada, broken, codeOf, copyOf, eve, ok, Store, settle, type Tool } from './store.fixture.js';

const fn = (name: string, ...args: Expr[]): Expr => ({ kind: 'call', fn: name, args });
const secret = (name: string): Input => ({ ...required(name), secret: true });

/** What happens to a run from outside, and when, in ms since the epoch. */
interface Step {
  readonly at: number;
  readonly answer?: Submission;
  readonly cancel?: { readonly compensate?: boolean };
}

interface Scenario {
  readonly of: Graph;
  readonly input?: JsonObject;
  readonly given?: readonly (readonly [string, string])[];
  readonly tools?: Readonly<Record<string, Tool>>;
  readonly steps: readonly Step[];
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'a secret of items that are over': {
    of: graph(
      chain(
        foreach(
          'each',
          fn('split.js', input('token'), lit(':')),
          body([call('say', { key: fn('toUpperCase.js', item('item')) })]),
        ),
        ask('sure'),
        call('tell'),
        done('out', step('tell')),
      ),
      { inputs: [secret('token')] },
    ),
    input: { token: 'lovelace:hunter2' },
    tools: { 'tool-say': () => ok(null), 'tool-tell': () => ok('LOVELACE has HUNTER2') },
    steps: [{ at: 1_100, answer: { result: true } }],
  },
  'an argument as it was written': {
    of: graph(chain(ask('sure'), call('tell'), done('out', step('tell'))), { inputs: [secret('pin')] }),
    input: { pin: 471_100 },
    given: [['pin', '4711e2']],
    tools: { 'tool-tell': () => ok('it came as 4711e2, and is 471100') },
    steps: [{ at: 1_100, answer: { result: true } }],
  },
  'a field of the state that held a secret': {
    of: graph(
      chain(
        set('keep', { note: fn('toUpperCase.js', input('pin')) }),
        ask('sure'),
        done('out', text('it is ', field('note'))),
      ),
      { inputs: [secret('pin')], state: [{ name: 'note', scope: 'run', schema: {} }] },
    ),
    input: { pin: 'ab' },
    steps: [{ at: 1_100, answer: { result: true } }],
  },
  'a result that may repeat a secret too short to be searched for': {
    of: graph(
      chain(
        ask('pin', 'text'),
        call('login', { pin: step('pin', 'input') }),
        ask('sure'),
        stop('no', text('after ', step('login', 'greeting'))),
      ),
    ),
    tools: { 'tool-login': () => ok({ greeting: 'hello 7', on: true }) },
    steps: [
      { at: 1_100, answer: { actionId: 'pin#1', result: '7' } },
      { at: 1_200, answer: { actionId: 'sure#1', result: true } },
    ],
  },
  'answers of every kind, one in other words, one too late': {
    of: graph(
      chain(
        ask('read', 'info'),
        ask('really'),
        ask('what', 'text', { timeoutMs: 100, onError: { value: lit({ input: 'nothing' }) } }),
        ask('which', 'choice', { options: lit(['one', 'two']) }),
        ask('more', 'yield', { expects: { type: 'object' } }),
        ask('never', 'confirm', { onError: { value: lit({ confirmed: false }) } }),
        done('out', step('more')),
      ),
    ),
    steps: [
      { at: 1_100, answer: {} },
      { at: 1_200, answer: { actionId: 'really#1', result: '{"confirmed":true}' } },
      { at: 1_400 },
      { at: 1_500, answer: { actionId: 'which#1', result: 'two' } },
      { at: 1_600, answer: { result: { list: [1, { deep: 'x' }] } } },
      { at: 1_700, answer: { actionId: 'never#1', error: { message: 'do not know' } } },
    ],
  },
  'several actions, a time, and a question that is withdrawn': {
    of: graph(
      chain(
        parallel('both', {
          left: body([ask('one'), wait('nap', { durationMs: lit(500) }), ask('two')], step('two')),
          right: body([ask('three'), call('break', {}, { tool: 'tool-read-break' })]),
        }),
        done('out', step('both')),
      ),
    ),
    tools: { 'tool-read-break': () => broken('no') },
    steps: [
      { at: 1_100, answer: { actionId: 'one#1', result: true } },
      { at: 1_200, answer: { actionId: 'three#1', result: true } },
    ],
  },
  'a run that is cancelled, and undone': {
    of: graph(
      chain(call('book', {}, { compensate: undo('tool-unbook') }), ask('sure'), done('out', step('book'))),
    ),
    tools: { 'tool-book': () => ok({ id: 7 }), 'tool-unbook': () => ok(null) },
    steps: [
      { at: 1_100, cancel: { compensate: true } },
      { at: 1_200, cancel: { compensate: true } },
    ],
  },
};

const secretInputs = (tool: string): readonly string[] => (tool === 'tool-login' ? ['pin'] : []);

/** A journal that knows when each entry was written. */
class TimedJournal extends MemoryJournal {
  readonly times: number[] = [];
  now: () => number = () => 0;

  override async append(entry: JournalEntry): Promise<void> {
    this.times.push(this.now());
    return super.append(entry);
  }
}

async function rest(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await settle();
}

async function take(store: Store, { at, answer, cancel }: Step): Promise<void> {
  const now = store.clock.now();
  if (at > now) store.clock.pass(at - now);
  await rest();
  if (answer !== undefined) await store.submit('run-1', answer);
  if (cancel !== undefined) await store.store.cancel(ada, 'run-1', cancel, store.waiter());
  await rest();
}

const shownOf = (answer: SubmitAnswer) =>
  answer.ok ? { warnings: answer.warnings } : { failure: answer.failure };

/** All responses to callers of a run, and to answers that change nothing. */
async function told(store: Store, { steps }: Scenario) {
  const repeated = steps.flatMap(({ answer }): Submission[] => {
    if (answer === undefined) return [];
    const { actionId: _, ...rest } = answer;
    return [answer, rest, { ...answer, result: 'something else' }];
  });
  const open = (await store.get('run-1')).actions.length;
  const unfit: Submission[] = [
    { actionId: 'nowhere#1', result: 1 },
    { actionId: 'what#1', result: 'too late' },
    { actionId: 'nap#1', result: true },
    { actionId: 'two#1', error: 7 },
  ];
  // An answer without an action id is taken for the one that is open.
  const sent = [...repeated, ...unfit].filter(({ actionId }) => actionId !== undefined || open !== 1);
  const answers: unknown[] = [];
  for (const each of sent) {
    if (each.actionId !== undefined && (await isOpen(store, each.actionId))) continue;
    answers.push([each, shownOf(await store.submit('run-1', each))]);
  }
  const envelope = await store.get('run-1');
  if (envelope.status !== 'waiting') {
    const late = await store.store.cancel(ada, 'run-1', { compensate: true }, store.waiter());
    answers.push(['cancel', shownOf(late)]);
  }
  return {
    envelope,
    list: await store.store.list(ada),
    others: [await store.store.list(eve), shownOf(await store.store.get(eve, 'run-1'))],
    answers,
  };
}

async function isOpen(store: Store, action: string): Promise<boolean> {
  return (await store.get('run-1')).actions.some(({ action_id }) => action_id === action);
}

function storeOf({ tools }: Scenario, journal: MemoryJournal, now = 1_000): Store {
  const store = new Store(tools, {}, journal);
  store.clock.pass(now - store.clock.now());
  return store;
}

/** Runs a scenario, and gives what was told whenever the run rested, with the number of entries that were written by then. */
async function play(scenario: Scenario) {
  const journal = new TimedJournal();
  const store = storeOf(scenario, journal);
  journal.now = () => store.clock.now();
  const { of, given } = scenario;
  const start = scenario.input ?? {};
  const mask = new RunMask(of, {
    input: start,
    secretInputs,
    ...(given === undefined ? {} : { argumentTexts: given }),
  });
  const request = store.waiter();
  await store.store.start({ owner: ada, graph: of, input: start, mask }, request);
  const rests = [];
  for (const each of [undefined, ...scenario.steps]) {
    if (each !== undefined) await take(store, each);
    const entries = journal.times.length;
    rests.push({ entries, now: store.clock.now(), told: await told(store, scenario) });
  }
  return { journal, store, rests };
}

/** What does not depend on when it happened. */
function timeless(told: unknown): unknown {
  const times = /"(created_at|expires_at|started_at|ended_at|resume_at)":"[^"]*"/g;
  return JSON.parse(JSON.stringify(told).replace(times, '"$1":""'));
}

describe.each(Object.entries(scenarios))('%s: a run that is taken over', (_name, scenario) => {
  test('while it rests tells what it told before', async () => {
    const { journal, rests } = await play(scenario);
    expect(rests.length).toBe(scenario.steps.length + 1);
    for (const { entries, now, told: before } of rests) {
      const store = storeOf(scenario, await copyOf(journal, entries), now);
      await store.store.resumeAll();
      await rest();
      expect(await told(store, scenario)).toEqual(before);
    }
  });

  test('after any entry comes to the same end', async () => {
    const { journal, rests } = await play(scenario);
    const last = rests.at(-1);
    for (let count = 1; count <= (last?.entries ?? 0); count += 1) {
      const store = storeOf(scenario, await copyOf(journal, count), journal.times[count - 1]);
      await store.store.resumeAll();
      await rest();
      for (const each of scenario.steps) await take(store, each);
      expect(timeless(await told(store, scenario))).toEqual(timeless(last?.told));
      expect(store.log).toEqual([]);
    }
  });
});

describe.each(Object.entries(scenarios))('%s: a run whose journal fails', (_name, scenario) => {
  /** What the request that starts the run is told until it is answered, and how the run is in the end. */
  async function tracedWith(journal: MemoryJournal) {
    const { of, input: start = {}, given = [] } = scenario;
    const store = storeOf(scenario, journal);
    const mask = new RunMask(of, { input: start, argumentTexts: given, secretInputs });
    const trace = createTrace({
      graph: of,
      mask,
      describeTool: () => undefined,
      args: given,
      instructions: [],
    });
    const reports: unknown[] = [];
    const progress = createProgress(of, (...report) => reports.push(report));
    let traced: unknown;
    const waiter = store.waiter({
      observe(fact, state) {
        trace.observe(fact, state);
        progress.observe(fact, state);
      },
      conclude: (state) => {
        traced = trace.finish(state, { workflowId: 'run-1' });
      },
    });
    await store.store.start({ owner: ada, graph: of, input: start, mask }, waiter);
    for (const each of scenario.steps) await take(store, each);
    return { traced, reports, told: await told(store, scenario) };
  }

  test.each(['before', 'after'] as const)(
    '%s any write tells the same, also once it is taken over',
    async (how) => {
      const journal = new FaultyJournal(() => undefined);
      const expected = await tracedWith(journal);
      expect(expected.traced).toBeDefined();
      for (let failing = 1; failing <= journal.writes; failing += 1) {
        const faulty = new FaultyJournal((write) => (write === failing ? how : undefined));
        expect(await tracedWith(faulty)).toEqual(expected);
        const store = storeOf(scenario, await copyOf(faulty), scenario.steps.at(-1)?.at);
        await store.store.resumeAll();
        await rest();
        expect(await told(store, scenario)).toEqual(expected.told);
      }
    },
  );
});

test('a run that the journal does not have cannot be taken over', async () => {
  for (const store of [new Store(), new Store({}, {}, new MemoryJournal())]) {
    await store.store.resumeAll();
    expect(codeOf(await store.store.get(ada, 'run-1'))).toBe('WORKFLOW_NOT_FOUND');
  }
});
