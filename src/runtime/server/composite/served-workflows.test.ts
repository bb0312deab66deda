import { describe, expect, test } from 'vitest';
import { hashGraph } from '../../../graph/canonical.js';
import type { Node } from '../../../graph/kinds/node.js';
import type { Graph } from '../../../graph/model.js';
import { bundle } from '../../../graph/nodes.js';
import type { Registry } from '../../tools/registry.js';
import { servedWorkflows, toolNames } from './served-workflows.js';

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

const namesOf = (workflows: Parameters<typeof toolNames>[0], taken: readonly string[] = []) => {
  const { names, problems } = toolNames(workflows, new Set(taken));
  return { names: [...names.values()], problems };
};

describe('the tool of a workflow is named', () => {
  test('after the workflow', () => {
    expect(namesOf([{ name: 'book' }, { name: 'pay', domain: 'shop' }])).toEqual({
      names: ['w_book', 'w_pay'],
      problems: [],
    });
  });

  test('after its domain as well where another tool has the name', () => {
    expect(namesOf([{ name: 'book', domain: 'air' }, { name: 'pay' }], ['w_book', 'w_pay'])).toEqual({
      names: ['w_air_book', 'w_default_pay'],
      problems: [],
    });
  });

  test('after its domain where workflows share a name, both of them', () => {
    const workflows = [
      { name: 'book', domain: 'air' },
      { name: 'book', domain: 'rail' },
    ];
    const { problems } = namesOf(workflows);
    expect(problems).toEqual([]);
  });

  test.each([
    ['equal all the same', [{ name: 'book' }, { name: 'book' }], [], 2],
    ['taken in both forms', [{ name: 'book' }], ['w_book', 'w_default_book'], 1],
    ['that of another one with its domain', [{ name: 'a', domain: 'b' }, { name: 'b_a' }], ['w_a'], 2],
    ['too long', [{ name: 'a'.repeat(63) }], [], 1],
    ['no name clients take', [{ name: 'do:book' }], [], 1],
  ])('not at all: %s', (_, workflows, taken, count) => {
    const { problems } = namesOf(workflows, taken);
    expect(problems).toHaveLength(count);
    for (const problem of problems) expect(problem.message).toContain('E_TOOL_NAME');
  });

  test('within 64 characters', () => {
    expect(namesOf([{ name: 'a'.repeat(62) }]).problems).toEqual([]);
  });
});
