import { describe, expect, test } from 'vitest';
import type { Expr } from '../../../graph/expression/tree.js';
import type { Graph, Node } from '../../../graph/model.js';
import { planOf } from '../../../plan/compile.js';
import { ask, back, body, branch, field, foreach, parallel, set, undo, wait } from '../constructs.fixture.js';
import { again, call, chain, compute, done, graph, lit, Run, step, stop } from '../graph.fixture.js';
import { snapshot } from '../snapshot.js';
import { compare } from './compare.js';
import { mappingFaults, migrateRows, renamedRun } from './migrate-rows.js';

const verdictOf = (run: Run, to: Graph) => compare(run.plan, planOf(to), run.state);
const reasonsOf = (run: Run, to: Graph) => {
  const verdict = verdictOf(run, to);
  return verdict.kind === 'stays' ? verdict.reasons.map(({ node, reason }) => [node, reason]) : verdict.kind;
};

const a = call('a', { x: lit(1) });
const more = [ask('sure'), call('b', { x: step('a') }), done('out', step('b'))];
const line = (...nodes: Node[]) => graph(chain(...nodes));
/** It has called `a`, and asks. */
const asking = (of: Graph = line(a, ...more)) => new Run(of).returns('a', 1);

describe('a run moves safely', () => {
  test('where only nodes differ that have not started', () => {
    const run = asking();
    for (const to of [
      line(a, ask('sure'), call('b', { x: lit(2) }, { timeoutMs: 5 }), done('out', step('a'))),
      line(a, ask('sure'), call('c'), done('out', step('c'))),
      line(a, ask('sure'), done('out', step('a'))),
      graph(chain(a, ...more), { description: 'changed', returns: lit(1) }),
    ])
      expect(verdictOf(run, to)).toEqual({ kind: 'safe', starts: [] });
  });

  test('and what waits for nothing starts with its next transition', () => {
    const to = graph([...chain(a, ...more), call('new', { x: step('a') }, { after: ['a'] })]);
    expect(verdictOf(asking(), to)).toEqual({ kind: 'safe', starts: ['new'] });
    const rows = migrateRows(asking().state, planOf(to), {
      at: 7,
      tools: { 'tool-new': 'key', 'tool-a': 'key' },
    });
    expect(rows).toContainEqual(
      expect.objectContaining({
        table: 'run',
        row: expect.objectContaining({ remainingWork: expect.objectContaining({ ready: ['new'] }) }),
      }),
    );
    const [begun] = rows.filter(({ table }) => table === 'start');
    expect(begun?.row).toMatchObject({ graphHash: planOf(to).hash, tools: { 'tool-new': 'key' } });
  });

  test('with the undo records it has', () => {
    const undone = call('a', {}, { compensate: undo('undo-a', { of: step('a') }) });
    const run = asking(line(undone, ...more));
    const to = line(undone, ask('sure'), done('out', lit(1)));
    expect(verdictOf(run, to)).toMatchObject({ kind: 'safe' });
    const effects = (rows: ReturnType<typeof snapshot>) => rows.filter(({ table }) => table === 'effects');
    const moved = effects(migrateRows(run.state, planOf(to), { at: 0, tools: {} }));
    expect(moved).toEqual(effects(snapshot(run.state)));
    expect(moved).toHaveLength(1);
  });
});

