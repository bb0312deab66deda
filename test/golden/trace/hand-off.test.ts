import { describe, expect, test } from 'vitest';
import type { Expr } from '../../../src/graph/expression/tree.js';
import type { Graph } from '../../../src/graph/model.js';
import {
  ask,
  back,
  body,
  branch,
  compensate,
  dict,
  foreach,
  isMore,
  item,
  optional,
  parallel,
  runs,
  undo,
  withTasks,
} from '../../../src/runtime/engine/constructs.fixture.js';
import {
  chain,
  coalesce,
  compute,
  done,
  graph,
  input,
  list,
  lit,
  step,
  stop,
} from '../../../src/runtime/engine/graph.fixture.js';
import { echo, failing, get, isNullish, readOnly, use } from './parts.js';
import { type Scenario, traceOf } from './scenario.js';

const tools = {
  ...Object.fromEntries(['a', 'b', 'c', 'd', 'tell'].map((name) => [name, echo()])),
  busy: failing('busy', { annotations: readOnly }),
};

/** What the hand-off of a run lists, and what it says. */
async function handOffOf(of: Graph, given: Scenario['given'] = {}) {
  const { messages, _meta } = await traceOf({ graph: of, tools, given });
  const { content } = messages.at(-1) ?? {};
  const calls = _meta.calls.map((call) => [call.step, 'arguments' in call ? call.arguments : undefined]);
  return {
    calls,
    notes: _meta.calls.map(({ note }) => note),
    text: content?.type === 'text' ? content.text : '',
  };
}

test('a computed value that failed, and was undone for, is among the steps', async () => {
  const sum = compute('sum', get(lit(null), 'x'), { onError: { fallbackNode: 'undo' } });
  const nodes = [use('a', {}), sum, compensate('undo', [undo('b', { of: step('a') })])];
  const { _meta } = await traceOf({ graph: graph(nodes), tools });
  expect(_meta.errors).toMatchObject([{ step: 'sum' }]);
  expect(_meta.steps).toContainEqual({ name: 'sum', status: 'handled' });
});

const blocked = use('blocked', { of: get(lit(null), 'x') }, { tool: 'a' });

