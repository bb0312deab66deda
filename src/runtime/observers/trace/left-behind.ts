import type { UnknownCall } from '../../engine/remains.js';
import type { RunMask } from '../../hosts/run-mask.js';
import { cleanUpCalls, cleanUpText } from './clean-up.js';
import { handOffTexts, whereIs } from './hand-off-texts.js';
import type { Ledger } from './ledger.js';
import type { HandOffCall } from './messages.js';
import type { StandingWork } from './standing.js';

/** What a run leaves behind that succeeded all the same. */
export interface LeftBehind {
  readonly text: string;
  /** What takes it back. */
  readonly calls: readonly HandOffCall[];
  readonly unknown_outcomes?: readonly UnknownCall[];
}

export interface LeftBehindContext {
  readonly ledger: Ledger;
  readonly secrets: RunMask;
  readonly standing: StandingWork;
  /** Calls that nobody knows of whether they took effect, but for those that were to undo. */
  readonly unknown: readonly UnknownCall[];
}

/**
 * Tells what a run leaves behind that went on after a failure: what should have been undone and was not, and calls that
 * were given up, or had no answer in time. Nothing where all is well.
 */
export function leftBehind({
  ledger,
  secrets,
  standing,
  unknown,
}: LeftBehindContext): LeftBehind | undefined {
  const calls = cleanUpCalls(standing, secrets);
  if (calls.length === 0 && unknown.length === 0) return undefined;
  const named = unknown.map(({ step, tool }) => ({ tool, step: nameAndPlace(ledger, step) }));
  const parts = [
    handOffTexts.doneBut,
    ...(calls.length === 0 ? [] : [cleanUpText(calls)]),
    ...(unknown.length === 0 ? [] : [handOffTexts.unknownOutcomes(named)]),
  ];
  return {
    text: secrets.text(parts.join('\n\n')),
    calls,
    ...(unknown.length === 0 ? {} : { unknown_outcomes: unknown.map(({ step, tool }) => ({ step, tool })) }),
  };
}

function nameAndPlace(ledger: Ledger, key: string): string {
  const { planned, scope } = ledger.instances.find(key);
  return `'${planned.node.id}'${whereIs(scope)}`;
}
