import { isJsonObject, type Json, type JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { planOf } from '../../src/plan/compile.js';
import type { Plan } from '../../src/plan/plan.js';
import { optionsOf } from '../../src/runtime/engine/actions.js';
import type { Advance, Command, Outstanding, RunState } from '../../src/runtime/engine/contract.js';
import { advance, start } from '../../src/runtime/engine/engine.js';
import type { Event, StartIds, StepAction } from '../../src/runtime/engine/events.js';
import { nodeRecord, outputOf, outstanding, remainsOf } from '../../src/runtime/engine/read.js';
import { tablesOf } from '../../src/runtime/engine/tables.fixture.js';
import { Agenda, type Due } from './agenda.js';
import type { Story } from './oracle.js';
import { type CallRecord, countOf, type End, type Remains } from './run.js';
import { type Asker, answersLate, deliveredAfter, reply, rescue, said, undoer, type World } from './world.js';

/** The machine that is tested. */
export interface Engine {
  start(plan: Plan, input: JsonObject, ids: StartIds): Advance;
  advance(plan: Plan, state: RunState, events: readonly Event[]): Advance;
  outstanding(state: RunState): Outstanding;
}

export const ENGINE: Engine = { start, advance, outstanding };

export const IDS: StartIds = { runId: 'run', at: 0 };

/** What a run in this world is started with. */
export function idsIn({ tools }: World): StartIds {
  return tools === undefined ? IDS : { ...IDS, tools };
}

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
  const plan = planOf(graph);
  let current = engine.start(plan, input, idsIn(world));
  follow({ advance: current });
  for (let steps = 0; current.state.run.status === 'running'; steps += 1) {
    const next = host.agenda.next();
    if (next === undefined) throw new Error('the run does not end: nothing is owed');
    if (steps > MOST_STEPS) throw new Error('the run does not end: it goes on and on');
    const event = { ...next.what, at: host.agenda.now } as Event;
    current = engine.advance(plan, current.state, [event]);
    follow({ event, advance: current });
  }
  return storyOf(plan, current.state, ends, host);
}

