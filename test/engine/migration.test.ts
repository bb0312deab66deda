import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../../src/formats/json-schema/sample.js';
import { canonicalGraph } from '../../src/graph/canonical.js';
import type { Json } from '../../src/graph/json.js';
import type { Graph, Node } from '../../src/graph/model.js';
import { withBodies } from '../../src/graph/nodes.js';
import { planOf } from '../../src/plan/compile.js';
import type { Command, RunState } from '../../src/runtime/engine/contract.js';
import { advance, start } from '../../src/runtime/engine/engine.js';
import type { Event, OwedCommand, StartIds } from '../../src/runtime/engine/events.js';
import { compare } from '../../src/runtime/engine/migration/compare.js';
import { migrateRows } from '../../src/runtime/engine/migration/migrate-rows.js';
import { commandsOf } from '../../src/runtime/engine/read.js';
import { restore, snapshot } from '../../src/runtime/engine/snapshot.js';
import { isNightly } from '../nightly.js';
import { lit } from '../oracle/build.js';
import { caseOf, INPUT } from '../oracle/random-graph.js';
import { editOf } from './random-edit.js';

const numbers = fc.array(fc.nat(), { minLength: 60, maxLength: 160 });

function hashOf(text: string): number {
  let hash = 2166136261;
  for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619) >>> 0;
  return hash;
}

const RUNS = Number(process.env.RUNS ?? (isNightly ? 4_000 : 500));

/** A run, with every call that it was commanded to make. */
class Driven {
  state: RunState;
  readonly calls: string[] = [];
  readonly started = new Set<string>();
  readonly log = new Map<string, Event>();
  readonly #luck: number;
  #at = 0;

  constructor(state: RunState, luck: number) {
    this.state = state;
    this.#luck = luck;
  }

  static begin(graph: Graph, tools: StartIds['tools'], luck: number): Driven {
    const first = start(planOf(graph), INPUT, {
      runId: 'run',
      at: 0,
      ...(tools === undefined ? {} : { tools }),
    });
    const run = new Driven(first.state, luck);
    run.#take(first);
    run.#finish(first.more);
    return run;
  }

