import { describe, expect, test } from 'vitest';
import { bundle } from '../../../graph/bundle.js';
import { hashGraph } from '../../../graph/canonical.js';
import type { Graph, Node } from '../../../graph/model.js';
import type { Registry } from '../../catalogue/registry.js';
import { servedWorkflows } from './workflows.js';

const base = { after: [], join: 'none_failed', executor: 'server' } as const;
const graphOf = (name: string, nodes: readonly Node[] = []): Graph => ({
  graphVersion: 1,
  name,
  description: name,
  inputs: [],
  instructions: [],
  nodes,
});
const inner = graphOf('inner');
const outer = graphOf('outer', [
  { ...base, kind: 'workflow', id: 'run', workflow: 'inner', input: { kind: 'dict', entries: [] } },
]);

function registryOf(...entries: readonly { readonly graph: Graph; readonly hash: string }[]): Registry {
  const workflows = entries.map(({ graph, hash }) => [
    graph.name,
    { class: Object, graph, hash, fingerprint: '' },
  ]);
  return {
    registryVersion: 1,
    checksum: '',
    tools: {},
    resources: {},
    workflows: Object.fromEntries(workflows) as Registry['workflows'],
  };
}

describe('the hash of a served workflow', () => {
  test('is the one in the registry, which is not worked out again', () => {
    const recorded = '1'.repeat(64);
    const { workflows } = servedWorkflows(registryOf({ graph: graphOf('alone'), hash: recorded }), []);
    expect(workflows.get('alone')?.hash).toBe(recorded);
  });

  test('is that of the graph with its tasks, where it runs other workflows', () => {
    const entries = [inner, outer].map((graph) => ({ graph, hash: hashGraph(graph) }));
    const { workflows } = servedWorkflows(registryOf(...entries), []);
    expect(workflows.get('inner')?.hash).toBe(hashGraph(inner));
    expect(workflows.get('outer')?.hash).toBe(hashGraph(bundle(outer, () => inner)));
  });
});