describe('a run stays, by node and reason,', () => {
  const other = line(a, ask('sure'));

  test('where a failure is read that it has not kept, however deep the node is', () => {
    const lost = call('lost', {}, { onError: { value: lit(0) } });
    const code: Expr = { kind: 'ref', root: 'nodes', path: ['lost', 'error', 'code'], find: 'optional' };
    const pick = branch('pick', [[lit(true), body([lost])]]);
    const both = parallel('both', { a: body([lost]), b: body([ask('inner')]) });
    const within = parallel('within', { a: body([pick]), b: body([ask('inner')]) });
    for (const [node, of] of [
      ['lost', [lost, ask('sure')]],
      ['pick', [pick, ask('sure')]],
      ['both', [both]],
      ['within', [within]],
    ] as const) {
      const run = new Run(line(...of)).fails('lost');
      expect(reasonsOf(run, line(...of, call('tell')))).toBe('safe');
      expect(reasonsOf(run, line(...of, call('tell', { code })))).toEqual([[node, 'changed']]);
    }
  });

  test('while it works, or has an unknown outcome', () => {
    expect(reasonsOf(new Run(line(a, ...more)), other)).toEqual([['a', 'call_in_flight']]);
    const unknown = { code: 'E_TIMEOUT', message: 'late', outcomeUnknown: true } as const;
    const run = new Run(line({ ...a, onError: { value: lit(0) } }, ...more)).fails('a', unknown);
    expect(reasonsOf(run, other)).toEqual([['a', 'unknown_outcome']]);
    const undoable = line(call('a', {}, { compensate: undo('undo-a', {}) }), ask('sure'));
    expect(reasonsOf(asking(undoable).cancel(true), other)).toContainEqual([undefined, 'undoing']);
    expect(reasonsOf(asking().cancel(), other)).toEqual([[undefined, 'over']]);
  });

  test('where the workflow as a whole differs', () => {
    const required = { name: 'n', description: 'n', schema: {}, required: true };
    const state = [{ name: 'f', scope: 'run', schema: {}, initial: 1 }] as const;
    const nodes = chain(a, ...more);
    const whole = (options: Partial<Graph>) =>
      reasonsOf(asking(graph(nodes, { state })), graph(nodes, { state, ...options }));
    expect(whole({ name: 'x' })).toEqual([[undefined, 'graph']]);
    expect(whole({ inputs: [required] })).toEqual([[undefined, 'inputs']]);
    expect(whole({ state: [] })).toEqual([[undefined, 'state']]);
    expect(whole({ state: [...state, { name: 'g', scope: 'run', schema: {} }] })).toBe('safe');
    expect(whole({ maxConcurrency: 2 })).toEqual([[undefined, 'option']]);
    expect(whole({ failFast: false })).toEqual([[undefined, 'option']]);
    expect(whole({ task: true })).toEqual([[undefined, 'option']]);
    const asked = ask('boss', 'confirm', { answerBy: [{ kind: 'role', role: 'boss' }], after: ['out'] });
    expect(whole({ nodes: [...nodes, asked] })).toEqual([[undefined, 'answerers']]);
    expect(whole({ nodes: [...nodes, a] })).toEqual([[undefined, 'graph']]);
  });

  test('where a node that has started was changed, removed or moved', () => {
    expect(reasonsOf(asking(), line(call('a', { x: lit(2) }), ...more))).toEqual([['a', 'changed']]);
    expect(reasonsOf(asking(), line(a, ask('sure', 'text'), ...more.slice(1)))).toEqual([
      ['sure', 'changed'],
    ]);
    expect(reasonsOf(asking(), line(a, stop('end')))).toEqual([['sure', 'removed']]);
    const inside = line(a, parallel('both', { left: body([ask('sure')]) }));
    expect(reasonsOf(asking(), inside)).toEqual([['sure', 'moved']]);
    const first = graph([
      ...chain(a, ...more),
      call('n', {}, { after: ['out'], onError: { fallbackNode: 'free' } }),
      call('free'),
    ]);
    const rescue = call('n', {}, { onError: { fallbackNode: 'free' } });
    expect(reasonsOf(asking(), first)).toBe('safe');
    expect(
      reasonsOf(new Run(graph([ask('free'), ask('a')])), graph([ask('free'), ask('a'), rescue])),
    ).toEqual([['free', 'edges']]);
  });

  test('where parts that have ended, or a loop or jump that has run, were changed', () => {
    const both = (left: Node) => line(parallel('both', { left: body([left]), right: body([ask('sure')]) }));
    expect(reasonsOf(asking(both(a)), both(call('a', { x: lit(3) })))).toEqual([['both', 'changed']]);
    const loop = (...nodes: Node[]) =>
      line(foreach('loop', lit([1, 2]), body(chain(...nodes)), { concurrency: 1 }));
    const item = new Run(loop(ask('sure'), compute('c', lit(1))));
    expect(reasonsOf(item, loop(ask('sure'), compute('c', lit(2))))).toBe('safe');
    expect(
      reasonsOf(item.answers('sure[0]', { confirmed: true }), loop(ask('sure'), compute('c', lit(2)))),
    ).toEqual([['loop', 'changed']]);
    const jump = (value: number) =>
      line(call('a'), ask('sure'), compute('c', lit(value)), back('again', 'a', 3, { onLimit: 'continue' }));
    const jumped = asking(jump(1)).answers('sure', { confirmed: true }).returns('a', 2);
    expect(reasonsOf(jumped, jump(2))).toEqual([['c', 'ran_before']]);
    expect(reasonsOf(jumped, jump(1))).toBe('safe');
    const retried = (value: number) =>
      line(
        parallel(
          'both',
          { left: body(chain(call('a'), ask('sure'), call('b', { x: lit(value) }))) },
          { retry: again(1) },
        ),
      );
    const tried = new Run(retried(1)).fails('a').returns('a', 1);
    expect(reasonsOf(tried, retried(2))).toEqual([['both', 'ran_before']]);
  });

  test('where a node comes too late', () => {
    const state = [{ name: 'f', scope: 'run', schema: {}, initial: 1 }] as const;
    const with_ = (node: Node) => graph([...chain(a, ...more), node], { state });
    const from = graph(chain(a, ...more), { state });
    for (const node of [set('late', { f: lit(2) }), done('late', lit(1)), stop('late')])
      expect(reasonsOf(asking(from), with_(node))).toContainEqual(['late', 'too_late']);
    expect(reasonsOf(asking(from), with_(call('late', { x: field('f') })))).toBe('safe');
    const written = graph(chain(a, set('w', { f: lit(5) }), ...more), { state });
    const late = graph([...chain(a, set('w', { f: lit(5) }), ...more), call('late', { x: field('f') })], {
      state,
    });
    expect(reasonsOf(asking(written), late)).toEqual([['late', 'too_late']]);
    const failing = (...nodes: Node[]) => graph([call('a'), ask('sure'), ...nodes], { failFast: false });
    expect(reasonsOf(new Run(failing()).fails('a'), failing(call('new')))).toBe('safe');
    const waiting = new Run(graph([wait('w', { durationMs: lit(5) })]));
    expect(reasonsOf(waiting, graph([wait('w', { durationMs: lit(5) }), call('new')]))).toBe('safe');
  });
});

