import type { Expr } from '../../../graph/expression/tree.js';
import type { Json, JsonObject } from '../../../graph/json.js';
import type { Graph, Node } from '../../../graph/model.js';
import type { ToolDescription } from '../../catalogue/catalogue.js';
import { jsonSize } from '../../catalogue/json-size.js';
import type { ResourceOutcome } from '../../catalogue/port.js';
import type { Fact, RunState, SkipReason } from '../../engine/contract.js';
import { textBlock } from './block.js';
import { handOff } from './hand-off.js';
import {
  type BlockMeta,
  META_RESULT_LIMIT_BYTES,
  type PromptMessage,
  type PromptTrace,
  type TraceMeta,
} from './messages.js';
import { listed, outlookOf, type StepHistory } from './outlook.js';
import { Secrets } from './secrets.js';
import { StepMessages } from './step-messages.js';
import { texts } from './texts.js';

export interface TraceOptions {
  readonly graph: Graph;
  /** Description and annotations of a tool, as the catalogue has them. */
  readonly describeTool: (name: string) => ToolDescription | undefined;
  /** The arguments the caller gave, as text. */
  readonly given: readonly (readonly [name: string, text: string])[];
  /** The input of the run: those arguments as values, with defaults. */
  readonly input: JsonObject;
  /** The workflow's instructions, as reading them turned out, in declaration order. */
  readonly instructions: readonly { readonly uri: string; readonly outcome: ResourceOutcome }[];
}

/** Writes down a run as a conversation. It only listens. */
export interface TraceObserver {
  /**
   * Takes the run's facts, each once and in order.
   * @param state the run as it stands after the fact.
   */
  observe(fact: Fact, state: RunState): void;
  /**
   * The conversation so far, closed by a hand-off unless the run succeeded.
   * @param state the run as it stands after the last fact.
   */
  finish(state: RunState): PromptTrace;
}

/**
 * A conversation trace of one run: the instructions as resources, the intent, the plan, then per step its guidance,
 * call, failed attempts and result, in the order in which steps end. A call is announced only when it was attempted,
 * and once for all attempts; one that was refused is told as a whole with the reason. Computed values are not told; the value of a `return` is told to programs alone, in
 * `_meta.result`: the reader has seen the results it is made of.
 */
export function createTrace(options: TraceOptions): TraceObserver {
  return new ConversationTrace(options);
}

/** Parts of a conversation that hold what tools and resources gave. */
const TOLD_BY_TOOLS: ReadonlySet<string | undefined> = new Set(['result', 'error', 'retry', 'fallback']);

class ConversationTrace implements TraceObserver {
  readonly #options: TraceOptions;
  readonly #nodes: ReadonlyMap<string, Node>;
  readonly #secrets: Secrets;
  readonly #messages: PromptMessage[] = [];
  /** Steps that have started and are not over. */
  readonly #open = new Map<string, StepMessages>();
  readonly #history = new Map<string, StepHistory>();
  readonly #unreached: { readonly node: string; readonly reason: SkipReason }[] = [];

  constructor(options: TraceOptions) {
    this.#options = options;
    const { graph, given, input, instructions } = options;
    this.#nodes = new Map(graph.nodes.map((node) => [node.id, node]));
    this.#secrets = new Secrets(graph, given, (tool) => options.describeTool(tool)?.secret ?? [], input);
    for (const { uri, outcome } of instructions) this.#instruction(uri, outcome);
    this.#say('user', 'intent', texts.intent(graph.description, this.#shownArguments()));
    this.#say('assistant', 'plan', texts.plan(listed(graph).map((node) => this.#planLine(node))));
  }

