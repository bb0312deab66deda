import { describeAnswerers, isForOthers } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import { references } from '../../graph/expression/traversal.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, type Value } from '../../graph/json.js';
import type { AskNode, CallNode } from '../../graph/model.js';
import { jsonText, oneLine } from '../../graph/printable-text.js';
import { ANY_ITEM, type NodeInstance, type ScopeInstance } from '../../plan/instances.js';
import { soleBody } from '../../print/shapes.js';
import { answerSchema } from '../engine/nodes/wait.js';
import type { RunMask } from '../secrets/run-mask.js';
import { type HandOffCall, RESULT_LIMIT } from './messages.js';
import { nameOf } from './planned-run.js';
import { names, oneOf, stop } from './texts.js';

/** How the call went that a hand-off asks for once more. */
export interface Tried {
  readonly why: string;
  /** It may have taken effect although nothing came back. */
  readonly outcomeUnknown: boolean;
}

/** How sure it is that side effects remain: of all calls that are listed, of a part of them, or of none. */
export type Certainty = 'all' | 'some' | 'none';

const howItWent = (tried: Tried | undefined): string => {
  if (tried === undefined) return '';
  const why = stop(oneLine(tried.why));
  return tried.outcomeUnknown
    ? ` It was tried, and its outcome is unknown: ${why} It may have been undone; check first.`
    : ` It was tried and failed: ${why}`;
};

export const whatRemains: Readonly<Record<Certainty, string>> = {
  all: 'Side effects remain that were to be undone.',
  some: 'Side effects remain that were to be undone, except for those that may have been undone, as their notes say.',
  none: 'Side effects may remain that were to be undone.',
};

export const numbered = (lines: readonly string[]): string =>
  lines.map((line, index) => `${index + 1}. ${line}`).join('\n');

export const late = ' The call timed out or was cancelled, and took effect afterwards.';

