import { expect, test, vi } from 'vitest';
import { body, foreach } from '../../engine/constructs.fixture.js';
import { call, chain, compute, graph, lit } from '../../engine/graph.fixture.js';
import { FaultyJournal } from '../store/faulty-journal.fixture.js';
import { Turns } from './clock.js';
import { ok, Setup, type Tool } from './setup.fixture.js';

const items = lit(Array.from({ length: 300 }, (_, index) => index));
const inner = foreach('inner', items, body([compute('one', lit(1))]));
/** A loop of 90,000 items without a call: nothing comes from outside until it is over. */
const loop = graph([foreach('outer', items, body([inner]), { as: 'row' })]);

/** A run whose turns of the event loop are over as soon as they begin. */
function setupOfShortTurns() {
  const setup = new Setup();
  let now = 0;
  return { setup, clock: Object.assign(setup.clock, { turns: new Turns(() => (now += 100)) }) };
}

test('a loop of 90,000 items leaves turns of the event loop to others, and ends', async () => {
  const { setup, clock } = setupOfShortTurns();
  let turns = 0;
  const running = setup.run(loop, {}, { clock, observe() {} });
  let isOver = false;
  void running.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    turns += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await running).status).toBe('succeeded');
  expect(turns).toBeGreaterThan(9);
});

test('a cancellation that comes meanwhile keeps from starting what comes behind the loop', async () => {
  const { setup, clock } = setupOfShortTurns();
  const outer = foreach('outer', items, body([inner]), { as: 'row' });
  const called = vi.fn<Tool>(() => ok(1));
  setImmediate(() => setup.abort.abort());
  const of = graph(chain(outer, call('behind')));
  const outcome = await setup.run(of, { 'tool-behind': called }, { clock, observe() {} });
  expect(outcome.status).toBe('cancelled');
  expect(called).not.toHaveBeenCalled();
});

test('a journal has an entry without events for each transition it takes, and a failed one is made again', async () => {
  const events: number[] = [];
  const journal = new FaultyJournal((write, entry) => {
    events.push(entry.events.length);
    return write === 3 ? 'before' : write === 5 ? 'after' : undefined;
  });
  let ended = 0;
  const outcome = await new Setup().run(
    loop,
    {},
    {
      journal,
      observe: (fact) => {
        if (fact.kind === 'partEnded' && fact.node.startsWith('inner')) ended += 1;
      },
    },
  );
  expect([outcome.status, ended]).toEqual(['succeeded', 90_000]);
  expect(events.length).toBeGreaterThan(9);
  expect(events.every((count) => count === 0)).toBe(true);
});
