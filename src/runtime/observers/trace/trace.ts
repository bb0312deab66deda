import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import type { Graph, Node } from '../../../graph/model.js';
import type { ToolDescription } from '../../catalogue/catalogue.js';
import type { ResourceOutcome } from '../../catalogue/port.js';
import type { Fact, Failure, RunState, SkipReason } from '../../engine/contract.js';
import { handOff } from './hand-off.js';
import { jsonText, limited } from './json-text.js';
import type { BlockMeta, PromptMessage, PromptTrace } from './messages.js';
import { listed, outlookOf, type StepHistory } from './outlook.js';
import { Secrets } from './secrets.js';
import { texts } from './texts.js';

export interface TraceOptions {
  readonly graph: Graph;
  /** Description and annotations of a tool, as the catalogue has them. */
  readonly describeTool: (name: string) => ToolDescription | undefined;
  /** The arguments the caller gave, as text. */
  readonly given: readonly (readonly [name: string, text: string])[];
  /** The workflow's instructions, as reading them turned out, in declaration order. */
  readonly instructions: readonly { readonly uri: string; readonly outcome: ResourceOutcome }[];
}

/** Writes down a run as a conversation. It only listens. */
export interface TraceObserver {
  /** Takes the run's facts, each once and in order. */
  observe(fact: Fact): void;
  /**
   * The conversation so far, closed by a hand-off unless the run succeeded.
   * @param state the run as it stands after the last fact.
   */
  finish(state: RunState): PromptTrace;
}

/**
 * A conversation trace of one run: the instructions as resources, the intent, the plan, then per step its guidance,
 * call and result, in the order in which calls end. A call is announced only when it was attempted. A value of a
 * `return` is told to programs alone, in `_meta.result`: the reader has seen the results it is made of.
 */
export function createTrace(options: TraceOptions): TraceObserver {
  return new ConversationTrace(options);
}

type PendingCall = Extract<Fact, { kind: 'callIssued' | 'resourceRequested' }>;

class ConversationTrace implements TraceObserver {
  readonly #options: TraceOptions;
  readonly #nodes: ReadonlyMap<string, Node>;
  readonly #secrets: Secrets;
  readonly #messages: PromptMessage[] = [];
  /** What a step has to say before its call, kept until the call is over, so that parallel steps stay apart. */
  readonly #guidance = new Map<string, PromptMessage>();
  readonly #calls = new Map<string, PendingCall>();
  readonly #history = new Map<string, StepHistory>();
  readonly #unreached: { readonly node: string; readonly reason: SkipReason }[] = [];

  constructor(options: TraceOptions) {
    this.#options = options;
    const { graph, given, instructions } = options;
    this.#nodes = new Map(graph.nodes.map((node) => [node.id, node]));
    this.#secrets = new Secrets(graph, given);
    for (const { uri, outcome } of instructions) this.#instruction(uri, outcome);
    this.#say('user', 'intent', texts.intent(graph.description, this.#shownArguments()));
    this.#say('assistant', 'plan', texts.plan(listed(graph).map((node) => this.#planLine(node))));
  }

