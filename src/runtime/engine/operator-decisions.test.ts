import { describe, expect, test } from 'vitest';
import type { Event } from './events.js';
import { again, call, chain, done, error, graph, lit, Run, step, stop } from './graph.fixture.js';
import { rowsText } from './tables.fixture.js';

type Outcome = Extract<Event, { kind: 'outcomeDecided' }>['outcome'];

const happened = (value: string): Outcome => ({ kind: 'happened', value });

const decide = (run: Run, node: string, outcome: Outcome) =>
  run.send({ kind: 'outcomeDecided', at: run.at, node, outcome, by: { kind: 'operator', name: 'ann' } });
const repeat = (run: Run, node: string) => run.send({ kind: 'retryRequested', at: run.at, node });

const pays = graph(chain(call('pay', {}, { timeoutMs: 50 }), done('out', step('pay'))));

describe('N11: an operator knows what became of a call', () => {
  test('that happened: its value is the result, and can be undone', () => {
    const undo = { tool: 'refund', input: { kind: 'dict', entries: [] } } as const;
    const nodes = chain(call('pay', {}, { compensate: undo }), stop('end'));
    const run = new Run(graph(nodes));
    decide(run, 'pay', happened('receipt'));
    expect([run.status('pay'), run.state.run.status]).toEqual(['succeeded', 'failed']);
    expect(run.facts.filter(({ kind }) => kind === 'callReturned')).toMatchObject([
      { node: 'pay', attempted: true, outcome: { ok: true, value: 'receipt' } },
    ]);
    expect([...run.state.effects.rows()]).toMatchObject([['pay@1', { call: 'pay' }]]);
  });

  test.each<[string, (run: Run) => Run]>([
    ['did not happen', (run) => decide(run, 'pay', { kind: 'didNotHappen' })],
    ['is to be made again in any case', (run) => repeat(run, 'pay')],
  ])('that %s: it is made with its id and key, and a limit of its own', (_, send) => {
    const run = new Run(pays);
    const [first] = run.commands;
    run.at = 5_000;
    send(run);
    expect(run.last.commands).toEqual([{ ...first, dueAt: 5_050, seq: expect.any(Number) }]);
    expect(run.last.facts).toEqual([]);
    expect(run.returns('pay', 'receipt').state.run).toMatchObject({ status: 'succeeded', result: 'receipt' });
  });

  test('among attempts: the others are not counted again', () => {
    const run = new Run(graph([call('pay', {}, { retry: again(1), onError: { value: error('attempts') } })]));
    run.fails('pay');
    repeat(run, 'pay');
    run.fails('pay');
    expect([run.status('pay'), run.state.run.status]).toEqual(['succeeded', 'succeeded']);
    expect(run.facts.filter(({ kind }) => kind === 'handled')).toMatchObject([{ attempts: 2 }]);
  });

  test('after the deadline of the run: it is not made any more', () => {
    const unknown = (run: Run) => [...run.state.unknown.rows()].length;
    const run = () => Object.assign(new Run(pays, {}, 2_000), { at: 2_000 });
    const [late, repeated] = [decide(run(), 'pay', { kind: 'didNotHappen' }), repeat(run(), 'pay')];
    expect(late.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_DEADLINE' } });
    expect(repeated.state.run).toMatchObject({ status: 'failed', failure: { outcomeUnknown: true } });
    expect([unknown(late), unknown(repeated)]).toEqual([0, 1]);
  });

  test('changes nothing without such a call', () => {
    const run = new Run(graph(chain(call('pay'), call('next'), done('out', lit(1)))));
    run.returns('pay', 'receipt');
    for (const node of ['pay', 'out', 'none']) {
      const before = rowsText(run.state);
      decide(run, node, happened('other'));
      repeat(run, node);
      expect([rowsText(run.state), run.last.commands]).toEqual([before, []]);
    }
    run.returns('next');
    expect(repeat(run, 'next').state.run.status).toBe('succeeded');
  });

  test('is taken once: the id of the event counts', () => {
    const run = new Run(graph(chain(call('pay'), call('next'))));
    const event: Event = {
      ...{ kind: 'outcomeDecided', at: 1_000, id: 'item-1', node: 'pay' },
      outcome: { kind: 'happened', value: 'receipt' },
    };
    run.send(event);
    const before = rowsText(run.state);
    expect(rowsText(run.send(event).state)).toBe(before);
  });
});
