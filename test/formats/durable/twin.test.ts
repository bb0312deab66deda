import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { extract } from '../../../src/codegen/extract/extract.js';
import { link } from '../../../src/codegen/link/link.js';
import { SourceHost } from '../../../src/codegen/source/source-host.js';
import { parseWorkflows } from '../../../src/formats/index.js';
import { canonicalGraph } from '../../../src/graph/canonical.js';
import type { Node } from '../../../src/graph/kinds/node.js';
import type { Graph } from '../../../src/graph/model.js';
import { bundle, withBodies } from '../../../src/graph/nodes.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');

function decorated(): Graph {
  const files = ['test/formats/durable/planning.twin.ts'];
  const host = new SourceHost({ root: ROOT, tsconfig: 'tsconfig.json', files });
  const linked = link(extract(host.sourceFiles()).value);
  expect(linked.diagnostics).toEqual([]);
  const graphs = new Map(linked.value.map(({ graph }) => [graph.name, graph]));
  return bundle(graphs.get('interactive-planning') as Graph, (name) => graphs.get(name));
}

async function written(): Promise<Graph> {
  const file = path.join(ROOT, 'examples/durable/workflows/interactive-planning.yaml');
  const { workflows } = await parseWorkflows(readFileSync(file, 'utf8'), { file, format: 'yaml' });
  return workflows[0]?.graph as Graph;
}

/**
 * A graph without what one of the two languages does not say. Classes have types, where the dialect has fields and results
 * of any type, and no limits; `set` writes one field, and a step in an arm has an id by its place, and a value.
 */
function comparable({ limits: _, ...graph }: Graph): Graph {
  const ids = new Map<string, string>();
  const idOf = (id: string): string => {
    ids.set(id, ids.get(id) ?? `node-${ids.size + 1}`);
    return ids.get(id) as string;
  };
  const inRow = (nodes: readonly Node[]): readonly Node[] => {
    const row = nodes.flatMap(oneField).map((node) => ({ ...node, id: idOf(node.id) }));
    return row.map((node, index): Node => {
      const { reads = [], ...rest } = node;
      const inner = withBodies(rest as Node, ({ value, nodes: inside }) => {
        const body = inRow(inside);
        const isRead = node.kind === 'foreach' && value?.kind === 'ref' && value.path.length === 1;
        return isRead
          ? { nodes: body, value: { ...value, path: [idOf(String(value.path[0]))] } }
          : { nodes: body };
      });
      return {
        ...inner,
        after: index === 0 ? [] : [row[index - 1]?.id ?? ''],
        ...(reads.length > 0 ? { reads } : {}),
      };
    });
  };
  return {
    ...graph,
    inputs: graph.inputs.map((input) => ({ ...input, description: '', schema: {} })),
    ...(graph.state === undefined
      ? {}
      : {
          state: graph.state
            .map((field) => ({ ...field, schema: {} }))
            .sort((a, b) => (a.name < b.name ? -1 : 1)),
        }),
    nodes: inRow(graph.nodes),
    ...(graph.tasks === undefined ? {} : { tasks: graph.tasks.map(comparable) }),
  };
}

/** A `set` of several fields as one for each. */
function oneField(node: Node): readonly Node[] {
  if (node.kind !== 'set') return [node];
  return node.updates.map((update, index) => ({ ...node, id: `${node.id}.${index}`, updates: [update] }));
}

test('the planning workflow as classes is the graph of the file', async () => {
  const [classes, file] = [comparable(decorated()), comparable(await written())].map(canonicalGraph);
  expect(JSON.parse(classes ?? '')).toEqual(JSON.parse(file ?? ''));
  expect(classes).toBe(file);
});
