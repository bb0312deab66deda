import type { JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { planOf } from '../../src/plan/plan.js';
import { advance } from '../../src/runtime/engine/advance.js';
import type { Advance, Command, Event, RunState, StartIds } from '../../src/runtime/engine/contract.js';
import { outstanding } from '../../src/runtime/engine/outstanding.js';
import { start } from '../../src/runtime/engine/start.js';
import { Agenda, type Due } from './agenda.js';
import type { Story } from './oracle.js';
import { type CallRecord, countOf, type End } from './run.js';
import { type Asker, reply, said, type World } from './world.js';

/** The machine that is tested. */
export interface Engine {
  start(graph: Graph, input: JsonObject, ids: StartIds): Advance;
  advance(graph: Graph, state: RunState, event: Event): Advance;
  outstanding(state: RunState): readonly Command[];
}

export const ENGINE: Engine = {
  start: (graph, input, ids) => start(planOf(graph), input, ids),
  advance: (graph, state, event) => advance(planOf(graph), state, [event]),
  outstanding: (state) => outstanding(state).commands,
};

export const IDS: StartIds = { runId: 'run', at: 0 };

/** One step of a run: the event that caused it, missing at the start, and what it led to. */
export interface Step {
  readonly event?: Event;
  readonly advance: Advance;
}

/** Events without the time at which they happen. */
type Happening = Event extends infer E ? (E extends Event ? Omit<E, 'at'> : never) : never;

const MOST_STEPS = 5_000;

/** Runs a graph on the machine in a world, and tells how it went. `watch` sees every step. */
export function drive(
  engine: Engine,
  graph: Graph,
  input: JsonObject,
  world: World,
  watch: (step: Step) => void = () => undefined,
): Story {
  const host = new Host(world);
  const ends: End[] = [];
  const follow = (step: Step): void => {
    watch(step);
    ends.push(...endsIn(step.advance, host.agenda.now));
    host.take(step.advance.commands);
  };
  if (world.cancel !== undefined) {
    const { at, compensate } = world.cancel;
    const what: Happening = { kind: 'cancelled', reason: 'enough', ...(compensate ? { compensate } : {}) };
    host.agenda.add({ at, rank: 'cancellation', key: '', what });
  }
  let current = engine.start(graph, input, IDS);
  follow({ advance: current });
  for (let steps = 0; current.state.run.status === 'running'; steps += 1) {
    const next = host.agenda.next();
    if (next === undefined) throw new Error('the run does not end: nothing is owed');
    if (steps > MOST_STEPS) throw new Error('the run does not end: it goes on and on');
    const event = { ...next.what, at: host.agenda.now } as Event;
    current = engine.advance(graph, current.state, event);
    follow({ event, advance: current });
  }
  return storyOf(current.state, ends, host);
}

/** The hands of a run: does what it is told and knows nothing of the graph. */
class Host {
  readonly agenda = new Agenda<Happening>();
  readonly calls: CallRecord[] = [];
  readonly #world: World;
  readonly #asked = new Map<string, number>();
  readonly #owed = new Map<string, Due<Happening>[]>();

  constructor(world: World) {
    this.#world = world;
  }

  take(commands: readonly Command[]): void {
    for (const command of commands) {
      this.#carryOut(command);
      if (command.kind !== 'startTimer' && 'dueAt' in command) this.#limit(command);
    }
  }

  #limit({ id, node, dueAt }: { readonly id: string; readonly node: string; readonly dueAt?: number }): void {
    if (dueAt === undefined) return;
    const what: Happening = { kind: 'timerFired', command: id };
    const due = this.agenda.add({ at: dueAt, rank: 'timer', key: node, what });
    this.#owed.set(id, [...(this.#owed.get(id) ?? []), due]);
  }

  #carryOut(command: Command): void {
    switch (command.kind) {
      case 'callTool': {
        const { node, tool, input, key, isCompensation = false } = command;
        this.calls.push({
          ...{ at: this.agenda.now, node, tool, input },
          ...{ identity: key, compensation: isCompensation },
        });
        const who = isCompensation ? tool : node;
        this.#call(command.id, { kind: isCompensation ? 'undo' : 'tool', who, tool, input });
        break;
      }
      case 'readResource':
        this.#call(command.id, {
          kind: 'resource',
          who: command.node,
          tool: command.resource,
          input: command.uri,
        });
        break;
      case 'evaluate':
        this.#call(command.id, { kind: 'function', who: command.node, tool: 'f', input: command.args });
        break;
      case 'requestAction': {
        const { node, action } = command;
        const before = countOf(this.#asked, node);
        for (const word of said(this.#world, action.mode, action.options ?? [], node, before)) {
          const what: Happening =
            word.kind === 'failure'
              ? { kind: 'actionFailed', command: command.id, failure: word.failure }
              : { kind: 'actionSubmitted', command: command.id, value: word.value };
          this.#expect(command.id, this.agenda.now + word.after, node, what);
        }
        break;
      }
      case 'startTimer': {
        const what: Happening = { kind: 'timerFired', command: command.id };
        const due = { at: command.dueAt, rank: 'timer', key: command.node, what } as const;
        this.#owed.set(command.id, [this.agenda.add(due)]);
        break;
      }
      case 'cancelTimer':
        this.#drop(command.timer);
        break;
      case 'cancelCall':
        this.#drop(command.call);
        break;
    }
  }

  #call(id: string, asker: Omit<Asker, 'before'>): void {
    const answer = reply(this.#world, { ...asker, before: countOf(this.#asked, asker.who) });
    if (answer.kind === 'hang') return;
    this.#expect(id, this.agenda.now + answer.after, asker.who, happening(id, asker.kind, answer));
  }

  #expect(id: string, at: number, key: string, what: Happening): void {
    const due = this.agenda.add({ at, rank: 'answer', key, what });
    this.#owed.set(id, [...(this.#owed.get(id) ?? []), due]);
  }

  #drop(id: string): void {
    for (const due of this.#owed.get(id) ?? []) this.agenda.drop(due);
  }
}

