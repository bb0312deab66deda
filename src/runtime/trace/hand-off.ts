import { defined } from '../../graph/defined.js';
import { isServerCall } from '../../graph/nodes.js';
import { jsonText, MASKED, oneLine } from '../../graph/printable-text.js';
import type { NodeInstance } from '../../plan/instances.js';
import type { CompensationReport } from '../engine/events.js';
import { commandsOf, type NotUndone, type Remains } from '../engine/read.js';
import { type RemainingEffects, remainingEffectsOf } from '../runs/run/envelope.js';
import type { RunMask } from '../secrets/run-mask.js';
import {
  type Explanation,
  explainFailure,
  type FailedStep,
  hasFired,
  knownValues,
  OUTCOME_UNKNOWN,
} from './explain-failure.js';
import { bodyName, callText, whereIs } from './hand-off-calls.js';
import { undoReport } from './leaf-logs.js';
import { type Ledger, type NodeRecord, recordsIn, stepStateOf } from './ledger.js';
import type { HandOff, HandOffCall, PauseReason, TraceError, Undone } from './messages.js';
import { isUndone, NOTHING_OPEN, openCalls, type StillOpen } from './open-calls.js';
import { pausedCalls } from './paused-calls.js';
import { type HandOffContext, OpenNodes } from './planned-run.js';
import { promptArgument, stop } from './sentences.js';
import { alsoWaiting, type KeptRun } from './waiting.js';

/**
 * Writes the hand-off of a run that stopped. Side effects that remain come first. It lists the calls that can still be
 * made, in the order of the plan: a
 * failed one when repeating it is harmless or its input was refused, then what did not start, as far as everything it
 * needs exists or comes from a call listed before it. What was undone is named, and never called again.
 *
 * @param paused how to reach a paused run. Its calls are those of the steps that wait to be made.
 */
export function handOff(context: HandOffContext, paused?: KeptRun): HandOff {
  const stopped = new StoppedRun(context, paused);
  const reasons = stopped.reasons();
  const undone = stopped.undone();
  const endedOnPurpose = stopped.endedOnPurpose();
  const open = endedOnPurpose ? NOTHING_OPEN : stopped.open();
  const others = paused === undefined ? undefined : alsoWaiting(context, paused);
  const isClosed = open.calls.some((call) => 'tool' in call && context.isPrivate(call.tool));
  const { calls, leftOut, goBack } = isClosed ? stopped.fromStart() : open;
  const reported = reasons.flatMap(({ unknown }) => unknown ?? []);
  const remains = leftBehind({ ...context, remains: stopped.remains() }, new Set(reported));
  const nothing = endedOnPurpose
    ? 'The workflow ended here on purpose, and no tool call continues it. Tell the user why.'
    : 'No tool call can continue this workflow. Tell the user why it stopped, or start it again with corrected input.';
  const { secrets } = context;
  const why = [
    ...reasons.map((reason) => reason.sentence),
    ...undone.map(({ node, report }) => {
      const text = undoReport(report, secrets);
      return node === undefined ? text : `Step ${nameAndPlace(node)}: ${text}`;
    }),
  ];
  const [first] = reasons;
  const parts = [
    why.join('\n'),
    ...remains.texts,
    calls.length > 0
      ? `To continue the workflow, make these tool calls:\n\n${numbered(calls.map(callText))}`
      : goBack.length === 0
        ? nothing
        : '',
    [...(calls.length === 0 ? [] : leftOut), ...goBack].join('\n'),
    others?.text ?? '',
  ];
  return {
    text: secrets.text(parts.filter((part) => part !== '').join('\n\n')),
    errors: stopped.errors(),
    calls: [...remains.calls, ...calls],
    ...remains.meta,
    pause_reason: shownPause(first?.pause ?? stopped.unfinished().pause, context),
    ...(undone.length === 0 ? {} : { undone: undone.map((each) => undoneMeta(each, secrets)) }),
    ...defined({ actions: others?.actions }),
  };
}

interface UndoneBy {
  readonly node?: NodeInstance;
  readonly report: CompensationReport;
}

class StoppedRun {
  readonly #context: HandOffContext;
  readonly #all: readonly FailedStep[];
  /** Those of which no other one is the cause. */
  readonly #failed: readonly FailedStep[];
  readonly #paused: KeptRun | undefined;

