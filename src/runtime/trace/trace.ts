import type { Json } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { jsonText, MASKED } from '../../graph/printable-text.js';
import { planOf } from '../../plan/compile.js';
import type { NodeInstance, ScopeInstance } from '../../plan/instances.js';
import type { PlannedNode } from '../../plan/plan.js';
import { attemptOf } from '../../print/shapes.js';
import type { Fact, RunState } from '../engine/contract.js';
import type { SkipReason } from '../engine/events.js';
import { remainsOf } from '../engine/read.js';
import { remainsForCaller } from '../runs/run/envelope.js';
import type { RunMask } from '../secrets/run-mask.js';
import type { ResourceOutcome } from '../tools/port.js';
import { jsonSize } from '../tools/to-json.js';
import type { ToolDescription } from '../tools/toolset.js';
import { ContainerLog, PartLog } from './container-log.js';
import { handOff, leftBehind } from './hand-off.js';
import { planLines, routersOf, tracedKindOf } from './kinds.js';
import { UndoLog } from './leaf-logs.js';
import { isListed, isSkipAnnounced, Ledger, stepsMeta } from './ledger.js';
import {
  type BlockMeta,
  type HandOff,
  type HandOffCall,
  limited,
  META_RESULT_LIMIT_BYTES,
  maskedBlock,
  type PromptMessage,
  type PromptTrace,
  type TraceMeta,
  textBlock,
} from './messages.js';
import { isPaused, pauseFacts } from './paused-calls.js';
import { cutNote, names, printExpression, resourceFailed, stop } from './sentences.js';
import type { StepFact } from './step-log.js';
import { recallRun } from './stored-ledger.js';
import { isHandedOver, type KeptRun, waitingEnd } from './waiting.js';

export interface TraceOptions extends TracedRun {
  /** See {@link planText}. Default: it is made. */
  readonly plan?: string;
  /** The arguments the caller gave, as text. */
  readonly args: readonly (readonly [name: string, text: string])[];
  /** The workflow's instructions, as reading them turned out, in declaration order. */
  readonly instructions: readonly { readonly uri: string; readonly outcome: ResourceOutcome }[];
}

/** Writes a run as a conversation. It never changes the run. */
export interface TraceObserver {
  /**
   * Takes the run's facts, each once and in order.
   * @param state the run after the fact.
   */
  observe(fact: Fact, state: RunState): void;
  /**
   * Takes up the conversation of a run that was observed elsewhere.
   * @param state the run before the next fact.
   * @param said what was said of it. See `withoutClosing`.
   */
  resume(state: RunState, said: readonly PromptMessage[]): void;
  /**
   * The conversation so far. It is closed by what the run waits for where it is not over, and by a hand-off where it
   * did not succeed, or if side effects or calls with an unknown outcome remain.
   * @param state the run after the last fact.
   * @param run how to reach a run that outlasts this conversation. Without it the run cannot be answered.
   */
  finish(state: RunState, run?: KeptRun): PromptTrace;
}

/**
 * A conversation trace of one run: the instructions as resources, the intent, the plan, then per step its guidance,
 * call, failed attempts and result, in the order in which steps end. Steps inside a step are shown with it, each
 * branch and each item by itself. A call is announced only when it was attempted, and once for all attempts; one that
 * was refused is shown as a whole with the reason. Computed values are not shown; the value of a `return` is given to
 * programs alone, in `_meta.result`: the reader has seen the results it is made of.
 */
export function createTrace(options: TraceOptions): TraceObserver {
  return new ConversationTrace(options);
}

/** The plan of a workflow in its conversations: the same for every run. */
export function planText({ graph, describeTool }: Pick<TraceOptions, 'graph' | 'describeTool'>): string {
  return `Here's my plan:\n${planLines(planOf(graph), (tool) => describeTool(tool)?.description)
    .map(({ number, depth, text }) => `${'   '.repeat(depth)}${number}. ${text}\n`)
    .join('')}`;
}

/** Parts of a conversation that hold what tools, resources and people gave. */
const TOLD_BY_OTHERS: ReadonlySet<string | undefined> = new Set([
  'result',
  'error',
  'retry',
  'fallback',
  'answer',
  'item',
  'state',
  'undo',
]);