describe('a settled node with a new id', () => {
  const to = line(
    call('first', { x: lit(1) }, { tool: 'tool-a' }),
    ask('sure'),
    call('b', { x: step('first') }),
    done('out', step('b')),
  );

  test('needs a mapping, and then moves with what refers to it', () => {
    const run = asking();
    const mapping = new Map([['a', 'first']]);
    expect(verdictOf(run, to)).toEqual({ kind: 'needsMapping', mapping });
    expect(mappingFaults(run.state, planOf(to), mapping)).toEqual([]);
    const renamed = renamedRun(run.state, mapping);
    expect(compare(renamed.plan, planOf(to), renamed)).toEqual({ kind: 'safe', starts: [] });
    const keys = migrateRows(renamed, planOf(to), { at: 0, tools: {} }).flatMap(({ table, key }) =>
      table === 'nodes' ? [key] : [],
    );
    expect(keys).toEqual(['first', 'sure']);
  });

  test.each([
    [{ z: 'first' }, [['z', 'unknown']]],
    [{ a: 'z' }, [['a', 'unknown_target']]],
    [
      { a: 'first', b: 'first' },
      [
        ['a', 'two_to_one'],
        ['b', 'two_to_one'],
      ],
    ],
    [{ a: 'sure' }, [['a', 'taken']]],
    [{ sure: 'first' }, [['sure', 'not_settled']]],
  ])('is not mapped by %j', (mapping, faults) => {
    const found = mappingFaults(asking().state, planOf(to), new Map(Object.entries(mapping)));
    expect(found.map(({ from, fault }) => [from, fault])).toEqual(faults);
  });

  test('is not mapped where it has an undo record, whose key would change', () => {
    const undoable = line(call('a', {}, { compensate: undo('undo-a', {}) }), ...more);
    expect(mappingFaults(asking(undoable).state, planOf(to), new Map([['a', 'first']]))).toMatchObject([
      { fault: 'undo_record' },
    ]);
  });
});