  constructor(context: HandOffContext, paused: KeptRun | undefined) {
    this.#context = context;
    this.#paused = paused;
    this.#all = [...recordsIn(context.ledger.root)].flatMap((record) => this.#failedStep(record));
    this.#failed = causes(this.#all);
  }

  /** Why the run stopped: one reason per failed step, those that ended the run first. */
  reasons(): Explanation[] {
    const { state, ledger } = this.#context;
    const nodes = new OpenNodes({ ...this.#context, again: new Set() });
    const hasValue = knownValues(this.#context, nodes);
    if (state.run.status === 'running' && this.#paused === undefined) return [this.#needsValues()];
    const isCancelled = state.run.status === 'cancelled';
    const failed = this.#inTime()
      .filter((each) => !(isCancelled && wasCancelled(each)))
      .map((each) => explainFailure(each, ledger, hasValue, wasAborted(each)));
    if (isCancelled) return [this.#cancelled(), ...failed];
    return failed.length > 0 ? failed : [this.unfinished()];
  }

  /** The reason of a run that has no failed step. */
  unfinished(): Explanation {
    const { graph, state } = this.#context;
    const { failure } = state.run;
    const sentence =
      failure === undefined
        ? `Workflow '${graph.name}' has not finished.`
        : `Workflow '${graph.name}' failed: ${stop(oneLine(failure.message))}`;
    const [code, error] =
      failure === undefined ? ['E_UNFINISHED', sentence] : [failure.code, failure.message];
    return { sentence, pause: { type: 'toolError', failedStep: graph.name, error, retryable: false, code } };
  }

  /** The reason of a run that the reader continues with values. */
  #needsValues(): Explanation {
    const { ledger, state } = this.#context;
    const asked = commandsOf(state).flatMap((command) =>
      command.kind === 'requestAction' ? [ledger.instances.find(command.node)] : [],
    );
    const steps = asked.map(nameAndPlace).join(', ');
    const sentence =
      asked.length === 1
        ? `Step ${steps} needs a value that you supply.`
        : `These steps need values that you supply: ${steps}.`;
    const waitingSteps = asked.map(({ key }) => key);
    return { sentence, pause: { type: 'waiting', waitingSteps, code: 'E_WAITING' } };
  }

  /** Whether an `error` node was what the run failed with. */
  endedOnPurpose(): boolean {
    const { failure: end, status } = this.#context.state.run;
    return this.#failed.some(
      ({ node, failure }) =>
        status === 'failed' &&
        hasFired(node.planned.node, failure) &&
        failure.code === end?.code &&
        failure.message === end.message,
    );
  }

  /** What was undone, in declaration order. */
  undone(): UndoneBy[] {
    const { ledger } = this.#context;
    const bySteps = [...recordsIn(ledger.root)].flatMap(({ node, undone: report }) =>
      report === undefined ? [] : [{ node, report }],
    );
    return ledger.undone === undefined ? bySteps : [...bySteps, { report: ledger.undone }];
  }

  errors(): TraceError[] {
    const { secrets, state } = this.#context;
    const steps = this.#inTime().map((failed) => ({
      about: { step: failed.node.key },
      failure: failed.failure,
      tries: triesOf(failed),
    }));
    const all =
      steps.length === 0 && state.run.failure !== undefined
        ? [{ about: {}, failure: state.run.failure, tries: {} }]
        : steps;
    return all.map(({ about, failure: { code, message, details, outcomeUnknown }, tries }) => ({
      ...about,
      code,
      message: secrets.text(message),
      ...(details === undefined ? {} : { details: secrets.json(details) }),
      ...defined({ outcomeUnknown }),
      ...tries,
    }));
  }

