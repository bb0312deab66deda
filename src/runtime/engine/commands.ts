import { canonicalJson, sha256Hex } from '../../graph/canonical.js';
import type { Json } from '../../graph/json.js';
import type { Failure } from './contract.js';
import type { NodeInstance } from './instances.js';
import { changePlaces } from './ready-line.js';
import type { Turn } from './turn.js';

/**
 * Id of one attempt of a node: readable, unique in its run, and the same whenever the run is replayed. What started
 * over is told apart by its round (`charge@2#1`).
 */
export function attemptId(turn: Turn, node: NodeInstance, attempt: number): string {
  const round = roundOf(turn, node);
  if (round === '' && attempt === 1) return node.firstAttempt;
  return round === '' ? `${node.key}#${attempt}` : `${node.key}@${round}#${attempt}`;
}

/** Id of the timer that bounds an attempt. */
export function timerId(attempt: string): string {
  return `${attempt}:timer`;
}

/** The same for an attempt of a node, which keeps the one of its first attempt. */
export function timerOf(node: NodeInstance, attempt: string): string {
  return attempt === node.firstAttempt ? node.firstTimer : timerId(attempt);
}

/** Id of the timer between an attempt and the next one. */
export function delayId(attempt: string): string {
  return `${attempt}:delay`;
}

/** Id of the call that makes a compensation, counted from 0, of whatever `base` is the id of. */
export function undoId(base: string, index: number): string {
  return `${base}:undo:${index}`;
}

/**
 * Which time a node runs, as the list of what started over around it and of itself, the outermost first: visits of
 * each, and attempts of containers (`2~3` is the third attempt of the second visit). Ones in front are left out, so
 * that a node that runs for the first time has none.
 */
function roundOf({ recorder: { tables } }: Turn, { key, scope }: NodeInstance): string {
  const around = tables.scopes.need(scope.key).round;
  const visit = (tables.nodes.need(key).visits ?? 0) + 1;
  if (around === undefined) return visit === 1 ? '' : `${visit}`;
  return `${around}.${visit}`;
}

/** The round of the scopes inside a container in one of its attempts. */
export function roundInside(turn: Turn, container: NodeInstance, attempt: number): string | undefined {
  const round = roundOf(turn, container);
  if (attempt > 1) return `${round === '' ? '1' : round}~${attempt}`;
  return round === '' ? undefined : round;
}

/**
 * The same for every attempt of one call of one run, after a crash as well, and different for any other call.
 *
 * @param more what tells several calls of one node apart.
 */
export function idempotencyKey(turn: Turn, node: NodeInstance, ...more: readonly Json[]): string {
  const run = JSON.stringify(turn.recorder.run.id);
  const round = roundOf(turn, node);
  let text = `[${run},${node.place},${round === '' ? '0' : canonicalJson(visitsIn(round))}`;
  for (const each of more) text += `,${canonicalJson(each)}`;
  return sha256Hex(`${text}]`);
}

/** The jumps counted in a round: attempts do not tell calls apart. */
function visitsIn(round: string): Json {
  const jumps = round.split('.').map((level) => Number.parseInt(level, 10) - 1);
  const first = jumps.findIndex((count) => count > 0);
  if (first < 0) return 0;
  const counted = jumps.slice(first);
  return counted.length === 1 ? (counted[0] ?? 0) : counted;
}

/** Forgets a timer, where it runs, and asks the host to do so as well. */
export function abandonTimer({ recorder }: Turn, timer: string): void {
  if (!recorder.settleCommand(timer)) return;
  recorder.tell({ kind: 'cancelTimer', id: `${timer}:cancel`, timer });
}

/** Forgets a call or an action and asks the host to give it up: whatever comes back is late. */
export function abandonCall({ recorder }: Turn, call: string): void {
  recorder.settleCommand(call);
  recorder.tell({ kind: 'cancelCall', id: `${call}:cancel`, call });
}

/**
 * Gives up whatever an attempt still waits for: its answer, its time, the delay before the next one. A call that was in
 * flight has failed with `failure`, and one that was not made yet has done nothing.
 */
export function withdraw(turn: Turn, attempt: string, failure: Failure): void {
  const { recorder } = turn;
  const command = recorder.tables.commands.get(attempt);
  if (command?.kind === 'startTimer') abandonTimer(turn, attempt);
  else if (command !== undefined) abandonCall(turn, attempt);
  abandonTimer(turn, timerId(attempt));
  abandonTimer(turn, delayId(attempt));
  if (command?.kind !== 'callTool' && command?.kind !== 'readResource') return;
  if (command.kind === 'callTool' && command.isCompensation) changePlaces(turn, -1);
  const attempted = !turn.notStarted.has(attempt);
  const { outcomeUnknown: _unknown, ...known } = failure;
  const outcome = { ok: false, failure: attempted ? failure : known } as const;
  recorder.report({ kind: 'callReturned', node: command.node, command: attempt, attempted, outcome });
}
