import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import { references } from '../../graph/expression/traversal.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { JsonObject } from '../../graph/json.js';
import type { Node, Retry } from '../../graph/kinds/node.js';
import { DELIVERY_GRACE_MS } from '../../graph/limits.js';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import type { Plan } from '../../plan/plan.js';
import { isClientWork } from './actions.js';
import type { Advance, Command, Fact, Row, RunState } from './contract.js';
import { advance } from './engine.js';
import type { Event } from './events.js';
import { type Behaviour, BROKE, behaviourOf, linearOutcome } from './linear-oracle.fixture.js';
import { confluentGraph, linearGraph, randomGraph } from './random-graph.fixture.js';
import {
  answer,
  answered,
  apply,
  begin,
  INPUT,
  type Move,
  moves,
  type Played,
  play,
  rowsOf,
  settle,
} from './random-run.fixture.js';
import { outstanding } from './read.js';
import { restore, snapshot } from './snapshot.js';
import { rowsText, tablesOf, textOf } from './tables.fixture.js';

const RUNS = { numRuns: isNightly ? 500 : 40 };

const deadline = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.integer({ min: -5, max: 300 }) },
);

const world = [randomGraph, moves, deadline] as const;

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const bytes = (value: unknown): string => JSON.stringify(value);

/** Every step of a run, each kept as text: later steps must not be able to change it. */
function record(graph: Graph, given: readonly Move[], deadlineAt?: number): string[] {
  const steps: string[] = [];
  const note = ({ advance: { state, changes, commands, facts } }: Played) => {
    steps.push(bytes([rowsText(state), changes, commands, facts]));
  };
  play(graph, given, note, deadlineAt);
  return steps;
}

describe('every run', () => {
  test('outstanding is exactly what was commanded and neither answered nor called off', () => {
    fc.assert(
      fc.property(...world, (graph, given, deadlineAt) => {
        const owed = new Map<string, Command>();
        play(
          graph,
          given,
          ({ event, advance: { state, commands } }) => {
            if (event !== undefined) answered(owed, event);
            settle(owed, commands);
            expect(outstanding(state)).toEqual({ commands: [...owed.values()], more: false });
          },
          deadlineAt,
        );
      }),
      RUNS,
    );
  });

  test('ends, and wants answers exactly as long as it has not', () => {
    fc.assert(
      fc.property(...world, (graph, given, deadlineAt) => {
        const state = play(
          graph,
          given,
          ({ advance: { state } }) =>
            expect(outstanding(state).commands.length > 0).toBe(state.run.status === 'running'),
          deadlineAt,
        );
        expect(state.run.status).not.toBe('running');
        expect([state.root.open, state.running, state.queue.isEmpty]).toEqual([0, 0, true]);
        for (const row of Object.values(tablesOf(state).nodes)) {
          expect(['succeeded', 'failed', 'skipped', 'cancelled']).toContain(row.status);
        }
      }),
      RUNS,
    );
  });

  test('survives a JSON round trip of its state at each step, byte for byte', () => {
    fc.assert(
      fc.property(...world, (graph, given, deadlineAt) => {
        let stored: string | undefined;
        play(
          copy(graph),
          given,
          ({ event, advance: direct }) => {
            if (event !== undefined && stored !== undefined) {
              const plan = planOf(graph);
              const reloaded = advance(plan, restore(plan, JSON.parse(stored) as Row[]), [event]);
              expect(rowsText(reloaded.state)).toBe(rowsText(direct.state));
              expect(textOf(reloaded.changes)).toBe(textOf(direct.changes));
              expect(bytes([reloaded.commands, reloaded.facts])).toBe(bytes([direct.commands, direct.facts]));
            }
            stored = bytes(snapshot(direct.state));
          },
          deadlineAt,
        );
      }),
      RUNS,
    );
  });

  test('gives the same bytes for the same events', () => {
    fc.assert(
      fc.property(...world, (graph, given, deadlineAt) => {
        expect(record(copy(graph), given, deadlineAt)).toEqual(record(graph, given, deadlineAt));
      }),
      RUNS,
    );
  });

  test('is rebuilt by its changes alone, which name each row once', () => {
    fc.assert(
      fc.property(...world, (graph, given, deadlineAt) => {
        const shadow = new Map<string, string>();
        play(
          graph,
          given,
          ({ advance: { state, changes } }) => {
            const touched = changes.map(({ table, key }) => `${table} ${key}`);
            expect(new Set(touched).size).toBe(touched.length);
            for (const change of changes) apply(shadow, change);
            expect([...shadow].sort()).toEqual([...rowsOf(state)].sort());
          },
          deadlineAt,
        );
      }),
      RUNS,
    );
  });

  test('is not changed by events that are late, repeated or unknown, save for calls that did happen', () => {
    fc.assert(
      fc.property(...world, (graph, given, deadlineAt) => {
        const past: Event[] = [{ kind: 'toolReturned', at: 0, command: 'unknown#1', value: 1 }];
        const answered: Command[] = [];
        play(
          graph,
          given,
          ({ event, advance: { state, commands } }) => {
            if (event !== undefined && 'command' in event) past.push(event);
            answered.push(...commands.filter(({ kind }) => kind !== 'cancelCall' && kind !== 'cancelTimer'));
            const owed = new Set(outstanding(state).commands.map(({ id }) => id));
            const late = answered
              .filter(({ id }) => !owed.has(id))
              .map((command) => answer(command, { how: 'succeed', value: 'late' }, 5));
            const before = rowsText(state);
            for (const stale of [...past, ...late]) {
              const wasGivenUp =
                'command' in stale && state.abandoned.get(stale.command) !== undefined && isNews(stale);
              if (wasGivenUp && state.run.status === 'running') {
                const plan = planOf(graph);
                expectNoted(plan, restore(plan, snapshot(state)), stale);
                continue;
              }
              const after = advance(planOf(graph), state, [stale]);
              expect(after).toMatchObject({ changes: [], commands: [], facts: [] });
            }
            expect(rowsText(state)).toBe(before);
          },
          deadlineAt,
        );
      }),
      RUNS,
    );
  });
});