function happening(
  command: string,
  kind: Asker['kind'],
  answer: Exclude<ReturnType<typeof reply>, { kind: 'hang' }>,
): Happening {
  if (answer.kind === 'failure') {
    const { failure, attempted } = answer;
    if (kind === 'resource') return { kind: 'resourceFailed', command, failure };
    if (kind === 'function') return { kind: 'evaluationFailed', command, failure };
    return { kind: 'toolFailed', command, failure, attempted };
  }
  const { value } = answer;
  if (kind === 'resource') return { kind: 'resourceRead', command, value: value as JsonObject };
  if (kind === 'function') return { kind: 'evaluated', command, value };
  return { kind: 'toolReturned', command, value };
}

/** What nodes came to in one step, as the facts tell it, with the values that are there behind it. */
function endsIn({ facts, state }: Advance, at: number): End[] {
  const last = new Map(
    facts.map((fact, index) => ['node' in fact ? `${fact.kind} ${fact.node}` : '', index]),
  );
  return facts.flatMap((fact, index): End[] => {
    switch (fact.kind) {
      case 'nodeSucceeded': {
        const { node } = fact;
        if (last.get(`nodeSucceeded ${node}`) !== index || state.nodes[node]?.status !== 'succeeded')
          return [{ at, node, status: 'succeeded', isUnknown: true }];
        return [{ at, node, status: 'succeeded', value: state.outputs[node] }];
      }
      case 'nodeFailed':
        return [{ at, node: fact.node, status: 'failed' }];
      case 'nodeCancelled':
        return [{ at, node: fact.node, status: 'cancelled' }];
      case 'nodeSkipped':
        return [{ at, node: fact.node, status: `skipped(${fact.reason})` }];
      case 'handled':
        return fact.fallbackNode === undefined ? [] : [{ at, node: fact.node, status: 'handled' }];
      default:
        return [];
    }
  });
}

function storyOf({ run, nodes }: RunState, ends: readonly End[], host: Host): Story {
  const left = Object.entries(nodes).map(([key, { status, reason }]): [string, string] => [
    key,
    reason === undefined ? status : `${status}(${reason})`,
  ]);
  const { status, result, failure, failedNode } = run;
  if (status === 'running' || status === 'paused') throw new Error('the run has not ended');
  return {
    status,
    ...(result === undefined ? {} : { result }),
    ...(status === 'failed' && failure !== undefined ? { failure } : {}),
    ...(status === 'failed' && failedNode !== undefined ? { failedNode } : {}),
    ...{ ends, left: Object.fromEntries(left), calls: host.calls, at: host.agenda.now },
  };
}
