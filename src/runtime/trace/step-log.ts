import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import { bodyText, framedText, jsonText, oneLine } from '../../graph/printable-text.js';
import type { NodeInstance, ScopeInstance } from '../../plan/instances.js';
import { attemptOf } from '../../print/shapes.js';
import type { Fact, Failure, RunState } from '../engine/contract.js';
import type { RunMask } from '../secrets/run-mask.js';
import { isListed } from './ledger.js';
import { type BlockMeta, type BlockText, limited, type PromptMessage, sized, textBlock } from './messages.js';
import { cutNote, resourceFailed, stepFailed, stop } from './sentences.js';

export type FactOf<K extends Fact['kind']> = Extract<Fact, { kind: K }>;

export type StepFact = Extract<Fact, { readonly node?: string }>;

type Extra = Omit<BlockMeta, 'stepwright/part' | 'stepwright/step'>;

/**
 * The messages of one step. They are kept until the step is over, so that steps that run side by side stay apart. The
 * messages of every kind of step are written here: guidance, failed attempts, fallbacks.
 */
export abstract class StepLog {
  readonly node: Node;
  readonly #key: string;
  /** The scope of the step. */
  protected readonly at: ScopeInstance;
  protected readonly secrets: RunMask;
  readonly #guidance: PromptMessage[] = [];
  readonly #messages: PromptMessage[] = [];
  /** A resource of its own whose read failed, until the next fact says what becomes of that. */
  #unread: FactOf<'resourceShown'> | undefined;

  constructor({ key, planned, scope }: NodeInstance, secrets: RunMask) {
    this.#key = key;
    this.node = planned.node;
    this.at = scope;
    this.secrets = secrets;
  }

  /** Takes the step's facts, each once and in order. @param state the run after the fact. */
  observe(fact: StepFact, state: RunState): void {
    switch (fact.kind) {
      case 'nodeStarted':
        this.#tellGuidance(fact);
        this.started(state);
        return;
      case 'resourceShown':
        this.#resourceShown(fact);
        return;
      case 'retrying':
        this.#unread = undefined;
        this.attemptFailed(fact.failure);
        this.#retrying(fact);
        return;
      case 'handled':
        this.#handled(fact);
        return;
      case 'nodeSucceeded':
        this.succeeded(fact, state);
        return;
      case 'nodeFailed':
        if (!this.#tellUnread()) this.failed(fact.failure);
        return;
      case 'nodeCancelled':
        if (!this.#tellUnread()) this.cancelled();
        return;
      default:
        this.tell(fact, state);
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

  // What kinds of steps tell in their own way.

  protected started(_state: RunState): void {}

  /** Every fact but those of a step's beginning, its attempts and its end. */
  protected tell(_fact: StepFact, _state: RunState): void {}

  /** Before the message that another attempt follows. */
  protected attemptFailed(_failure: Failure): void {}

  protected succeeded(_fact: FactOf<'nodeSucceeded'>, _state: RunState): void {}

  /** Tells the failure of the step; false where there is none to tell here. */
  protected failed(_failure: Failure): boolean {
    return false;
  }

  protected cancelled(): void {}

  protected sayFailure(text: string, { code }: Pick<Failure, 'code'>): void {
    this.say('user', 'error', this.secrets.text(text), { 'stepwright/code': code });
  }

  /**
   * Tells a value without its secrets, cut where it is too long.
   *
   * @param what names the value in the note about a cut.
   */
  protected sayValue(
    role: PromptMessage['role'],
    part: BlockMeta['stepwright/part'],
    shown: Json,
    head: string,
    what: string,
    end = '',
  ): void {
    const { text, size } = limited(jsonText(shown, 2));
    this.say(role, part, `${head}\n${text}${cutNote(what, size)}${end}`, sized(size));
  }

  /** Tells the summary of a result, without its secrets. */
  protected saySummary(shown: string, head = 'Tool result (summary):'): void {
    const { text, size } = limited(jsonText(shown));
    const meta = { 'stepwright/summary': true, ...sized(size) } as const;
    this.say('user', 'result', `${head}\n${text}${cutNote('summary', size)}`, meta);
  }

  protected say(
    role: PromptMessage['role'],
    part: BlockMeta['stepwright/part'],
    text: BlockText,
    meta: Extra = {},
  ): void {
    this.#messages.push(this.#block(role, part, text, meta));
  }

  /** Shows what was read, as it may be shown. Binary content is not shown: its size is. */
  protected sayResource(uri: string, content: JsonObject): void {
    const { text } = content;
    if (typeof text !== 'string') {
      this.say('user', 'result', binaryText(uri, content));
      return;
    }
    const body = limited(bodyText(this.secrets.text(text)));
    const shown: BlockText = (mask) =>
      `${framedText(`Resource content from ${oneLine(mask(uri))}`, mask(body.text))}${cutNote('resource', body.size)}`;
    this.say('user', 'result', shown, sized(body.size));
  }

  /** A failed read is shown where no other attempt follows. */
  #resourceShown(fact: FactOf<'resourceShown'>): void {
    const { outcome, uri, command } = fact;
    if (!outcome.ok) {
      this.#unread = fact;
      return;
    }
    const shown = this.secrets.callResult(outcome.value, command);
    if (isJsonObject(shown))
      this.sayResource(this.secrets.text(uri), { ...shown, ...ownBlob(outcome.value) });
  }

  #tellUnread(): boolean {
    const unread = this.#unread;
    this.#unread = undefined;
    if (unread === undefined || unread.outcome.ok) return false;
    const { failure } = unread.outcome;
    this.sayFailure(resourceFailed(this.secrets.text(unread.uri), failure.message), failure);
    return true;
  }

  /** Takes over what somebody inside has said. */
  protected include(messages: readonly PromptMessage[]): void {
    this.#messages.push(...messages);
  }

  #tellGuidance({ guidance, guidanceFailure }: FactOf<'nodeStarted'>): void {
    if (guidance === undefined && guidanceFailure === undefined) return;
    const text =
      guidanceFailure === undefined
        ? this.secrets.text(guidance ?? '', this.node.guidance, this.at)
        : this.secrets.text(
            `The guidance of step '${this.node.id}' is not available: ${stop(oneLine(guidanceFailure.message))}`,
          );
    this.#guidance.push(this.#block('assistant', 'guidance', text));
  }

  #retrying({ attempt, attempts, delayMs, failure }: FactOf<'retrying'>): void {
    const text = `Attempt ${attempt} of ${attempts} failed: ${stop(oneLine(failure.message))} Retrying ${delayMs === 0 ? 'at once' : `in ${delayMs} ms`}.`;
    const meta = { 'stepwright/code': failure.code, 'stepwright/attempt': attempt };
    this.say('user', 'retry', this.secrets.text(text), meta);
  }

