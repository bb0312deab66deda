import { describe, expect, test, vi } from 'vitest';
import { planOf } from '../../../plan/compile.js';
import { again, call, chain, graph } from '../../engine/graph.fixture.js';
import { remainsOf } from '../../engine/read.js';
import type { ToolOutcome } from '../../tools/port.js';
import { MemoryJournal } from '../store/memory-journal.js';
import { LiveRun } from './live-run.js';
import type { RunHost } from './run-host.js';
import { never, ok, port, Setup, type Tool } from './setup.fixture.js';

const of = graph(chain(call('a', {}, { retry: again(1) }), call('b')));

const fails = (attempted: boolean): ToolOutcome => ({
  ok: false,
  attempted,
  failure: { code: 'E_TOOL', message: 'no' },
});

/** A run whose process ended while `a` was in flight, and that another one has loaded. */
async function takenOver(
  tools: Readonly<Record<string, Tool>>,
  toolSafety: RunHost['toolSafety'] = () => 'none',
): Promise<LiveRun> {
  const journal = new MemoryJournal();
  void new Setup().run(of, { 'tool-a': never }, { journal, toolSafety });
  await vi.waitFor(() => expect(journal.runs).toEqual(['run-1']));
  const loaded = await journal.load('run-1');
  if (loaded === undefined) throw new Error('the journal has no run');
  const context = { requestId: '1', progress() {} };
  const host = { calls: port(tools), clock: new Setup().clock };
  return new LiveRun({ graph: of, loaded, context }, host, () => {});
}

async function ended(run: LiveRun): Promise<unknown> {
  run.go();
  await vi.waitFor(() => expect(run.liveStatus).toBe('over'));
  return remainsOf(planOf(of), run.state).unknown;
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
    const run = await takenOver({ 'tool-a': () => fails(true) }, () => 'readOnly');
    expect([await ended(run), run.state.run.failure]).toEqual([[], { code: 'E_TOOL', message: 'no' }]);
  });

  test('may have been made where the run is cancelled before it is made again', async () => {
    const tool = vi.fn<Tool>(() => ok(1));
    const run = await takenOver({ 'tool-a': tool });
    run.cancel('enough');
    expect([await ended(run), tool.mock.calls]).toEqual([[{ step: 'a', tool: 'tool-a' }], []]);
  });
});
