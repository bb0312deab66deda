import type { ToolAnnotations } from '../../../decorators/tool.js';
import { inlineText } from '../../../graph/expression/inline.js';
import { references } from '../../../graph/expression/references.js';
import type { Expr } from '../../../graph/expression/tree.js';
import { isJsonObject, type JsonObject, ownProperty, type Value } from '../../../graph/json.js';
import type { CallNode, ComputeNode, ErrorNode, Graph, Node } from '../../../graph/model.js';
import type { RunState } from '../../engine/contract.js';
import { jsonText, RESULT_LIMIT } from './json-text.js';
import type { HandOffCall, PauseReason, TraceError } from './messages.js';
import { type Outlook, outlookOf, type PlannedStep, type StepHistory } from './outlook.js';
import { type Derived, Resolver, type Supply } from './resolve.js';
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
  /** Computed values that the run did not get to, as far as what they are made of exists or is promised. */
  readonly #derived = new Map<string, Derived>();
  readonly #resolver: Resolver;
  readonly #failed: readonly FailedStep[];

  constructor(context: HandOffContext) {
    const { graph, state, history, secrets } = context;
    this.#context = context;
    this.#outlooks = new Map(graph.nodes.map(({ id }) => [id, outlookOf(id, state, history.get(id))]));
    const required = new Set(graph.inputs.filter((input) => input.required).map((input) => input.name));
    this.#resolver = new Resolver(
      state,
      this.#derived,
      (step) => this.#supplyOf(step),
      (name) => secrets.hasName(name) || (required.has(name) && !Object.hasOwn(state.input, name)),
    );
    this.#failed = graph.nodes.flatMap((node) => this.#failedStep(node));
  }

  /** Why the run stopped: one reason per failed step, the one that ended the run first. */
  reasons(): StopReason[] {
    const { state, graph } = this.#context;
    const { run } = state;
    const over = this.#failed.filter((failed) => !this.#wasCancelled(failed));
    const byNode = over.map((failed) => ({
      first: failed.node.id === run.failedNode,
      reason: stepReason(failed, state, this.#resolver, graph),
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
    const again = this.#failed.flatMap((failed) => this.#again(failed));
    const guards: ErrorNode[] = [];
    const calls: HandOffCall[] = [];
    for (const { node, note } of again) this.#add(calls, node, note, guards);
    for (const node of this.#context.graph.nodes) {
      if (this.#outlooks.get(node.id)?.status !== 'pending') continue;
      if (node.kind === 'error') guards.push(node);
      else if (node.kind === 'compute') this.#derive(node);
      else if (node.kind === 'call' || node.kind === 'resource') this.#add(calls, node, undefined, guards);
    }
    return calls;
  }

  #supplyOf(step: string): Supply {
    if (this.#promised.has(step)) return 'promised';
    const derived = this.#derived.get(step);
    if (derived !== undefined) return derived.symbolic ? 'promised' : 'known';
    const status = this.#outlooks.get(step)?.status;
    return status === 'completed' || status === 'skipped' ? 'known' : 'never';
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

  /** A failed step as a call to make once more, if it is one. */
  #again({ node, failure, attempts, retryable }: FailedStep): { node: PlannedStep; note?: string }[] {
    if (node.kind !== 'call' && node.kind !== 'resource') return [];
    if (retryable || (attempts === 0 && NOT_BEGUN.has(failure.code))) return [{ node }];
    const refused = attempts === 0 && failure.code === 'E_INPUT_INVALID';
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
      const shown = this.#shown(resolved.value, node);
      calls.push({ step: node.id, tool: node.tool, arguments: shown, ...remark });
    }
    this.#promised.add(node.id);
  }

  /** Works a computed value out, for the calls that need it. What a function would make of it stays a placeholder. */
  #derive(node: ComputeNode): void {
    if (node.when !== undefined) {
      const condition = this.#resolver.resolve(node.when);
      // Left out it reads as absent; whether it is left out may hang on a call to come.
      if (!condition.ok || condition.symbolic) return;
      if (condition.value !== true) {
        this.#derived.set(node.id, { value: undefined, symbolic: false, sources: [] });
        return;
      }
    }
    const resolved = this.#resolver.resolve(node.value);
    if (!resolved.ok) return;
    const sources = this.#resolver.sourcesOf(node.value);
    if (node.function === undefined) this.#derived.set(node.id, { ...resolved, sources });
    else this.#derived.set(node.id, { value: texts.computed(sources), symbolic: true, sources });
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
    const parts = guidance.kind === 'text' ? guidance.parts : [guidance];
    const shown = parts.map((part) => {
      if (typeof part === 'string') return part;
      const resolved = this.#resolver.resolve(
        guidance.kind === 'text' ? { ...guidance, parts: [part] } : part,
      );
      if (!resolved.ok || typeof resolved.value !== 'string') return undefined;
      return part.kind === 'literal' ? resolved.value : inlineText(resolved.value);
    });
    return shown.includes(undefined) ? [] : [texts.guidanceNote(shown.join(''))];
  }

  #promisedIn(expr: Expr): string[] {
    return this.#resolver.sourcesOf(expr).filter((source) => this.#promised.has(source));
  }

  /** Arguments as a hand-off shows them; one that is too long to repeat is named by where it comes from. */
  #shown(value: Value, node: CallNode): JsonObject {
    // References to secrets are placeholders already; what is left are copies of their values.
    const shown = this.#context.secrets.pending(node, isJsonObject(value) ? value : {});
    const { input } = node;
    return Object.fromEntries(
      Object.entries(shown).map(([key, member]) => {
        if (jsonText(member).length <= RESULT_LIMIT) return [key, member];
        const entry = input.entries.find((candidate) => 'key' in candidate && candidate.key === key);
        const source = entry !== undefined && 'key' in entry ? references(entry.value) : [];
        return [key, texts.computed(source.map(({ ref }) => ref.path.join('.')))];
      }),
    );
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
