import { canonicalJson, sha256Hex } from '../../graph/canonical.js';
import type { JsonObject } from '../../graph/json.js';
import type { NodeInstance } from './instances.js';
import type { Turn } from './turn.js';

/**
 * The generation of a node: it tells apart the effects of its call, and never falls during a run. It counts how often
 * the node or a container around it was started over by a `goto`, and how often its call became another one.
 */
export function generationOf({ recorder: { tables } }: Turn, { key, scope }: NodeInstance): number {
  const { restarts: around = 0 } = tables.scopes.need(scope.key);
  const row = tables.generations.isEmpty ? undefined : tables.generations.get(key);
  return row === undefined ? 1 + around : 1 + around + (row.restarts ?? 0) + (row.reissues ?? 0);
}

/** How often a `goto` has started over a container and those around it: see `ScopeRow`. */
export function restartsInside({ recorder: { tables } }: Turn, { key, scope }: NodeInstance): number {
  const { restarts = 0 } = tables.scopes.need(scope.key);
  return restarts + (tables.generations.get(key)?.restarts ?? 0);
}

/** A `goto` starts the node over, and all that is in it. */
export function countRestart({ recorder: { tables } }: Turn, { key }: NodeInstance): void {
  const row = tables.generations.get(key);
  tables.generations.put(key, { ...row, restarts: (row?.restarts ?? 0) + 1 });
}

/** The node's next call is another one than those before. */
export function countReissue({ recorder: { tables } }: Turn, key: string): void {
  const row = tables.generations.get(key);
  tables.generations.put(key, { ...row, reissues: (row?.reissues ?? 0) + 1 });
}

/**
 * The generation in which a call is sent. Where a later attempt of a container may send it again, the input is
 * remembered: another input in the same generation is another call.
 */
export function generationFor(turn: Turn, node: NodeInstance, input: JsonObject): number {
  const generation = generationOf(turn, node);
  if (!mayBeSentAgain(node)) return generation;
  const { generations } = turn.recorder.tables;
  const hash = sha256Hex(canonicalJson(input));
  const issued = generations.get(node.key)?.issued;
  const isOther = issued?.generation === generation && issued.input !== hash;
  if (isOther) countReissue(turn, node.key);
  const sent = isOther ? generation + 1 : generation;
  if (issued?.generation !== sent || issued.input !== hash) {
    generations.put(node.key, { ...generations.get(node.key), issued: { generation: sent, input: hash } });
  }
  return sent;
}

/** Whether a container around the node has further attempts. */
function mayBeSentAgain({ scope }: NodeInstance): boolean {
  for (let each = scope.container; each !== undefined; each = each.scope.container) {
    if (each.planned.retry !== undefined) return true;
  }
  return false;
}
