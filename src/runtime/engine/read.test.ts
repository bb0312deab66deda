import { describe, expect, test } from 'vitest';
import { body, branch, foreach, runs, withTasks } from './constructs.fixture.js';
import { call, graph, lit, Run } from './graph.fixture.js';
import { nodeRecord, outputOf } from './read.js';

describe('a node is found', () => {
  const task = graph([call('x'), foreach('deep', lit([1]), body([call('y')]))], { name: 'task' });
  const of = graph([
    call('a'),
    call('b'),
    branch('arm', [[undefined, body([call('in')])]]),
    foreach('each', lit([1, 2]), body([call('item'), runs('inner', 'task')]), { concurrency: 2 }),
    runs('sub', 'task'),
  ]);
  const run = new Run(withTasks({ ...of, maxConcurrency: 50 }, task)).returns('a', 1);

  test.each([
    'a',
    'in',
    'each',
    'item[1]',
    'inner[0]',
    'inner[1]/x',
    'inner[1]/y[0]',
    'sub/deep',
    'sub/y[0]',
  ])("by its key '%s'", (key) => {
    expect(nodeRecord(run.state, key)?.key).toBe(key);
  });

  test.each([
    ...['', '/', 'none', 'a[7]', 'a[0]', 'a/b', 'arm/in', 'arm/b', 'in[0]', 'each/item', 'each[0]/item'],
    ...[
      'item',
      'item[2]',
      'item[01]',
      'item[-1]',
      'item[NaN]',
      'item[x]',
      'item[0',
      'item[0]x',
      'item[0][0]',
    ],
    ...[
      'sub/a',
      'sub/y',
      'sub/x[0]',
      'sub[0]/x',
      'sub/',
      '/a',
      'sub//x',
      'inner/x',
      'inner[9]/x',
      'arm:else',
    ],
  ])("and not by '%s', which names none", (key) => {
    expect(nodeRecord(run.state, key)).toBeUndefined();
    expect(outputOf(run.state, key)).toBeUndefined();
  });

  test('where the scope it is in is over, or has not begun, only by who asks for the node as such', () => {
    const { state } = run;
    expect(state.lookup('item[9]')?.key).toBe('item[9]');
    for (const key of ['a[7]', 'a/b', 'item', 'item[-1]', 'item[NaN]', 'item[0]x', 'arm/in', 'sub/y']) {
      expect(state.lookup(key)).toBeUndefined();
      expect(() => state.find(key)).toThrow(`the graph has no node '${key}'`);
    }
  });
});
