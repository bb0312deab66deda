import type { DictEntry, Expr } from '../../graph/expression/tree.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { CallNode, ErrorNode, Graph, Node, ResourceNode, ReturnNode } from '../../graph/model.js';
import { advance } from './advance.js';
import type { Advance, Command, Event, Fact, Failure, RunState } from './contract.js';
import { start } from './start.js';

/** A constant; absent without `value`. */
export const lit = (value?: Json): Expr =>
  value === undefined ? { kind: 'literal' } : { kind: 'literal', value };

/** What a step gave, or a part of it. */
export const step = (id: string, ...path: (string | number)[]): Expr => ({
  kind: 'ref',
  root: 'steps',
  path: [id, ...path],
});

export const input = (name: string): Expr => ({ kind: 'ref', root: 'inputs', path: [name] });

/** `value ?? other` */
export const coalesce = (value: Expr, other: Expr): Expr => ({
  kind: 'call',
  fn: 'coalesce',
  args: [value, other],
});

export const not = (of: Expr): Expr => ({ kind: 'not', truth: 'truthy.js', of });

export const text = (...parts: (string | Expr)[]): Expr => ({ kind: 'text', style: 'display', parts });

/** An expression that has no value: a property of null. */
export const broken: Expr = { kind: 'get', of: lit(null), key: lit('x') };

const base = { after: [], join: 'none_failed', executor: 'server' } as const;

type Options<N extends Node> = Partial<Omit<N, 'id' | 'kind'>>;

export function call(
  id: string,
  args: Readonly<Record<string, Expr>> = {},
  options: Options<CallNode> = {},
): CallNode {
  const entries: DictEntry[] = Object.entries(args).map(([key, value]) => ({ key, value }));
  return { ...base, kind: 'call', id, tool: `tool-${id}`, input: { kind: 'dict', entries }, ...options };
}

export function read(
  id: string,
  uri: Expr = lit(`res://${id}`),
  options: Options<ResourceNode> = {},
): ResourceNode {
  return { ...base, kind: 'resource', id, resource: `resource-${id}`, uri, ...options };
}

export function stop(id: string, message: Expr = lit('no'), options: Options<ErrorNode> = {}): ErrorNode {
  return { ...base, kind: 'error', id, message, ...options };
}

export function done(id: string, value: Expr, options: Options<ReturnNode> = {}): ReturnNode {
  return { ...base, kind: 'return', id, value, ...options };
}

export function graph(nodes: readonly Node[], options: Partial<Graph> = {}): Graph {
  return {
    graphVersion: 1,
    name: 'sample',
    description: 'try something',
    inputs: [],
    instructions: [],
    nodes,
    ...options,
  };
}

/** Each node after the one before it, as TypeScript workflows run. */
export function chain(...nodes: readonly Node[]): Node[] {
  return nodes.map((node, index) => {
    const before = nodes[index - 1];
    return before === undefined ? node : { ...node, after: [before.id] };
  });
}

/** A run a test drives by hand. Time stands at 1 000 unless the test moves it. */
export class Run {
  readonly facts: Fact[] = [];
  readonly #graph: Graph;
  at = 1_000;
  last: Advance;

  constructor(of: Graph, values: JsonObject = {}, deadlineAt?: number) {
    this.#graph = of;
    const ids = { runId: 'run-1', at: this.at, ...(deadlineAt === undefined ? {} : { deadlineAt }) };
    this.last = start(of, values, ids);
    this.facts.push(...this.last.facts);
  }

  get state(): RunState {
    return this.last.state;
  }

  /** Commands given by the latest event. */
  get commands(): readonly Command[] {
    return this.last.commands;
  }

  send(event: Event): this {
    this.last = advance(this.#graph, this.state, event);
    this.facts.push(...this.last.facts);
    return this;
  }

  /** Answers the first attempt of a call or read. */
  returns(node: string, value: Json = null): this {
    const command = `${node}#1`;
    if (this.state.commands[command]?.kind === 'readResource') {
      return this.send({ kind: 'resourceRead', at: this.at, command, value: value as JsonObject });
    }
    return this.send({ kind: 'toolReturned', at: this.at, command, value });
  }

  fails(node: string, failure: Failure = { code: 'E_TOOL', message: 'broke' }, attempted = true): this {
    const command = `${node}#1`;
    if (this.state.commands[command]?.kind === 'readResource') {
      return this.send({ kind: 'resourceFailed', at: this.at, command, failure });
    }
    return this.send({ kind: 'toolFailed', at: this.at, command, failure, attempted });
  }

  fires(node: string): this {
    return this.send({ kind: 'timerFired', at: this.at, command: `${node}#1:timer` });
  }

  /** `succeeded`, or `skipped(condition_false)` where there is a reason. */
  status(node: string): string | undefined {
    const row = this.state.nodes[node];
    return row?.reason === undefined ? row?.status : `${row.status}(${row.reason})`;
  }

  /** Nodes with a call or read in flight. */
  get inFlight(): string[] {
    return Object.values(this.state.commands)
      .filter((command) => command.kind === 'callTool' || command.kind === 'readResource')
      .map((command) => command.node);
  }

  kinds(): string[] {
    return this.facts.map((fact) => ('node' in fact && fact.node ? `${fact.kind} ${fact.node}` : fact.kind));
  }
}
