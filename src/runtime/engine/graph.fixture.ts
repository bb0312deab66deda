import type { DictEntry, Expr } from '../../graph/expression/tree.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { Node, Retry } from '../../graph/kinds/node.js';
import type { CallNode, ComputeNode, ErrorNode, Graph, ResourceNode, ReturnNode } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import type { Plan } from '../../plan/plan.js';
import type { Advance, Change, Command, Fact, Failure, Row, RunState } from './contract.js';
import { advance, start } from './engine.js';
import type { Event, StartIds } from './events.js';
import { commandOf, commandsOf, nodeRecord, type Remains, remainsOf } from './read.js';
import { restore } from './snapshot.js';
import { type ShownTables, tablesOf } from './tables.fixture.js';

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

export function compute(id: string, value: Expr, options: Options<ComputeNode> = {}): ComputeNode {
  return { ...base, kind: 'compute', id, value, ...options };
}

/** A function's arguments. */
export const list = (...items: readonly Expr[]): Expr => ({
  kind: 'list',
  items: items.map((value) => ({ value })),
});

/** A part of what went wrong, in a fallback. */
export const error = (part: 'code' | 'message' | 'attempts' | 'node'): Expr => ({
  kind: 'ref',
  root: 'error',
  path: [part],
});

/** At once, as often as it takes up to `extra` times; `options` say otherwise. */
export const again = (extra: number, options: Partial<Retry> = {}): Retry => ({
  extra,
  delayMs: 0,
  backoff: 'constant',
  capMs: 60_000,
  jitter: 0,
  ...options,
});

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

/** How runs are driven. A setup file may change it for all tests of a project. */
export const driving = {
  /** Every event finds a state that was put together from rows that were written down as text. */
  reloads: false,
};

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
}

/** A run a test drives by hand. Time stays at 1 000 unless the test moves it. */
export class Run {
  readonly facts: Fact[] = [];
  /** Every call that was commanded, compensations among them. */
  readonly calls: Extract<Command, { kind: 'callTool' }>[] = [];
  readonly plan: Plan;
  readonly #rows = new Map<string, Row>();
  at = 1_000;
  last!: Advance;

  constructor(
    of: Graph,
    values: JsonObject = {},
    deadlineAt?: number,
    random?: number,
    tools?: StartIds['tools'],
  ) {
    this.plan = planOf(of);
    const ids = {
      runId: 'run-1',
      at: this.at,
      ...(deadlineAt === undefined ? {} : { deadlineAt }),
      ...(random === undefined ? {} : { random }),
      ...(tools === undefined ? {} : { tools }),
    };
    this.#follow(start(this.plan, values, ids));
  }

  get state(): RunState {
    return this.last.state;
  }

  /** The state as tests look at it. */
  get tables(): ShownTables {
    return tablesOf(this.state);
  }

  /** What the run has left behind so far. */
  get remains(): Remains {
    return remainsOf(this.plan, this.state);
  }

  /** Commands given by the latest event. */
  get commands(): readonly Command[] {
    return this.last.commands;
  }

  send(event: Event): this {
    return this.#follow(advance(this.plan, this.#loaded(), [event]));
  }

  /** The state as the next event finds it. */
  #loaded(): RunState {
    if (!driving.reloads) return this.state;
    for (const change of JSON.parse(JSON.stringify(this.last.changes)) as Change[]) {
      const key = `${change.table} ${change.key}`;
      if (change.op === 'delete') this.#rows.delete(key);
      else this.#rows.set(key, change);
    }
    return restore(this.plan, this.#rows.values());
  }

