import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import type { JsonObject } from '../../graph/json.js';
import type { Compensation } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import { ask, body, foreach, item, undo } from './constructs.fixture.js';
import type { Advance, Row, RunState } from './contract.js';
import { advance, start } from './engine.js';
import type { Event } from './events.js';
import { call, compute, graph, input, lit, step, text } from './graph.fixture.js';
import { randomGraph } from './random-graph.fixture.js';
import { apply, INPUT, moves, play, RANDOM, roughMoves, rowsOf } from './random-run.fixture.js';
import { randomUndoGraph } from './random-undo-graph.fixture.js';
import { outstanding } from './read.js';
import { restore, snapshot } from './snapshot.js';
import { tablesOf } from './tables.fixture.js';

const bytes = (value: unknown): string => JSON.stringify(value);

const deadline = fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined, freq: 5 });

/** What a run gives, step by step or otherwise. */
class Told {
  readonly commands: unknown[] = [];
  readonly facts: unknown[] = [];
  readonly rows = new Map<string, string>();
  state!: RunState;

  add({ state, commands, facts, changes }: Advance): this {
    this.state = state;
    this.commands.push(...commands.map(bytes));
    this.facts.push(...facts.map(bytes));
    for (const change of changes) apply(this.rows, change);
    return this;
  }
}

/** Plays the events in batches of these sizes, in calls that do no more than `activations` at a time. */
function inBatches(
  of: Graph,
  events: readonly Event[],
  sizes: readonly number[],
  activations: number,
  deadlineAt?: number,
): Told {
  const plan = planOf(of);
  const ids = { runId: 'run', at: 0, random: RANDOM, ...(deadlineAt === undefined ? {} : { deadlineAt }) };
  const told = new Told();
  let last = start(plan, INPUT, ids, { activations });
  told.add(last);
  let read = 0;
  for (let batch = 0; read < events.length || last.more; batch += 1) {
    // A host that goes on with what it stored gives the same.
    const state = restore(plan, JSON.parse(bytes(snapshot(last.state))) as Row[]);
    const wanted = sizes[batch % sizes.length] ?? 1;
    last = advance(plan, state, events.slice(read, read + wanted), { activations });
    expect(outstanding(last.state).more).toBe(last.more);
    read += last.consumed;
    told.add(last);
  }
  return told;
}

describe('a batch of events', () => {
  const sizes = fc
    .array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 8 })
    .filter((list) => list.some((size) => size > 0));

  test('gives the same as each of them alone, in however many activations at a time', () => {
    fc.assert(
      fc.property(
        fc.oneof(randomGraph, randomUndoGraph),
        fc.oneof(moves, roughMoves),
        deadline,
        sizes,
        fc.integer({ min: 1, max: 30 }),
        (of, world, deadlineAt, batches, activations) => {
          const events: Event[] = [];
          const alone = new Told();
          play(
            of,
            world,
            ({ event, advance: each }) => {
              if (event !== undefined) events.push(event);
              alone.add(each);
            },
            deadlineAt,
          );
          const other = inBatches(of, events, batches, activations, deadlineAt);
          expect(other.facts).toEqual(alone.facts);
          expect(other.commands).toEqual(alone.commands);
          expect([...rowsOf(other.state)].sort()).toEqual([...rowsOf(alone.state)].sort());
          expect([...other.rows].sort()).toEqual([...alone.rows].sort());
        },
      ),
      { numRuns: isNightly ? 150 : 40 },
    );
  });

  const items = Array.from({ length: 50 }, (_, index) => index);
  const long = graph([
    call('a'),
    foreach('lines', input('items'), body([compute('x', item('item'))], step('x')), { after: ['a'] }),
    call('b'),
  ]);
  const returned = (node: string): Event => ({ kind: 'toolReturned', at: 5, command: `${node}#1`, value: 1 });

  test('is read up to the event whose transition is at its limit; what that owes comes before the others', () => {
    const plan = planOf(long);
    const { state } = start(plan, { items }, { runId: 'r', at: 0 });
    const first = advance(plan, state, [returned('a'), returned('b')], { activations: 10 });
    expect([first.more, first.consumed, outstanding(first.state).more]).toEqual([true, 1, true]);
    const second = advance(plan, first.state, [returned('b')], { activations: 10 });
    expect([second.more, second.consumed, tablesOf(second.state).nodes.b?.status]).toEqual([
      true,
      0,
      'running',
    ]);
    const last = advance(plan, second.state, [returned('b')]);
    expect([last.more, last.consumed, last.state.run.status]).toEqual([false, 1, 'succeeded']);
    expect(tablesOf(last.state).outputs.lines).toEqual(items);
    expect(last.state.run.remainingWork).toBeUndefined();
  });

  test('without events goes on, and then does nothing', () => {
    const plan = planOf(long);
    let last = start(plan, { items }, { runId: 'r', at: 0 }, { activations: 1 });
    last = advance(plan, last.state, [returned('a')]);
    let steps = 0;
    for (; last.more; steps += 1) last = advance(plan, last.state, []);
    expect(advance(plan, last.state, [])).toMatchObject({
      changes: [],
      commands: [],
      facts: [],
      more: false,
      consumed: 0,
    });
    expect(steps).toBeLessThan(2);
  });

  test('owes in the time of its event, whenever it is gone on with', () => {
    const slow = graph([foreach('lines', input('items'), body([call('line')]), { concurrency: 50 })], {
      maxConcurrency: 50,
    });
    const plan = planOf(slow);
    let last = start(plan, { items }, { runId: 'r', at: 1_000 }, { activations: 7 });
    while (last.more)
      last = advance(plan, last.state, [{ kind: 'timerFired', at: 9_000, command: 'none' }], {
        activations: 7,
      });
    const dues = outstanding(last.state).commands.map(({ dueAt }) => dueAt);
    expect([dues.length, new Set(dues)]).toEqual([50, new Set([61_000])]);
  });

  test('gives each event its own expression budget', () => {
    const big = 'x'.repeat(600_000);
    const twice = graph(
      [
        call('a'),
        call('b'),
        compute('one', text(input('big'), step('a')), { after: ['a'] }),
        compute('two', text(input('big'), step('b')), { after: ['b'] }),
      ],
      { returns: lit('done') },
    );
    const plan = planOf(twice);
    const values: JsonObject = { big };
    const { state } = start(plan, values, { runId: 'r', at: 0 });
    const both = advance(plan, state, [returned('a'), returned('b')]);
    expect(both.state.run).toMatchObject({ status: 'succeeded' });
  });

  test('is read no further by a run that has ended, and is consumed all the same', () => {
    const plan = planOf(graph([call('a')]));
    const { state } = start(plan, {}, { runId: 'r', at: 0 });
    const last = advance(plan, state, [returned('a'), returned('a'), returned('a')]);
    expect([last.consumed, last.facts.filter(({ kind }) => kind === 'finished').length]).toEqual([3, 1]);
  });
});