describe('every node', () => {
  test('runs at most once, after everything it waits for, and comes to exactly one end', () => {
    fc.assert(
      fc.property(...world, (graph, given, deadlineAt) => {
        const waits = new Map(graph.nodes.map((node) => [node.id, waitsOf(node)]));
        const facts: Fact[] = [];
        play(graph, given, ({ advance: step }) => facts.push(...step.facts), deadlineAt);
        const started = new Set<string>();
        const ended = new Set<string>();
        const inFlight = new Set<string>();
        for (const fact of facts) {
          switch (fact.kind) {
            case 'nodeStarted':
              expect(started).not.toContain(fact.node);
              for (const id of waits.get(fact.node) ?? []) expect(ended).toContain(id);
              started.add(fact.node);
              break;
            case 'callIssued':
            case 'resourceRequested':
              expect(started).toContain(fact.node);
              expect(inFlight).not.toContain(fact.command);
              inFlight.add(fact.command);
              expect(inFlight.size).toBeLessThanOrEqual(graph.maxConcurrency ?? 10);
              break;
            case 'callReturned':
              expect(inFlight.delete(fact.command)).toBe(true);
              break;
            case 'nodeSucceeded':
            case 'nodeFailed':
            case 'nodeSkipped':
            case 'nodeCancelled':
              expect(ended).not.toContain(fact.node);
              ended.add(fact.node);
              break;
            case 'finished':
              expect(fact).toBe(facts.at(-1));
              break;
          }
        }
        expect(inFlight.size).toBe(0);
        expect([...ended].sort()).toEqual(graph.nodes.map(({ id }) => id).sort());
        expect(facts.at(-1)?.kind).toBe('finished');
      }),
      RUNS,
    );
  });

  test('is commanded with a bounded time: each call is due no later than its limits', () => {
    fc.assert(
      fc.property(...world, (graph, given, deadlineAt) => {
        const byId = new Map(graph.nodes.map((node) => [node.id, node]));
        const check = ({ event, advance: { commands } }: Played) => {
          const at = event?.at ?? 0;
          for (const command of commands) {
            if (command.kind === 'startTimer') expect(command.purpose).toBe('backoff');
            if (command.kind === 'startTimer' || !('node' in command)) continue;
            const limit = at + limitMs(command, byId.get(command.node));
            const due = Math.min(limit, deadlineAt ?? limit);
            expect(command.dueAt ?? Number.POSITIVE_INFINITY).toBe(due);
            // Work of the client may be delivered late.
            if (deadlineAt !== undefined && !('deliveredAt' in command)) expect(at).toBeLessThan(deadlineAt);
          }
        };
        play(graph, given, check, deadlineAt);
      }),
      RUNS,
    );
  });
});

