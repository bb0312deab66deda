import { expect, test } from 'vitest';
import { literal } from '../graph/expression/build.fixture.js';
import type { Graph } from '../graph/model.js';
import { step } from './check-graph.fixture.js';
import { findings } from './constructs.fixture.js';

test.each<[Partial<Graph>, string | undefined]>([
  [{ task: true }, undefined],
  [{ task: true, expose: ['prompt'] }, undefined],
  [{ task: true, expose: ['tool'], taskSupport: 'required' }, undefined],
  [{ task: true, expose: [] }, 'workflow `add-task` is a task, and no client can start it'],
  [
    { taskSupport: 'optional', expose: ['prompt'] },
    'says how its tool is called as a task, and it has no tool',
  ],
  [{ taskSupport: 'forbidden', expose: [] }, undefined],
])('SW4051: what is said of tasks holds for clients: %j', (graph, fault) => {
  const found = findings([step(1, 'a', 'put')], graph);
  expect(found).toEqual(
    fault === undefined
      ? []
      : [
          expect.stringContaining(
            `${fault} | set the option in the workflow that clients start, or expose this one`,
          ),
        ],
  );
});

test('SW4053: a skill has no guidance on calls that may change something', () => {
  const guidance = literal('only once');
  const nodes = [step(1, 'a', 'put', {}, { guidance }), step(2, 'b', 'peek', {}, { guidance })];
  expect(findings(nodes, { expose: ['tool', 'skill'] })).toEqual([
    expect.stringContaining('`add-task` is a skill, and says something of step `a`, which calls `put`: '),
  ]);
  expect(findings(nodes, { expose: ['tool'] })).toEqual([]);
});
