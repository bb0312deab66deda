import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import type { Node } from '../../../graph/model.js';
import type { Fact, Failure } from '../../engine/contract.js';
import { sized, textBlock } from './block.js';
import { jsonText, limited } from './json-text.js';
import type { BlockMeta, PromptMessage } from './messages.js';
import { NOT_BEGUN } from './outlook.js';
import type { Secrets } from './secrets.js';
import { texts } from './texts.js';

/** The facts of one step. */
export type StepFact = Extract<Fact, { readonly node: string }>;

type FactOf<K extends Fact['kind']> = Extract<Fact, { kind: K }>;

/**
 * What one step has to say: its guidance, its call, the attempts that failed, its result. All of it is kept until the
 * step is over, so that steps that run side by side stay apart.
 */
export class StepMessages {
  readonly #node: Node;
  readonly #secrets: Secrets;
  readonly #guidance: PromptMessage[] = [];
  readonly #messages: PromptMessage[] = [];
  #issued: FactOf<'callIssued'> | FactOf<'resourceRequested'> | undefined;
  /** How the latest attempt ended, until the next fact says what becomes of that. */
  #returned: FactOf<'callReturned'> | undefined;
  #isAnnounced = false;

  constructor(node: Node, secrets: Secrets) {
    this.#node = node;
    this.#secrets = secrets;
  }

  observe(fact: StepFact): void {
    switch (fact.kind) {
      case 'nodeStarted':
        this.#started(fact);
        return;
      case 'callIssued':
      case 'resourceRequested':
        this.#issued = fact;
        return;
      case 'callReturned':
        this.#returned = fact;
        return;
      case 'retrying':
        this.#retrying(fact);
        return;
      case 'handled':
        this.#handled(fact);
        return;
      case 'nodeSucceeded':
        this.#succeeded(fact);
        return;
      case 'nodeFailed':
      case 'nodeCancelled':
        this.#failedCall();
        return;
      default:
        // The run as a whole tells these.
        fact.kind satisfies 'nodeSkipped' | 'finished';
    }
  }

  /** Everything the step has said. */
  get all(): readonly PromptMessage[] {
    return [...this.#guidance, ...this.#messages];
  }

  /** Whether it said more than what it is about. */
  get hasActed(): boolean {
    return this.#messages.length > 0;
  }

  #started({ guidance, guidanceFailure }: FactOf<'nodeStarted'>): void {
    const text =
      guidanceFailure === undefined
        ? this.#secrets.text(guidance ?? '', this.#node.guidance)
        : this.#secrets.text(texts.guidanceFailed(this.#node.id, guidanceFailure.message));
    if (guidance === undefined && guidanceFailure === undefined) return;
    this.#guidance.push(this.#block('assistant', 'guidance', text));
  }