/** The hands of a run: does what it is told and knows nothing of the graph. */
class Host {
  readonly agenda = new Agenda<Happening>();
  readonly calls: CallRecord[] = [];
  readonly #world: World;
  readonly #asked = new Map<string, number>();
  readonly #owed = new Map<string, Due<Happening>[]>();
  /** Calls that are answered even if they are abandoned. */
  readonly #late = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  take(commands: readonly Command[]): void {
    for (const command of commands) this.#carryOut(command);
  }

  #carryOut(command: Command): void {
    switch (command.kind) {
      case 'callTool': {
        const { node, tool, input, key, isCompensation = false } = command;
        this.calls.push({
          ...{ at: this.agenda.now, node, tool, input },
          ...{ identity: key, compensation: isCompensation },
        });
        const who = isCompensation ? undoer(tool, input) : node;
        this.#call(command, { kind: isCompensation ? 'undo' : 'tool', who, tool, input });
        break;
      }
      case 'readResource': {
        const { node, resource, uri } = command;
        this.#call(command, { kind: 'resource', who: node, tool: resource, input: uri });
        break;
      }
      case 'evaluate':
        this.#call(command, { kind: 'function', who: command.node, tool: 'f', input: command.args });
        break;
      case 'requestAction': {
        const { id, node, action, deliveredAt, remindedAt, dueAt } = command;
        if (dueAt !== undefined) this.#alarm(id, dueAt, node);
        if ((deliveredAt ?? remindedAt) !== undefined) break;
        if (action.type === 'step') {
          this.#rescue(command.id, node, action);
          break;
        }
        const before = countOf(this.#asked, node);
        if (action.type !== 'ask') {
          const at = this.agenda.now + deliveredAfter(this.#world, node, before);
          this.#expect(id, at, node, { kind: 'actionDelivered', command: id });
        }
        const kind = action.type === 'ask' ? action.mode : action.type;
        for (const word of said(this.#world, kind, optionsOf(action), node, before)) {
          const what: Happening =
            word.kind === 'failure'
              ? { kind: 'actionFailed', command: command.id, failure: word.failure }
              : { kind: 'actionSubmitted', command: command.id, value: word.value };
          this.#expect(command.id, this.agenda.now + word.after, node, what);
        }
        break;
      }
      case 'startTimer':
        this.#alarm(command.id, command.dueAt, command.node);
        break;
      case 'cancelTimer':
        this.#drop(command.timer);
        break;
      case 'cancelCall':
        this.#drop(command.call);
        break;
    }
  }

  /** What becomes of a step that failed in a task. */
  #rescue(id: string, node: string, { schema: { required } }: StepAction): void {
    const [member] = Array.isArray(required) ? required : [];
    const before = countOf(this.#asked, `${node} rescued`);
    const what = rescue(this.#world, member === undefined ? undefined : String(member), node, before);
    const at = this.agenda.now + what.after;
    if (what.kind === 'retry') this.#expect(id, at, node, { kind: 'retryRequested', node });
    else if (what.kind === 'failure')
      this.#expect(id, at, node, { kind: 'actionFailed', command: id, failure: what.failure });
    else this.#expect(id, at, node, { kind: 'actionSubmitted', command: id, value: what.value });
  }

  #call({ id, dueAt }: { readonly id: string; readonly dueAt: number }, asker: Omit<Asker, 'before'>): void {
    const before = countOf(this.#asked, asker.who);
    const answer = reply(this.#world, { ...asker, before });
    this.#alarm(id, dueAt, asker.who);
    if (asker.kind === 'undo' || (asker.kind === 'tool' && answersLate(this.#world, asker.who, before)))
      this.#late.add(id);
    if (answer.kind === 'hang') return;
    this.#expect(id, this.agenda.now + answer.after, asker.who, happening(id, asker.kind, answer));
  }

  #expect(id: string, at: number, key: string, what: Happening): void {
    this.#note(id, this.agenda.add({ at, rank: 'answer', key, what }));
  }

  /** The limit of a call, or a timer. */
  #alarm(id: string, at: number, key: string): void {
    this.#note(id, this.agenda.add({ at, rank: 'timer', key, what: { kind: 'timerFired', command: id } }));
  }

  #note(id: string, due: Due<Happening>): void {
    this.#owed.set(id, [...(this.#owed.get(id) ?? []), due]);
  }

  /** The run no longer waits for it. Some calls are still answered. */
  #drop(id: string): void {
    for (const due of this.#owed.get(id) ?? [])
      if (due.rank === 'timer' || !this.#late.has(id)) this.agenda.drop(due);
  }
}

function happening(
  command: string,
  kind: Asker['kind'],
  answer: Exclude<ReturnType<typeof reply>, { kind: 'hang' }>,
): Happening {
  if (answer.kind === 'failure') {
    const { failure, attempted, acted } = answer;
    if (kind === 'resource') return { kind: 'resourceFailed', command, failure };
    if (kind === 'function') return { kind: 'evaluationFailed', command, failure };
    return { kind: 'toolFailed', command, failure, attempted, ...(acted && { acted }) };
  }
  const { value } = answer;
  if (kind === 'resource') return { kind: 'resourceRead', command, value: value as JsonObject };
  if (kind === 'function') return { kind: 'evaluated', command, value };
  return { kind: 'toolReturned', command, value };
}

/** How nodes ended in one step, according to the facts, with the values after it. */
function endsIn({ facts, state }: Advance, at: number): End[] {
  const last = new Map(
    facts.map((fact, index) => ['node' in fact ? `${fact.kind} ${fact.node}` : '', index]),
  );
  return facts.flatMap((fact, index): End[] => {
    switch (fact.kind) {
      case 'nodeSucceeded': {
        const { node } = fact;
        if (last.get(`nodeSucceeded ${node}`) !== index || nodeRecord(state, node)?.status !== 'succeeded')
          return [{ at, node, status: 'succeeded', isUnknown: true }];
        return [{ at, node, status: 'succeeded', value: outputOf(state, node) }];
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

function storyOf(plan: Plan, state: RunState, ends: readonly End[], host: Host): Story {
  const { run } = state;
  const left = Object.entries(tablesOf(state).nodes).map(([key, { status, reason }]): [string, string] => [
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
    ...{
      remains: remainsIn(plan, state),
      undone: status === 'cancelled' ? reportIn(failure?.details) : undefined,
    },
  };
}

function reportIn(details: Json | undefined): Json | undefined {
  return isJsonObject(details) ? details.compensation : undefined;
}

function remainsIn(plan: Plan, state: RunState): Remains {
  const { steps, notUndone, unknown, failedItems } = remainsOf(plan, state);
  return {
    steps: [...steps].sort(),
    notUndone: notUndone.map(({ failure, ...what }) => ({
      ...what,
      ...(failure === undefined ? {} : { failure: failure.code }),
    })),
    unknown: unknown.map(({ step, tool }) => `${step} ${tool}`).sort(),
    failedItems: failedItems.map(({ step, index, failure }) => `${step}[${index}] ${failure.code}`).sort(),
  };
}
