import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import type { ToolSafety } from '../../graph/tool-safety.js';
import { ask, body, branch, field, parallel, set, undo } from './constructs.fixture.js';
import { again, call, chain, graph, lit, Run, read, step } from './graph.fixture.js';

const undoes = (id: string) => undo(`undo-${id}`, { id: step(id, 'id') });

const booking = (id: string, options = {}) => call(id, {}, { compensate: undoes(id), ...options });

const failure = { code: 'E_TOOL', message: 'broke' };

const late = (run: Run, command: string, value: Json) =>
  run.send({ kind: 'toolReturned', at: run.at, command, value });

const refused = (run: Run, command: string) =>
  run.send({ kind: 'toolFailed', at: run.at, command, failure, attempted: false });

const made = ({ calls }: Run) =>
  calls.flatMap(({ isCompensation, tool, input }) => (isCompensation ? [[tool, input]] : []));

const withTool = (tool: string, safety: ToolSafety, ...of: ConstructorParameters<typeof Run>) =>
  new Run(of[0], of[1], undefined, undefined, { [tool]: safety });

describe('A9: a success that comes after its call was abandoned', () => {
  const nodes = [booking('a', { onError: { value: lit(0) } }), ask('sure')];

  test('by its limit is recorded, changes nothing else, and is undone when the run is cancelled', () => {
    const run = new Run(graph(nodes)).fires('a');
    expect(run.tables.unknown).toMatchObject({ 'a@1': { step: 'a', tool: 'tool-a', attempts: ['a#1'] } });
    late(run, 'a#1', { id: 1 });
    expect([run.commands, run.last.facts, run.tables.unknown]).toEqual([[], [], {}]);
    expect([run.status('a'), run.tables.outputs.a]).toEqual(['succeeded', 0]);
    expect(run.tables.effects['a@1']).toMatchObject({
      tool: 'undo-a',
      input: { id: 1 },
      status: 'active',
      needsUndo: true,
    });
    run.cancel(true).returns('a');
    expect([run.state.run.status, made(run)]).toEqual(['cancelled', [['undo-a', { id: 1 }]]]);
    expect(run.remains).toMatchObject({ steps: ['a'], notUndone: [], unknown: [] });
  });

  test('by an abort is recorded, and undone when the run is cancelled', () => {
    const both = parallel(
      'both',
      { one: body([booking('a')]), two: body([call('bad')]) },
      { onError: { value: lit(0) } },
    );
    const run = late(new Run(graph([both, ask('sure')])).fails('bad'), 'a#1', { id: 1 });
    expect([run.status('a'), run.last.facts]).toEqual(['cancelled', []]);
    run.cancel(true);
    expect(made(run)).toEqual([['undo-a', { id: 1 }]]);
  });

  test('by a timeout is undone first, while others are being undone', () => {
    const run = new Run(graph([booking('a'), booking('b'), booking('c')]));
    run.returns('b', { id: 2 }).returns('c', { id: 3 }).cancel(true).fires('a');
    expect(run.inFlight).toEqual(['c']);
    late(run, 'a#1', { id: 1 });
    expect(run.inFlight).toEqual(['c']);
    run.returns('c').returns('a').returns('b');
    expect(made(run)).toEqual([
      ['undo-c', { id: 3 }],
      ['undo-a', { id: 1 }],
      ['undo-b', { id: 2 }],
    ]);
    expect(run.state.run.status).toBe('cancelled');
    expect(run.facts.at(-2)).toMatchObject({ report: { done: ['undo-c', 'undo-a', 'undo-b'] } });
  });

  test('and so does one that comes while the second is being undone', () => {
    const run = new Run(graph([booking('a'), booking('b'), booking('c')]));
    run.returns('b', { id: 2 }).returns('c', { id: 3 }).cancel(true).fires('a').returns('c');
    late(run, 'a#1', { id: 1 }).returns('b').returns('a');
    expect(made(run).map(([tool]) => tool)).toEqual(['undo-c', 'undo-b', 'undo-a']);
    expect([run.state.run.status, run.remains.notUndone]).toEqual(['cancelled', []]);
  });

  test('after the run has ended changes nothing', () => {
    const run = late(new Run(graph(nodes)).cancel(), 'a#1', { id: 1 });
    expect([run.last.changes, run.remains.unknown]).toEqual([[], [{ step: 'a', tool: 'tool-a' }]]);
  });

  test('is recorded with the values at the time when the call was abandoned', () => {
    const state = [{ name: 'n', scope: 'run', schema: {}, initial: 0 } as const];
    const back = undo('back', { id: step('a', 'id'), of: step('first', 'id'), n: field('n') });
    const given = call(
      'a',
      {},
      { compensate: back, onError: { value: lit({ id: 'none' }) }, after: ['first'] },
    );
    const run = new Run(
      graph([call('first'), given, set('s', { n: lit(7) }, { after: ['a'] }), ask('sure')], { state }),
    );
    run.returns('first', { id: 'f' }).fires('a');
    expect(run.tables.fields.n).toEqual({ value: 7 });
    late(run, 'a#1', { id: 1 });
    expect(run.tables.effects['a@1']).toMatchObject({ input: { id: 1, of: 'f', n: 0 } });
  });

  test('is failed where it plainly refers to a step that had not succeeded then', () => {
    const back = undo('back', { id: step('a', 'id'), of: step('other') });
    const given = call('a', {}, { compensate: back, onError: { value: lit(0) } });
    const run = new Run(graph([call('other', {}, { when: lit(false) }), given, ask('sure')])).fires('a');
    expect(late(run, 'a#1', { id: 1 }).tables.effects['a@1']).toMatchObject({
      ...{ status: 'failed', failure: { code: 'E_COMPENSATION' } },
    });
  });

  test('of an earlier attempt is undone beside the later one where its effect is another', () => {
    const run = new Run(graph([booking('a', { retry: again(1) }), ask('sure')])).fires('a');
    late(run, 'a#1', { id: 1 }).returns('a', { id: 2 }).cancel(true);
    run.returns('a').returns('a');
    expect(made(run)).toEqual([
      ['undo-a', { id: 2 }],
      ['undo-a', { id: 1 }],
    ]);
  });

  test('of an earlier attempt is the same effect where it is undone with the same input', () => {
    const run = new Run(graph([booking('a', { retry: again(1) }), ask('sure')])).fires('a');
    late(run, 'a#1', { id: 1 }).returns('a', { id: 1 });
    expect(Object.values(run.tables.effects)).toHaveLength(1);
    expect(run.tables.effects['a@1']).not.toHaveProperty('needsUndo');
    expect(run.remains.notUndone).toEqual([]);
  });

  test('without a compensation is named', () => {
    const run = late(new Run(graph([call('a'), ask('sure')], { failFast: false })).fires('a'), 'a#1', 1);
    expect(run.remains).toMatchObject({ notUndone: [{ step: 'a' }], unknown: [] });
  });

  test.each(['idempotent', 'key'] as const)(
    'adds no effect where the tool is %s and its call has succeeded',
    (safety) => {
      const of = graph([call('a', {}, { retry: again(1) }), ask('sure')]);
      const after = late(withTool('tool-a', safety, of).fires('a').returns('a', 2), 'a#1', 1);
      expect([after.tables.effects, after.remains.notUndone]).toEqual([{}, []]);
      const before = late(withTool('tool-a', safety, of).fires('a'), 'a#1', 1);
      expect(before.remains.notUndone).toMatchObject([{ step: 'a' }]);
      expect(before.returns('a', 2).remains.notUndone).toEqual([]);
    },
  );

  test('of a tool that only reads is nothing to note', () => {
    const run = withTool('tool-a', 'readOnly', graph([call('a'), ask('sure')], { failFast: false })).fires(
      'a',
    );
    expect(late(run, 'a#1', 1).last.changes).toEqual([]);
  });

  test('is taken once; a late failure changes nothing, and neither does the late answer of a read', () => {
    const run = new Run(graph([...nodes, read('r', lit('res://r'), { onError: { value: lit(0) } })]))
      .fires('a')
      .fires('r');
    run.send({ kind: 'toolFailed', at: run.at, command: 'a#1', failure, attempted: true });
    expect(run.last.changes).toEqual([]);
    run.send({ kind: 'resourceRead', at: run.at, command: 'r#1', value: { uri: 'res://r', text: '' } });
    expect(run.last.changes).toEqual([]);
    expect(late(late(run, 'a#1', { id: 1 }), 'a#1', { id: 2 }).last.changes).toEqual([]);
  });
});

