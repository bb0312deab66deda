import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import { PROPERTY_SEED } from '../../../test/property-seed.js';
import type { Json } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import { ask, back, dict, field, set } from './constructs.fixture.js';
import { advance } from './engine.js';
import { forkRows } from './fork.js';
import { again, call, graph, lit, Run, step } from './graph.fixture.js';
import { migrateRows } from './migration/migrate-rows.js';
import { commandsOf } from './read.js';
import { restore } from './snapshot.js';
import type { RunState } from './state.js';

const STATE = [
  { name: 'amount', schema: {}, initial: 5, scope: 'run' },
  { name: 'to', schema: {}, initial: 'ann', scope: 'run' },
] as const;

/** Asks for a payment; another question writes a field of the state before it is made. */
function payment(tool = 'pay', note: Json = 'rent', more: Partial<Graph> = {}): Graph {
  const input = { amount: field('amount'), to: field('to'), note: lit(note) };
  return graph(
    [
      ask('sure', 'confirm', { message: lit('Pay?'), approves: 'paid' }),
      ask('edit', 'yield', { after: ['sure'], expects: {} }),
      set('edited', { amount: step('edit', 'amount'), to: step('edit', 'to') }, { after: ['edit'] }),
      call('paid', input, { tool, after: ['edited'], when: step('sure', 'confirmed'), retry: again(2) }),
    ],
    { state: STATE, ...more },
  );
}

describe('N15: a question that approves a call', () => {
  test('shows the tool and its whole input, and permits that call', () => {
    const run = new Run(payment());
    expect(run.commands).toMatchObject([
      {
        action: {
          message: 'Pay?',
          approves: { tool: 'pay', input: { amount: 5, to: 'ann', note: 'rent' }, restarts: 0 },
        },
      },
    ]);
    run.answers('sure', { confirmed: true }).answers('edit', { amount: 5, to: 'ann' });
    expect(run.calls).toMatchObject([{ tool: 'pay', input: { amount: 5, to: 'ann', note: 'rent' } }]);
  });

  test('is asked again, with the reason, if the input is another one by then', () => {
    const run = new Run(payment());
    run.answers('sure', { confirmed: true }).answers('edit', { amount: 50, to: 'bob' });
    expect([run.calls, run.status('sure'), run.status('paid')]).toEqual([[], 'waiting', 'pending']);
    expect(run.commands).toMatchObject([
      {
        id: 'sure@2#1',
        action: {
          approves: { input: { amount: 50, to: 'bob' }, askedAgain: "its input changed: 'amount', 'to'" },
        },
      },
    ]);
    run.answers('sure', { confirmed: true });
    expect(run.calls).toMatchObject([{ input: { amount: 50, to: 'bob', note: 'rent' } }]);
    expect(run.returns('paid', 1).state.run.status).toBe('succeeded');
  });

  test('skips the call for a no, to the first question and to a later one', () => {
    expect(new Run(payment()).answers('sure', { confirmed: false }).answers('edit', {}).calls).toEqual([]);
    const run = new Run(payment());
    run.answers('sure', { confirmed: true }).answers('edit', { amount: 6, to: 'ann' });
    run.answers('sure', { confirmed: false });
    expect([run.calls, run.status('paid'), run.state.run.status]).toEqual([
      [],
      'skipped(condition_false)',
      'succeeded',
    ]);
  });

  test('fails a call without a condition for a no, and for a yes of a fallback', () => {
    const sure = ask('sure', 'confirm', { approves: 'paid', timeoutMs: 5 });
    const no = new Run(graph([sure, call('paid')])).answers('sure', { confirmed: false });
    expect(no.state.run.failure).toMatchObject({ code: 'E_NOT_APPROVED' });
    const assumed = { ...sure, onError: { value: dict({ confirmed: lit(true) }) } };
    const late = new Run(graph([assumed, call('paid')])).fires('sure').fires('sure');
    expect([late.state.run.failure?.code, late.calls]).toEqual(['E_NOT_APPROVED', []]);
  });

  test('permits one call: a `goto` to the call asks again', () => {
    const nodes = [
      ask('sure', 'confirm', { approves: 'paid' }),
      call('paid'),
      back('again', 'paid', 1, { after: ['paid'] }),
    ];
    const run = new Run(graph(nodes)).answers('sure', { confirmed: true }).returns('paid', 1);
    expect(run.calls).toHaveLength(1);
    expect(run.commands).toMatchObject([
      { action: { approves: { askedAgain: expect.stringContaining('made again') } } },
    ]);
    expect(run.answers('sure', { confirmed: true }).calls).toHaveLength(2);
  });

  test('permits all attempts of the call, and a call of the client', () => {
    const run = new Run(payment())
      .answers('sure', { confirmed: true })
      .answers('edit', { amount: 5, to: 'ann' });
    expect(run.fails('paid').fails('paid').fails('paid').calls).toHaveLength(3);
    const client = graph([
      ask('sure', 'confirm', { approves: 'paid' }),
      call('paid', { a: lit(1) }, { executor: 'client' }),
    ]);
    expect(new Run(client).answers('sure', { confirmed: true }).inFlight).toEqual(['paid']);
  });

  test('fails if it has no value for the input of its call', () => {
    const nodes = [
      ask('sure', 'confirm', { approves: 'paid' }),
      call('paid', { a: step('sure', 'confirmed', 'y') }),
    ];
    expect(new Run(graph(nodes)).status('sure')).toBe('failed');
  });
});