/** How long a command may take; work of the client from its delivery. */
function limitMs(command: Command, node: Node | undefined): number {
  if (command.kind !== 'requestAction' || !isClientWork(command.action)) return node?.timeoutMs ?? 60_000;
  const isDelivered = command.deliveredAt !== undefined;
  return isDelivered ? command.action.timeoutMs + DELIVERY_GRACE_MS : Number.POSITIVE_INFINITY;
}

describe('every attempt', () => {
  test('is within the limit of its node, follows one that may be repeated, and no earlier than its delay', () => {
    fc.assert(
      fc.property(...world, (graph, given, deadlineAt) => {
        const byId = new Map(graph.nodes.map((node) => [node.id, node]));
        const keys = new Map<string, string>();
        /** By node: the attempt it may make next, and since when. */
        const allowed = new Map<string, { readonly attempt: number; readonly delay?: string }>();
        const over = new Set<string>();
        const check = ({ event, advance: step }: Played) => {
          const at = event?.at ?? 0;
          if (event?.kind === 'timerFired') over.add(event.command);
          const dueAt = new Map(
            step.commands.flatMap((c) => (c.kind === 'startTimer' ? [[c.id, c.dueAt]] : [])),
          );
          for (const fact of step.facts) {
            if (fact.kind === 'retrying') {
              const retry = retryOf(byId.get(fact.node), graph);
              expect(fact.attempts).toBe(1 + (retry?.extra ?? 0));
              expect(fact.attempt).toBeLessThan(fact.attempts);
              expect(event).not.toMatchObject({ attempted: false });
              expectDelay(fact.delayMs, retry, fact.attempt);
              const delay = `${fact.node}#${fact.attempt}:delay`;
              const next = { attempt: fact.attempt + 1 };
              if (fact.delayMs > 0) expect(dueAt.get(delay)).toBe(at + fact.delayMs);
              allowed.set(fact.node, fact.delayMs > 0 ? { ...next, delay } : next);
            }
            if (fact.kind !== 'callIssued' && fact.kind !== 'resourceRequested') continue;
            const { attempt, delay } = allowed.get(fact.node) ?? { attempt: 1 };
            expect(fact.command).toBe(`${fact.node}#${attempt}`);
            if (delay !== undefined) expect(over).toContain(delay);
            allowed.delete(fact.node);
          }
          for (const command of step.commands) {
            if (command.kind !== 'callTool') continue;
            expect(keys.get(command.node) ?? command.key).toBe(command.key);
            keys.set(command.node, command.key);
          }
        };
        play(graph, given, check, deadlineAt);
        expect(new Set(keys.values()).size).toBe(keys.size);
      }),
      RUNS,
    );
  });
});

describe('outcomes', () => {
  test('do not depend on the order of answers where nothing ends the run early', () => {
    const worlds = fc.array(fc.nat({ max: 30 }), { maxLength: 30 });
    fc.assert(
      fc.property(
        confluentGraph,
        fc.infiniteStream(fc.nat({ max: 9 })),
        worlds,
        worlds,
        (graph, luck, one, other) => {
          const behaviour = behaviourOf(graph, luck);
          const ends = [one, other].map((order) => answerAll(graph, behaviour, order));
          const [first, second] = ends.map(tablesOf).map(({ nodes, outputs, run }) => ({
            // Which failure was the first does depend on it.
            nodes: sorted(nodes).map(([key, row]) => [key, { ...(row as object), failureNumber: 0 }]),
            outputs: sorted(outputs),
            status: run.status,
          }));
          expect(second).toEqual(first);
        },
      ),
      RUNS,
    );
  });

  test('of linear graphs are those of a direct recursive reading', () => {
    fc.assert(
      fc.property(linearGraph, fc.infiniteStream(fc.nat({ max: 9 })), (graph, luck) => {
        const behaviour = behaviourOf(graph, luck);
        const { run, nodes, outputs } = tablesOf(answerAll(graph, behaviour, []));
        const { status, result, failedNode, ...expected } = linearOutcome(graph, INPUT, behaviour);
        expect([run.status, run.result, run.failedNode]).toEqual([status, result, failedNode]);
        const broken = graph.nodes.map(({ id }) => id).filter((id) => expected.nodes[id] === 'failed');
        expect(new Map(Object.entries(outputs))).toEqual(expected.outputs);
        expect(run.failures?.map(({ node }) => node) ?? []).toEqual(broken);
        const statuses = Object.entries(nodes).map(([id, row]) => [
          id,
          row.reason === undefined ? row.status : `${row.status}(${row.reason})`,
        ]);
        expect(statuses.sort()).toEqual(Object.entries(expected.nodes).sort());
      }),
      RUNS,
    );
  });
});