describe('A12: a call of which nothing is known', () => {
  const slow = (options = {}) => graph([call('a', {}, options), ask('sure')], { failFast: false });

  test.each<[string, (run: Run) => Run]>([
    ['its limit', (run) => run.fires('a')],
    ['a failure that says so', (run) => run.fails('a', { ...failure, outcomeUnknown: true })],
    ['a cancellation', (run) => run.cancel()],
  ])('is noted after %s', (_name, end) => {
    expect(end(new Run(slow())).remains.unknown).toEqual([{ step: 'a', tool: 'tool-a' }]);
  });

  test('is noted after an abort', () => {
    const both = parallel('both', { one: body([call('a')]), two: body([call('bad')]) });
    const run = new Run(graph([both])).fails('bad');
    expect(run.tables.unknown).toMatchObject({ 'a@1': { step: 'a', tool: 'tool-a', attempts: ['a#1'] } });
  });

  test.each<[string, (run: Run) => Run]>([
    ['a failure for sure', (run) => run.fails('a')],
    ['an input that was refused', (run) => run.fails('a', { ...failure, outcomeUnknown: true }, false)],
    [
      'a cancellation before it was made',
      (run) => run.send({ kind: 'cancelled', at: run.at, reason: 'enough', notStarted: ['a#1'] }),
    ],
  ])('is not noted after %s', (_name, end) => {
    expect(end(new Run(slow())).tables.unknown).toEqual({});
  });

  test('is not noted where the tool only reads', () => {
    expect(withTool('tool-a', 'readOnly', slow()).fires('a').tables.unknown).toEqual({});
  });

  test.each<[ToolSafety, number]>([
    ['none', 1],
    ['idempotent', 0],
    ['key', 0],
  ])('stays so after a later success where the tool is %s: %i left', (safety, left) => {
    const run = withTool('tool-a', safety, slow({ retry: again(2) }))
      .fires('a')
      .fires('a');
    expect(run.tables.unknown).toMatchObject({ 'a@1': { attempts: ['a#1', 'a#2'] } });
    expect(run.returns('a', 1).remains.unknown).toHaveLength(left);
  });

  test('is known again once each of its attempts is: it happened, or it had not been made', () => {
    const run = new Run(slow({ retry: again(1) })).fires('a').fires('a');
    expect(late(run, 'a#1', 1).tables.unknown).toMatchObject({ 'a@1': { attempts: ['a#2'] } });
    expect(refused(run, 'a#2').tables.unknown).toEqual({});
    expect(refused(run, 'a#2').last.changes).toEqual([]);
  });

  test('is one of its generation', () => {
    const body1 = body(chain(call('a'), call('bad')));
    const retried = branch('b', [[undefined, body1]], { retry: again(1) });
    const run = withTool('tool-a', 'key', graph([retried]))
      .fires('a')
      .fires('a');
    expect(run.tables.unknown).toMatchObject({ 'a@1': { attempts: ['a#1', 'a@1~2#1'] } });
  });

  test('is none of the compensations: those are in their records', () => {
    const trip = parallel(
      'trip',
      { l: body([booking('l')]), r: body([call('bad')]) },
      { onPartialFailure: 'rollback' },
    );
    const run = new Run(graph([trip])).returns('l', { id: 1 }).fails('bad').fires('trip');
    expect(run.remains).toMatchObject({ unknown: [], notUndone: [{ step: 'l', outcomeUnknown: true }] });
  });
});
