import { dict, get, literal, ref } from '../graph/expression/build.fixture.js';
import type { DictExpr, Expr } from '../graph/expression/tree.js';
import type { Compensation, Node, Scope } from '../graph/kinds/node.js';
import type {
  AskNode,
  BranchCase,
  BranchNode,
  CompensateNode,
  ForeachNode,
  GotoNode,
  Graph,
  ParallelNode,
  SetNode,
  WaitNode,
  WorkflowNode,
} from '../graph/model.js';
import { at, common, environment, graphOf, place, returns, shown } from './check-graph.fixture.js';
import { type CheckEnvironment, checkGraph } from './check-graph.js';

export const yes = literal(true);

/** A body of these nodes. */
export function body(nodes: readonly Node[], value?: Expr): Scope {
  return value === undefined ? { nodes } : { nodes, value };
}

/** A case with a body, or with the name of the node it leads to. */
export function arm(id: string, to: Scope | string, when: Expr = yes): BranchCase {
  return typeof to === 'string' ? { id, when, goto: to } : { id, when, body: to };
}

export function branches(
  line: number,
  id: string,
  cases: readonly BranchCase[],
  more: Partial<BranchNode> = {},
): BranchNode {
  return { kind: 'branch', id, cases, ...common, source: place(line), ...more };
}

/** A branch that takes one way or the other. */
export function either(line: number, id: string, first: Scope | string, second: Scope | string): BranchNode {
  const { when: _, ...otherwise } = arm('no', second);
  return branches(line, id, [arm('yes', first)], { else: otherwise });
}

export function parallel(
  line: number,
  id: string,
  bodies: Readonly<Record<string, Scope>>,
  more: Partial<ParallelNode> = {},
): ParallelNode {
  return {
    kind: 'parallel',
    id,
    branches: Object.entries(bodies).map(([name, inner]) => ({ id: name, body: inner })),
    onPartialFailure: 'abort',
    ...common,
    source: place(line),
    ...more,
  };
}

export function loop(
  line: number,
  id: string,
  items: Expr,
  inner: Scope,
  more: Partial<ForeachNode> = {},
): ForeachNode {
  const limits = { concurrency: 1, max: 100, onItemError: 'fail' } as const;
  return {
    kind: 'foreach',
    id,
    items,
    as: 'x',
    body: inner,
    ...limits,
    ...common,
    source: place(line),
    ...more,
  };
}

export function runs(
  line: number,
  id: string,
  workflow: string,
  input: Record<string, Expr> = {},
  more: Partial<WorkflowNode> = {},
): WorkflowNode {
  return {
    kind: 'workflow',
    id,
    workflow,
    input: dict(input) as DictExpr,
    ...common,
    source: place(line),
    ...more,
  };
}

export function asks(line: number, id: string, mode: AskNode['mode'], more: Partial<AskNode> = {}): AskNode {
  return { kind: 'ask', id, mode, message: literal('?'), ...common, source: place(line), ...more };
}

export function sets(line: number, id: string, updates: Record<string, Expr>): SetNode {
  const written = Object.entries(updates).map(([field, value]) => ({ field, value }));
  return { kind: 'set', id, updates: written, ...common, source: place(line) };
}

export function waits(line: number, id: string, durationMs: Expr): WaitNode {
  return { kind: 'wait', id, durationMs, ...common, source: place(line) };
}

export function goesBack(line: number, id: string, target: string, more: Partial<GotoNode> = {}): GotoNode {
  return { kind: 'goto', id, target, max: 3, onLimit: 'fail', ...common, source: place(line), ...more };
}

export function undoing(tool: string, input: Record<string, Expr> = {}): Compensation {
  return { tool, input: dict(input) as DictExpr };
}

export function undoes(line: number, id: string, ...steps: Compensation[]): CompensateNode {
  return { kind: 'compensate', id, steps, ...common, source: place(line) };
}

/** Everything that is found in a graph without arguments, beside workflows of these names. */
export function findings(
  nodes: readonly Node[],
  more: Partial<Graph> = {},
  workflows?: readonly Graph[],
): string[] {
  const beside: CheckEnvironment =
    workflows === undefined
      ? environment
      : { ...environment, workflows: new Map(workflows.map((each) => [each.name, each])) };
  return checkGraph(graphOf(nodes, { inputs: [], ...more }), beside).map(shown);
}

/** A return that reads a path of what a node gives, on line 9. */
export const reading = (from: string, ...path: (string | number)[]): Node =>
  returns(9, get(at(9, ref('steps', from, ...path.slice(0, -1))), path.at(-1) as string, true));

/** What is found when a path is read that the value of a node cannot have. */
export function missing(
  nodes: readonly Node[],
  from: string,
  path: (string | number)[],
  workflows?: Graph[],
): string[] {
  return findings([...nodes, reading(from, ...path)], {}, workflows);
}

/** The diagnostic of such a path. */
export const has = (of: string, path: string, hint = ''): string[] => [
  `SW4005 9:1 the output of \`${of}\` has no \`${path}\`${hint}`,
];
