import { expect, test } from 'vitest';
import { body, foreach, item, wait } from '../../engine/constructs.fixture.js';
import { graph, lit } from '../../engine/graph.fixture.js';
import { Setup } from './setup.fixture.js';

test('100,000 waits are open at once: one timer for each run, and all of them fire on time', async () => {
  const [runs, rows] = [10, 16];
  const times = Array.from({ length: 40 }, (_, index) => ((index * 7_919) % 1_000) + 1);
  const many = lit(Array.from({ length: rows }, (_, index) => index));
  const all = { concurrency: 50 };
  const inner = foreach('inner', lit(times), body([wait('pause', { durationMs: item('item') })]), all);
  const middle = foreach('middle', many, body([inner]), { ...all, as: 'row' });
  const outer = foreach('outer', many, body([middle]), { ...all, as: 'page' });
  const setup = new Setup();
  let open = 0;
  let fired = 0;
  let late = 0;
  const observe: Parameters<Setup['run']>[2] = {
    observe(fact) {
      if (fact.kind === 'waiting') open += 1;
      if (fact.kind !== 'partEnded' || !fact.node.startsWith('inner') || fact.index === undefined) return;
      fired += 1;
      if (setup.clock.now() !== 1_000 + (times[fact.index] ?? 0)) late += 1;
    },
  };
  const of = graph([outer]);
  const running = Array.from({ length: runs }, (_, run) =>
    setup.run(of, {}, { ...observe, runId: `run-${run}` }),
  );
  expect(open).toBe(runs * rows * rows * times.length);
  expect(open).toBeGreaterThan(100_000);
  expect(setup.clock.pending).toBe(runs);
  setup.clock.pass(500);
  expect(fired).toBe((open / times.length) * times.filter((time) => time <= 500).length);
  setup.clock.pass(500);
  const outcomes = await Promise.all(running);
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['succeeded']));
  expect([fired, late, setup.clock.pending]).toEqual([open, 0, 0]);
});