describe('the hand-off', () => {
  test('tells that a step goes back, and how often it still may', async () => {
    const nodes = chain(
      use('a', {}),
      use('busy', {}),
      back('again', 'a', 2, { when: get(step('busy'), 'more') }),
      use('tell', {}),
    );
    const { calls, text } = await handOffOf(graph(nodes));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'tell']);
    expect(text).toContain(
      "\n\nIf `busy.more`, step 'again' goes back to 'a', at most 2 times: make the calls from there on again.",
    );
  });

  test('lists nothing behind a step that goes back until it fails', async () => {
    const nodes = chain(use('busy', {}), back('again', 'busy', 1, { onLimit: 'fail' }), use('tell', {}));
    const { calls, text } = await handOffOf(graph(nodes));
    expect(calls.map(([name]) => name)).toEqual(['busy']);
    expect(text).toContain("Step 'again' then goes back to 'busy', at most 1 time:");
  });

  test('reads values of items that succeeded before one failed', async () => {
    const each = foreach(
      'each',
      lit([0, 1]),
      body(
        [use('go', { n: item('n') }, { tool: 'b' }), use('busy', {}, { when: isMore(item('n'), 0) })],
        step('go'),
      ),
      { as: 'n' },
    );
    const { calls } = await handOffOf(graph(chain(each, use('tell', { all: step('each') }))));
    expect(calls.at(-1)).toEqual(['tell', { all: [{ n: 0 }, { n: 1 }] }]);
  });

  test('knows items and inputs of what failed as it began', async () => {
    const each = foreach('each', lit(['p', 'q']), body([blocked, use('tell', { x: item('item') })]));
    expect((await handOffOf(graph([each]))).calls).toEqual([['tell[0]', { x: 'p' }]]);
    const inputs = [optional('x'), { ...optional('y'), default: 'usual' }];
    const inner = graph([blocked, use('tell', { x: input('x'), y: input('y') })], { name: 'inner', inputs });
    const outer = graph([runs('sub', 'inner', { x: lit(7) })]);
    expect((await handOffOf(withTasks(outer, inner))).calls).toEqual([['sub/tell', { x: 7, y: 'usual' }]]);
  });

  test('lists nothing behind a result that was reached', async () => {
    const both = parallel('both', { left: body([use('busy', {})]), right: body([done('end', lit(1))]) });
    const { calls } = await handOffOf(graph(chain(both, use('tell', {}))));
    expect(calls.map(([name]) => name)).toEqual(['busy']);
  });

  test('says that a result in a loop over unknown items ends the workflow', async () => {
    const each = foreach('each', step('busy', 'list'), body(chain(use('a', {}), done('end', lit(1)))));
    const { calls, notes } = await handOffOf(graph(chain(use('busy', {}), each, use('tell', {}))));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'a', 'tell']);
    expect(notes.at(-1)).toBe("Stop before this call if step 'end' ends the workflow.");
  });

  test('says under which condition a result ends the workflow', async () => {
    const end = done('end', lit(1), { when: get(step('busy'), 'isDone') });
    const { notes } = await handOffOf(graph(chain(use('busy', {}), end, use('tell', {}))));
    expect(notes.at(-1)).toBe("Stop before this call if `busy.isDone`: step 'end' ends the workflow then.");
  });

  test('lists what takes over from a step that fails for sure', async () => {
    const bad = { ...blocked, after: ['busy'], onError: { fallbackNode: 'tell' } };
    const { calls } = await handOffOf(graph([use('busy', {}), bad, use('tell', {})]));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'tell']);
  });

  test('lists what a branch selects that was left out with the step before it', async () => {
    const way = branch(
      'way',
      [
        [lit(true), 'b'],
        [undefined, 'c'],
      ],
      { after: ['busy'] },
    );
    const nodes = [use('busy', {}), way, use('b', {}), use('c', {})];
    const { calls } = await handOffOf(graph(nodes, { failFast: false }));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'b']);
  });

  test('lists a call that is begun beside a branch that fails for sure', async () => {
    const branches = {
      left: body([use('b', {}), { ...blocked, after: ['b'] }]),
      right: body([use('c', {})]),
    };
    const { calls } = await handOffOf(graph(chain(use('busy', {}), parallel('both', branches))));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'b', 'c']);
  });

  test('lists a call before a branch that fails for sure, and waits for it by a check inside', async () => {
    const first = branch('first', [[lit(true), body(chain(use('busy', {}), use('c', {})))]]);
    const check = stop('check', lit('no'), { when: get(step('first'), 'isDone') });
    const second = branch('second', [[get(lit(null), 'x'), body([check])]]);
    const both = parallel('both', { left: body([first, second]), right: body([]) });
    const { calls } = await handOffOf(graph([both]));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'c']);
  });

  test('counts no step as failed that may not begin', async () => {
    const sum = compute('sum', get(lit(null), 'x'), { when: get(step('busy'), 'more') });
    const { calls } = await handOffOf(graph(chain(use('busy', {}), sum, use('tell', {}))));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'tell']);
  });

  test('counts no check as fired that may not be selected', async () => {
    const cases: [Expr | undefined, string][] = [
      [get(step('busy'), 'isDone'), 'enough'],
      [undefined, 'b'],
    ];
    const left = body([branch('way', cases), stop('enough'), use('b', {})]);
    const both = parallel(
      'both',
      { left, right: body(chain(use('c', {}), use('d', {}))) },
      { concurrency: 1 },
    );
    const { calls } = await handOffOf(graph(chain(use('busy', {}), both)));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'b', 'c', 'd']);
  });

  test('lists nothing that a step keeps from beginning that fails as it begins', async () => {
    const inside = body([foreach('none', lit('no list'), body([])), use('b', {})]);
    const { calls } = await handOffOf(graph(chain(use('busy', {}), branch('in', [[lit(true), inside]]))));
    expect(calls.map(([name]) => name)).toEqual(['busy']);
  });

  test('takes an absent value for a node that a fallback replaces', async () => {
    const branches = { left: body([blocked]), right: body([use('b', {})]) };
    const both = parallel('both', branches, { concurrency: 1, onError: { value: lit() } });
    const { calls } = await handOffOf(
      graph(chain(both, use('busy', {}), use('tell', { both: dict({ it: step('both') }) }))),
    );
    expect(calls).toEqual([
      ['busy', {}],
      ['tell', { both: {} }],
    ]);
  });

  test('knows that a condition is open where the workflow may end with its branch', async () => {
    const cases: [Expr | undefined, string][] = [
      [isNullish(get(step('busy'), 'of')), 'clean'],
      [undefined, 'b'],
    ];
    const way = branch('way', cases, { after: ['busy'] });
    const clean = compensate('clean', [undo('c', { of: step('busy') })]);
    const inner = graph([use('busy', {}), way, clean, use('b', {})], { name: 'inner' });
    const { calls } = await handOffOf(withTasks(graph([runs('sub', 'inner')]), inner));
    expect(calls.map(([name]) => name)).toEqual(['sub/busy', 'sub/b']);
  });

  test('counts no branch or loop as failed that may not begin', async () => {
    const when = get(step('busy'), 'more');
    const way = branch('way', [[lit('no condition'), body([use('a', {})])]], { when });
    const each = foreach('each', lit('no list'), body([use('b', {})]), { when });
    const { calls } = await handOffOf(graph(chain(use('busy', {}), way, each, use('tell', {}))));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'tell']);
  });

  test('knows that an answer as a whole is not a condition', async () => {
    const when = coalesce(step('sure'), lit('none'));
    const nodes = chain(use('busy', {}), ask('sure'), use('a', {}, { when }), use('tell', {}));
    const { calls } = await handOffOf(graph(nodes));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'sure']);
  });

  test('names the fields of an answer as a whole', async () => {
    const sure = ask('sure', 'yield', { expects: { type: 'object' } });
    const nodes = [use('busy', {}), ask('name', 'text', { after: ['busy'] }), { ...sure, after: ['busy'] }];
    const told = use('tell', { name: step('name'), sure: step('sure') });
    const { calls } = await handOffOf(graph([...nodes, told]));
    const given = { name: { input: "<field 'input' from name>" }, sure: '<output from sure>' };
    expect(calls.at(-1)).toEqual(['tell', given]);
  });

  test('says under which condition a branch is selected that selects a call', async () => {
    const cases: [Expr | undefined, string][] = [
      [get(step('busy'), 'more'), 'second'],
      [undefined, 'c'],
    ];
    const second = branch('second', [[lit(true), 'b']]);
    const nodes = [use('busy', {}), branch('first', cases), second, use('b', {}), use('c', {})];
    const { calls, notes } = await handOffOf(graph(nodes));
    expect(calls.map(([name]) => name)).toEqual(['busy', 'b', 'c']);
    expect(notes[1]).toBe("Only if `busy.more`: then step 'first' takes 'c0'.");
  });

  test('names a step whose computed value derives from no other', async () => {
    const made = compute('made', list(), { function: { name: 'f', hash: '0'.repeat(64) } });
    const nodes = chain(use('busy', {}), made, use('tell', { made: step('made') }));
    const { calls } = await handOffOf(graph(nodes));
    expect(calls.at(-1)).toEqual(['tell', { made: '<value computed from made>' }]);
  });

  test('does not take a step that goes back for one that selects a check', async () => {
    const around = branch('around', [[lit(true), body([use('busy', {})])]], {
      onError: { fallbackNode: 'sorry' },
    });
    const nodes = [
      around,
      use('tell', {}, { after: ['around'] }),
      back('again', 'around', 1, { after: ['tell'], when: get(step('tell'), 'more') }),
      stop('sorry'),
    ];
    const { signal, abort } = aborting();
    const { _meta } = await traceOf({ graph: graph(nodes), tools: { ...tools, busy: abort }, signal });
    expect(_meta.calls.map(({ step: name }) => name)).toEqual(['busy', 'tell']);
  });
});

/** A tool in whose call the run is cancelled. */
function aborting() {
  const controller = new AbortController();
  const run = () => {
    controller.abort('enough');
    return new Promise(() => {});
  };
  return { signal: controller.signal, abort: { description: 'Take for ever', run, annotations: readOnly } };
}
