import { beforeAll, expect, test } from 'vitest';
import { ask } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, graph } from '../../src/runtime/engine/graph.fixture.js';
import { ada, codeOf, ok } from '../../src/runtime/runs/store.fixture.js';
import { isNightly } from '../nightly.js';
import { describeTemporal, TemporalHost } from './host.js';

const PAIRS = isNightly ? 1_000 : 100;

describeTemporal('two answers at once', () => {
  const payments = new Map<string, number>();
  const host = new TemporalHost({
    'tool-pay': (_input, { origin }) => {
      const run = origin?.source === 'workflow' ? origin.run : '';
      payments.set(run, (payments.get(run) ?? 0) + 1);
      return ok(null);
    },
  });
  beforeAll(() => host.store.open?.());

  test(
    `are accepted once, in ${PAIRS} runs`,
    async () => {
      const steps = graph(chain(ask('sure'), call('pay'), ask('next')));
      let next = 0;
      const lane = async (): Promise<void> => {
        while (next < PAIRS) {
          next += 1;
          const { workflow_id: id } = await host.start(steps);
          const send = (result: boolean) =>
            host.store.submit(ada, id, { actionId: 'sure#1', result }, host.waiter());
          const answers = await Promise.all([send(true), send(false)]);
          expect(answers.map(codeOf).sort()).toEqual(['ALREADY_SUBMITTED', 'accepted']);
          const winner = codeOf(answers[0]) === 'accepted';
          expect(await send(winner)).toEqual(answers[winner ? 0 : 1]);
          await host.store.cancel(ada, id, {}, host.waiter());
        }
      };
      await Promise.all(Array.from({ length: 10 }, lane));
      expect(payments.size).toBe(PAIRS);
      expect(Math.max(...payments.values())).toBe(1);
    },
    60_000 + 300 * PAIRS,
  );
});