  #handled({ failure, value, fallbackNode }: FactOf<'handled'>): void {
    const { id } = this.node;
    if (!this.#tellUnread() && !this.failed(failure))
      this.sayFailure(stepFailed(id, failure.message), failure);
    if (fallbackNode !== undefined) {
      this.say('assistant', 'fallback', `Step '${this.#shownAs(fallbackNode)}' takes over from '${id}'.`);
    } else if (value === undefined) {
      this.say('user', 'fallback', `Step '${id}' continues without a value: its fallback has none.`);
    } else {
      const head = `Step '${id}' continues with its fallback value:`;
      this.sayValue('user', 'fallback', this.secrets.json(value), head, 'value');
    }
  }

  /** Of an attempt a reader knows the steps, not what hands the failure on to them. */
  #shownAs(fallbackNode: string): string {
    const { container } = this.at;
    const attempt = container && attemptOf(container.planned.node);
    return attempt?.otherwise.find(isListed)?.id ?? fallbackNode;
  }

  #block(
    role: PromptMessage['role'],
    part: BlockMeta['stepwright/part'],
    text: BlockText,
    meta: Extra = {},
  ): PromptMessage {
    return textBlock(role, text, { 'stepwright/part': part, 'stepwright/step': this.#key, ...meta });
  }
}

/** Binary content, as it was read: masks search texts. */
export function ownBlob({ blob }: JsonObject): JsonObject {
  return defined({ blob });
}

/** The type of binary content, and how many bytes it has. */
function binaryText(uri: string, { blob, mimeType }: JsonObject): string {
  const encoded = typeof blob === 'string' ? blob.replace(/=+$/, '') : '';
  const type = typeof mimeType === 'string' ? `${oneLine(mimeType)}, ` : '';
  const bytes = Math.floor((encoded.length * 3) / 4);
  return `Resource content from ${oneLine(uri)}:\n[${type}${bytes} bytes of binary content]`;
}
