import { canonicalJson } from '../../graph/canonical.js';
import type { JsonObject } from '../../graph/json.js';
import { sha256Hex } from '../../graph/sha256.js';
import type { NodeRecord } from './records.js';
import type { EffectRow } from './rows.js';
import type { RunState } from './state.js';

/**
 * The generation of a node distinguishes the effects of its call and never falls during a run. It counts how often a
 * `goto` started the node or a container around it over, and how often its call became a new one.
 */
export function generationOf({ tables }: RunState, { key, scope }: NodeRecord): number {
  const row = tables.existing('generations')?.get(key);
  const own = row === undefined ? 0 : (row.restarts ?? 0) + (row.reissues ?? 0);
  return 1 + scope.details.restarts + own;
}

/** Names the call of a node in its generation among those that a forked run inherits. */
export function inheritedKey(state: RunState, node: NodeRecord): string {
  return `${node.key}@${generationOf(state, node)}`;
}

/** How often a `goto` started a container and those around it over: see `ScopeRow`. */
export function restartsInside({ tables }: RunState, { key, scope }: NodeRecord): number {
  return scope.details.restarts + (tables.existing('generations')?.get(key)?.restarts ?? 0);
}

/** Raises the generation of a node that a `goto` starts over, and of everything inside it. */
export function countRestart({ generations }: RunState, key: string): void {
  const row = generations.get(key);
  generations.put(key, { ...row, restarts: (row?.restarts ?? 0) + 1 });
}

/** Raises the generation of a node's call: the next one is a new call. */
export function countReissue({ generations }: RunState, key: string): void {
  const row = generations.get(key);
  generations.put(key, { ...row, reissues: (row?.reissues ?? 0) + 1 });
}

/** Whether a compensation is in flight or its outcome is unknown: the effect may or may not be undone. */
export function mayBeUndone({ status }: Pick<EffectRow, 'status'>): boolean {
  return status === 'undoing' || status === 'unknown';
}

/**
 * The generation in which a call is sent. If a later attempt of a container may send it again, the input is remembered:
 * another input in the same generation is a new call. So is a call whose effect may be undone: with the same key, a tool
 * would answer with an effect that no longer exists.
 */
export function generationFor(state: RunState, node: NodeRecord, input: JsonObject): number {
  const generation = nextGeneration(state, node);
  if (!node.planned.isRepeatable) return generation;
  const { generations } = state;
  const hash = sha256Hex(canonicalJson(input));
  const issued = generations.get(node.key)?.issued;
  const isOther = issued?.generation === generation && issued.input !== hash;
  if (isOther) countReissue(state, node.key);
  const next = isOther ? generation + 1 : generation;
  if (issued?.generation !== next || issued.input !== hash) {
    generations.put(node.key, { ...generations.get(node.key), issued: { generation: next, input: hash } });
  }
  return next;
}

function nextGeneration(state: RunState, node: NodeRecord): number {
  const generation = generationOf(state, node);
  if (state.effects.size === 0) return generation;
  const isOther = state.effects.ofCall(node.key, generation).some(mayBeUndone);
  if (!isOther) return generation;
  countReissue(state, node.key);
  return generation + 1;
}

/**
 * Id of one attempt of a node: readable, unique in its run, and deterministic. It contains the generation and the attempts
 * of the containers around the node unless all of them are 1: `charge@2~1.3#1`.
 */
export function attemptId(state: RunState, node: NodeRecord, attempt: number): string {
  const { key, scope } = node;
  const { attempts } = scope.details;
  const generation = generationOf(state, node);
  if (generation === 1 && attempts === undefined) return `${key}#${attempt}`;
  const around = attempts === undefined ? '' : `~${attempts}`;
  return `${key}@${generation}${around}#${attempt}`;
}

/** The node that an id of its attempts belongs to; undefined for an id of another form, such as that of a compensation. */
export function nodeOf(command: string): string | undefined {
  return /^([^#@~]+)(?:@\d+(?:~[\d.]+)?)?#\d+(?::resource:\d+)?$/.exec(command)?.[1];
}

/** Id of the timer that limits an attempt of a container. */
export function timerId(attempt: string): string {
  return `${attempt}:timer`;
}

/** Id of the backoff timer after an attempt. */
export function delayId(attempt: string): string {
  return `${attempt}:delay`;
}

/** Id of the read of a node's own resource before an attempt. `index` counts from 0. */
export function ownReadId(attempt: string, index: number): string {
  return `${attempt}:resource:${index}`;
}

/** Id of a compensation call. `index` counts from 0. */
export function undoId(base: string, index: number): string {
  return `${base}:undo:${index}`;
}

/** Attempts of the containers around the parts of a container: see `ScopeRow`. */
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
