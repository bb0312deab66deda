import { expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/model.js';
import { FaultyJournal } from '../../../src/runtime/runs/store/faulty-journal.fixture.js';
import { atDesk } from './client.js';
import { built, call, input, lit, step, trip } from './fixture/workflows.js';

const [search] = trip.nodes;
const nodes = [
  search,
  call('booking', 'create-booking', { city: input('city'), seats: lit(1) }),
  call('again', 'create-booking', { city: step('booking', 'city'), seats: lit(2) }),
  call('last', 'create-booking', { city: step('again', 'city'), seats: input('seats') }),
].flatMap((node) => node ?? []);
const journey: Graph = { ...trip, nodes };

/** The prompt of a task over a store in which a write fails, and all writes after it. */
async function promptOver(failing: number, how: 'before' | 'after') {
  const journal = new FaultyJournal((write) => (write >= failing ? how : undefined));
  const settings = { journal, log: () => {}, workflows: built([journey]) };
  const { client, desk, server } = await atDesk(settings);
  const { messages, _meta = {} } = await client.getPrompt({ name: 'trip', arguments: { city: 'Rome' } });
  const texts = messages.flatMap(({ content }) => (content.type === 'text' ? [content.text] : []));
  await server.stop();
  return { meta: _meta, texts, booked: desk.booked.length, writes: journal.writes };
}

/** The steps that book, in their order. */
const bookings = ['booking', 'again'];

interface Meta {
  readonly task_id?: string;
  readonly task_status?: string;
  readonly steps: readonly { readonly name: string; readonly status: string }[];
  readonly errors: readonly { readonly step?: string; readonly outcomeUnknown?: true }[];
  readonly calls: readonly { readonly step: string }[];
}

test.each(['before', 'after'] as const)(
  'a prompt over a store that fails %s a later write names every call that was made',
  async (how) => {
    let lost = 0;
    for (let failing = 2; ; failing += 1) {
      const { meta, texts, booked, writes } = await promptOver(failing, how);
      const { task_id, task_status, steps, errors, calls } = meta as unknown as Meta;
      const at = `write ${failing}`;
      expect(task_id, at).toEqual(expect.any(String));
      expect(task_status, at).toBe('working');
      const last = texts.at(-1) ?? '';
      for (const made of bookings.slice(0, booked)) {
        const isCompleted = steps.some(({ name, status }) => name === made && status === 'completed');
        const isUnknown = errors.some(
          ({ step: failed, outcomeUnknown }) => failed === made && outcomeUnknown,
        );
        expect(isCompleted || isUnknown, `${made} at ${at}`).toBe(true);
        const named = new RegExp(`at step ${made}\\. The outcome of this call is unknown|of step '${made}'`);
        if (!isCompleted) expect(last, at).toMatch(named);
        expect(
          calls.map((listed) => listed.step),
          at,
        ).not.toContain(made);
      }
      if (writes < failing) break;
      lost += 1;
    }
    expect(lost).toBeGreaterThan(2);
  },
);
