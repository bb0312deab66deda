import fc from 'fast-check';
import type { Json, JsonObject } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import type { Advance, Command, RunState } from './contract.js';
import { advance, start } from './engine.js';
import type { Action, Event } from './events.js';
import { snapshot } from './snapshot.js';

/** What the world does next: which of the commands it answers, how, and how its clock moves. */
export interface Move {
  /** Picks one of the calls, or timers, that are owed. */
  readonly pick: number;
  readonly how: 'succeed' | 'fail' | 'refuse' | 'timeout' | 'cancel' | 'late' | 'decide' | 'repeat';
  readonly value: Json;
  /** Ms the clock moves by; it may step back. */
  readonly ticks: number;
}

const movesWith = (successes: number): fc.Arbitrary<Move[]> =>
  fc.array(
    fc.record({
      pick: fc.nat({ max: 30 }),
      how: fc.constantFrom<Move['how'][]>(
        ...Array<Move['how']>(successes).fill('succeed'),
        ...([
          'fail',
          'fail',
          'refuse',
          'timeout',
          'timeout',
          'cancel',
          'late',
          'late',
          'decide',
          'repeat',
        ] as const),
      ),
      value: fc.constantFrom<Json>(null, true, false, 'text', 3, { ok: true }, { ok: false }, [1]),
      ticks: fc.integer({ min: -20, max: 40 }),
    }),
    { maxLength: 40 },
  );

/** Mostly good news. */
export const moves = movesWith(34);

/** Half of it bad news. */
export const roughMoves = movesWith(8);

/** What the world does once its moves are used up. */
const REST: Move = { pick: 0, how: 'succeed', value: { ok: true }, ticks: 1 };

/** One step of a run: the event that caused it (none at the start) and what it led to. */
export interface Played {
  readonly event?: Event;
  readonly advance: Advance;
}

export const INPUT: JsonObject = { x: { ok: true } };

/** Drawn for every run that is played. */
export const RANDOM = 0.6180339887;

export function begin(graph: Graph, deadlineAt?: number): Advance {
  const ids = { runId: 'run', at: 0, random: RANDOM, ...(deadlineAt === undefined ? {} : { deadlineAt }) };
  return start(planOf(graph), INPUT, ids);
}

/**
 * Plays a run to its end and shows each step to `watch`. The world knows only what a host knows: the commands it was
 * given and those it has answered.
 */
export function play(
  graph: Graph,
  world: readonly Move[],
  watch: (played: Played) => void = () => {},
  deadlineAt?: number,
): RunState {
  const owed = new Map<string, Command>();
  const givenUp = new Map<string, Command>();
  let at = 0;
  let current = begin(graph, deadlineAt);
  settle(owed, current.commands, givenUp);
  watch({ advance: current });
  for (let index = 0; owed.size > 0; index += 1) {
    if (index > 300) throw new Error('the run does not end');
    const move = world[index] ?? REST;
    at += move.ticks;
    const event = lateEvent(givenUp, move, at) ?? eventOf(owed, move, at);
    // No timer fires early, whatever the clock shows.
    at = event.at;
    answered(owed, event);
    current = advance(planOf(graph), current.state, [event]);
    settle(owed, current.commands, givenUp);
    watch({ event, advance: current });
  }
  return current.state;
}

/** Removes the command that an event answers. */
export function answered(owed: Map<string, Command>, event: Event): void {
  if ('command' in event && event.kind !== 'actionDelivered') owed.delete(event.command);
  if (event.kind !== 'outcomeDecided' && event.kind !== 'retryRequested') return;
  for (const command of owed.values()) {
    if (command.kind === 'callTool' && command.node === event.node && !command.isCompensation)
      owed.delete(command.id);
  }
}

/** Updates the open commands and the cancelled calls, as a host does. */
export function settle(
  owed: Map<string, Command>,
  commands: readonly Command[],
  givenUp = new Map<string, Command>(),
): void {
  for (const command of commands) {
    if (command.kind === 'cancelCall') {
      const call = owed.get(command.call);
      if (call !== undefined) givenUp.set(call.id, call);
      owed.delete(command.call);
    } else if (command.kind === 'cancelTimer') owed.delete(command.timer);
    else owed.set(command.id, command);
  }
}

