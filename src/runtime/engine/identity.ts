import { canonicalJson, sha256Hex } from '../../graph/canonical.js';
import type { JsonObject } from '../../graph/json.js';
import type { NodeRecord } from './records.js';
import type { EffectRow } from './rows.js';
import type { RunState } from './state.js';

/**
 * The generation of a node: it tells apart the effects of its call, and never falls during a run. It counts how often
 * the node or a container around it was started over by a `goto`, and how often its call became another one.
 */
export function generationOf({ tables }: RunState, { key, scope }: NodeRecord): number {
  const row = tables.known('generations')?.get(key);
  const own = row === undefined ? 0 : (row.restarts ?? 0) + (row.reissues ?? 0);
  return 1 + scope.details.restarts + own;
}

/** How often a `goto` has started over a container and those around it: see `ScopeRow`. */
export function restartsInside({ tables }: RunState, { key, scope }: NodeRecord): number {
  return scope.details.restarts + (tables.known('generations')?.get(key)?.restarts ?? 0);
}

/** A `goto` starts the node over, and all that is in it. */
export function countRestart({ generations }: RunState, key: string): void {
  const row = generations.get(key);
  generations.put(key, { ...row, restarts: (row?.restarts ?? 0) + 1 });
}

/** The node's next call is another one than those before. */
export function countReissue({ generations }: RunState, key: string): void {
  const row = generations.get(key);
  generations.put(key, { ...row, reissues: (row?.reissues ?? 0) + 1 });
}

/** Whether an effect is being undone, or nothing came back of what was to undo it: it may be there or not. */
export function isPerhapsUndone({ status }: Pick<EffectRow, 'status'>): boolean {
  return status === 'undoing' || status === 'unknown';
}

/**
 * The generation in which a call is sent. Where a later attempt of a container may send it again, the input is
 * remembered: another input in the same generation is another call. So is one whose effect may be undone: with the same
 * key, a tool would answer with an effect that is not there any more.
 */
export function generationFor(state: RunState, node: NodeRecord, input: JsonObject): number {
  const generation = nextGeneration(state, node);
  if (!node.planned.isRepeatable) return generation;
  const { generations } = state;
  const hash = sha256Hex(canonicalJson(input));
  const issued = generations.get(node.key)?.issued;
  const isOther = issued?.generation === generation && issued.input !== hash;
  if (isOther) countReissue(state, node.key);
  const sent = isOther ? generation + 1 : generation;
  if (issued?.generation !== sent || issued.input !== hash) {
    generations.put(node.key, { ...generations.get(node.key), issued: { generation: sent, input: hash } });
  }
  return sent;
}

function nextGeneration(state: RunState, node: NodeRecord): number {
  const generation = generationOf(state, node);
  if (state.effects.size === 0) return generation;
  const isOther = state.effects.ofCall(node.key, generation).some(isPerhapsUndone);
  if (!isOther) return generation;
  countReissue(state, node.key);
  return generation + 1;
}

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