/** Answers every call, lets no limit be reached; `order` picks who is answered first. */
function answerAll(graph: Graph, behaviour: Behaviour, order: readonly number[]): RunState {
  let current: Advance = begin(graph);
  for (let index = 0; ; index += 1) {
    const owed = outstanding(current.state).commands.filter(
      (command) => command.kind !== 'startTimer' || command.purpose === 'backoff',
    );
    const command = owed[(order[index] ?? 0) % owed.length];
    if (command === undefined || !('node' in command)) return current.state;
    current = advance(planOf(graph), current.state, [answerOf(command, behaviour, index)]);
  }
}

function answerOf(command: Extract<Command, { node: string }>, behaviour: Behaviour, at: number): Event {
  if (command.kind === 'startTimer') return answer(command, { how: 'succeed', value: null }, at);
  const given = behaviour(command.node, Number(command.id.split('#').at(-1)));
  const reply = { at, command: command.id };
  switch (command.kind) {
    case 'callTool':
      return typeof given === 'string'
        ? { kind: 'toolFailed', ...reply, failure: BROKE, attempted: given === 'fails' }
        : { kind: 'toolReturned', ...reply, value: given.value };
    case 'readResource':
      return typeof given === 'string'
        ? { kind: 'resourceFailed', ...reply, failure: BROKE }
        : { kind: 'resourceRead', ...reply, value: given.value as JsonObject };
    case 'evaluate':
      return typeof given === 'string'
        ? { kind: 'evaluationFailed', ...reply, failure: BROKE }
        : { kind: 'evaluated', ...reply, value: given.value };
    case 'requestAction':
      throw new Error('these graphs have no actions');
  }
}

/** Whether a late answer to an abandoned call changes the state: it succeeded, or was never made. */
function isNews(event: Event): boolean {
  return event.kind === 'toolReturned' || (event.kind === 'toolFailed' && !event.attempted);
}

/** The call leaves the unknown outcomes, and a success is recorded once. Nothing else changes. */
function expectNoted(plan: Plan, state: RunState, event: Event): void {
  const run = state.run.toRow();
  const { changes, commands, facts } = advance(plan, state, [event]);
  expect([commands, facts]).toEqual([[], []]);
  for (const { table } of changes) expect(['run', 'effects', 'unknown', 'abandoned']).toContain(table);
  for (const change of changes) {
    if (change.op !== 'put' || change.table !== 'run') continue;
    expect(change.row).toEqual({ ...run, seq: run.seq + 1 });
  }
  expect(changes).not.toEqual([]);
  expect(advance(plan, state, [event]).changes).toEqual([]);
}

function retryOf(node: Node | undefined, { errorStrategy }: Graph): Retry | undefined {
  if (node?.kind !== 'call' && node?.kind !== 'resource') return node?.retry;
  return node.retry ?? (errorStrategy?.kind === 'retry' ? errorStrategy.retry : undefined);
}

/** The delay lies between the whole one and what the jitter leaves of it; the cap is of exponential growth alone. */
function expectDelay(delayMs: number, retry: Retry | undefined, attempt: number): void {
  if (retry === undefined) throw new Error('a node without retry is repeated');
  const factor = { constant: 1, linear: attempt, exponential: 2 ** (attempt - 1) }[retry.backoff];
  const grown = retry.delayMs * factor;
  const whole = retry.backoff === 'exponential' ? Math.min(retry.capMs, grown) : grown;
  expect(delayMs).toBeLessThanOrEqual(whole);
  expect(delayMs).toBeGreaterThanOrEqual(Math.floor(whole * (1 - retry.jitter)));
  if (retry.jitter === 0) expect(delayMs).toBe(whole);
}

function waitsOf(node: Node): string[] {
  const exprs: (Expr | undefined)[] = [node.when, node.guidance];
  if (node.kind === 'call') exprs.push(node.input);
  if (node.kind === 'resource') exprs.push(node.uri);
  if (node.kind === 'error') exprs.push(node.message);
  if (node.kind === 'return' || node.kind === 'compute') exprs.push(node.value);
  if (node.onError !== undefined && 'value' in node.onError) exprs.push(node.onError.value);
  const refs = exprs.flatMap((expr) => (expr === undefined ? [] : references(expr)));
  return [
    ...node.after,
    ...refs.filter(({ ref }) => ref.root === 'steps').map(({ ref }) => String(ref.path[0])),
  ];
}

function sorted(table: object): [string, unknown][] {
  return Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1));
}