/** The answer to a cancelled call: it may come again. */
function lateEvent(
  givenUp: ReadonlyMap<string, Command>,
  { how, pick, value }: Move,
  at: number,
): Event | undefined {
  const calls = [...givenUp.values()];
  const command = calls[pick % calls.length];
  if (how !== 'late' || command === undefined) return undefined;
  return answer(command, { how: value === false ? 'refuse' : 'succeed', value }, at);
}

function eventOf(owed: ReadonlyMap<string, Command>, move: Move, at: number): Event {
  if (move.how === 'cancel') {
    return { kind: 'cancelled', at, reason: 'enough', ...(move.value === true ? { compensate: true } : {}) };
  }
  const timed = [...owed.values()].filter((command) => 'dueAt' in command && command.dueAt !== undefined);
  const calls = [...owed.values()].filter(({ kind }) => kind !== 'startTimer');
  // Between two attempts there may be nothing to wait for but a delay.
  const isTimeout = move.how === 'timeout' || calls.length === 0;
  const list = isTimeout ? timed : calls;
  const command = list[move.pick % list.length];
  if (command === undefined) throw new Error('nothing is owed');
  if (isTimeout && 'dueAt' in command)
    return { kind: 'timerFired', at: Math.max(at, command.dueAt ?? at), command: command.id };
  return delivery(command, move, at) ?? decision(command, move, at) ?? answer(command, move, at);
}

/** Work of the client is delivered before its answer, except to a client that knows the run from before. */
function delivery(command: Command, { value }: Move, at: number): Event | undefined {
  if (command.kind !== 'requestAction' || command.action.type === 'ask') return undefined;
  if (command.deliveredAt !== undefined || value === null) return undefined;
  return { kind: 'actionDelivered', at, command: command.id };
}

/** What an operator decides about a call. */
function decision(command: Command, { how, value }: Move, at: number): Event | undefined {
  if (command.kind !== 'callTool' || command.isCompensation) return undefined;
  const { node } = command;
  if (how === 'repeat') return { kind: 'retryRequested', at, node };
  if (how !== 'decide') return undefined;
  const outcome = value === false ? { kind: 'didNotHappen' } : { kind: 'happened', value };
  return { kind: 'outcomeDecided', at, node, outcome } as Event;
}

/** The world's answer to a command. */
export function answer(command: Command, { how, value }: Pick<Move, 'how' | 'value'>, at: number): Event {
  const failure = { code: 'E_TOOL', message: `${command.id} broke` };
  const succeeds = how !== 'fail' && how !== 'refuse';
  switch (command.kind) {
    case 'callTool':
      return succeeds
        ? { kind: 'toolReturned', at, command: command.id, value }
        : { kind: 'toolFailed', at, command: command.id, failure, attempted: how === 'fail' };
    case 'readResource':
      return succeeds
        ? { kind: 'resourceRead', at, command: command.id, value: { uri: command.uri, text: 'text' } }
        : { kind: 'resourceFailed', at, command: command.id, failure };
    case 'evaluate':
      return succeeds
        ? { kind: 'evaluated', at, command: command.id, value }
        : { kind: 'evaluationFailed', at, command: command.id, failure };
    case 'requestAction':
      return succeeds
        ? { kind: 'actionSubmitted', at, command: command.id, value: resultOf(command.action, value) }
        : { kind: 'actionFailed', at, command: command.id, failure };
    case 'startTimer':
      return { kind: 'timerFired', at: Math.max(at, command.dueAt), command: command.id };
    case 'cancelTimer':
    case 'cancelCall':
      throw new Error(`${command.kind} wants no answer`);
  }
}

/** A result that fits. */
function resultOf({ type }: Action, value: Json): Json {
  if (type === 'shell') return { exit_code: value === false ? 1 : 0 };
  return type === 'delegate' ? { response: JSON.stringify(value) } : value;
}

/** Brings rows that were rebuilt from changes alone up to date. */
export function apply(shadow: Map<string, string>, change: Advance['changes'][number]): void {
  const key = `${change.table} ${change.key}`;
  if (change.op === 'put') {
    shadow.set(key, JSON.stringify(change.row));
    return;
  }
  if (!shadow.delete(key)) throw new Error(`${key} is deleted and was not there`);
}

/** Every row of a state by its table and key. */
export function* rowsOf(state: RunState): Generator<[string, string]> {
  for (const { table, key, row } of snapshot(state)) yield [`${table} ${key}`, JSON.stringify(row)];
}