  /** The failed steps: those behind the failure of the run, then the others, then the steps that were cancelled because of them. */
  #inTime(): FailedStep[] {
    const { failedNode } = this.#context.state.run;
    const rank = (step: FailedStep): number => {
      if (wasAborted(step)) return 2;
      return topOf(step.node).key === failedNode ? 0 : 1;
    };
    // One that has no end is the last of them.
    const time = ({ record }: FailedStep): number => record.endedAs ?? Number.MAX_SAFE_INTEGER;
    return this.#failed.toSorted((one, other) => rank(one) - rank(other) || time(one) - time(other));
  }

  /** Also calls without a result of which the state says otherwise: it is ahead of the facts if a store has failed. */
  remains(): Remains {
    const { remains, safety } = this.#context;
    const lost = this.#failed.flatMap(({ node, record, isUnknown }) => {
      const { node: model } = node.planned;
      const isLost = record.failure === undefined && isServerCall(model) && safety(model.tool) !== 'readOnly';
      return isLost && !isUnknown ? [{ step: node.key, tool: model.tool }] : [];
    });
    return { ...remains, unknown: [...lost, ...remains.unknown] };
  }

  /** The calls that can still be made, and what to say of steps that are left out. */
  open(): StillOpen {
    if (this.#paused === undefined) return openCalls(this.#context, this.#failed);
    return { ...NOTHING_OPEN, calls: pausedCalls(this.#context, this.#paused.workflowId, this.#all) };
  }

  /** What is left where the caller cannot make the calls that remain: the workflow as a whole. */
  fromStart(): StillOpen {
    const { graph, ledger, safety, secrets, state, workflowTool: tool } = this.#context;
    const repeated = [...recordsIn(ledger.root)].flatMap(({ node, status }) => {
      const { node: model } = node.planned;
      if (!isServerCall(model) || status !== 'succeeded') return [];
      return ['readOnly', 'idempotent'].includes(safety(model.tool)) ? [] : [nameAndPlace(node)];
    });
    const note = `Only the workflow can make the calls that remain: it starts from the beginning${repeated.length === 0 ? '.' : `, and makes these calls again: ${repeated.join(', ')}.`}`;
    if (tool === undefined)
      return {
        ...NOTHING_OPEN,
        goBack: [
          `No tool call can continue this workflow. The user can run the prompt '${graph.name}' again. ${note}`,
        ],
      };
    const args = graph.inputs.flatMap(({ name }) => {
      if (secrets.hasName(name)) return [[name, promptArgument(name)] as const];
      return Object.hasOwn(state.input, name)
        ? [[name, secrets.json(state.input[name] ?? null)] as const]
        : [];
    });
    const call = { step: graph.name, tool, arguments: Object.fromEntries(args), note: secrets.text(note) };
    return { ...NOTHING_OPEN, calls: [call] };
  }

  /** The first step at the top that did not begin, in declaration order. */
  #firstPending(): NodeInstance | undefined {
    const { instances, plan, root } = this.#context.ledger;
    const first = plan.main.root.nodes.find(
      ({ node }) => stepStateOf(root.nodes.get(node.id)).status === 'pending',
    );
    return first && instances.node(instances.root, first);
  }

  #failedStep(failed: NodeRecord): FailedStep[] {
    if (stepStateOf(failed, this.#paused !== undefined).status !== 'failed') return [];
    const record = this.#undoneFor(failed) ?? failed;
    const { failure, attempts } = stepStateOf(record);
    const { node } = record;
    const { node: model } = node.planned;
    const safety = isServerCall(model) ? this.#context.safety(model.tool) : 'none';
    // The client's own call has another idempotency key.
    const harmless = safety === 'readOnly' || safety === 'idempotent';
    const isRetryable = record.isUnread || (attempts > 0 && (harmless || model.kind === 'resource'));
    return [
      {
        node,
        record,
        failure: failure ?? { code: 'E_UNFINISHED', message: 'no answer came', outcomeUnknown: true },
        attempts,
        retryable: isRetryable && record === failed && !isUndone(node, this.#context),
        isUnknown: this.#context.remains.unknown.some(({ step }) => step === node.key),
      },
    ];
  }

  /** The step whose failure a node hands on that took over to undo. */
  #undoneFor({ node, failure }: NodeRecord): NodeRecord | undefined {
    const { ledger } = this.#context;
    if (node.planned.node.kind !== 'compensate' || failure === undefined) return undefined;
    const routers = node.planned.routers.map((router) =>
      ledger.record(ledger.instances.node(node.scope, router)),
    );
    return routers.find((router) => {
      return router?.status === 'handled' && router.failure !== undefined && isSame(router.failure, failure);
    });
  }

  #cancelled(): Explanation {
    const { graph, state } = this.#context;
    const inFlight = this.#failed.find(wasCancelled);
    const step = inFlight?.node ?? this.#firstPending();
    const name = step?.key;
    const unknown = inFlight?.isUnknown === true;
    const model = step?.planned.node;
    const sentence = `Workflow '${graph.name}' cancelled${name === undefined ? '' : ` at step ${name}`}.`;
    return {
      sentence: `${sentence}${unknown && !inFlight.retryable ? OUTCOME_UNKNOWN : ''}`,
      pause: {
        type: 'toolError',
        failedStep: name ?? graph.name,
        error: state.run.failure?.message ?? sentence,
        retryable: inFlight?.retryable ?? true,
        ...(model !== undefined && isServerCall(model) ? { suggestedTool: model.tool } : {}),
        code: state.run.failure?.code ?? 'E_CANCELLED',
      },
      ...(unknown && name !== undefined ? { unknown: name } : {}),
    };
  }
}

/** Whether a step counts as failed only because it was cancelled while it ran. */
function wasCancelled({ record }: FailedStep): boolean {
  return record.status !== 'failed' && record.status !== 'handled';
}

/** Whether a call was cancelled because of another step. */
function wasAborted(step: FailedStep): boolean {
  return wasCancelled(step) && step.failure.code === 'E_CANCELLED';
}

/**
 * The failed steps without those that only hand on what failed inside them, or what led to their undoing. Each
 * comes after what failed inside it.
 */
function causes(failed: readonly FailedStep[]): FailedStep[] {
  return failed.filter(({ node, failure }, place) => {
    const { kind } = node.planned.node;
    const others = failed.filter((other, index) => index !== place && isSame(other.failure, failure));
    if (kind === 'compensate') return others.length === 0;
    return !others.some((other) => isInside(other.node, node));
  });
}

function isSame(one: FailedStep['failure'], other: FailedStep['failure']): boolean {
  return one.code === other.code && one.message === other.message;
}

function isInside(node: NodeInstance, container: NodeInstance): boolean {
  for (let around = node.scope.container; around !== undefined; around = around.scope.container) {
    if (around.key === container.key) return true;
  }
  return false;
}

/** The step at the top of the run around a node. */
function topOf(node: NodeInstance): NodeInstance {
  const { container } = node.scope;
  return container === undefined ? node : topOf(container);
}

function triesOf({ node, attempts }: FailedStep): Pick<TraceError, 'attempted' | 'attempts'> {
  const { node: model } = node.planned;
  if (!isServerCall(model) && model.kind !== 'resource') return {};
  if (attempts === 0) return { attempted: false };
  return attempts === 1 ? {} : { attempts };
}

function nameAndPlace({ planned, scope }: NodeInstance): string {
  return `'${planned.node.id}'${whereIs(scope)}`;
}

function undoneMeta({ node, report: { done, failed, not_run } }: UndoneBy, secrets: RunMask): Undone {
  const faults = failed.map(({ tool, failure: { code, message } }) => {
    return { tool, code, message: secrets.text(message) };
  });
  return { ...defined({ step: node?.key }), done, failed: faults, not_run };
}

/** Without secrets, and without a tool that the caller cannot call. */
function shownPause(pause: PauseReason, { secrets, isPrivate }: HandOffContext): PauseReason {
  const shown = 'error' in pause ? { ...pause, error: secrets.text(pause.error) } : pause;
  if (!('suggestedTool' in shown) || shown.suggestedTool === undefined || !isPrivate(shown.suggestedTool))
    return shown;
  const { suggestedTool: _, ...rest } = shown;
  return rest;
}

/** The side effects and unknown outcomes that remain after a run, as its trace reports them. */
export interface LeftBehind {
  /** A paragraph for what can be undone, what cannot, and unknown outcomes. None where all is well. */
  readonly texts: readonly string[];
  /** What undoes them. */
  readonly calls: readonly HandOffCall[];
  readonly meta: RemainingEffects;
}

/**
 * Reports the side effects of a run that remain although they were to be undone, and its calls with an unknown outcome.
 *
 * @param reported keys of steps whose unknown outcome was reported before.
 */
export function leftBehind(
  { ledger, secrets, remains }: Pick<HandOffContext, 'ledger' | 'secrets' | 'remains'>,
  reported: ReadonlySet<string> = new Set(),
): LeftBehind {
  const { notUndone, unknown: unknownCalls, failedItems } = remains;
  if (notUndone.length + unknownCalls.length + failedItems.length === 0)
    return { texts: [], calls: [], meta: {} };
  const calls: HandOffCall[] = [];
  const stuck: string[] = [];
  for (const each of notUndone) {
    const call = cleanUpCall(each, ledger, secrets);
    if (call === undefined) stuck.push(stuckText(each, ledger));
    else calls.push(call);
  }
  const unknown = unknownCalls.filter(({ step }) => !reported.has(step));
  const named = unknown.map(({ step, tool }) => ({ tool, step: nameAndPlace(ledger.instances.find(step)) }));
  const paragraphs = [
    ...(calls.length === 0 ? [] : [cleanUpText(calls)]),
    ...(stuck.length === 0
      ? []
      : [
          `Side effects of these steps remain, and the workflow has no call that undoes them. Tell the user:\n\n${numbered(stuck)}`,
        ]),
    ...(named.length === 0
      ? []
      : [
          `The outcome of these calls is unknown: they may have taken effect. Check that first, before you repeat them or go on:\n\n${numbered(named.map(({ tool, step }) => `${tool} of step ${step}`))}`,
        ]),
  ];
  return {
    texts: paragraphs.map((text) => secrets.text(text)),
    calls,
    meta: remainingEffectsOf({ mask: secrets, remains }),
  };
}

/** Asks for the calls, and says how sure it is that they are needed. */
function cleanUpText(calls: readonly HandOffCall[]): string {
  const unknown = calls.filter(({ outcomeUnknown }) => outcomeUnknown === true).length;
  const certainty = unknown === 0 ? 'all' : unknown < calls.length ? 'some' : 'none';
  return `${WHAT_REMAINS[certainty]} To clean up, make these tool calls:\n\n${numbered(calls.map(callText))}`;
}

/** How sure it is that side effects remain: of all calls that are listed, of a part of them, or of none. */
const WHAT_REMAINS = {
  all: 'Side effects remain that were to be undone.',
  some: 'Side effects remain that were to be undone, except for those that may have been undone, as their notes say.',
  none: 'Side effects may remain that were to be undone.',
} as const;

function numbered(lines: readonly string[]): string {
  return lines.map((line, index) => `${index + 1}. ${line}`).join('\n');
}

const LATE = ' The call timed out or was cancelled, and took effect afterwards.';

/** The call that undoes a side effect, where it is known. */
function cleanUpCall(each: NotUndone, ledger: Ledger, secrets: RunMask): HandOffCall | undefined {
  const { step, tool, input: undoInput, failure, outcomeUnknown, isLate, ranAgain } = each;
  if (tool === undefined || undoInput === undefined) return undefined;
  const { key, planned, scope } = ledger.instances.find(step);
  const { node } = planned;
  const about = node.kind === 'compensate' ? 'belongs to' : 'undoes';
  const input = secrets.notUndone({ ...each, input: undoInput }, promptArgument);
  const fillIn = jsonText(input).includes(MASKED) ? ` Fill in what is masked (${MASKED}) first.` : '';
  const tried = failure === undefined ? '' : triedText(failure.message, outcomeUnknown === true);
  const notes = `${tried}${isLate ? LATE : ''}${ranAgain ? ' The step has run again since: do not undo what it did then.' : ''}${fillIn}`;
  return {
    ...{ step: key, undoes: true, tool, arguments: input },
    ...(outcomeUnknown ? { outcomeUnknown } : {}),
    ...bodyName(scope),
    note: secrets.text(`It ${about} step '${node.id}'${whereIs(scope)}.${notes}`),
  };
}

/** How the call went that a hand-off asks for again. */
function triedText(message: string, isUnknown: boolean): string {
  const why = stop(oneLine(message));
  return isUnknown
    ? ` It was tried, and its outcome is unknown: ${why} It may have been undone; check first.`
    : ` It was tried and failed: ${why}`;
}

function stuckText({ step, isLate, failure }: NotUndone, ledger: Ledger): string {
  return `Step ${nameAndPlace(ledger.instances.find(step))}.${isLate === true ? LATE : ''}${failure?.message === undefined ? '' : ` ${stop(oneLine(failure?.message))}`}`;
}
