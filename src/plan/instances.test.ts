import { describe, expect, test } from 'vitest';
import type { CallNode, ForeachNode, Graph } from '../graph/model.js';
import { planOf } from './compile.js';
import { Instances } from './instances.js';

const common = { after: [], join: 'none_failed', executor: 'server' } as const;

const one: CallNode = { ...common, kind: 'call', id: 'one', tool: 't', input: { kind: 'dict', entries: [] } };

const each: ForeachNode = {
  ...common,
  kind: 'foreach',
  id: 'each',
  items: { kind: 'literal', value: [] },
  as: 'item',
  body: { nodes: [one] },
  concurrency: 1,
  max: 100_000,
  onItemError: 'fail',
};

const graph: Graph = {
  graphVersion: 1,
  name: 'loops',
  description: 'A loop',
  inputs: [],
  instructions: [],
  nodes: [each],
};

/** The node in an item of the loop. */
function nodeIn(instances: Instances, item: number) {
  const loop = instances.find('each');
  const scope = instances.part(loop, item);
  const [planned] = scope.plan.nodes;
  if (planned === undefined) throw new Error('the body is empty');
  return instances.node(scope, planned);
}

describe('instances', () => {
  test('are the same by position and by key', () => {
    const instances = new Instances(planOf(graph));
    const node = nodeIn(instances, 3);
    expect(node.key).toBe('one[3]');
    expect(nodeIn(instances, 3)).toBe(node);
    expect(instances.find('one[3]')).toBe(node);
    expect(instances.find('one[4]')).toBe(nodeIn(instances, 4));
    expect(() => instances.find('two')).toThrow("no node 'two'");
  });
});
