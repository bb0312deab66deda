// @vitest-environment happy-dom
import fc from 'fast-check';
import mermaid from 'mermaid';
import { describe, expect, test } from 'vitest';
import { registry as codeReview } from '../../../examples/code-review/generated/code-review.registry.js';
import { registry as greeting } from '../../../examples/greeting/generated/greeting.registry.js';
import { registry as travel } from '../../../examples/travel/generated/travel.registry.js';
import { registry as logseq } from '../../../generated/registry.js';
import { anyGraph } from '../../../src/graph/any-graph.fixture.js';
import type { Graph } from '../../../src/graph/model.js';
import { nodesOf } from '../../../src/graph/nodes.js';
import { printMermaid } from '../../../src/print/mermaid.js';
import { isNightly } from '../../nightly.js';
import { cases } from './cases.js';

/** A chart as Mermaid's own parser understands it. */
interface Chart {
  readonly vertices: ReadonlyMap<string, { readonly text: string; readonly type?: string }>;
  readonly subgraphs: readonly { readonly id: string; readonly title: string }[];
  readonly edges: readonly { readonly start: string; readonly end: string; readonly text: string }[];
}

async function parse(text: string): Promise<Chart> {
  await mermaid.parse(text);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  const { getVertices, getSubGraphs, getEdges } = db as unknown as {
    getVertices(): Chart['vertices'];
    getSubGraphs(): Chart['subgraphs'];
    getEdges(): Chart['edges'];
  };
  return {
    vertices: getVertices.call(db),
    subgraphs: getSubGraphs.call(db),
    edges: getEdges.call(db),
  };
}

const examples: [string, Graph][] = [logseq, greeting, codeReview, travel].flatMap(({ workflows }) =>
  Object.entries(workflows).map(([name, { graph }]): [string, Graph] => [name, graph]),
);

/** That Mermaid finds every step where it belongs: once, as a node or as a subgraph, and no arrow to anything else. */
async function expectWhole(graph: Graph): Promise<Chart> {
  const chart = await parse(printMermaid(graph));
  const known = new Set([...chart.vertices.keys(), ...chart.subgraphs.map(({ id }) => id)]);
  for (const index of nodesOf(graph).keys()) expect(known).toContain(`n${index}`);
  const steps = [...known].filter((id) => /^n\d+$/.test(id));
  expect(steps).toHaveLength(nodesOf(graph).length);
  for (const { start, end } of chart.edges) expect([known.has(start), known.has(end)]).toEqual([true, true]);
  // A node that only an arrow names has no text of its own.
  for (const [id, { text }] of chart.vertices)
    if (!chart.subgraphs.some((subgraph) => subgraph.id === id)) expect(text).not.toBe(id);
  return chart;
}

describe("Mermaid's parser reads the chart", () => {
  test.each(examples)('of the example %s', async (_name, graph) => {
    await expectWhole(graph);
  });

  test.each(Object.entries(cases))('of the case %s', async (_name, graph) => {
    await expectWhole(graph);
  });

  test('of any graph', async () => {
    await fc.assert(
      fc.asyncProperty(anyGraph, async (graph) => {
        await expectWhole(graph);
      }),
      { numRuns: isNightly ? 25 : 5 },
    );
  });
});

describe('the chart', () => {
  const targets = (chart: Chart, from: string): string[] =>
    chart.edges.filter(({ start }) => start === from).map(({ end, text }) => `${text}>${end}`);

  test('leads past a step that is left out, and nowhere from `fail` and `done`', async () => {
    // doc, list, slug, stop (fails if …), added (called if …), output (done).
    const chart = await expectWhole(cases.linear as Graph);
    expect(targets(chart, 'n2')).toEqual(['>n3when']);
    expect(targets(chart, 'n3when')).toEqual(['yes>n3', 'no>n4when']);
    expect(targets(chart, 'n3')).toEqual([]);
    expect(targets(chart, 'n4when')).toEqual(['yes>n4', 'no>n5']);
    expect(targets(chart, 'n4')).toEqual(['>n5']);
    expect(targets(chart, 'n5')).toEqual([]);
  });
});
