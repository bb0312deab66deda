import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import { ask } from './constructs.fixture.js';
import type { Row, RunState } from './contract.js';
import { advance } from './engine.js';
import type { Event } from './events.js';
import { call, graph, lit, Run } from './graph.fixture.js';
import { nodeRecord } from './read.js';
import { restore, snapshot } from './snapshot.js';
import { ENGINE_VERSION, GraphMismatchError, STATE_VERSION, StateVersionError } from './state.js';
import { rowsText, tablesOf } from './tables.fixture.js';

const of = graph([call('a'), call('b'), ask('sure')]);

const returned: Event = { kind: 'toolReturned', at: 1_000, command: 'a#1', value: 1 };

/** The rows of a state, that of the run with these fields. */
const written = (state: RunState, fields: object): Row[] =>
  snapshot(state).map((each) => (each.table === 'run' ? { ...each, row: { ...each.row, ...fields } } : each));

describe('versions', () => {
  test('are in the row of the run', () => {
    expect(new Run(of).state.run).toMatchObject({
      engineVersion: ENGINE_VERSION,
      stateVersion: STATE_VERSION,
    });
  });

  test.each<[string, Json | undefined]>([
    ['a later one', STATE_VERSION + 1],
    ['none', undefined],
    ['text', '1'],
  ])('a state of %s is refused before anything is read of it', (_name, stateVersion) => {
    const run = new Run(of);
    expect(() => restore(run.plan, written(run.state, { stateVersion }))).toThrow(StateVersionError);
  });

  test('of a state that cannot be read goes before its graph', () => {
    const other = new Run(graph([]));
    const rows = written(new Run(of).state, { stateVersion: 99 });
    expect(() => restore(other.plan, rows)).toThrow(StateVersionError);
    expect(() => restore(other.plan, snapshot(new Run(of).state))).toThrow(GraphMismatchError);
    expect(() => advance(other.plan, new Run(of).state, [])).toThrow(GraphMismatchError);
  });

  test('a state of an earlier engine goes on, and is of this one afterwards', () => {
    const run = new Run(of);
    const state = restore(run.plan, written(run.state, { engineVersion: 0 }));
    expect(state.run.engineVersion).toBe(0);
    expect(advance(run.plan, state, [returned]).state.run.engineVersion).toBe(ENGINE_VERSION);
  });
});

