import { jsonText } from '../../catalogue/encode-text.js';
import type { NotUndone, Remains } from '../../engine/read.js';
import type { RunMask } from '../../hosts/run-mask.js';
import { type LooseEnds, looseEndsOf } from '../../hosts/side-effects.js';
import { callText } from './call-entry.js';
import { bodyName, handOffTexts, whereIs } from './hand-off-texts.js';
import type { Ledger } from './ledger.js';
import type { HandOffCall } from './messages.js';
import { texts } from './texts.js';

/** The side effects that remain of a run that is over, as its trace tells them. */
export interface LeftBehind {
  /** A paragraph for what can be undone, what cannot, and unknown outcomes. None where all is well. */
  readonly texts: readonly string[];
  /** What undoes them. */
  readonly calls: readonly HandOffCall[];
  readonly meta: LooseEnds;
}

export interface LeftBehindContext {
  readonly ledger: Ledger;
  readonly secrets: RunMask;
  readonly remains: Remains;
}

/**
 * Tells which side effects of a run remain that were to be undone, and which of its calls have an unknown outcome.
 *
 * @param told keys of steps whose unknown outcome the reader was told of before.
 */
export function leftBehind(
  { ledger, secrets, remains }: LeftBehindContext,
  told: ReadonlySet<string> = new Set(),
): LeftBehind {
  const calls: HandOffCall[] = [];
  const stuck: string[] = [];
  for (const each of remains.notUndone) {
    const call = cleanUpCall(each, ledger, secrets);
    if (call === undefined) stuck.push(stuckText(each, ledger));
    else calls.push(call);
  }
  const unknown = remains.unknown.filter(({ step }) => !told.has(step));
  const named = unknown.map(({ step, tool }) => ({ tool, step: nameAndPlace(ledger, step) }));
  const paragraphs = [
    ...(calls.length === 0 ? [] : [cleanUpText(calls)]),
    ...(stuck.length === 0 ? [] : [handOffTexts.cannotCleanUp(stuck)]),
    ...(named.length === 0 ? [] : [handOffTexts.unknownOutcomes(named)]),
  ];
  return {
    texts: paragraphs.map((text) => secrets.text(text)),
    calls,
    meta: looseEndsOf({ mask: secrets, remains }),
  };
}

/** Asks for the calls, and says how sure it is that they are needed. */
function cleanUpText(calls: readonly HandOffCall[]): string {
  const unknown = calls.filter(({ outcomeUnknown }) => outcomeUnknown === true).length;
  const certainty = unknown === 0 ? 'all' : unknown < calls.length ? 'some' : 'none';
  return handOffTexts.toCleanUp(calls.map(callText), certainty);
}

/** The call that undoes a side effect, where it is known. */
function cleanUpCall(each: NotUndone, ledger: Ledger, secrets: RunMask): HandOffCall | undefined {
  const { step, tool, input: given, failure, outcomeUnknown, late, ranAgain } = each;
  if (tool === undefined || given === undefined) return undefined;
  const { key, planned, scope } = ledger.instances.find(step);
  const { node } = planned;
  const about = node.kind === 'compensate' ? handOffTexts.belongsTo : handOffTexts.undoes;
  const input = secrets.notUndone({ ...each, input: given }, texts.promptArgument);
  const tried = failure && { why: failure.message, outcomeUnknown: outcomeUnknown === true };
  const fillIn = jsonText(input).includes(texts.masked) ? handOffTexts.fillIn : '';
  const notes = `${late ? handOffTexts.late : ''}${ranAgain ? handOffTexts.ranAgain : ''}${fillIn}`;
  return {
    ...{ step: key, undoes: true, tool, arguments: input },
    ...(outcomeUnknown ? { outcomeUnknown } : {}),
    ...bodyName(scope),
    note: secrets.text(`${about(node.id, whereIs(scope), tried)}${notes}`),
  };
}

function stuckText({ step, late, failure }: NotUndone, ledger: Ledger): string {
  return handOffTexts.stuck(nameAndPlace(ledger, step), failure?.message, late === true);
}

function nameAndPlace(ledger: Ledger, key: string): string {
  const { planned, scope } = ledger.instances.find(key);
  return `'${planned.node.id}'${whereIs(scope)}`;
}
