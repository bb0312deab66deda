import { expect, test } from 'vitest';
import { literal } from '../graph/expression/build.fixture.js';
import type { Node } from '../graph/kinds/node.js';
import { environment, graphOf, place, shown } from './check-graph.fixture.js';
import { checkGraph } from './check-graph.js';

const common = (line: number, id: string) =>
  ({ id, after: [], join: 'none_failed', executor: 'server', source: place(line) }) as const;

const ask = (line: number, mode: 'text' | 'model' = 'text'): Node => ({
  ...common(line, 'asked'),
  ...{ kind: 'ask', mode, message: literal('Continue?') },
  ...(mode === 'model' ? { expects: {} } : {}),
});

const delegate = (line: number, agent: string | null): Node => ({
  ...common(line, 'handed'),
  ...{ kind: 'delegate', executor: 'client', agent, prompt: literal('Do it') },
});

const loop = (line: number, id: string, nodes: readonly Node[], agent?: string): Node => ({
  ...common(line, id),
  ...{ kind: 'foreach', items: literal([1]), as: id, body: { nodes }, concurrency: 1, max: 10 },
  ...{ onItemError: 'settle', ...(agent === undefined ? {} : { agent }) },
});

const runs = (line: number): Node => ({
  ...common(line, 'sub'),
  ...{ kind: 'workflow', workflow: 'inner', input: { kind: 'dict', entries: [] } },
});

const codes = (nodes: readonly Node[], more = {}, workflows = {}): readonly string[] =>
  checkGraph(graphOf(nodes, more), { ...environment, workflows: new Map(Object.entries(workflows)) })
    .filter(({ code }) => code === 'SW4049' || code === 'SW4050')
    .map(shown);

test('SW4049: an agent that drives items has no person to ask', () => {
  expect(codes([loop(3, 'each', [ask(4)], '@task')])).toEqual([
    'SW4049 4:1 step `asked` asks a person, and `@task` drives the items of `each` | the loop is here 3:1 | ask before the loop, or leave the agent out',
  ]);
  expect(codes([loop(3, 'each', [ask(4)])])).toEqual([]);
  expect(codes([loop(3, 'each', [ask(4, 'model')], '@task')])).toEqual([]);
});

test('SW4050: it hands work to other agents only if the workflow allows it', () => {
  const nested = [loop(3, 'each', [loop(4, 'inner', [delegate(5, null)], '@other')], '@task')];
  const handed = [loop(3, 'each', [delegate(4, '@other')], '@task')];
  expect(codes(nested)).toHaveLength(1);
  expect(codes(handed)).toHaveLength(1);
  expect(codes([...nested], { allowNestedAgents: true })).toEqual([]);
  expect(codes([loop(3, 'each', [delegate(4, null)], '@task')])).toEqual([]);
  expect(codes([loop(3, 'each', [loop(4, 'inner', [delegate(5, '@other')])])])).toEqual([]);
});

test('both hold for the workflows that items run', () => {
  const inner = graphOf([ask(7), delegate(8, '@other')], { name: 'inner' });
  const found = codes([loop(3, 'each', [runs(4)], '@task')], {}, { inner });
  expect(found.map((each) => each.slice(0, 55))).toEqual(
    [
      'SW4049 7:1 step `asked` of workflow `inner` asks a perso',
      'SW4050 8:1 step `handed` of workflow `inner` hands work ',
    ].map((each) => each.slice(0, 55)),
  );
});
