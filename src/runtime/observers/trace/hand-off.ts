import type { ToolAnnotations } from '../../../decorators/tool.js';
import { ownProperty } from '../../../graph/json.js';
import type { Graph, Node } from '../../../graph/model.js';
import type { RunState } from '../../engine/contract.js';
import type { HandOffCall, PauseReason, TraceError } from './messages.js';
import { OpenCalls } from './open-calls.js';
import { type Outlook, outlookOf, type StepHistory } from './outlook.js';
import type { Secrets } from './secrets.js';
import { type FailedStep, hasFired, type StopReason, stepReason } from './stop-reason.js';
import { texts } from './texts.js';

/** What closes a trace that did not succeed: why it stopped, and what can still be done. */
export interface HandOff {
  readonly text: string;
  readonly pause: PauseReason;
  readonly errors: readonly TraceError[];
  readonly calls: readonly HandOffCall[];
}

export interface HandOffContext {
  readonly graph: Graph;
  readonly state: RunState;
  readonly annotations: (tool: string) => ToolAnnotations | undefined;
  readonly history: ReadonlyMap<string, StepHistory>;
  readonly secrets: Secrets;
}

/**
 * Writes the hand-off of a run that stopped. It lists the calls that can still be made, in the order of the plan: a
 * failed one when repeating it is harmless or its input was refused, then what did not start, as far as everything it
 * needs exists or comes from a call listed before it.
 */
export function handOff(context: HandOffContext): HandOff {
  const stopped = new StoppedRun(context);
  const reasons = stopped.reasons();
  const endedOnPurpose = stopped.endedOnPurpose();
  const calls = endedOnPurpose ? [] : stopped.calls();
  const nothing = endedOnPurpose ? texts.noCallsAfterStop : texts.noCalls;
  const text = reasons.map((reason) => reason.sentence).join('\n');
  const [first] = reasons;
  return {
    text: context.secrets.text(
      `${text}\n\n${calls.length === 0 ? nothing : texts.toContinue(calls.map(callText))}`,
    ),
    pause: masked(first?.pause ?? stopped.unfinished().pause, context.secrets),
    errors: stopped.errors(),
    calls,
  };
}

class StoppedRun {
  readonly #context: HandOffContext;
  readonly #outlooks: ReadonlyMap<string, Outlook>;
  readonly #calls: OpenCalls;
  readonly #failed: readonly FailedStep[];

  constructor(context: HandOffContext) {
    const { graph, state, history } = context;
    this.#context = context;
    this.#outlooks = new Map(graph.nodes.map(({ id }) => [id, outlookOf(id, state, history.get(id))]));
    this.#calls = new OpenCalls(context, this.#outlooks);
    this.#failed = graph.nodes.flatMap((node) => this.#failedStep(node));
  }

  /** Why the run stopped: one reason per failed step, the one that ended the run first. */
  reasons(): StopReason[] {
    const { state, graph } = this.#context;
    const { run } = state;
    const over = this.#failed.filter((failed) => !this.#wasCancelled(failed));
    const byNode = over.map((failed) => ({
      first: failed.node.id === run.failedNode,
      reason: stepReason(failed, state, this.#calls.resolver, graph),
    }));
    const ordered = [...byNode.filter((entry) => entry.first), ...byNode.filter((entry) => !entry.first)];
    const failed = ordered.map((entry) => entry.reason);
    if (run.status === 'cancelled') return [this.#cancelled(), ...failed];
    return failed.length > 0 ? failed : [this.unfinished()];
  }

  /** The reason of a run that has no failed step. */
  unfinished(): StopReason {
    const { graph, state } = this.#context;
    const { failure } = state.run;
    const sentence =
      failure === undefined
        ? texts.unfinished(graph.name)
        : texts.workflowFailed(graph.name, failure.message);
    const [code, error] =
      failure === undefined ? ['E_UNFINISHED', sentence] : [failure.code, failure.message];
    return { sentence, pause: { type: 'toolError', failedStep: graph.name, error, retryable: false, code } };
  }

  endedOnPurpose(): boolean {
    const { graph, state } = this.#context;
    const { failedNode, failure, status } = state.run;
    const ended = graph.nodes.find((node) => node.id === failedNode);
    return status === 'failed' && ended !== undefined && failure !== undefined && hasFired(ended, failure);
  }

  errors(): TraceError[] {
    const { secrets, state } = this.#context;
    const steps = this.#failed.map((failed) => ({
      about: { step: failed.node.id },
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
      ...(outcomeUnknown === undefined ? {} : { outcomeUnknown }),
      ...tries,
    }));
  }

  calls(): HandOffCall[] {
    return this.#calls.after(this.#failed);
  }

  #failedStep(node: Node): FailedStep[] {
    const { status, failure, attempts = 0 } = this.#outlooks.get(node.id) ?? {};
    if (status !== 'failed') return [];
    const annotations = node.kind === 'call' ? this.#context.annotations(node.tool) : undefined;
    const harmless = annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
    return [
      {
        node,
        failure: failure ?? { code: 'E_UNFINISHED', message: 'no answer came', outcomeUnknown: true },
        attempts,
        retryable: attempts > 0 && (harmless || node.kind === 'resource'),
      },
    ];
  }

  /** Whether a step stands among the failed ones only because the run was cancelled while it was at work. */
  #wasCancelled({ node }: FailedStep): boolean {
    return ownProperty(this.#context.state.nodes, node.id)?.status !== 'failed';
  }

  #cancelled(): StopReason {
    const { graph, state } = this.#context;
    const inFlight = this.#failed.find((failed) => this.#wasCancelled(failed));
    const pending = graph.nodes.find((node) => this.#outlooks.get(node.id)?.status === 'pending');
    const step = inFlight?.node ?? pending;
    const unknown = inFlight?.failure.outcomeUnknown === true && !inFlight.retryable;
    return {
      sentence: `${texts.cancelled(graph.name, step?.id)}${unknown ? texts.outcomeUnknown : ''}`,
      pause: {
        type: 'toolError',
        failedStep: step?.id ?? graph.name,
        error: state.run.failure?.message ?? texts.cancelled(graph.name, step?.id),
        retryable: inFlight?.retryable ?? true,
        ...(step?.kind === 'call' ? { suggestedTool: step.tool } : {}),
        code: state.run.failure?.code ?? 'E_CANCELLED',
      },
    };
  }
}

function triesOf({ node, attempts }: FailedStep): Pick<TraceError, 'attempted' | 'attempts'> {
  if (node.kind !== 'call' && node.kind !== 'resource') return {};
  if (attempts === 0) return { attempted: false };
  return attempts === 1 ? {} : { attempts };
}

function callText(call: HandOffCall): string {
  const line = 'tool' in call ? texts.callTool(call.tool, call.arguments) : texts.readResource(call.uri);
  return call.note === undefined ? line : `${line}${texts.noteLine(call.note)}`;
}

function masked(pause: PauseReason, secrets: Secrets): PauseReason {
  return pause.type === 'toolError' ? { ...pause, error: secrets.text(pause.error) } : pause;
}
