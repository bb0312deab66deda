import { jsonText } from '../../catalogue/encode-text.js';
import type { RunMask } from '../../hosts/run-mask.js';
import { bodyName, handOffTexts, whereIs } from './hand-off-texts.js';
import type { HandOffCall } from './messages.js';
import type { Standing, StandingWork } from './standing.js';
import { texts } from './texts.js';

/** The calls that take back what should have been undone and was not. */
export function cleanUpCalls(standing: StandingWork, secrets: RunMask): HandOffCall[] {
  return standing.all.map((each) => cleanUpCall(each, secrets));
}

/** Asks for them, and says how sure it is that they are needed. */
export function cleanUpText(calls: readonly HandOffCall[]): string {
  const unknown = calls.filter(({ outcomeUnknown }) => outcomeUnknown === true).length;
  const certainty = unknown === 0 ? 'all' : unknown < calls.length ? 'some' : 'none';
  return handOffTexts.toCleanUp(calls.map(callText), certainty);
}

function cleanUpCall(
  { compensation, input: given, step, at, failure, outcomeUnknown, ranAgain }: Standing,
  secrets: RunMask,
): HandOffCall {
  const { node } = step.planned;
  const about = node.kind === 'compensate' ? handOffTexts.belongsTo : handOffTexts.undoes;
  const input = secrets.undoing(compensation, given, at, texts.promptArgument);
  const isUnknown = outcomeUnknown === true;
  const tried = failure && { why: failure.message, outcomeUnknown: isUnknown };
  const fillIn = jsonText(input).includes(texts.masked) ? handOffTexts.fillIn : '';
  const note = `${about(node.id, whereIs(step.scope), tried)}${ranAgain === true ? handOffTexts.ranAgain : ''}${fillIn}`;
  return {
    step: step.key,
    undoes: true,
    tool: compensation.tool,
    arguments: input,
    ...(isUnknown ? { outcomeUnknown: true } : {}),
    ...bodyName(step.scope),
    note: secrets.text(note),
  };
}

/** A call as a hand-off lists it, with its note below. */
export function callText(call: HandOffCall): string {
  const line = lineOf(call);
  return call.note === undefined ? line : `${line}${texts.noteLine(call.note)}`;
}

function lineOf(call: HandOffCall): string {
  if ('tool' in call) return texts.callTool(call.tool, call.arguments);
  if ('uri' in call) return texts.readResource(call.uri);
  return handOffTexts.ask(call.ask, call.options ?? [], call.schema);
}