/** The texts of a hand-off about constructs, and about side effects that remain. */
export const handOffTexts = {
  /** `step` is a name in quotes, and its place. */
  undone: (step: string | undefined, report: string) =>
    step === undefined ? report : `Step ${step}: ${report}`,
  late,
  undoes: (step: string, where: string, tried: Tried | undefined) =>
    `It undoes step '${step}'${where}.${howItWent(tried)}`,
  belongsTo: (step: string, where: string, tried: Tried | undefined) =>
    `It belongs to step '${step}'${where}.${howItWent(tried)}`,
  ask: (message: string, options: readonly string[], schema: JsonSchema, who?: string) =>
    `${who === undefined ? 'Ask the user' : `Somebody else answers, so start the workflow again instead of asking the user; only ${who} may answer`}: ${jsonText(message)}${options.length === 0 ? '' : ` Options: ${options.map((option) => jsonText(option)).join(', ')}.`} The answer is JSON that fits ${jsonText(schema)}`,
  supply: (message: string, schema: JsonSchema) =>
    `Supply a value: ${jsonText(message)} It is JSON that fits ${jsonText(schema)}`,
  /** `steps` have their places. */
  needsValues: (steps: readonly string[]) =>
    steps.length === 1
      ? `Step ${steps.join()} needs a value that you supply.`
      : `These steps need values that you supply: ${steps.join(', ')}.`,
  conditional: (condition: string | undefined) =>
    condition === undefined ? 'This step is conditional.' : `Only if \`${condition}\`.`,
  onlyIf: (condition: string | undefined, step: string, arm: string) =>
    condition === undefined
      ? `Only if step '${step}' takes '${arm}'.`
      : `Only if \`${condition}\`: then step '${step}' takes '${arm}'.`,
  onlyAfter: (steps: readonly string[], how: 'all' | 'one') =>
    `Only if ${how === 'all' ? names(steps) : oneOf(steps)} ${how === 'all' && steps.length > 1 ? 'were' : 'was'} not skipped.`,
  skipped: (step: string, where: string, without: readonly string[]) =>
    `Step '${step}'${where} is skipped, because ${names(without)} ${without.length === 1 ? 'is' : 'are'}.`,
  /** `condition` is an expression in print. */
  goesBack: (step: string, where: string, target: string, times: number, condition: string | undefined) =>
    `${condition === undefined ? `Step '${step}'${where} then goes` : `If \`${condition}\`, step '${step}'${where} goes`} back to '${target}', at most ${times} ${times === 1 ? 'time' : 'times'}: make the calls from there on again.`,
  /** Items counted from 1. */
  otherItems: (loop: string, from: number, to: number, items: string | undefined) => {
    const which = from === to ? `for item ${from}` : `once each for the items ${from} to ${to}`;
    return `Only ${which} of '${loop}', with that item filled in${items === undefined ? '' : `: ${items}`}.`;
  },
} as const;

/** The place of a step, from the inside out: ` in item 3 of 'line', in branch 'left' of 'both'`. Empty at the top. */
export function whereIs(scope: ScopeInstance): string {
  const words: string[] = [];
  for (let each = scope; each.container !== undefined; each = each.container.scope) {
    const { node } = each.container.planned;
    const name = nameOf(node.id);
    switch (node.kind) {
      case 'foreach':
        if (each.part !== ANY_ITEM) words.push(` in item ${each.part + 1} of '${name}'`);
        break;
      case 'parallel':
        words.push(` in branch '${each.plan.arm ?? ''}' of '${name}'`);
        break;
      case 'workflow':
        words.push(` in workflow '${node.workflow}' of '${name}'`);
        break;
      default:
        // A body that only groups steps is not a place to a reader.
        if (soleBody(node) === undefined) words.push(` in '${each.plan.arm ?? ''}' of '${name}'`);
    }
  }
  return words.join(',');
}

/** The body of a step, for programs; `*` means every item. */
export function bodyName(scope: ScopeInstance): { in?: string } {
  return scope.container === undefined ? {} : { in: scope.key.replaceAll(`[${ANY_ITEM}]`, '[*]') };
}

/**
 * A call, a read or a question as a hand-off lists it.
 * @param given the input of the call, the address of the resource, or the message and the options of the question.
 */
export function entryOf(node: NodeInstance, given: Value, secrets: RunMask): HandOffCall {
  const { node: model } = node.planned;
  const value = written(given);
  const [step, around] = [nameOf(node.key), bodyName(node.scope)];
  switch (model.kind) {
    case 'call':
      return { step, tool: model.tool, arguments: shown(value, model, secrets), ...around };
    case 'resource':
      return { step, resource: model.resource, uri: secrets.text(String(value)), ...around };
    case 'ask':
      return { step, ...question(model, value, secrets), ...around };
    default:
      throw new Error(`a ${model.kind} node is not a call`);
  }
}

/** A call as the text of a hand-off lists it, with its note below. */
export function callText(call: HandOffCall): string {
  const line = lineOf(call);
  return call.note === undefined ? line : `${line}${`\n   Note: ${call.note}`}`;
}

function lineOf(call: HandOffCall): string {
  if ('tool' in call) return `Call ${call.tool} with ${jsonText(call.arguments)}`;
  if ('uri' in call) return `Read resource ${oneLine(call.uri)}`;
  if (call.mode === 'model') return handOffTexts.supply(call.ask, call.schema);
  const who = isForOthers(call.answer_by) ? describeAnswerers(call.answer_by) : undefined;
  return handOffTexts.ask(call.ask, call.options ?? [], call.schema, who);
}

/** A value with placeholder texts for what is not known. */
function written(value: Value): Json {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json);
}

/** A question that the reader of the hand-off asks the user. */
function question(step: AskNode, value: Json, secrets: RunMask) {
  const { message = null, options: given } = isJsonObject(value) ? value : {};
  const options = Array.isArray(given) ? given.map(String) : undefined;
  return {
    ask: secrets.text(String(message)),
    ...(options === undefined ? {} : { options: options.map((option) => secrets.text(option)) }),
    schema: answerSchema(step, options),
    ...(step.mode === 'model' ? { mode: step.mode } : {}),
    ...defined({ answer_by: step.answerBy }),
  };
}

/** Arguments as a hand-off shows them; one that is too long to repeat is named by where it comes from. */
function shown(value: Json, node: CallNode, secrets: RunMask): JsonObject {
  // References to secrets are placeholders already; copies of their values are masked here.
  const pending = secrets.pending(node, isJsonObject(value) ? value : {});
  const { input } = node;
  return Object.fromEntries(
    Object.entries(pending).map(([key, member]) => {
      if (jsonText(member).length <= RESULT_LIMIT) return [key, member];
      const entry = input.entries.find((candidate) => 'key' in candidate && candidate.key === key);
      const source = entry !== undefined && 'key' in entry ? references(entry.value) : [];
      return [key, `<value computed from ${source.map(({ ref }) => ref.path.join('.')).join(', ')}>`];
    }),
  );
}
