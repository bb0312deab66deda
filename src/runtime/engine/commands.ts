import { generationOf } from './generation.js';
import type { NodeInstance } from './instances.js';
import type { Turn } from './turn.js';

/**
 * Id of one attempt of a node: readable, unique in its run, and the same whenever the run is replayed. It holds the
 * generation and the attempts of the containers around the node where these are not all 1: `charge@2~1.3#1`.
 */
export function attemptId(turn: Turn, node: NodeInstance, attempt: number): string {
  const { attempts } = turn.recorder.tables.scopes.need(node.scope.key);
  const generation = generationOf(turn, node);
  if (generation === 1 && attempts === undefined) {
    return attempt === 1 ? node.firstAttempt : `${node.key}#${attempt}`;
  }
  const around = attempts === undefined ? '' : `~${attempts}`;
  return `${node.key}@${generation}${around}#${attempt}`;
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
export function attemptsInside(turn: Turn, { scope }: NodeInstance, attempt: number): string | undefined {
  const { attempts } = turn.recorder.tables.scopes.need(scope.key);
  if (attempts !== undefined) return `${attempts}.${attempt}`;
  if (attempt === 1) return undefined;
  const depth = scope.order.length / 2;
  return `${'1.'.repeat(depth)}${attempt}`;
}

/** Text of the idempotency key of a node's call in a generation. Canonical JSON. */
export function callKeyText({ recorder }: Turn, node: string, generation: number, ...more: number[]): string {
  let text = `["call",${JSON.stringify(recorder.run.id)},${JSON.stringify(node)},${generation}`;
  for (const each of more) text += `,${each}`;
  return `${text}]`;
}

/** Text of the idempotency key of a compensation. Canonical JSON. */
export function undoKeyText(call: string, index: number): string {
  return JSON.stringify(['undo', call, index]);
}

/** Forgets a timer, where it runs, and asks the host to do so as well. */
export function abandonTimer({ recorder }: Turn, timer: string): void {
  if (!recorder.settleCommand(timer)) return;
  recorder.tell({ kind: 'cancelTimer', id: `${timer}:cancel`, timer });
}

/** Forgets a call or an action and asks the host to give it up: what comes back is late. */
export function abandonCall({ recorder }: Turn, call: string): void {
  recorder.settleCommand(call);
  recorder.tell({ kind: 'cancelCall', id: `${call}:cancel`, call });
}
