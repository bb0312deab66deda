import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import { dict } from '../graph/expression/build.fixture.js';
import type { DictExpr, Expr } from '../graph/expression/tree.js';
import type { JsonSchema } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import type {
  CallNode,
  ComputeNode,
  ErrorNode,
  Graph,
  Input,
  ResourceNode,
  ReturnNode,
} from '../graph/model.js';
import type { SourceLocation } from '../graph/source-location.js';
import { type CheckEnvironment, checkGraph } from './check-graph.js';

const FILE = 'add-task.workflow.ts';

/** A place in the workflow's file, one column wide. */
export function place(line: number, column = 1): SourceLocation {
  return { file: FILE, span: [line, column, line, column + 1] };
}

/** Puts an expression at a line, column 20. */
export function at<T extends Expr>(line: number, expr: T): T {
  return { ...expr, at: place(line, 20).span };
}

export const common = { after: [], join: 'none_failed', executor: 'server' } as const;

export function step(
  line: number,
  id: string,
  tool: string,
  input: Record<string, Expr> = {},
  more: Partial<CallNode> = {},
): CallNode {
  return { kind: 'call', id, tool, input: dict(input) as DictExpr, ...common, source: place(line), ...more };
}

export function returns(line: number, value: Expr, more: Partial<ReturnNode> = {}): ReturnNode {
  return { kind: 'return', id: 'output', value, ...common, source: place(line), ...more };
}

export function fails(line: number, message: Expr, more: Partial<ErrorNode> = {}): ErrorNode {
  return { kind: 'error', id: 'stop', message, ...common, source: place(line), ...more };
}

export function reads(
  line: number,
  resource: string,
  uri: Expr,
  more: Partial<ResourceNode> = {},
): ResourceNode {
  return { kind: 'resource', id: 'doc', resource, uri, ...common, source: place(line), ...more };
}

export function computes(
  line: number,
  id: string,
  value: Expr,
  more: Partial<ComputeNode> = {},
): ComputeNode {
  return { kind: 'compute', id, value, ...common, source: place(line), ...more };
}

export function argument(name: string, schema: JsonSchema = { type: 'string' }): Input {
  return { name, description: `The ${name}`, schema, required: true, source: place(2) };
}

export function graphOf(nodes: readonly Node[], more: Partial<Graph> = {}): Graph {
  return {
    graphVersion: 1,
    name: 'add-task',
    description: 'Adds a task',
    inputs: [argument('task'), argument('project')],
    instructions: [],
    nodes,
    source: place(1),
    ...more,
  };
}

export const closed = (
  properties: Record<string, JsonSchema>,
  required = Object.keys(properties),
): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

export const environment: CheckEnvironment = {
  tools: new Map([
    [
      'list-pages',
      {
        inputSchema: closed({ limit: { type: 'integer' } }, []),
        outputSchema: closed({
          pages: { type: 'array', items: closed({ title: { type: 'string' } }) },
          total: { type: 'number' },
        }),
      },
    ],
    [
      'find-pages',
      {
        inputSchema: closed({}),
        outputSchema: {
          ...closed({ result: { type: 'array', items: closed({ title: { type: 'string' } }) } }),
          'x-fastmcp-wrap-result': true,
        },
      },
    ],
    ['peek', { inputSchema: closed({}), annotations: { readOnlyHint: true } }],
    ['put', { inputSchema: closed({}), annotations: { idempotentHint: true } }],
    ['keyed', { inputSchema: closed({}), retrySafety: 'key' }],
    ['add-task', { inputSchema: closed({ task: { type: 'string' }, page: { type: ['string', 'null'] } }) }],
  ]),
  resources: new Map([['intro', { uri: 'resource://logseq/intro' }]]),
};

/** `code line:column message`, then its related places and its hint. */
export function shown({ code, place: where, message, related, hint }: Diagnostic): string {
  return [
    `${code} ${where?.span.slice(0, 2).join(':')} ${message}`,
    ...related.map((other) => `${other.message} ${other.place.span.slice(0, 2).join(':')}`),
    ...(hint === undefined ? [] : [hint]),
  ].join(' | ');
}

/** The errors among what is found. */
export function check(nodes: readonly Node[], more: Partial<Graph> = {}): string[] {
  const found = checkGraph(graphOf(nodes, more), environment);
  return found.filter(({ severity }) => severity === 'error').map(shown);
}

/** The warnings among what is found, in a graph without arguments. */
export function warnings(nodes: readonly Node[], more: Partial<Graph> = {}): string[] {
  const found = checkGraph(graphOf(nodes, { inputs: [], ...more }), environment);
  return found.filter(({ severity }) => severity === 'warning').map(shown);
}