/** What happens between a yes and the call. */
type Change =
  | { readonly kind: 'state'; readonly amount: Json; readonly to: Json }
  | { readonly kind: 'graph'; readonly tool: string; readonly note: Json; readonly by: 'migration' | 'fork' }
  | { readonly kind: 'restart' };

const small = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant('state' as const),
    amount: fc.oneof(fc.constantFrom<Json>(5, 5.5, '5', null), small),
    to: fc.oneof(fc.constantFrom<Json>('ann', 'Ann', ['ann']), small),
  }),
  fc.record({
    kind: fc.constant('graph' as const),
    tool: fc.constantFrom('pay', 'pay-twice'),
    note: fc.oneof(fc.constant<Json>('rent'), small),
    by: fc.constantFrom('migration' as const, 'fork' as const),
  }),
  fc.constant({ kind: 'restart' as const }),
);

const CHANGES = isNightly ? 1_000 : 300;

test(`${CHANGES} random changes between the approval and the call: what differs is asked for again`, () => {
  let [same, other] = [0, 0];
  fc.assert(
    fc.property(change, fc.boolean(), (changed, saysYes) => {
      const before = payment();
      let after = before;
      let edit: Json = { amount: 5, to: 'ann' };
      let run: RunState = new Run(before).answers('sure', { confirmed: true }).state;
      const rows = () => forkRows(run, { id: 'fork', at: 1_000, laterMs: 0, effects: [] });
      if (changed.kind === 'state') edit = { amount: changed.amount, to: changed.to };
      if (changed.kind === 'graph') {
        after = payment(changed.tool, changed.note);
        run = restore(planOf(after), migrateRows(run, planOf(after), { at: 1_000, tools: {} }));
        if (changed.by === 'fork') run = restore(planOf(after), rows());
      }
      if (changed.kind === 'restart') run = restore(planOf(after), rows());
      const [open] = commandsOf(run);
      const sent = {
        amount: 5,
        to: 'ann',
        note: changed.kind === 'graph' ? changed.note : 'rent',
        ...(edit as object),
      };
      const tool = changed.kind === 'graph' ? changed.tool : 'pay';
      const isSame =
        tool === 'pay' && JSON.stringify(sent) === JSON.stringify({ amount: 5, to: 'ann', note: 'rent' });
      const end = advance(planOf(after), run, [
        { kind: 'actionSubmitted', at: 1_000, command: open?.id ?? '', value: edit },
      ]);
      const [next] = end.commands;
      if (isSame) {
        same += 1;
        expect(next).toMatchObject({ kind: 'callTool', tool: 'pay', input: sent });
        return;
      }
      other += 1;
      expect(end.commands).toHaveLength(1);
      expect(next).toMatchObject({ kind: 'requestAction', node: 'sure' });
      const again = advance(planOf(after), end.state, [
        { kind: 'actionSubmitted', at: 1_000, command: next?.id ?? '', value: { confirmed: saysYes } },
      ]);
      const calls = again.commands.filter(({ kind }) => kind === 'callTool');
      expect(calls).toEqual(saysYes ? [expect.objectContaining({ tool, input: sent })] : []);
    }),
    { seed: PROPERTY_SEED, numRuns: CHANGES },
  );
  expect(Math.min(same, other)).toBeGreaterThan(100);
});
