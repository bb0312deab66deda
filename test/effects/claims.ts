import type { Json } from '../../src/graph/json.js';
import { isJsonObject } from '../../src/graph/json.js';
import { type Placed, place } from './calls.js';
import type { Outcome } from './host.js';
import { effectIn } from './tool-world.js';

/** One effect according to the facts of a run. Positions are those in the list of facts; later ones replace earlier ones. */
interface Told {
  readonly id: string;
  /** The call that gave it. */
  readonly node: string;
  readonly given: number;
  /** A compensation undid it. */
  readonly taken?: number;
  /** A compensation was required, and failed or has an unknown outcome. */
  readonly tried?: number;
}

/**
 * Compares what a run says it did with the effects that are there. Returns the contradictions, as sentences.
 *
 * An effect that is there is that of a call that succeeded and that nobody was to undo since; or it is named among what
 * was not undone, or its call among those of which nothing is known. An effect of a call that succeeded, and that was
 * not undone since, is there.
 */
export function faultsIn(outcome: Outcome): string[] {
  const { effects } = outcome;
  const told = toldIn(outcome);
  const faults: string[] = [];
  for (const { id, node, given, taken = -1 } of told.values()) {
    // An idempotent tool that several steps call with one input has one effect for all of them.
    if ((outcome.makers.get(id)?.size ?? 0) > 1) continue;
    if (taken > given && effects.has(id) && !isNamed(outcome, id))
      faults.push(`${id} of ${node} was undone and is there`);
    if (given > taken && !effects.has(id) && !isNamed(outcome, id))
      faults.push(`${id} of ${node} succeeded and is not there`);
  }
  for (const id of effects) {
    if (isNamed(outcome, id) || (outcome.makers.get(id)?.size ?? 0) > 1) continue;
    const known = told.get(id);
    if (known === undefined) faults.push(`${id} exists and is not reported`);
    else if (isCovered(outcome, known))
      faults.push(`${id} of ${known.node} was to be undone, is there and is not named`);
  }
  return faults;
}

function toldIn({ facts }: Outcome): Map<string, Told> {
  const told = new Map<string, Told>();
  const undoing = new Map<string, string>();
  facts.forEach((fact, at) => {
    if (fact.kind === 'callIssued' && fact.isCompensation) {
      const id = effectIn(fact.input.of);
      if (id !== undefined) undoing.set(fact.command, id);
    }
    if (fact.kind === 'answered') {
      const id = effectIn(fact.value);
      if (id !== undefined) told.set(id, { ...told.get(id), id, node: fact.node, given: at });
    }
    if (fact.kind !== 'callReturned') return;
    const undone = undoing.get(fact.command);
    if (!fact.outcome.ok) {
      const known = undone === undefined ? undefined : told.get(undone);
      if (known !== undefined) told.set(known.id, { ...known, tried: at });
      return;
    }
    const id = undone ?? effectIn(fact.outcome.value);
    if (id === undefined) return;
    if (undone === undefined) told.set(id, { ...told.get(id), id, node: fact.node, given: at });
    else told.set(id, { ...(told.get(id) ?? { id, node: '', given: -1 }), taken: at });
  });
  return told;
}

/** Whether the remains name an effect, or its call as one whose outcome is unknown. */
function isNamed({ remains, makers }: Outcome, id: string): boolean {
  const nodes = makers.get(id) ?? new Set();
  if (remains.unknown.some(({ step }) => nodes.has(step))) return true;
  return remains.notUndone.some(({ step, input }) => {
    if (input === undefined) return nodes.has(step);
    return effectIn(asJson(input).of) === id;
  });
}

function asJson(input: Json): { readonly of?: Json } {
  return isJsonObject(input) ? input : {};
}

/** Whether the effect was to be undone after its call had succeeded: by a compensation, a roll-back or a cancellation. */
function isCovered({ facts, graph }: Outcome, { node: key, given, tried = -1 }: Told): boolean {
  if (tried > given) return true;
  const call = place(graph, key);
  return facts.some((fact, at) => {
    if (fact.kind !== 'compensated' || at < given) return false;
    if (fact.node === undefined) return call.node.compensate !== undefined;
    return rolledBackBy(graph, fact.node).some((parallel) =>
      call.around.some((each) => each.key === parallel),
    );
  });
}

/** The keys of the parallels that a node undoes: itself, or those that name it. */
function rolledBackBy(graph: Outcome['graph'], key: string): string[] {
  const { node, beside }: Placed = place(graph, key);
  if (node.kind === 'parallel') return [key];
  const own = key.slice(0, key.length - suffixOf(key).length - node.id.length);
  return beside.flatMap((other) =>
    other.kind === 'parallel' && other.compensateNode === node.id
      ? [`${own}${other.id}${suffixOf(key)}`]
      : [],
  );
}

function suffixOf(key: string): string {
  return /(\[\d+\])*$/.exec(key)?.[0] ?? '';
}
