import { describeAnswerers, isForOthers } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import { Budget, ExpressionError, evaluate } from '../../graph/expression/evaluate.js';
import { references } from '../../graph/expression/traversal.js';
import type { Expr, RefExpr } from '../../graph/expression/tree.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  ownProperty,
  type Value,
} from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import type { AskNode, CallNode } from '../../graph/model.js';
import { failureCodeOf } from '../../graph/names.js';
import { jsonText, oneLine } from '../../graph/printable-text.js';
import { ANY_ITEM, type NodeInstance, type ScopeInstance } from '../../plan/instances.js';
import { bindsName, initialOf } from '../../plan/visibility.js';
import { soleBody } from '../../print/shapes.js';
import type { Failure } from '../engine/contract.js';
import { answerSchema } from '../engine/nodes/wait.js';
import { fieldOf } from '../engine/read.js';
import { containsLost, LOST, type StoppedState, settledIn } from '../engine/rehearsal.js';
import type { RunMask } from '../secrets/run-mask.js';
import { type Ledger, type NodeRecord, nameOf } from './ledger.js';
import { type HandOffCall, type PauseReason, RESULT_LIMIT } from './messages.js';
import type { OpenNodes, PlannedRunContext } from './planned-run.js';
import { names, oneOf, stop, texts } from './texts.js';

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
 * @param input the input of the call, the address of the resource, or the message and the options of the question.
 */
export function entryOf(node: NodeInstance, input: Value, secrets: RunMask): HandOffCall {
  const { node: model } = node.planned;
  const value = withPlaceholders(input);
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
function withPlaceholders(value: Value): Json {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json);
}

