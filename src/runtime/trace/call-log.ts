import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import type { Failure } from '../engine/contract.js';
import { bodyText, jsonText } from '../tools/encode-text.js';
import { limited, sized, type Told } from './messages.js';
import { type FactOf, type StepFact, StepLog } from './step-log.js';
import { NOT_BEGUN } from './step-status.js';
import { texts } from './texts.js';

/** What a call or a read has to say: the call, the attempts that failed, the result. */
export class CallLog extends StepLog {
  #issued: FactOf<'callIssued'> | FactOf<'resourceRequested'> | undefined;
  /** How the latest attempt ended, until the next fact says what becomes of that. */
  #returned: FactOf<'callReturned'> | undefined;
  #isAnnounced = false;

  protected override tell(fact: StepFact): void {
    if (fact.kind === 'callIssued' || fact.kind === 'resourceRequested') this.#issued = fact;
    else if (fact.kind === 'callReturned') this.#returned = fact;
  }

  protected override attemptFailed(): void {
    this.#returned = undefined;
    this.#announce();
  }

  protected override succeeded({ summary, summaryFailure }: FactOf<'nodeSucceeded'>): void {
    const returned = this.#returned;
    if (returned === undefined || !returned.outcome.ok) return;
    this.#announce();
    if (summary === undefined) this.#result(returned.outcome.value);
    else this.#summary(summary);
    if (summaryFailure === undefined) return;
    const text = texts.summaryFailed(this.node.id, summaryFailure.message);
    this.say('assistant', 'note', this.secrets.text(text));
  }

  protected override failed(): boolean {
    const returned = this.#returned;
    this.#returned = undefined;
    if (returned === undefined || returned.outcome.ok) return false;
    const { failure } = returned.outcome;
    if (this.#issued?.kind === 'resourceRequested') {
      this.#announce();
      this.sayFailure(texts.resourceFailed(this.#uri(this.#issued.uri), failure.message), failure);
      return true;
    }
    // An attempt that was refused was none.
    if (!returned.attempted) return this.#refusedCall(failure);
    this.#announce();
    this.sayFailure(texts.failed(failure.message), failure);
    return true;
  }

  protected override cancelled(): void {
    this.failed();
  }

  /** Tells a call that never reached its tool; false where it only came too late. */
  #refusedCall(failure: Failure): boolean {
    if (this.#issued?.kind !== 'callIssued' || NOT_BEGUN.has(failure.code)) return false;
    const { tool, input } = this.#issued;
    const { text } = limited(jsonText(this.#shownInput(input)));
    const told = failure.code === 'E_INPUT_INVALID' ? texts.refused : texts.notCalled;
    this.sayFailure(told(this.node.id, tool, text, failure.message), failure);
    return true;
  }

  /** Names the call, once for all of its attempts: they differ in nothing. */
  #announce(): void {
    if (this.#isAnnounced || this.#issued === undefined) return;
    this.#isAnnounced = true;
    if (this.#issued.kind === 'resourceRequested') {
      this.say('assistant', 'note', texts.fetching(this.node.id));
      return;
    }
    const { tool, input } = this.#issued;
    const { text, size } = limited(jsonText(this.#shownInput(input), 2));
    this.say('assistant', 'call', texts.calling(tool, text, size), sized(size));
  }

  #shownInput(input: JsonObject): Json {
    return this.secrets.json(input, this.node.kind === 'call' ? this.node.input : undefined, this.at);
  }

  #result(value: Json): void {
    const shown = this.secrets.given(value, this.#issued?.command ?? '');
    if (this.#issued?.kind !== 'resourceRequested') this.sayValue('user', 'result', shown, texts.result);
    else if (isJsonObject(shown) && isJsonObject(value)) {
      this.#resource(this.#uri(this.#issued.uri), { ...shown, ...ownBlob(value) });
    }
  }

  #resource(uri: string, content: JsonObject): void {
    if (this.node.embed === false) {
      this.say('user', 'note', this.secrets.text(texts.notEmbedded(uri)));
      return;
    }
    const { text } = content;
    if (typeof text !== 'string') {
      this.say('user', 'result', texts.binary(uri, ...binaryIn(content)));
      return;
    }
    const body = limited(bodyText(this.secrets.text(text)));
    const told: Told = (mask) => texts.resource(mask(uri), mask(body.text), body.size);
    this.say('user', 'result', told, sized(body.size));
  }

  /** The address of the resource, as it may be shown. */
  #uri(uri: string): string {
    return this.secrets.text(uri, this.node.kind === 'resource' ? this.node.uri : undefined, this.at);
  }

  #summary(summary: string): void {
    const { text, size } = limited(jsonText(this.secrets.text(summary, this.node.summary, this.at)));
    const told =
      this.#issued?.kind === 'resourceRequested'
        ? texts.resourceSummary(this.#uri(this.#issued.uri), text, size)
        : texts.summary(text, size);
    this.say('user', 'result', told, { 'stepwright/summary': true, ...sized(size) });
  }
}

/** Binary content, which is not shown: its size is. */
function ownBlob({ blob }: JsonObject): JsonObject {
  return blob === undefined ? {} : { blob };
}

/** The type of binary content, and how many bytes it has. */
function binaryIn({ blob, mimeType }: JsonObject): [string | undefined, number] {
  const encoded = typeof blob === 'string' ? blob.replace(/=+$/, '') : '';
  return [typeof mimeType === 'string' ? mimeType : undefined, Math.floor((encoded.length * 3) / 4)];
}