  #take({ commands, facts }: Pick<ReturnType<typeof advance>, 'commands' | 'facts'>): void {
    for (const command of commands) if (command.kind === 'callTool') this.calls.push(callText(command));
    for (const fact of facts) {
      if ('node' in fact && fact.node !== undefined) this.started.add(idOf(fact.node));
    }
  }

  #finish(isMore: boolean): void {
    for (let more = isMore; more; ) {
      const next = advance(this.state.plan, this.state, []);
      this.state = next.state;
      this.#take(next);
      more = next.more;
    }
  }

  /** Does what a transition has left. */
  goOn(): void {
    this.#finish(this.state.run.remainingWork !== undefined);
  }

  send(event: Event): void {
    this.#at = Math.max(this.#at, event.at);
    if ('command' in event) this.log.set(event.command, event);
    const next = advance(this.state.plan, this.state, [event]);
    this.state = next.state;
    this.#take(next);
    this.#finish(next.more);
  }

  get isOver(): boolean {
    return this.state.run.status !== 'running';
  }

  get owed(): readonly OwedCommand[] {
    return [...commandsOf(this.state)].sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** Answers a command, as the world does each time. */
  answer(command: OwedCommand): void {
    const at = this.#at;
    const id = command.id;
    const luck = hashOf(`${id} ${this.#luck}`) % 100;
    const failure = { code: 'E_TOOL', message: `${id} broke` };
    const value: Json = luck < 50 ? { ok: true, n: luck } : luck % 7;
    switch (command.kind) {
      case 'callTool':
        if (luck < 12) this.send({ kind: 'toolFailed', at, command: id, failure, attempted: true });
        else this.send({ kind: 'toolReturned', at, command: id, value });
        return;
      case 'readResource':
        this.send({ kind: 'resourceRead', at, command: id, value: { uri: command.uri, text: 'x' } });
        return;
      case 'evaluate':
        this.send({ kind: 'evaluated', at, command: id, value });
        return;
      case 'requestAction': {
        const { action } = command;
        const value = luck < 15 ? 'nonsense' : sampleOf(action.schema);
        this.send({ kind: 'actionSubmitted', at, command: id, value });
        // What does not fit leaves the question open.
        if (commandsOf(this.state).some((open) => open.id === id))
          this.send({ kind: 'actionFailed', at, command: id, failure });
        return;
      }
      case 'startTimer':
        this.send({ kind: 'timerFired', at: Math.max(at, command.dueAt), command: id });
        return;
      default:
        command satisfies never;
    }
  }

  /** Goes on until it waits for an answer or a time alone. */
  rest(): void {
    for (let count = 0; count < 500; count += 1) {
      const busy = this.owed.find(({ kind }) => kind !== 'requestAction' && kind !== 'startTimer');
      if (busy === undefined || this.isOver) return;
      this.answer(busy);
    }
  }

  /** Gives the run up, and has it undone. */
  cancel(): void {
    if (!this.isOver) this.send({ kind: 'cancelled', at: this.#at, reason: 'enough', compensate: true });
  }

  end(): void {
    for (let count = 0; count < 800 && !this.isOver; count += 1) {
      const { owed } = this;
      // Limits of containers come last.
      const next = owed.find(({ kind }) => kind !== 'startTimer') ?? owed[0];
      if (next === undefined) return;
      this.answer(next);
    }
  }
}

const idOf = (key: string): string => (key.split('/').at(-1) ?? '').split('[')[0] ?? '';

function callText({ id, tool, input, key }: Extract<Command, { kind: 'callTool' }>): string {
  return JSON.stringify([id, tool, input, key]);
}

/** The graph with a question in the place of some calls. */
function withQuestions(graph: Graph): Graph {
  const changed = (node: Node): Node => {
    if (node.kind === 'call' && node.compensate === undefined && hashOf(node.id) % 100 < 40) {
      const { tool: _, input: __, resources: ___, ...rest } = node;
      return { ...rest, kind: 'ask', mode: 'confirm', message: lit('sure?') };
    }
    return withBodies(node, (scope) => ({ ...scope, nodes: scope.nodes.map(changed) }));
  };
  const { tasks } = graph;
  return {
    ...graph,
    nodes: graph.nodes.map(changed),
    ...(tasks === undefined ? {} : { tasks: tasks.map(withQuestions) }),
  };
}

/** A run that waits, of a random graph. */
function waitingRun(
  graphNumbers: readonly number[],
  luck: number,
  asks: number,
): { graph: Graph; run: Driven } | undefined {
  const { graph: drawn, world } = caseOf(graphNumbers, []);
  const graph = withQuestions(drawn);
  const run = Driven.begin(graph, world.tools, luck);
  run.rest();
  for (let count = 0; count < asks && !run.isOver; count += 1) {
    const next = run.owed.find(({ kind }) => kind === 'requestAction') ?? run.owed[0];
    if (next === undefined) break;
    run.answer(next);
    run.rest();
  }
  return run.isOver ? undefined : { graph, run };
}

/** Starts the graph anew, and gives it every answer that the other run has had. */
function replayed(graph: Graph, run: Driven, luck: number): Driven {
  const tools = snapshot(run.state).find(({ table }) => table === 'start');
  const fresh = Driven.begin(graph, tools?.table === 'start' ? tools.row.tools : {}, luck);
  for (let isMoving = true; isMoving; ) {
    isMoving = false;
    for (const [command, event] of run.log) {
      if (fresh.log.has(command) || !fresh.owed.some(({ id }) => id === command)) continue;
      fresh.send(event);
      isMoving = true;
    }
  }
  return fresh;
}

const openIn = ({ owed }: Driven): string[] =>
  owed.map((command) => (command.kind === 'callTool' ? callText(command) : command.id));

describe('a run that is moved to another graph', () => {
  test('makes the remaining calls of a run that had begun with it, from the same answers', () => {
    const seen = { safe: 0, effects: 0, starts: 0, stays: 0, needsMapping: 0 };
    fc.assert(
      fc.property(numbers, fc.nat({ max: 1_000 }), fc.nat({ max: 3 }), numbers, (of, luck, asks, edit) => {
        const waiting = waitingRun(of, luck, asks);
        if (waiting === undefined) return;
        const { graph, run } = waiting;
        const edited = editOf(graph, edit);
        const to = planOf(edited);
        if (to.fault !== undefined) return;
        const rows = snapshot(run.state);
        const verdict = compare(planOf(graph), to, restore(planOf(graph), rows));
        seen[verdict.kind] += 1;
        if (verdict.kind !== 'safe') {
          if (verdict.kind === 'stays') expect(verdict.reasons.length).toBeGreaterThan(0);
          return;
        }
        const moved = new Driven(restore(to, migrateRows(run.state, to, { at: 0, tools: {} })), luck);
        for (const [id, event] of run.log) moved.log.set(id, event);
        moved.goOn();
        const fresh = replayed(edited, run, luck);
        expect(openIn(moved)).toEqual(openIn(fresh));
        const [before, after] = [fresh.calls.length, moved.calls.length];
        if (luck % 3 === 0) for (const each of [moved, fresh]) each.cancel();
        moved.end();
        fresh.end();
        expect(moved.calls.slice(after)).toEqual(fresh.calls.slice(before));
        const [one, other] = [moved, fresh].map(
          ({
            state: {
              run: { status, result, failure },
            },
          }) => ({ status, result, failure }),
        );
        expect(one).toEqual(other);
        if (moved.calls.length > 0) seen.effects += 1;
        if (verdict.starts.length > 0) seen.starts += 1;
      }),
      {
        numRuns: RUNS,
        seed: Number(process.env.SEED ?? 5),
      },
    );
    expect(seen.safe).toBeGreaterThan(RUNS / 40);
    expect(seen.effects).toBeGreaterThan(RUNS / 160);
    expect(seen.starts).toBeGreaterThan(RUNS / 160);
    expect(seen.stays).toBeGreaterThan(RUNS / 40);
  }, 300_000);

  test('moves safely at least in 95 of 100 cases where nodes were changed that have not started', () => {
    const seen = { safe: 0, all: 0 };
    const others: string[] = [];
    fc.assert(
      fc.property(numbers, fc.nat({ max: 1_000 }), fc.nat({ max: 2 }), numbers, (of, luck, asks, edit) => {
        const waiting = waitingRun(of, luck, asks);
        if (waiting === undefined) return;
        const { graph, run } = waiting;
        const { unknown, abandoned, root } = run.state;
        // A run with an unknown outcome stays whatever was changed.
        if (unknown.size + abandoned.size > 0) return;
        const settled = new Set([...root.nodes].flatMap((node) => (node?.isSettled ? [idOf(node.key)] : [])));
        const bounds = {
          isFree: (id: string) => !run.started.has(id),
          isOpen: (id: string) => !settled.has(id),
        };
        const edited = editOf({ ...graph, tasks: [] }, edit, bounds);
        const to = planOf({ ...edited, ...(graph.tasks === undefined ? {} : { tasks: graph.tasks }) });
        if (to.fault !== undefined || canonicalGraph(to.graph) === canonicalGraph(graph)) return;
        const verdict = compare(planOf(graph), to, restore(planOf(graph), snapshot(run.state)));
        seen.all += 1;
        if (verdict.kind === 'safe') seen.safe += 1;
        else others.push(JSON.stringify(verdict));
      }),
      { numRuns: RUNS, seed: 11 },
    );
    expect(seen.all).toBeGreaterThan(RUNS / 20);
    expect(seen.safe / seen.all, others.slice(0, 20).join('\n')).toBeGreaterThanOrEqual(0.95);
  }, 300_000);
});
