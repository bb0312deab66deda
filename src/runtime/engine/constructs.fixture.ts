import type { DictEntry, DictExpr, Expr } from '../../graph/expression/tree.js';
import type { Compensation, Node, Scope } from '../../graph/kinds/node.js';
import type {
  AskNode,
  BranchCase,
  BranchNode,
  CompensateNode,
  DelegateNode,
  ForeachNode,
  GotoNode,
  Graph,
  Input,
  ParallelNode,
  SetNode,
  ShellNode,
  WaitNode,
  WorkflowNode,
} from '../../graph/model.js';
import { lit } from './graph.fixture.js';

const base = { after: [], join: 'none_failed', executor: 'server' } as const;

type Options<N extends Node> = Partial<Omit<N, 'id' | 'kind'>>;

export const dict = (values: Readonly<Record<string, Expr>>): DictExpr => ({
  kind: 'dict',
  entries: Object.entries(values).map(([key, value]): DictEntry => ({ key, value })),
});

export const item = (name: string, ...path: (string | number)[]): Expr => ({
  kind: 'ref',
  root: 'item',
  path: [name, ...path],
});

export const place = (name: string): Expr => ({ kind: 'ref', root: 'index', path: [name] });

export const field = (name: string): Expr => ({ kind: 'ref', root: 'state', path: [name] });

export const isMore = (left: Expr, right: number): Expr => ({
  kind: 'compare',
  left,
  ops: [{ op: 'gt.js', right: lit(right) }],
});

/** A body of these nodes that hands out `value`. */
export const body = (nodes: readonly Node[], value?: Expr): Scope => ({
  nodes,
  ...(value === undefined ? {} : { value }),
});

/** Cases as `[condition, body or target]`, named `c0`, `c1` …; without a condition it is `else`. */
export function branch(
  id: string,
  arms: readonly (readonly [Expr | undefined, Scope | string])[],
  options: Options<BranchNode> = {},
): BranchNode {
  const cases: BranchCase[] = [];
  let rest: BranchNode['else'];
  for (const [index, [when, to]] of arms.entries()) {
    const arm = typeof to === 'string' ? { goto: to } : { body: to };
    if (when === undefined) rest = { id: 'else', ...arm };
    else cases.push({ id: `c${index}`, when, ...arm });
  }
  return { ...base, kind: 'branch', id, cases, ...(rest === undefined ? {} : { else: rest }), ...options };
}

export function parallel(
  id: string,
  branches: Readonly<Record<string, Scope>>,
  options: Options<ParallelNode> = {},
): ParallelNode {
  const list = Object.entries(branches).map(([name, each]) => ({ id: name, body: each }));
  return { ...base, kind: 'parallel', id, branches: list, onPartialFailure: 'abort', ...options };
}

export function foreach(
  id: string,
  items: Expr,
  each: Scope,
  options: Options<ForeachNode> = {},
): ForeachNode {
  const defaults = { as: 'item', indexAs: 'index', concurrency: 1, max: 1_000, onItemError: 'fail' } as const;
  return { ...base, kind: 'foreach', id, items, body: each, ...defaults, ...options };
}

export function runs(
  id: string,
  workflow: string,
  input: Readonly<Record<string, Expr>> = {},
  options: Options<WorkflowNode> = {},
): WorkflowNode {
  return { ...base, kind: 'workflow', id, workflow, input: dict(input), ...options };
}

export function ask(id: string, mode: AskNode['mode'] = 'confirm', options: Options<AskNode> = {}): AskNode {
  return { ...base, kind: 'ask', id, mode, message: lit(`${id}?`), ...options };
}

export function shell(id: string, command: Expr = lit(id), options: Options<ShellNode> = {}): ShellNode {
  return { ...base, executor: 'client', kind: 'shell', id, command, ...options };
}

export function delegate(id: string, options: Options<DelegateNode> = {}): DelegateNode {
  return {
    ...base,
    executor: 'client',
    kind: 'delegate',
    id,
    agent: null,
    prompt: lit(`do ${id}`),
    ...options,
  };
}

export function wait(id: string, options: Options<WaitNode>): WaitNode {
  return { ...base, kind: 'wait', id, ...options };
}

export function set(
  id: string,
  values: Readonly<Record<string, Expr>>,
  options: Options<SetNode> = {},
): SetNode {
  const updates = Object.entries(values).map(([name, value]) => ({ field: name, value }));
  return { ...base, kind: 'set', id, updates, ...options };
}

export function back(id: string, target: string, max: number, options: Options<GotoNode> = {}): GotoNode {
  return { ...base, kind: 'goto', id, target, max, onLimit: 'fail', ...options };
}

/** A call that undoes with these arguments. */
export const undo = (
  tool: string,
  args: Readonly<Record<string, Expr>> = {},
  options: Partial<Compensation> = {},
): Compensation => ({ tool, input: dict(args), ...options });

export function compensate(
  id: string,
  steps: readonly Compensation[],
  options: Options<CompensateNode> = {},
): CompensateNode {
  return { ...base, kind: 'compensate', id, steps, ...options };
}

export const optional = (name: string): Input => ({ name, description: name, schema: {}, required: false });

export const required = (name: string): Input => ({ ...optional(name), required: true });

/** The graph and the workflows it runs. */
export const withTasks = (graph: Graph, ...tasks: readonly Graph[]): Graph => ({ ...graph, tasks });