  /** Takes a transition, and those that it left to do, as one. */
  #follow(first: Advance): this {
    const { facts, commands, changes } = first;
    const all = { facts: [...facts], commands: [...commands], changes: [...changes] };
    let step = first;
    while (step.more) {
      step = advance(this.plan, step.state, []);
      for (const fact of step.facts) all.facts.push(fact);
      for (const command of step.commands) all.commands.push(command);
      for (const change of step.changes) all.changes.push(change);
    }
    // Whatever the engine gave, it must not change it any more.
    for (const change of all.changes) freeze(change);
    const { state, consumed } = step;
    this.last = { ...all, state, consumed, more: false };
    for (const fact of all.facts) this.facts.push(fact);
    for (const command of all.commands) if (command.kind === 'callTool') this.calls.push(command);
    return this;
  }

  /** Answers the latest attempt of a call, read or evaluation. */
  returns(node: string, value: Json = null): this {
    const { command, at } = { command: this.#latest(node), at: this.at };
    switch (commandOf(this.state, command)?.kind) {
      case 'readResource':
        return this.send({ kind: 'resourceRead', at, command, value: value as JsonObject });
      case 'evaluate':
        return this.send({ kind: 'evaluated', at, command, value });
      default:
        return this.send({ kind: 'toolReturned', at, command, value });
    }
  }

  fails(
    node: string,
    failure: Failure = { code: 'E_TOOL', message: 'broke' },
    attempted = true,
    acted?: true,
  ): this {
    const { command, at } = { command: this.#latest(node), at: this.at };
    switch (commandOf(this.state, command)?.kind) {
      case 'readResource':
        return this.send({ kind: 'resourceFailed', at, command, failure });
      case 'evaluate':
        return this.send({ kind: 'evaluationFailed', at, command, failure });
      default:
        return this.send({ kind: 'toolFailed', at, command, failure, attempted, ...(acted && { acted }) });
    }
  }

  /** The limit of the latest attempt is reached. */
  fires(node: string): this {
    const latest = this.#latest(node);
    const command = commandOf(this.state, latest) === undefined ? `${latest}:timer` : latest;
    return this.send({ kind: 'timerFired', at: this.at, command });
  }

  /** The delay after the latest attempt is over; time is at its end. */
  waits(node: string): this {
    const command = `${this.#latest(node)}:delay`;
    const timer = commandOf(this.state, command);
    if (timer?.kind === 'startTimer') this.at = timer.dueAt;
    return this.send({ kind: 'timerFired', at: this.at, command });
  }

  /** Somebody answers what was asked. */
  answers(node: string, value: Json): this {
    return this.send({ kind: 'actionSubmitted', at: this.at, command: this.#latest(node), value });
  }

  /** The time a `wait` waits for has come. */
  passes(node: string): this {
    const [timer] = commandsOf(this.state).filter(
      (command) => 'node' in command && command.node === node && command.kind === 'startTimer',
    );
    if (timer?.kind !== 'startTimer') throw new Error(`${node} does not wait`);
    this.at = Math.max(this.at, timer.dueAt);
    return this.send({ kind: 'timerFired', at: this.at, command: timer.id });
  }

  /** The action of a node is in a response. */
  delivers(node: string): this {
    return this.send({ kind: 'actionDelivered', at: this.at, command: this.#latest(node) });
  }

  cancel(compensate?: boolean): this {
    const how = compensate === undefined ? {} : { compensate };
    return this.send({ kind: 'cancelled', at: this.at, reason: 'enough', ...how });
  }

  /** The call, read, evaluation or question that is open; else the latest attempt. */
  #latest(node: string): string {
    const [open] = commandsOf(this.state).filter(
      (command) => 'node' in command && command.node === node && command.kind !== 'startTimer',
    );
    return open?.id ?? `${node}#${Math.max(1, nodeRecord(this.state, node)?.attempt ?? 1)}`;
  }

  /** `succeeded`, or `skipped(condition_false)` where there is a reason. */
  status(node: string): string | undefined {
    const record = nodeRecord(this.state, node);
    const reason = record?.details.reason;
    return reason === undefined ? record?.status : `${record?.status}(${reason})`;
  }

  /** Nodes with a call, read or evaluation in flight. */
  get inFlight(): string[] {
    return commandsOf(this.state).flatMap((command) =>
      'node' in command && command.kind !== 'startTimer' ? [command.node] : [],
    );
  }

  kinds(): string[] {
    return this.facts.map((fact) => ('node' in fact && fact.node ? `${fact.kind} ${fact.node}` : fact.kind));
  }
}
