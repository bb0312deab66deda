import type { Graph, Input, Node, NodeKind } from '../../../graph/model.js';
import { nodesOf } from '../../../graph/node-expressions.js';
import { cutText } from '../../catalogue/one-line.js';
import { texts } from './texts.js';

/** The longest description of a tool, in UTF-16 code units. */
export const DESCRIPTION_LIMIT = 1_024;

/** A longer flow is cut. */
const FLOW_LIMIT = 400;

/** Kinds of node that a caller notices nothing of. */
const SILENT: ReadonlySet<NodeKind> = new Set(['compute', 'error', 'goto', 'return', 'set']);

/**
 * The description of a workflow's tool: the author's, then a box with its flow, what happens on a failure, and its
 * parameters. What is too long for both loses the box.
 */
export function describeWorkflow(graph: Graph, canAsk: boolean): string {
  const described = `${graph.description}\n\n${boxOf(graph, canAsk)}`;
  return described.length <= DESCRIPTION_LIMIT ? described : cut(graph.description, DESCRIPTION_LIMIT);
}

function boxOf(graph: Graph, canAsk: boolean): string {
  const { box } = texts;
  const lines = [
    cut(flowOf(graph.nodes), FLOW_LIMIT),
    box.onFailure(policiesOf(graph)),
    ...(canAsk ? [box.asks] : []),
    ...(graph.inputs.length === 0 ? [] : [box.parameters]),
    ...graph.inputs.map((input) => box.parameter(input.name, notesOf(input))),
  ].filter((line) => line !== '');
  return [`┌─ ${box.head(graph.name)}`, ...lines.map((line) => `│ ${line}`), '└─'].join('\n');
}

/** Steps in the order of writing: `search → [ reserve | waitlist ] → confirm`. */
function flowOf(nodes: readonly Node[]): string {
  const shown = nodes.filter(({ kind }) => !SILENT.has(kind));
  return shown.length === 0 ? '–' : shown.map(labelOf).join(' → ');
}

function labelOf(node: Node): string {
  switch (node.kind) {
    case 'branch': {
      const arms = [...node.cases, ...(node.else === undefined ? [] : [node.else])];
      return `[ ${arms.map((arm) => ('goto' in arm ? arm.goto : flowOf(arm.body.nodes))).join(' | ')} ]`;
    }
    case 'parallel':
      return `( ${node.branches.map(({ body }) => flowOf(body.nodes)).join(' & ')} )`;
    case 'foreach':
      return `each ${node.as}: { ${flowOf(node.body.nodes)} }`;
    default:
      return node.id;
  }
}

function policiesOf(graph: Graph): string[] {
  const { box } = texts;
  const nodes = nodesOf(graph);
  const { errorStrategy } = graph;
  const policies: string[] = [];
  if (errorStrategy?.kind === 'retry') policies.push(box.retries(errorStrategy.retry.extra + 1));
  else if (nodes.some(({ retry }) => retry !== undefined && retry.extra > 0)) policies.push(box.someRetried);
  if (nodes.some(({ onError }) => onError !== undefined)) policies.push(box.fallbacks);
  if (nodes.some((node) => node.kind === 'parallel' && node.onPartialFailure === 'rollback')) {
    policies.push(box.undone);
  }
  if (errorStrategy?.kind === 'collect') policies.push(box.collect);
  else if (graph.failFast === false) policies.push(box.goesOn);
  else if (errorStrategy?.kind !== 'retry') policies.push(box.failFast);
  return policies;
}

function notesOf({ schema, required, default: standing, secret }: Input): string[] {
  return [
    typeof schema.type === 'string' ? schema.type : Array.isArray(schema.enum) ? 'one of a few' : 'any',
    required ? 'required' : 'optional',
    ...(standing === undefined || secret === true ? [] : [`default ${JSON.stringify(standing)}`]),
    ...(secret === true ? ['secret'] : []),
  ];
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${cutText(text, limit - 1).trimEnd()}…`;
}