class ConversationTrace implements TraceObserver {
  readonly #options: TraceOptions;
  readonly #ledger: Ledger;
  readonly #secrets: RunMask;
  readonly #log: RunLog;
  #resumed:
    | { readonly said: readonly PromptMessage[]; readonly recalled: ReadonlySet<PromptMessage> }
    | undefined;
  readonly #unreached: { readonly node: NodeInstance; readonly reason: SkipReason }[] = [];

  constructor(options: TraceOptions) {
    this.#options = options;
    const { graph, mask, instructions } = options;
    const plan = planOf(graph);
    this.#ledger = new Ledger(plan);
    this.#secrets = mask;
    this.#log = new RunLog(this.#ledger, this.#secrets);
    for (const { uri, outcome } of instructions) this.#instruction(uri, outcome);
    this.#say('user', 'intent', intentText(graph.description, this.#shownArguments()));
    this.#say('assistant', 'plan', options.plan ?? planText(options));
  }

  resume(state: RunState, said: readonly PromptMessage[]): void {
    recallRun(state, (fact) => this.observe(fact, state));
    this.#resumed = { said, recalled: new Set(this.#log.all) };
  }

  observe(fact: Fact, state: RunState): void {
    this.#ledger.observe(fact, state);
    if (fact.kind === 'nodeSkipped') this.#skipped(fact.node, fact.reason);
    else if (fact.kind !== 'finished') this.#log.observe(fact, state);
    else if (fact.status === 'succeeded') {
      for (const { node, reason } of this.#unreached) this.#announceSkip(node, reason);
    }
  }

  finish(state: RunState, run?: KeptRun): PromptTrace {
    const { graph, isPrivate = noneIsPrivate } = this.#options;
    const { description } = graph;
    const { status, result, endedBy } = state.run;
    if (status === 'running') for (const fact of pauseFacts(state)) this.observe(fact, state);
    const steps = stepsMeta(this.#ledger, status === 'running');
    const said = this.#said();
    if (status === 'succeeded') {
      const isReturned = result !== undefined && (endedBy !== undefined || graph.returns !== undefined);
      const returned = isReturned ? resultMeta(this.#secrets.result(result, endedBy)) : {};
      const remains = leftBehind({
        ledger: this.#ledger,
        secrets: this.#secrets,
        remains: remainsForCaller(remainsOf(this.#ledger.plan, state), isPrivate),
      });
      const end = remains.texts.length === 0 ? [] : [remainsBlock(remains.texts)];
      return {
        description,
        messages: [...this.#masked(said), ...end],
        _meta: { status, steps, errors: [], calls: remains.calls, ...remains.meta, ...returned },
      };
    }
    const closed = { ...this.#options, ledger: this.#ledger, state };
    const { text, isWaiting, ...meta } = closingOf(closed, run);
    const last = textBlock('assistant', text, { 'stepwright/part': isWaiting ? 'waiting' : 'hand-off' });
    const messages = [...this.#masked(said), ...meta.calls.flatMap(guidanceMessages), last];
    return { description, messages, _meta: { status, steps, ...meta } };
  }

  #said(): readonly PromptMessage[] {
    const { said, recalled } = this.#resumed ?? {};
    const { all } = this.#log;
    return said === undefined ? all : [...said, ...all.filter((message) => recalled?.has(message) !== true)];
  }

  /** What a tool said may hold a value that was known as a secret only afterwards. The author's own words stay. */
  #masked(messages: readonly PromptMessage[]): readonly PromptMessage[] {
    if (this.#secrets.isEmpty) return messages;
    return messages.map((message) => {
      if (!TOLD_BY_OTHERS.has(message.content._meta?.['stepwright/part'])) return message;
      return maskedBlock(message, (value) => this.#secrets.text(value));
    });
  }

  #shownArguments(): (readonly [string, string])[] {
    const { graph, args } = this.#options;
    const shown: (readonly [string, string])[] = [];
    for (const { name } of graph.inputs) {
      const value = args.find(([each]) => each === name)?.[1];
      if (value === undefined) continue;
      shown.push([name, this.#secrets.hasName(name) ? MASKED : this.#secrets.text(value)]);
    }
    return shown;
  }

  #instruction(uri: string, outcome: ResourceOutcome): void {
    if (outcome.ok) {
      const content = {
        type: 'resource',
        resource: outcome.value,
        _meta: { 'stepwright/part': 'instruction' },
      } as const;
      this.#log.root.say({ role: 'user', content });
    } else {
      this.#say('user', 'error', resourceFailed(uri, outcome.failure.message), {
        'stepwright/code': outcome.failure.code,
      });
    }
  }

  #skipped(key: string, reason: SkipReason): void {
    const node = this.#ledger.find(key);
    // A check that passed is not a step left out, and computed values are not steps of the plan.
    if (node === undefined || !isListed(node.planned.node)) return;
    // A run that failed has more to tell than its end.
    if (node.scope.container === undefined && reason === 'run_ended') this.#unreached.push({ node, reason });
    else if (isSkipAnnounced(node, reason)) this.#announceSkip(node, reason);
  }

  #announceSkip({ key, planned, scope }: NodeInstance, reason: SkipReason): void {
    const text = this.#skipText(planned, scope, reason);
    const meta = { 'stepwright/part': 'skip', 'stepwright/step': key } as const;
    this.#log.partOf(scope)?.say(textBlock('assistant', text, meta));
  }

  #skipText(planned: PlannedNode, scope: ScopeInstance, reason: SkipReason): string {
    const { id, when } = planned.node;
    const attempt = scope.container && attemptOf(scope.container.planned.node);
    if (attempt?.otherwise.includes(planned.node)) {
      const risky = scope.plan.nodes.find(({ node }) => node === attempt.risky);
      const record = risky && this.#ledger.record(this.#ledger.instances.node(scope, risky));
      if (record?.status === 'succeeded') return notNeeded(id, [attempt.risky.id]);
    }
    const { chosen, failed } = routersOf(planned);
    if (reason === 'not_selected' && chosen.length === 0 && failed.length > 0) {
      return notNeeded(id, failed);
    }
    const condition = reason === 'condition_false' && when !== undefined ? printExpression(when) : undefined;
    const why = condition === undefined ? SKIP_REASONS[reason] : `\`${condition}\` does not hold`;
    return `Skipping step '${id}': ${why}.`;
  }

  #say(
    role: PromptMessage['role'],
    part: BlockMeta['stepwright/part'],
    text: string,
    meta: Omit<BlockMeta, 'stepwright/part'> = {},
  ): void {
    this.#log.root.say(textBlock(role, text, { 'stepwright/part': part, ...meta }));
  }
}

/** What the caller wants, and with which arguments. */
export function intentText(
  description: string,
  args: readonly (readonly [name: string, value: string])[],
): string {
  const { text, size } = limited(args.map(([name, value]) => `\n  - ${name}: ${jsonText(value)}`).join(''));
  const cut = cutNote('text of the parameters', size);
  return `I want to ${stop(description)}${text === '' ? '' : `\nParameters:${text}${cut}`}`;
}

function remainsBlock(texts: readonly string[]): PromptMessage {
  const head = 'The workflow is done, but side effects or calls with an unknown outcome remain.';
  return textBlock('assistant', [head, ...texts].join('\n\n'), { 'stepwright/part': 'hand-off' });
}

function notNeeded(step: string, failed: readonly string[]): string {
  return `Skipping step '${step}': ${names(failed)} did not fail.`;
}

const SKIP_REASONS: Readonly<Record<SkipReason, string>> = {
  condition_false: 'its condition is false',
  not_selected: 'no branch selected it',
  upstream_skipped: 'the steps it depends on were skipped',
  upstream_failed: 'a step it depends on failed',
  nothing_to_undo: 'there is nothing to undo',
  run_ended: 'the workflow had ended before it',
};

/** A result in `_meta`; its size, where it is too long. */
export function resultMeta(result: Json): Pick<TraceMeta, 'result' | 'result_size'> {
  const size = jsonSize(result, META_RESULT_LIMIT_BYTES);
  return size > META_RESULT_LIMIT_BYTES ? { result_size: size } : { result };
}

/** The messages of a run: each step at its place, with the steps inside it. */
class RunLog {
  readonly root = new PartLog();
  readonly #ledger: Ledger;
  readonly #secrets: RunMask;
  /** A cancelled run is being undone. */
  #undo: UndoLog | undefined;

  constructor(ledger: Ledger, secrets: RunMask) {
    this.#ledger = ledger;
    this.#secrets = secrets;
  }

  get all(): readonly PromptMessage[] {
    return this.root.all;
  }

  /** Takes the facts of steps, each once and in order. The ledger has taken them before. */
  observe(fact: StepFact, state: RunState): void {
    // A step that waits to be made is shown once it has failed.
    if (fact.kind === 'waiting' && fact.action?.type === 'step') return;
    if (this.#undoes(fact)) return;
    const node = fact.node === undefined ? undefined : this.#ledger.find(fact.node);
    if (node === undefined) return;
    const { id } = node.planned.node;
    const { log: Log } = tracedKindOf(node.planned.node);
    const part = this.partOf(node.scope);
    part?.step(id, () => new Log(node, this.#secrets)).observe(fact, state);
    switch (fact.kind) {
      case 'nodeSucceeded':
      case 'nodeFailed':
      case 'nodeCancelled':
      case 'jumped':
        part?.close(id, rolledBackBy(node));
        return;
      case 'handled':
        // With a fallback value, the node's success follows.
        if (fact.fallbackNode !== undefined) part?.close(id);
        return;
      default:
    }
  }

  /** The log of the steps of a scope; `undefined` if the scope has not begun. */
  partOf(scope: ScopeInstance): PartLog | undefined {
    const { container } = scope;
    if (container === undefined) return this.root;
    const step = this.partOf(container.scope)?.open(container.planned.node.id);
    return step instanceof ContainerLog ? step.part(scope) : undefined;
  }

  /** Whether a fact is about the undoing of the run as a whole, which is shown at the end. */
  #undoes(fact: Fact): boolean {
    if (fact.kind === 'compensating' && fact.node === undefined) {
      this.#undo = new UndoLog(this.#secrets, (role, part, text, meta = {}) =>
        this.root.say(textBlock(role, text, { 'stepwright/part': part, ...meta })),
      );
    }
    const isOfRun = fact.kind !== 'finished' && fact.node === undefined;
    if (this.#undo === undefined || !(isOfRun || this.#ledger.isCompensation(fact))) return false;
    this.#undo.observe(fact as StepFact);
    return true;
  }
}

/** The `parallel` that a node undoes for: it ends after that. */
function rolledBackBy({ planned }: NodeInstance): string | undefined {
  const { id } = planned.node;
  return planned.routers.find(({ node }) => node.kind === 'parallel' && node.compensateNode === id)?.node.id;
}

/** The guidance of a call that the reader of a hand-off makes, before the list of the calls. */
function guidanceMessages({ step, guidance }: HandOffCall): readonly PromptMessage[] {
  if (guidance === undefined) return [];
  const meta = { 'stepwright/part': 'guidance', 'stepwright/step': step } as const;
  return [textBlock('assistant', `Guidance of step '${step}':\n\n${guidance}`, meta)];
}

/** What is known of a run that a trace shows, and of its tools. */
export interface TracedRun {
  readonly graph: Graph;
  /** Description and safety of a tool, as the registry has them. */
  readonly describeTool: (name: string) => ToolDescription | undefined;
  /** Whether only steps of workflows may call a tool. Default: no tool is private. */
  readonly isPrivate?: (tool: string) => boolean;
  /** The name of the workflow's own tool, if it has one. */
  readonly workflowTool?: string | undefined;
  /** Masks what must not be shown of the run. The host gives it every fact before the trace. */
  readonly mask: RunMask;
}

const noneIsPrivate = (): boolean => false;

interface ClosedRun extends TracedRun {
  readonly ledger: Ledger;
  /** After the last fact of the ledger. */
  readonly state: RunState;
}

/**
 * What closes the trace of a run that did not succeed: its hand-off where it is over or paused, else what it waits for.
 * @param kept how to reach a run that outlasts the trace. Without it the run cannot be answered.
 */
export function closingOf(run: ClosedRun, kept?: KeptRun): HandOff & { readonly isWaiting: boolean } {
  const { graph, state, ledger, mask, describeTool, isPrivate = noneIsPrivate, workflowTool } = run;
  const context = {
    ...{ graph, state, ledger, secrets: mask, isPrivate, workflowTool },
    remains: remainsForCaller(remainsOf(ledger.plan, state), isPrivate),
    safety: (tool: string) => describeTool(tool)?.safety ?? 'none',
  };
  const paused = isPaused(state) ? kept : undefined;
  const isKept = kept !== undefined && paused === undefined;
  const isWaiting =
    state.run.status === 'running' && (isKept || (paused === undefined && !isHandedOver(state)));
  return { ...(isWaiting ? waitingEnd(context, kept) : handOff(context, paused)), isWaiting };
}
