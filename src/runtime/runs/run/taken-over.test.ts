import { describe, expect, test, vi } from 'vitest';
import { defined } from '../../../graph/defined.js';
import type { Graph } from '../../../graph/model.js';
import { undo } from '../../engine/constructs.fixture.js';
import { again, call, chain, graph } from '../../engine/graph.fixture.js';
import { remainsOf } from '../../engine/read.js';
import type { ToolOutcome } from '../../tools/port.js';
import { FaultyJournal } from '../store/faulty-journal.fixture.js';
import { MemoryJournal } from '../store/memory-journal.js';
import { settle } from '../store.fixture.js';
import type { FakeClock } from './fake-clock.fixture.js';
import { LiveRun } from './live-run.js';
import type { RunHost } from './run-host.js';
import { never, ok, port, Setup, type Tool } from './setup.fixture.js';

const of = graph(chain(call('a', {}, { retry: again(1) }), call('b')));

const fails = (attempted: boolean): ToolOutcome => ({
  ok: false,
  attempted,
  failure: { code: 'E_TOOL', message: 'no' },
});

interface TakeOver extends Partial<Pick<RunHost, 'toolSafety' | 'holdsUnsafeCalls'>> {
  readonly graph?: Graph;
  readonly deadlineMs?: number;
  /** How long no process has the run, in ms. */
  readonly downMs?: number;
  readonly journal?: MemoryJournal;
}

const clocks = new WeakMap<LiveRun, FakeClock>();

/** A run whose process ended while `a` was in flight, and that another one has loaded. */
async function takenOver(
  tools: Readonly<Record<string, Tool>>,
  { graph: started = of, downMs = 0, journal = new MemoryJournal(), ...more }: TakeOver = {},
): Promise<LiveRun> {
  const { toolSafety = () => 'none', holdsUnsafeCalls = false, deadlineMs } = more;
  const options = { journal, toolSafety, ...defined({ deadlineMs }) };
  void new Setup().run(started, { 'tool-a': never }, options);
  await vi.waitFor(() => expect(journal.runs).toEqual(['run-1']), 20_000);
  const loaded = await journal.load('run-1');
  if (loaded === undefined) throw new Error('the journal has no run');
  const context = { requestId: '1', progress() {} };
  const { clock } = new Setup();
  clock.pass(downMs);
  const host = { calls: port(tools), clock, journal, holdsUnsafeCalls };
  const run = new LiveRun({ graph: started, loaded, context }, host, () => {});
  clocks.set(run, clock);
  return run;
}

async function ended(run: LiveRun, begins = true): Promise<unknown> {
  if (begins) run.go();
  await vi.waitFor(() => expect(run.liveStatus).toBe('over'), 20_000);
  return remainsOf(run.state.plan, run.state).unknown;
}

describe('a call of a run that was taken over', () => {
  test.each([true, false])('may have been made before, where it fails: attempted %s', async (attempted) => {
    const tool = vi.fn<Tool>(() => fails(attempted));
    expect(await ended(await takenOver({ 'tool-a': tool }))).toEqual([{ step: 'a', tool: 'tool-a' }]);
    // It is tried again as a call that was made.
    expect(tool).toHaveBeenCalledTimes(2);
  });

  test('has its outcome where it succeeds', async () => {
    const run = await takenOver({ 'tool-a': () => ok(1), 'tool-b': () => ok(2) });
    expect([await ended(run), run.state.run.status]).toEqual([[], 'succeeded']);
  });

  test('that is made for the first time fails as every other', async () => {
    const run = await takenOver({ 'tool-a': () => ok(1), 'tool-b': () => fails(true) });
    expect([await ended(run), run.state.run.failure]).toEqual([[], { code: 'E_TOOL', message: 'no' }]);
  });

  test('has failed for sure where its tool only reads', async () => {
    const run = await takenOver({ 'tool-a': () => fails(true) }, { toolSafety: () => 'readOnly' });
    expect([await ended(run), run.state.run.failure]).toEqual([[], { code: 'E_TOOL', message: 'no' }]);
  });

  test('may have been made where the run is cancelled before it is made again', async () => {
    const tool = vi.fn<Tool>(() => ok(1));
    const run = await takenOver({ 'tool-a': tool });
    run.cancel('enough');
    expect([await ended(run), tool.mock.calls]).toEqual([[{ step: 'a', tool: 'tool-a' }], []]);
  });
});