/** A question that the reader of the hand-off asks the user. */
function question(step: AskNode, value: Json, secrets: RunMask) {
  const { message = null, options: choices } = isJsonObject(value) ? value : {};
  const options = Array.isArray(choices) ? choices.map(String) : undefined;
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

/** What one expression may cost. See `Budget` for the unit. */
const EXPRESSION_BUDGET = 1_000_000;

/** A failed node and what is known about its failure. */
export interface FailedStep {
  readonly node: NodeInstance;
  readonly record: NodeRecord;
  readonly failure: Failure;
  /** How often the tool or resource was reached. */
  readonly attempts: number;
  /** Repeating it does no harm: it changes nothing, or nothing more. */
  readonly retryable: boolean;
  /** The outcome of the call is unknown. */
  readonly isUnknown: boolean;
}

/** Why a run stopped: the sentence of the hand-off, and its `pause_reason` for programs. */
export interface Explanation {
  readonly sentence: string;
  readonly pause: PauseReason;
  /** Key of the call with an unknown outcome that the sentence is about. */
  readonly unknown?: string;
}

/** Whether a step that ends the workflow did so; it fails otherwise where its condition or message has no value. */
export function hasFired(node: Node, failure: Failure): boolean {
  return node.kind === 'error' && failure.code === failureCodeOf(node);
}

/**
 * Explains the failure of one step.
 * @param hasValue whether an expression has a value although the run has stopped.
 * @param wasAborted its call was cancelled because another step failed.
 */
export function explainFailure(
  failed: FailedStep,
  ledger: Ledger,
  hasValue: (expr: Expr, at: ScopeInstance) => boolean,
  wasAborted = false,
): Explanation {
  const { node: instance, failure, attempts, retryable, isUnknown } = failed;
  const { key } = instance;
  const { node } = instance.planned;
  const { id } = node;
  const { code } = failure;
  const where = whereIs(instance.scope);
  const suggested = node.kind === 'call' ? { suggestedTool: node.tool } : {};
  if (node.kind === 'call' && attempts === 0) {
    const missingFields = missingFieldsOf(failure);
    const missingStep = (expr: Expr): NodeInstance | undefined => lostStep(expr, instance, ledger);
    const parameter =
      unresolvable(node, (expr) => hasValue(expr, instance.scope)) ??
      entriesFor(node, missingFields).find((entry) => missingStep(entry.value) !== undefined);
    const producer = parameter === undefined ? undefined : missingStep(parameter.value);
    if (producer !== undefined) {
      const producingStep = producer.planned.node.id;
      const output = producer.planned.node.output ?? producingStep;
      return {
        sentence: `Step '${id}'${where} depends on output '${output}' from step '${producingStep}', which did not complete.`,
        pause: {
          type: 'unresolvedDependency',
          blockedStep: key,
          missingOutput: output,
          producingStep: producer.key,
          ...suggested,
          code,
        },
      };
    }
    if (code === 'E_INPUT_INVALID') {
      const onlyMissing = missingFields.length > 0 && missingFields.length === problemCount(failure);
      return {
        sentence: onlyMissing
          ? `Step '${id}'${where} has missing required fields: ${missingFields.join(', ')}.`
          : texts.stepFailed(id, failure.message, 1, where),
        pause: { type: 'schemaMismatch', blockedStep: key, missingFields, ...suggested, code },
      };
    }
    if (parameter !== undefined) {
      return {
        sentence: `Could not resolve parameter '${parameter.key}' for step '${id}'${where}.`,
        pause: {
          type: 'unresolvableParams',
          blockedStep: key,
          missingParam: parameter.key,
          ...suggested,
          code,
        },
      };
    }
  }
  if (hasFired(node, failure)) {
    const sentence = `Step '${id}'${where} stopped the workflow: ${stop(oneLine(failure.message))}`;
    return { sentence, pause: { type: 'stopped', failedStep: key, error: failure.message, code } };
  }
  const sentence = wasAborted
    ? `Step '${id}'${where} was cancelled because of another failure.`
    : texts.stepFailed(id, failure.message, attempts, where);
  const warning = isUnknown && !retryable ? texts.outcomeUnknown : '';
  return {
    sentence: `${sentence}${retryable ? ' This step is retryable.' : ''}${warning}`,
    pause: { type: 'toolError', failedStep: key, error: failure.message, retryable, ...suggested, code },
    ...(isUnknown ? { unknown: key } : {}),
  };
}

interface Entry {
  readonly key: string;
  readonly value: Expr;
}

function entriesOf(node: CallNode): Entry[] {
  return node.input.entries.flatMap((entry) => ('key' in entry ? [entry] : []));
}

function entriesFor(node: CallNode, keys: readonly string[]): Entry[] {
  return entriesOf(node).filter((entry) => keys.includes(entry.key));
}

/** The first parameter that has no value. */
function unresolvable(node: CallNode, hasValue: (expr: Expr) => boolean): Entry | undefined {
  return entriesOf(node).find((entry) => !hasValue(entry.value));
}

/** The first step an expression needs whose value does not exist. */
function lostStep(expr: Expr, { scope }: NodeInstance, ledger: Ledger): NodeInstance | undefined {
  for (const { ref, guarded } of references(expr)) {
    if (ref.root !== 'steps' || guarded) continue;
    const step = ledger.seenFrom(scope, String(ref.path[0]));
    if (step !== undefined && ledger.record(step)?.status !== 'succeeded') return step;
  }
  return undefined;
}

/** Required arguments that were missing; the toolset lists them in the details of `E_INPUT_INVALID`. */
function missingFieldsOf({ details }: Failure): string[] {
  const missing = isJsonObject(details) ? details.missing : undefined;
  return Array.isArray(missing) ? missing.map(String) : [];
}

function problemCount({ details }: Failure): number {
  const problems = isJsonObject(details) ? details.problems : undefined;
  return Array.isArray(problems) ? problems.length : 0;
}

/** Returns whether an expression has a value although the run has stopped. */
export function knownValues(
  { state, ledger }: Pick<PlannedRunContext, 'state' | 'ledger'>,
  nodes: OpenNodes,
): (expr: Expr, at: ScopeInstance) => boolean {
  const read = (root: RefExpr['root'], name: string, at: ScopeInstance): Value => {
    switch (root) {
      case 'inputs': {
        const { node } = at.workflow;
        return ownProperty(node === undefined ? state.input : (ledger.record(node)?.input ?? {}), name);
      }
      case 'steps': {
        const step = ledger.seenFrom(at, name);
        const stoppedState: StoppedState =
          step === undefined ? { kind: 'skipped' } : nodes.stoppedState(step.key);
        if (stoppedState.kind === 'settled') return stoppedState.value;
        return stoppedState.kind === 'skipped' || stoppedState.kind === 'handled' ? undefined : LOST;
      }
      case 'nodes': {
        const step = ledger.seenFrom(at, name);
        return step === undefined ? undefined : (settledIn(nodes, step.key) ?? LOST);
      }
      case 'item':
      case 'index':
        for (let scope = at; scope.container !== undefined; scope = scope.container.scope) {
          const { container, part } = scope;
          const { node } = container.planned;
          if (!bindsName(node, root, name)) continue;
          return root === 'index' ? part : (ledger.record(container)?.items?.[part] ?? LOST);
        }
        return undefined;
      case 'state':
        return (fieldOf(state, name) ?? { value: initialOf(at.workflow, name) }).value;
      default:
        return undefined;
    }
  };
  return (expr, at) => {
    try {
      const lookup = (root: RefExpr['root'], name: string | number) => read(root, String(name), at);
      return !containsLost(evaluate(expr, { lookup }, new Budget(EXPRESSION_BUDGET)));
    } catch (error) {
      if (error instanceof ExpressionError) return false;
      throw error;
    }
  };
}