  observe(fact: Fact): void {
    switch (fact.kind) {
      case 'nodeStarted':
        this.#started(fact);
        return;
      case 'callIssued':
      case 'resourceRequested':
        this.#calls.set(fact.command, fact);
        this.#remember(fact.node, { issued: true });
        return;
      case 'callReturned':
        this.#returned(fact);
        return;
      case 'nodeSkipped':
        this.#skipped(fact.node, fact.reason);
        return;
      case 'nodeSucceeded':
      case 'nodeFailed':
      case 'nodeCancelled':
        this.#flushGuidance(fact.node);
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
    const steps = listed(graph).map(({ id }) => ({
      name: id,
      status: outlookOf(id, state, this.#history.get(id)).status,
    }));
    const { description } = graph;
    const { status, result, endedBy } = state.run;
    if (status === 'succeeded') {
      const isReturned = result !== undefined && (endedBy !== undefined || graph.returns !== undefined);
      const returned = isReturned ? { result: this.#secrets.json(result) } : {};
      return {
        description,
        messages: this.#messages,
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
    const last = message('assistant', text, { 'stepwright/part': 'hand-off' });
    return {
      description,
      messages: [...this.#messages, last],
      _meta: { status, steps, errors, calls, pause_reason: pause },
    };
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

  #started({ node, guidance, guidanceFailure }: Extract<Fact, { kind: 'nodeStarted' }>): void {
    const step = { 'stepwright/step': node };
    if (guidance !== undefined && guidance !== '') {
      const text = this.#secrets.text(guidance);
      this.#guidance.set(node, message('assistant', text, { 'stepwright/part': 'guidance', ...step }));
    } else if (guidanceFailure !== undefined) {
      const text = this.#secrets.text(texts.guidanceFailed(node, guidanceFailure.message));
      this.#guidance.set(node, message('assistant', text, { 'stepwright/part': 'guidance', ...step }));
    }
  }

  #returned({ node, command, attempted, outcome }: Extract<Fact, { kind: 'callReturned' }>): void {
    this.#flushGuidance(node);
    const call = this.#calls.get(command);
    this.#calls.delete(command);
    this.#remember(node, { attempted, ...(outcome.ok ? {} : { failure: outcome.failure }) });
    if (call === undefined) return;
    if (call.kind === 'resourceRequested') {
      this.#say('assistant', 'note', texts.fetching(node), { 'stepwright/step': node });
      if (outcome.ok) this.#resource(node, call.uri, outcome.value);
      else this.#failed(node, texts.resourceFailed(call.uri, outcome.failure.message), outcome.failure);
      return;
    }
    if (!attempted) return;
    const input = this.#secrets.json(call.input, inputOf(this.#nodes.get(node)));
    const { text, size } = limited(jsonText(input, 2));
    const announcement = texts.calling(call.tool, text, size);
    this.#say('assistant', 'call', announcement, { 'stepwright/step': node, ...sized(size) });
    if (outcome.ok) this.#result(node, outcome.value);
    else this.#failed(node, texts.failed(outcome.failure.message), outcome.failure);
  }

  #result(node: string, value: Json): void {
    const { text, size } = limited(jsonText(this.#secrets.json(value), 2));
    this.#say('user', 'result', texts.result(text, size), { 'stepwright/step': node, ...sized(size) });
  }

  #resource(node: string, uri: string, value: Json): void {
    const { text, size } = limited(this.#secrets.text(resourceText(isJsonObject(value) ? value : {})));
    this.#say('user', 'result', texts.resource(uri, text, size), { 'stepwright/step': node, ...sized(size) });
  }

  #failed(node: string, text: string, { code }: Failure): void {
    this.#say('user', 'error', this.#secrets.text(text), {
      'stepwright/step': node,
      'stepwright/code': code,
    });
  }

  #skipped(node: string, reason: SkipReason): void {
    const kind = this.#nodes.get(node)?.kind;
    // A check that passed is not a step left out.
    if (kind === 'error' || kind === 'return') return;
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

  #flushGuidance(node: string): void {
    const guidance = this.#guidance.get(node);
    if (guidance === undefined) return;
    this.#guidance.delete(node);
    this.#messages.push(guidance);
  }

  #remember(node: string, news: Partial<StepHistory>): void {
    this.#history.set(node, { issued: false, attempted: false, ...this.#history.get(node), ...news });
  }

  #say(
    role: PromptMessage['role'],
    part: BlockMeta['stepwright/part'],
    text: string,
    meta: Omit<BlockMeta, 'stepwright/part'> = {},
  ): void {
    this.#messages.push(message(role, text, { 'stepwright/part': part, ...meta }));
  }
}

function message(role: PromptMessage['role'], text: string, _meta: BlockMeta): PromptMessage {
  return { role, content: { type: 'text', text, _meta } };
}

function inputOf(node: Node | undefined) {
  return node?.kind === 'call' ? node.input : undefined;
}

function sized(size: number | undefined): { 'stepwright/size'?: number } {
  return size === undefined ? {} : { 'stepwright/size': size };
}

function resourceText({ text, blob, mimeType }: JsonObject): string {
  if (typeof text === 'string') return text;
  const encoded = typeof blob === 'string' ? blob.replace(/=+$/, '') : '';
  return texts.binary(
    typeof mimeType === 'string' ? mimeType : undefined,
    Math.floor((encoded.length * 3) / 4),
  );
}