describe('the time in which no process has a run', () => {
  const toolSafety = () => 'key' as const;
  const downMs = 65_000;
  const one = graph([call('a')]);
  const codeOf = (run: LiveRun): string | undefined => run.state.run.failure?.code;

  test('does not count against the limit of a call', async () => {
    const run = await takenOver({ 'tool-a': () => ok(1) }, { graph: one, toolSafety, downMs });
    await ended(run);
    expect(run.state.run.status).toBe('succeeded');
  });

  test('a call that is made again has its whole limit', async () => {
    const run = await takenOver({ 'tool-a': never }, { graph: one, toolSafety, downMs });
    run.go();
    clocks.get(run)?.pass(59_999);
    await settle();
    expect(run.liveStatus).toBe('busy');
    clocks.get(run)?.pass(1);
    await ended(run, false);
    expect(run.state.run.failure).toMatchObject({ code: 'E_TIMEOUT', message: 'Timed out after 60000 ms.' });
  });

  test('counts against the deadline of the run: no call is made after it', async () => {
    const tool = vi.fn<Tool>(() => ok(1));
    const run = await takenOver({ 'tool-a': tool }, { graph: one, toolSafety, downMs, deadlineMs: 60_000 });
    run.go();
    clocks.get(run)?.pass(0);
    await ended(run, false);
    expect([codeOf(run), tool.mock.calls]).toEqual(['E_DEADLINE', []]);
  });

  test('a call that is made again is limited by the deadline of the run', async () => {
    const run = await takenOver({ 'tool-a': never }, { graph: one, toolSafety, downMs, deadlineMs: 70_000 });
    run.go();
    clocks.get(run)?.pass(5_000);
    await ended(run, false);
    expect(codeOf(run)).toBe('E_DEADLINE');
  });

  test('is left out as well after a write that failed', async () => {
    const journal = new FaultyJournal((write) => (write === 2 ? 'before' : undefined));
    const both = graph([call('a'), call('b')]);
    const tools = { 'tool-a': never, 'tool-b': () => ok(2) };
    const run = await takenOver(tools, { graph: both, toolSafety, downMs, journal });
    run.go();
    await vi.waitFor(() => expect(journal.writes).toBe(3), 20_000);
    await settle();
    clocks.get(run)?.pass(59_999);
    await settle();
    expect(run.liveStatus).toBe('busy');
  });
});

describe('a call that is held', () => {
  const one = graph([call('a', {}, { compensate: undo('undo-a') })]);

  test('is not waited for once its run is cancelled with compensation: its outcome is unknown', async () => {
    const run = await takenOver({}, { graph: one, holdsUnsafeCalls: true });
    run.go();
    expect(run.heldCalls).toHaveLength(1);
    run.cancel('enough', { compensate: true });
    expect(await ended(run, false)).toEqual([{ step: 'a', tool: 'tool-a' }]);
    expect(run.state.run.status).toBe('cancelled');
  });

  test('fails in a task, so that its step waits for its result or another attempt', async () => {
    const run = await takenOver({}, { graph: { ...one, task: true }, holdsUnsafeCalls: true });
    run.go();
    await vi.waitFor(() => expect(run.heldCalls).toEqual([]), 20_000);
    expect([...run.asks.values()].map(({ action }) => action)).toMatchObject([
      { type: 'step', tool: 'tool-a', failure: { code: 'E_CALL_LOST', outcomeUnknown: true } },
    ]);
  });
});
