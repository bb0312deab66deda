import type { ToolAnnotations } from '../../../decorators/tool.js';
import { references } from '../../../graph/expression/references.js';
import type { Expr } from '../../../graph/expression/tree.js';
import { isJsonObject, type JsonObject, type Value } from '../../../graph/json.js';
import type { ErrorNode, Graph, Node } from '../../../graph/model.js';
import type { RunState } from '../../engine/contract.js';
import { jsonText, RESULT_LIMIT } from './json-text.js';
import type { HandOffCall, PauseReason, TraceError } from './messages.js';
import { type Outlook, outlookOf, type PlannedStep, type StepHistory } from './outlook.js';
import { Resolver, type Supply } from './resolve.js';
import type { Secrets } from './secrets.js';
import { type FailedStep, type StopReason, stepReason } from './stop-reason.js';
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

/** Failures of a call that never began for want of time: nothing has happened, so that it can be made as planned. */
const NOT_BEGUN = new Set(['E_DEADLINE', 'E_CANCELLED']);

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
  readonly #promised = new Set<string>();
  readonly #resolver: Resolver;
  readonly #failed: readonly FailedStep[];

  constructor(context: HandOffContext) {
    const { graph, state, history, secrets } = context;
    this.#context = context;
    this.#outlooks = new Map(graph.nodes.map(({ id }) => [id, outlookOf(id, state, history.get(id))]));
    const required = new Set(graph.inputs.filter((input) => input.required).map((input) => input.name));
    this.#resolver = new Resolver(
      state,
      (step) => this.#supplyOf(step),
      (name) => secrets.hasName(name) || (required.has(name) && !Object.hasOwn(state.run.input, name)),
    );
    this.#failed = graph.nodes.flatMap((node) => this.#failedStep(node));
  }

  /** Why the run stopped: one reason per failed step, the one that ended the run first. */
  reasons(): StopReason[] {
    const { state, graph } = this.#context;
    const { run } = state;
    if (run.status === 'cancelled') return [this.#cancelled()];
    const byNode = this.#failed.map((failed) => ({
      first: failed.node.id === run.failedNode,
      reason: stepReason(failed, state, this.#resolver, graph),
    }));
    const ordered = [...byNode.filter((entry) => entry.first), ...byNode.filter((entry) => !entry.first)];
    if (ordered.length > 0) return ordered.map((entry) => entry.reason);
    return [this.unfinished()];
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
    const { failedNode, status } = state.run;
    return status === 'failed' && graph.nodes.some((node) => node.id === failedNode && node.kind === 'error');
  }

  errors(): TraceError[] {
    const { secrets, state } = this.#context;
    const steps = this.#failed.map(({ node, failure }) => ({ step: node.id, failure }));
    const all =
      steps.length === 0 && state.run.failure !== undefined ? [{ failure: state.run.failure }] : steps;
    return all.map(({ failure: { code, message, outcomeUnknown }, ...where }) => ({
      ...where,
      code,
      message: secrets.text(message),
      ...(outcomeUnknown === undefined ? {} : { outcomeUnknown }),
    }));
  }

  calls(): HandOffCall[] {
    const again = this.#failed.flatMap((failed) => this.#again(failed));
    const guards: ErrorNode[] = [];
    const calls: HandOffCall[] = [];
    for (const { node, note } of again) this.#add(calls, node, note, guards);
    for (const node of this.#context.graph.nodes) {
      if (this.#outlooks.get(node.id)?.status !== 'pending') continue;
      if (node.kind === 'error') guards.push(node);
      else if (node.kind === 'call' || node.kind === 'resource') this.#add(calls, node, undefined, guards);
    }
    return calls;
  }

  #supplyOf(step: string): Supply {
    if (this.#promised.has(step)) return 'promised';
    const status = this.#outlooks.get(step)?.status;
    return status === 'completed' || status === 'skipped' ? 'known' : 'never';
  }

  #failedStep(node: Node): FailedStep[] {
    const { status, failure, attempted } = this.#outlooks.get(node.id) ?? {};
    if (status !== 'failed') return [];
    const annotations = node.kind === 'call' ? this.#context.annotations(node.tool) : undefined;
    const harmless = annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
    return [
      {
        node,
        failure: failure ?? { code: 'E_UNFINISHED', message: 'no answer came', outcomeUnknown: true },
        attempted: attempted === true,
        retryable: attempted === true && (harmless || node.kind === 'resource'),
      },
    ];
  }

  /** A failed step as a call to make once more, if it is one. */
  #again({ node, failure, attempted, retryable }: FailedStep): { node: PlannedStep; note?: string }[] {
    if (node.kind !== 'call' && node.kind !== 'resource') return [];
    if (retryable || (!attempted && NOT_BEGUN.has(failure.code))) return [{ node }];
    const refused = !attempted && failure.code === 'E_INPUT_INVALID';
    return refused ? [{ node, note: texts.correctFirst(failure.message) }] : [];
  }

  /** Adds a call, if all it needs exists or is promised by those before it. */
  #add(
    calls: HandOffCall[],
    node: PlannedStep,
    note: string | undefined,
    guards: readonly ErrorNode[],
  ): void {
    const condition = node.when === undefined ? [] : this.#condition(node.when);
    if (condition === 'excluded') return;
    const resolved = this.#resolver.resolve(node.kind === 'call' ? node.input : node.uri);
    if (!resolved.ok) return;
    const { secrets } = this.#context;
    const notes = [
      ...(note === undefined ? [] : [note]),
      ...condition,
      ...this.#afterNote(node),
      ...guards.flatMap((guard) => this.#guardNote(guard)),
      ...this.#guidance(node.guidance),
    ];
    const remark = notes.length === 0 ? {} : { note: secrets.text(notes.join(' ')) };
    if (node.kind === 'resource') {
      const uri = secrets.text(String(resolved.value));
      calls.push({ step: node.id, resource: node.resource, uri, ...remark });
    } else {
      const shown = this.#shown(resolved.value, node.input);
      calls.push({ step: node.id, tool: node.tool, arguments: shown, ...remark });
    }
    this.#promised.add(node.id);
  }

  /** What to say about a condition: nothing when it holds, a note when only a call to come decides it. */
  #condition(when: Expr): readonly string[] | 'excluded' {
    const resolved = this.#resolver.resolve(when);
    if (!resolved.ok) return 'excluded';
    if (!resolved.symbolic) return resolved.value === true ? [] : 'excluded';
    return [texts.conditional(this.#promisedIn(when))];
  }

  /** A call the workflow would make only after one that failed and is not listed: its data is there, its turn is not. */
  #afterNote(node: PlannedStep): string[] {
    const blockers = this.#blockers(node, new Set());
    return blockers.length === 0 ? [] : [texts.afterFailed(blockers)];
  }

  #blockers(node: Node, seen: Set<string>): string[] {
    if (node.join === 'all_done') return [];
    return node.after.flatMap((id) => {
      const before = this.#context.graph.nodes.find((other) => other.id === id);
      if (before === undefined || this.#promised.has(id) || seen.has(id)) return [];
      seen.add(id);
      const status = this.#outlooks.get(id)?.status;
      if (status === 'failed') return [id];
      return status === 'pending' ? this.#blockers(before, seen) : [];
    });
  }

  #guardNote(guard: ErrorNode): string[] {
    const promised = guard.when === undefined ? [] : this.#promisedIn(guard.when);
    if (promised.length === 0) return [];
    const message = this.#resolver.resolve(guard.message);
    return [
      texts.guarded(guard.id, message.ok && typeof message.value === 'string' ? message.value : undefined),
    ];
  }

  #guidance(guidance: Expr | undefined): string[] {
    if (guidance === undefined) return [];
    const resolved = this.#resolver.resolve(guidance);
    return resolved.ok && typeof resolved.value === 'string' ? [texts.guidanceNote(resolved.value)] : [];
  }

  #promisedIn(expr: Expr): string[] {
    const steps = references(expr).flatMap(({ ref }) => (ref.root === 'steps' ? [String(ref.path[0])] : []));
    return [...new Set(steps.filter((step) => this.#promised.has(step)))];
  }

  /** Arguments as a hand-off shows them; one that is too long to repeat is named by where it comes from. */
  #shown(value: Value, input: Expr): JsonObject {
    // References to secrets are placeholders already; what is left are copies of their values.
    const shown = this.#context.secrets.json(isJsonObject(value) ? value : {});
    if (!isJsonObject(shown) || input.kind !== 'dict') return {};
    return Object.fromEntries(
      Object.entries(shown).map(([key, member]) => {
        if (jsonText(member).length <= RESULT_LIMIT) return [key, member];
        const entry = input.entries.find((candidate) => 'key' in candidate && candidate.key === key);
        const source = entry !== undefined && 'key' in entry ? references(entry.value) : [];
        return [key, texts.computed(source.map(({ ref }) => ref.path.join('.')))];
      }),
    );
  }

  #cancelled(): StopReason {
    const { graph, state } = this.#context;
    const inFlight = this.#failed[0];
    const pending = graph.nodes.find((node) => this.#outlooks.get(node.id)?.status === 'pending');
    const step = inFlight?.node ?? pending;
    const unknown = inFlight?.attempted && !inFlight.retryable;
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

function callText(call: HandOffCall): string {
  const line = 'tool' in call ? texts.callTool(call.tool, call.arguments) : texts.readResource(call.uri);
  return call.note === undefined ? line : `${line}${texts.noteLine(call.note)}`;
}

function masked(pause: PauseReason, secrets: Secrets): PauseReason {
  return pause.type === 'toolError' ? { ...pause, error: secrets.text(pause.error) } : pause;
}