describe('the id of an event', () => {
  const answer = (confirmed: unknown, id: string): Event => ({
    ...{ kind: 'actionSubmitted', at: 1_000, command: 'sure#1', id },
    value: { confirmed } as Json,
  });

  test('makes its repetition change nothing', () => {
    const two = graph([
      call('a', {}, { onError: { value: lit(0) } }),
      ask('sure'),
      ask('then', 'text', { after: ['sure'] }),
    ]);
    const run = new Run(two).send(answer(true, 'e1'));
    expect(run.tables.eventIds).toEqual({ 0: { id: 'e1', index: 0 } });
    const before = rowsText(run.state);
    run.send({ kind: 'actionSubmitted', at: 1_000, command: 'then#1', id: 'e1', value: { input: 'x' } });
    expect([run.last.changes, run.commands, run.last.facts]).toEqual([[], [], []]);
    expect(rowsText(run.state)).toBe(before);
    run.send({ kind: 'actionSubmitted', at: 1_000, command: 'then#1', id: 'e2', value: { input: 'x' } });
    expect(run.status('then')).toBe('succeeded');
  });

  test('of one that changed nothing may come again', () => {
    const run = new Run(of).send(answer('yes', 'e1'));
    expect(run.last.changes).toEqual([]);
    expect(run.send(answer(true, 'e1')).status('sure')).toBe('succeeded');
  });

  test('is ignored within one batch, which it is read with', () => {
    const run = new Run(of);
    const events = [
      { ...returned, id: 'e1' },
      { ...returned, command: 'b#1', id: 'e1' },
    ];
    const next = advance(run.plan, run.state, events);
    expect([
      next.consumed,
      tablesOf(next.state).nodes.a?.status,
      tablesOf(next.state).nodes.b?.status,
    ]).toEqual([2, 'succeeded', 'running']);
  });

  const many = graph(Array.from({ length: 140 }, (_, index) => ask(`q${index}`)));

  const answers = (run: Run, index: number, id?: string) =>
    run.send({
      ...{ kind: 'actionSubmitted', at: 1, command: `q${index}#1`, value: { confirmed: true } },
      ...(id === undefined ? {} : { id }),
    });

  test('is remembered for the latest 64', () => {
    const run = new Run(many);
    for (let index = 0; index < 65; index += 1) answers(run, index, `e${index}`);
    const ids = Object.values(run.tables.eventIds).map(({ id }) => id);
    expect(ids.sort()).toEqual(Array.from({ length: 64 }, (_, index) => `e${index + 1}`).sort());
    expect(answers(run, 65, 'e1').status('q65')).toBe('waiting');
    expect(answers(run, 65, 'e0').status('q65')).toBe('succeeded');
    for (let index = 66; index < 130; index += 1) answers(run, index, `e${index}`);
    expect(answers(run, 130, 'e66').status('q130')).toBe('waiting');
    expect(answers(run, 130, 'e65').status('q130')).toBe('succeeded');
  });

  test('is a small row of its own, and an event without one has none', () => {
    const uuid = (index: number) => `6f1c1e52-8f0a-4c43-9f5e-${String(index).padStart(12, '0')}`;
    const [named, plain] = [new Run(many), new Run(many)];
    for (let index = 0; index < 140; index += 1) {
      const without = answers(plain, index).last.changes;
      const changes = answers(named, index, uuid(index)).last.changes;
      const ids = changes.filter(({ table }) => table === 'eventIds');
      expect([ids.length, changes.length - without.length]).toEqual([1, 1]);
      expect(JSON.stringify(ids).length).toBeLessThan(130);
      const others = changes.filter(({ table }) => table !== 'eventIds');
      expect(JSON.stringify(others)).toBe(JSON.stringify(without));
    }
  });

  test('is remembered by a state whose rows are read in any order', () => {
    const run = new Run(many);
    for (let index = 0; index < 100; index += 1) answers(run, index, `e${index}`);
    const again = restore(run.plan, snapshot(run.state).toReversed());
    const events = [100, 101].map((index): Event => {
      const value = { confirmed: true };
      return { kind: 'actionSubmitted', at: 1, command: `q${index}#1`, id: `e${index - 64}`, value };
    });
    const { state } = advance(run.plan, again, events);
    expect([nodeRecord(state, 'q100')?.status, nodeRecord(state, 'q101')?.status]).toEqual([
      'waiting',
      'waiting',
    ]);
    const first: Event = { ...(events[0] as Event), id: 'e35' };
    expect(nodeRecord(advance(run.plan, state, [first]).state, 'q100')?.status).toBe('succeeded');
  });
});

describe('an accepted answer', () => {
  const value = { confirmed: true };

  test('is kept with its time and who gave it', () => {
    const run = new Run(of);
    run.send({
      kind: 'actionSubmitted',
      at: 1_234,
      command: 'sure#1',
      value,
      by: { sub: 'ada', kind: 'user' },
    });
    expect(run.tables.submissions).toEqual({
      'sure#1': { at: 1_234, by: { sub: 'ada', kind: 'user' }, value },
    });
    expect(run.last.changes).toContainEqual(
      expect.objectContaining({ op: 'put', table: 'submissions', key: 'sure#1' }),
    );
  });

  test('is stored without `by` if the event has none', () => {
    expect(new Run(of).answers('sure', value).tables.submissions).toEqual({ 'sure#1': { at: 1_000, value } });
  });

  test('leaves the row as it is when another one comes; one that does not fit leaves none', () => {
    const run = new Run(of).answers('sure', { confirmed: 1 });
    expect(run.tables.submissions).toEqual({});
    run
      .answers('sure', value)
      .send({ kind: 'actionSubmitted', at: 9, command: 'sure#1', value: { confirmed: false } });
    expect(run.tables.submissions).toEqual({ 'sure#1': { at: 1_000, value } });
  });

  test('who caused an event changes nothing else', () => {
    const run = new Run(of).send({ ...returned, by: { kind: 'system' } });
    const plain = new Run(of).send(returned);
    expect(rowsText(run.state)).toBe(rowsText(plain.state));
    expect([run.last.commands, run.facts]).toEqual([plain.last.commands, plain.facts]);
  });
});