  #retrying({ attempt, attempts, delayMs, failure }: FactOf<'retrying'>): void {
    this.#returned = undefined;
    this.#announce();
    const text = texts.retrying(attempt, attempts, failure.message, delayMs);
    const meta = { 'stepwright/code': failure.code, 'stepwright/attempt': attempt };
    this.#say('user', 'retry', this.#secrets.text(text), meta);
  }

  #handled({ failure, value }: FactOf<'handled'>): void {
    if (!this.#failedCall()) this.#sayFailure(texts.stepFailed(this.#node.id, failure.message), failure);
    if (value === undefined) {
      this.#say('user', 'fallback', texts.fallbackAbsent(this.#node.id));
      return;
    }
    const { text, size } = limited(jsonText(this.#secrets.json(value), 2));
    this.#say('user', 'fallback', texts.fallback(this.#node.id, text, size), sized(size));
  }

  #succeeded({ summary, summaryFailure }: FactOf<'nodeSucceeded'>): void {
    const returned = this.#returned;
    if (returned === undefined || !returned.outcome.ok) return;
    this.#announce();
    if (summary === undefined) this.#result(returned.outcome.value);
    else this.#summary(summary);
    if (summaryFailure === undefined) return;
    const text = texts.summaryFailed(this.#node.id, summaryFailure.message);
    this.#say('assistant', 'note', this.#secrets.text(text));
  }

  /** Tells a call that came back with a failure; false where there is none to tell. */
  #failedCall(): boolean {
    const returned = this.#returned;
    this.#returned = undefined;
    if (returned === undefined || returned.outcome.ok) return false;
    const { failure } = returned.outcome;
    if (this.#issued?.kind === 'resourceRequested') {
      this.#announce();
      this.#sayFailure(texts.resourceFailed(this.#uri(this.#issued.uri), failure.message), failure);
      return true;
    }
    // An attempt that was refused was none.
    if (!returned.attempted) return this.#refusedCall(failure);
    this.#announce();
    this.#sayFailure(texts.failed(failure.message), failure);
    return true;
  }

  /** Tells a call that never reached its tool; false where it only came too late. */
  #refusedCall(failure: Failure): boolean {
    if (this.#issued?.kind !== 'callIssued' || NOT_BEGUN.has(failure.code)) return false;
    const { tool, input } = this.#issued;
    const { text } = limited(jsonText(this.#shownInput(input)));
    const told = failure.code === 'E_INPUT_INVALID' ? texts.refused : texts.notCalled;
    this.#sayFailure(told(this.#node.id, tool, text, failure.message), failure);
    return true;
  }

  /** Names the call, once for all of its attempts: they differ in nothing. */
  #announce(): void {
    if (this.#isAnnounced || this.#issued === undefined) return;
    this.#isAnnounced = true;
    if (this.#issued.kind === 'resourceRequested') {
      this.#say('assistant', 'note', texts.fetching(this.#node.id));
      return;
    }
    const { tool, input } = this.#issued;
    const { text, size } = limited(jsonText(this.#shownInput(input), 2));
    this.#say('assistant', 'call', texts.calling(tool, text, size), sized(size));
  }

  #shownInput(input: JsonObject): Json {
    return this.#secrets.json(input, this.#node.kind === 'call' ? this.#node.input : undefined);
  }

  #result(value: Json): void {
    if (this.#issued?.kind === 'resourceRequested') {
      this.#resource(this.#uri(this.#issued.uri), isJsonObject(value) ? value : {});
      return;
    }
    const { text, size } = limited(jsonText(this.#secrets.json(value), 2));
    this.#say('user', 'result', texts.result(text, size), sized(size));
  }

  #resource(uri: string, content: JsonObject): void {
    if (this.#node.embed === false) {
      this.#say('user', 'note', this.#secrets.text(texts.notEmbedded(uri)));
      return;
    }
    const { text, size } = limited(this.#secrets.text(resourceText(content)));
    this.#say('user', 'result', texts.resource(uri, text, size), sized(size));
  }

  /** The address of the resource, as it may be shown. */
  #uri(uri: string): string {
    return this.#secrets.text(uri, this.#node.kind === 'resource' ? this.#node.uri : undefined);
  }

  #summary(summary: string): void {
    const { text, size } = limited(jsonText(this.#secrets.text(summary)));
    const told =
      this.#issued?.kind === 'resourceRequested'
        ? texts.resourceSummary(this.#uri(this.#issued.uri), text, size)
        : texts.summary(text, size);
    this.#say('user', 'result', told, { 'stepwright/summary': true, ...sized(size) });
  }

  #sayFailure(text: string, { code }: Failure): void {
    this.#say('user', 'error', this.#secrets.text(text), { 'stepwright/code': code });
  }

  #say(
    role: PromptMessage['role'],
    part: BlockMeta['stepwright/part'],
    text: string,
    meta: Omit<BlockMeta, 'stepwright/part' | 'stepwright/step'> = {},
  ): void {
    this.#messages.push(this.#block(role, part, text, meta));
  }

  #block(
    role: PromptMessage['role'],
    part: BlockMeta['stepwright/part'],
    text: string,
    meta: Omit<BlockMeta, 'stepwright/part' | 'stepwright/step'> = {},
  ): PromptMessage {
    return textBlock(role, text, { 'stepwright/part': part, 'stepwright/step': this.#node.id, ...meta });
  }
}

function resourceText({ text, blob, mimeType }: JsonObject): string {
  if (typeof text === 'string') return text;
  const encoded = typeof blob === 'string' ? blob.replace(/=+$/, '') : '';
  return texts.binary(
    typeof mimeType === 'string' ? mimeType : undefined,
    Math.floor((encoded.length * 3) / 4),
  );
}