  observe(fact: Fact, state: RunState): void {
    this.#secrets.observe(fact, state);
    switch (fact.kind) {
      case 'nodeStarted':
      case 'handled':
        this.#step(fact.node)?.observe(fact);
        return;
      case 'retrying':
        this.#remember(fact.node, { failure: fact.failure });
        this.#step(fact.node)?.observe(fact);
        return;
      case 'callIssued':
      case 'resourceRequested':
        if (fact.kind === 'callIssued') this.#secrets.learn(fact.tool, fact.input);
        this.#remember(fact.node, { issued: true });
        this.#step(fact.node)?.observe(fact);
        return;
      case 'callReturned': {
        const { node, attempted, outcome } = fact;
        const attempts = (this.#history.get(node)?.attempts ?? 0) + (attempted ? 1 : 0);
        this.#remember(node, { attempts, ...(outcome.ok ? {} : { failure: outcome.failure }) });
        this.#step(node)?.observe(fact);
        return;
      }
      case 'nodeSucceeded':
      case 'nodeFailed':
      case 'nodeCancelled':
        this.#step(fact.node)?.observe(fact);
        this.#close(fact.node);
        return;
      case 'nodeSkipped':
        this.#skipped(fact.node, fact.reason);
        return;
      case 'finished':
        if (fact.status === 'succeeded')
          for (const { node, reason } of this.#unreached) this.#announceSkip(node, reason);
        return;
      default:
        fact satisfies never;
    }
  }

  finish(state: RunState): PromptTrace {
    const { graph, describeTool } = this.#options;
    const planned = new Set(listed(graph));
    const steps = graph.nodes.flatMap((node) => {
      const { id: name } = node;
      const { status } = outlookOf(name, state, this.#history.get(name));
      return planned.has(node) || status === 'failed' ? [{ name, status }] : [];
    });
    const { description } = graph;
    const { status, result, endedBy } = state.run;
    if (status === 'succeeded') {
      const isReturned = result !== undefined && (endedBy !== undefined || graph.returns !== undefined);
      const returned = isReturned ? resultMeta(this.#secrets.json(result, this.#returns(endedBy))) : {};
      return {
        description,
        messages: this.#masked(this.#messages),
        _meta: { status, steps, errors: [], calls: [], ...returned },
      };
    }
    const { text, pause, errors, calls } = handOff({
      graph,
      state,
      annotations: (tool) => describeTool(tool)?.annotations,
      history: this.#history,
      secrets: this.#secrets,
    });
    const unfinished = [...this.#open.values()].flatMap((step) => (step.hasActed ? step.all : []));
    const last = textBlock('assistant', text, { 'stepwright/part': 'hand-off' });
    return {
      description,
      messages: this.#masked([...this.#messages, ...unfinished, last]),
      _meta: { status, steps, errors, calls, pause_reason: pause },
    };
  }

  /** What a tool said may hold a value that was known as a secret only afterwards. The author's own words stay. */
  #masked(messages: readonly PromptMessage[]): PromptMessage[] {
    return messages.map((message) => {
      const { content } = message;
      if (content.type !== 'text' || !TOLD_BY_TOOLS.has(content._meta?.['stepwright/part'])) return message;
      return { ...message, content: { ...content, text: this.#secrets.text(content.text) } };
    });
  }

  /** What the result of the run is made of. */
  #returns(endedBy: string | undefined): Expr | undefined {
    if (endedBy === undefined) return this.#options.graph.returns;
    const node = this.#nodes.get(endedBy);
    return node?.kind === 'return' ? node.value : undefined;
  }

  #shownArguments(): (readonly [string, string])[] {
    const { graph, given } = this.#options;
    const values = new Map(given);
    return graph.inputs.flatMap(({ name, secret }) => {
      const value = values.get(name);
      if (value === undefined) return [];
      return [[name, secret === true ? texts.masked : this.#secrets.text(value)] as const];
    });
  }

  #planLine(node: Node): string {
    switch (node.kind) {
      case 'call':
        return texts.planTool(node.tool, this.#options.describeTool(node.tool)?.description);
      case 'resource':
        return texts.planResource(node.id);
      default:
        return texts.planOther(node.id, node.title);
    }
  }

  #instruction(uri: string, outcome: ResourceOutcome): void {
    if (outcome.ok) {
      const content = {
        type: 'resource',
        resource: outcome.value,
        _meta: { 'stepwright/part': 'instruction' },
      } as const;
      this.#messages.push({ role: 'user', content });
    } else {
      this.#say('user', 'error', texts.resourceFailed(uri, outcome.failure.message), {
        'stepwright/code': outcome.failure.code,
      });
    }
  }

  #step(node: string): StepMessages | undefined {
    const known = this.#open.get(node);
    const planned = this.#nodes.get(node);
    if (known !== undefined || planned === undefined) return known;
    const step = new StepMessages(planned, this.#secrets);
    this.#open.set(node, step);
    return step;
  }

  #close(node: string): void {
    this.#messages.push(...(this.#open.get(node)?.all ?? []));
    this.#open.delete(node);
  }

  #skipped(node: string, reason: SkipReason): void {
    const kind = this.#nodes.get(node)?.kind;
    // A check that passed is not a step left out, and computed values are not steps of the plan.
    if (kind === 'error' || kind === 'return' || kind === 'compute') return;
    switch (reason) {
      case 'condition_false':
      case 'not_selected':
      case 'upstream_skipped':
      case 'nothing_to_undo':
        this.#announceSkip(node, reason);
        return;
      case 'run_ended':
        this.#unreached.push({ node, reason });
        return;
      case 'upstream_failed':
        // The hand-off tells what the failure left undone.
        return;
      default:
        reason satisfies never;
    }
  }

  #announceSkip(node: string, reason: SkipReason): void {
    this.#say('assistant', 'skip', texts.skipped(node, reason), { 'stepwright/step': node });
  }

  #remember(node: string, news: Partial<StepHistory>): void {
    this.#history.set(node, { issued: false, attempts: 0, ...this.#history.get(node), ...news });
  }

  #say(
    role: PromptMessage['role'],
    part: BlockMeta['stepwright/part'],
    text: string,
    meta: Omit<BlockMeta, 'stepwright/part'> = {},
  ): void {
    this.#messages.push(textBlock(role, text, { 'stepwright/part': part, ...meta }));
  }
}

/** What `_meta` tells of the run's result. */
function resultMeta(result: Json): Pick<TraceMeta, 'result' | 'result_size'> {
  const size = jsonSize(result, META_RESULT_LIMIT_BYTES);
  return size > META_RESULT_LIMIT_BYTES ? { result_size: size } : { result };
}