describe('undoing', () => {
  const items = Array.from({ length: 200 }, (_, index) => index);

  /** Cancels a run when the loop is over, and gives how many rows each transition then writes. */
  function undoneBy(compensate: Compensation): number[] {
    const loop = foreach('lines', input('items'), body([call('line', {}, { compensate })]));
    const plan = planOf(graph([loop, ask('sure', 'confirm', { after: ['lines'] })]));
    let last = start(plan, { items }, { runId: 'r', at: 0 });
    for (const item of items) {
      const returned = { kind: 'toolReturned', at: 1, command: `line[${item}]#1`, value: null } as const;
      last = advance(plan, last.state, [returned]);
    }
    const rows: number[] = [];
    const limits = { activations: 20 };
    last = advance(plan, last.state, [{ kind: 'cancelled', at: 2, reason: 'no', compensate: true }], limits);
    for (; last.more; last = advance(plan, last.state, [], limits)) rows.push(last.changes.length);
    expect(last.state.run.status).toBe('cancelled');
    return rows;
  }

  test('is divided where there are many effects that cannot be undone', () => {
    const [begin = 0, ...rows] = undoneBy(undo('back', { id: step('line', 'id', 'deep') }));
    // All of them are named at once, and reported at once.
    expect(begin).toBeGreaterThan(200);
    expect(rows.pop()).toBeGreaterThan(180);
    expect(rows.length).toBeGreaterThanOrEqual(9);
    expect(Math.max(...rows)).toBeLessThan(30);
  });
});

test('a stop counts the nodes it looks at: what follows from it is owed', () => {
  const items = Array.from({ length: 30 }, (_, index) => index);
  const each = body([ask('sure'), ask('really')]);
  const plan = planOf(graph([foreach('lines', input('items'), each, { concurrency: 30 })]));
  const begun = start(plan, { items }, { runId: 'r', at: 0 });
  const kindsOf = ({ facts }: Advance) => new Set(facts.map(({ kind }) => kind));
  const limits = { activations: 60 };
  let last = advance(plan, begun.state, [{ kind: 'cancelled', at: 2, reason: 'no' }], limits);
  expect([last.more, kindsOf(last)]).toEqual([true, new Set(['nodeCancelled'])]);
  last = advance(plan, last.state, [], limits);
  expect([last.more, last.state.run.status]).toEqual([false, 'cancelled']);
});
