import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../test/nightly.js';
import { type CheckEnvironment, checkGraph } from '../check/check-graph.js';
import { printMermaid } from '../print/mermaid.js';
import { printText } from '../print/text.js';
import { anyGraph } from './any-graph.fixture.js';
import { hashGraph } from './canonical.js';
import type { Graph } from './model.js';
import { bundle, nodesOf } from './nodes.js';
import { parseGraph } from './schema/parse-graph.js';

const tools = new Map(
  ['a', 'b', 'c'].map((name) => [name, { inputSchema: { type: 'object', required: ['x'] } }]),
);

function beside(...graphs: Graph[]): CheckEnvironment {
  return { tools, resources: new Map(), workflows: new Map(graphs.map((each) => [each.name, each])) };
}

describe('any graph', () => {
  test('is read as it is', () => {
    fc.assert(
      fc.property(anyGraph, (graph) => {
        expect(parseGraph(graph)).toEqual({ ok: true, graph });
      }),
    );
  });

  test('is checked without an internal fault, and the same again', () => {
    fc.assert(
      fc.property(anyGraph, anyGraph, (graph, other) => {
        const found = checkGraph(graph, beside(graph, other));
        const copy = JSON.parse(JSON.stringify(graph)) as Graph;
        expect(checkGraph(copy, beside(copy, other))).toEqual(found);
      }),
      { numRuns: isNightly ? 500 : 50 },
    );
  });

  test('is printed with every step of it', () => {
    fc.assert(
      fc.property(anyGraph, (graph) => {
        const [text, chart] = [printText(graph), printMermaid(graph)];
        const steps = nodesOf(graph);
        expect(text.match(/^ *- [a-h]: /gm)?.length ?? 0).toBeGreaterThanOrEqual(steps.length);
        for (const index of steps.keys())
          expect(chart).toMatch(new RegExp(`^ *(subgraph )?n${index}[[({]`, 'm'));
        const opened = chart.match(/^ *subgraph /gm)?.length ?? 0;
        expect(chart.match(/^ *end$/gm)?.length ?? 0).toBe(opened);
      }),
    );
  });

  test('is bundled with what it runs, whatever that is', () => {
    fc.assert(
      fc.property(fc.array(anyGraph, { minLength: 1, maxLength: 4 }), (graphs) => {
        const all = new Map(graphs.map((each) => [each.name, each]));
        const [first] = graphs;
        const stub = (name: string): Graph => all.get(name) ?? { ...(first as Graph), name, nodes: [] };
        const bundled = bundle(first as Graph, stub);
        expect(hashGraph(bundle(bundled, () => undefined))).toBe(hashGraph(bundled));
        expect(parseGraph(bundled).ok).toBe(true);
      }),
    );
  });
});
