import { generationOf } from './generation.js';
import type { NodeRecord } from './records.js';
import type { RunState } from './state.js';
import type { Transition } from './transition.js';

/**
 * Id of one attempt of a node: readable, unique in its run, and the same whenever the run is replayed. It holds the
 * generation and the attempts of the containers around the node where these are not all 1: `charge@2~1.3#1`.
 */
export function attemptId(state: RunState, node: NodeRecord, attempt: number): string {
  const { key, scope } = node;
  const { attempts } = scope.details;
  const generation = generationOf(state, node);
  if (generation === 1 && attempts === undefined) return `${key}#${attempt}`;
  const around = attempts === undefined ? '' : `~${attempts}`;
  return `${key}@${generation}${around}#${attempt}`;
}

/** Id of the timer that bounds an attempt of a node with scopes of its own. */
export function timerId(attempt: string): string {
  return `${attempt}:timer`;
}

/** Id of the timer between an attempt and the next one. */
export function delayId(attempt: string): string {
  return `${attempt}:delay`;
}

/** Id of the call that makes a compensation, counted from 0, of whatever `base` is the id of. */
export function undoId(base: string, index: number): string {
  return `${base}:undo:${index}`;
}

/** Attempts of the containers around what is inside a container in one of its attempts: see `ScopeRow`. */
export function attemptsInside({ scope }: NodeRecord, attempt: number): string | undefined {
  const { attempts } = scope.details;
  if (attempts !== undefined) return `${attempts}.${attempt}`;
  if (attempt === 1) return undefined;
  const depth = scope.order.length / 2;
  return `${'1.'.repeat(depth)}${attempt}`;
}

/** Text of the idempotency key of a node's call in a generation. Canonical JSON. */
export function callKeyText(run: string, node: string, generation: number, ...more: number[]): string {
  let text = `["call",${JSON.stringify(run)},${JSON.stringify(node)},${generation}`;
  for (const each of more) text += `,${each}`;
  return `${text}]`;
}

/** Text of the idempotency key of a compensation. Canonical JSON. */
export function undoKeyText(call: string, index: number): string {
  return JSON.stringify(['undo', call, index]);
}

/** Forgets the timer that a node waits for, where it does, and asks the host to do so as well. */
export function abandonTimer(transition: Transition, { command }: NodeRecord): void {
  if (command?.kind !== 'startTimer') return;
  transition.settleCommand(command.id);
  transition.tell({ kind: 'cancelTimer', id: `${command.id}:cancel`, timer: command.id });
}

/** Forgets a call or an action and asks the host to give it up: what comes back is late. */
export function abandonCall(transition: Transition, call: string): void {
  transition.settleCommand(call);
  transition.tell({ kind: 'cancelCall', id: `${call}:cancel`, call });
}
