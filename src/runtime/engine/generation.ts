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
