import { readdirSync } from 'node:fs';
import { type CheckEnvironment, checkGraph } from '../../src/check/check-graph.js';
import type { Diagnostic } from '../../src/graph/diagnostics/diagnostic.js';
import type { Graph } from '../../src/graph/model.js';
import { compensationsOf, nodesOf } from '../../src/graph/nodes.js';
import { parseGraph } from '../../src/graph/schema/parse-graph.js';
import { applyRepair } from './diagnostic-examples.js';
import { type Fence, fencesOf, page } from './fences.js';

/** A page about a diagnostic whose example is a graph. */
export interface GraphExample {
  readonly code: string;
  readonly faulty: string;
  readonly said: string;
  readonly repaired: string;
}

const FOLDER = 'docs/diagnostics';

/** Every page with an example in JSON. */
export function graphExamples(): GraphExample[] {
  return readdirSync(new URL(`../../${FOLDER}/`, import.meta.url))
    .filter((file) => /^SW\d+\.md$/.test(file))
    .sort()
    .map((file) => ({ code: file.slice(0, -3), fences: fencesOf(page(`${FOLDER}/${file}`)) }))
    .flatMap(({ code, fences }) => {
      const faulty = bodyOf(fences, 'json');
      if (faulty === undefined) return [];
      const said = bodyOf(fences, 'text')?.trimEnd() ?? '';
      return [{ code, faulty, said, repaired: applyRepair(faulty, bodyOf(fences, 'diff') ?? '') }];
    });
}

/** The diagnostics of the graph of an example. */
export function checkExample(text: string): Diagnostic[] {
  const { workflows = [], ...own } = JSON.parse(text) as { workflows?: object[] };
  const graph = graphOf(own);
  const others = workflows.map(graphOf);
  return checkGraph(graph, {
    ...toolsOf([graph, ...others]),
    workflows: new Map([graph, ...others].map((each) => [each.name, each])),
  });
}

/** Fills in properties that examples leave out. */
function graphOf(example: object): Graph {
  const { inputs = [], nodes, ...rest } = example as { inputs?: object[]; nodes: object[] };
  const result = parseGraph({
    graphVersion: 1,
    name: 'example',
    description: 'An example',
    instructions: [],
    inputs: inputs.map((input) => ({ description: 'An argument', required: true, ...input })),
    nodes: filledIn(nodes),
    ...rest,
  });
  if (!result.ok) throw new Error(result.diagnostics.map(({ message }) => message).join('\n'));
  return result.graph;
}

const EMPTY = { kind: 'dict', entries: [] };

function filledIn(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(filledIn);
  if (typeof part !== 'object' || part === null) return part;
  const filled = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, filledIn(value)]));
  if ('tool' in part || 'workflow' in part) filled.input ??= EMPTY;
  const isNode = 'kind' in part && 'id' in part;
  return isNode ? { after: [], join: 'none_failed', executor: 'server', ...filled } : filled;
}

/** An environment in which every tool that an example calls exists, without schemas. */
function toolsOf(graphs: readonly Graph[]): CheckEnvironment {
  const names = graphs
    .flatMap(nodesOf)
    .flatMap((node) => [
      ...(node.kind === 'call' ? [node.tool] : []),
      ...compensationsOf(node).map(({ tool }) => tool),
    ]);
  return { tools: new Map(names.map((name) => [name, { inputSchema: {} }])), resources: new Map() };
}

function bodyOf(fences: readonly Fence[], language: string): string | undefined {
  return fences.find((fence) => fence.language === language)?.body;
}
