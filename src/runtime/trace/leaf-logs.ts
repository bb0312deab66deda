import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import { jsonText, oneLine } from '../../graph/printable-text.js';
import type { NodeInstance } from '../../plan/instances.js';
import { requestOf } from '../engine/actions.js';
import type { Failure, RunState } from '../engine/contract.js';
import type { CompensationReport } from '../engine/events.js';
import type { RunMask } from '../secrets/run-mask.js';
import { NOT_BEGUN } from './ledger.js';
import { type BlockMeta, limited, type PromptMessage, sized } from './messages.js';
import { cutNote, requestText, resourceFailed, stepFailed, stop, undoText, waitsUntil } from './sentences.js';
import { type FactOf, ownBlob, type StepFact, StepLog } from './step-log.js';

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
    const text = `The summary of step '${this.node.id}' is not available: ${stop(oneLine(summaryFailure.message))}`;
    this.say('assistant', 'note', this.secrets.text(text));
  }

  protected override failed(): boolean {
    const returned = this.#returned;
    this.#returned = undefined;
    if (returned === undefined || returned.outcome.ok) return false;
    const { failure } = returned.outcome;
    if (this.#issued?.kind === 'resourceRequested') {
      this.#announce();
      this.sayFailure(resourceFailed(this.#uri(this.#issued.uri), failure.message), failure);
      return true;
    }
    // An attempt that was refused was none.
    if (!returned.attempted) return this.#refusedCall(failure);
    this.#announce();
    this.sayFailure(callFailed(failure), failure);
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
    const refusal =
      failure.code === 'E_INPUT_INVALID'
        ? `tool '${tool}' refused ${text}`
        : `the call of tool '${tool}' with ${text} was refused`;
    const why = stop(oneLine(failure.message));
    this.sayFailure(`Step '${this.node.id}' did not run: ${refusal}: ${why}`, failure);
    return true;
  }

  /** Names the call, once for all of its attempts: they differ in nothing. */
  #announce(): void {
    if (this.#isAnnounced || this.#issued === undefined) return;
    this.#isAnnounced = true;
    if (this.#issued.kind === 'resourceRequested') {
      this.say('assistant', 'note', `I'll fetch the required resources for ${this.node.id}...`);
      return;
    }
    const { tool, input } = this.#issued;
    const head = `Calling tool '${tool}' with parameters:`;
    this.sayValue('assistant', 'call', this.#shownInput(input), head, 'text of the parameters');
  }

  #shownInput(input: JsonObject): Json {
    return this.secrets.json(input, this.node.kind === 'call' ? this.node.input : undefined, this.at);
  }

  #result(value: Json): void {
    const shown = this.secrets.callResult(value, this.#issued?.command ?? '');
    if (this.#issued?.kind !== 'resourceRequested')
      this.sayValue('user', 'result', shown, 'Tool result:', 'result');
    else if (isJsonObject(shown) && isJsonObject(value)) {
      this.#resource(this.#uri(this.#issued.uri), { ...shown, ...ownBlob(value) });
    }
  }

  #resource(uri: string, content: JsonObject): void {
    if (this.node.embed === false) {
      this.say(
        'user',
        'note',
        this.secrets.text(`Resource ${oneLine(uri)} was read; its text is not shown.`),
      );
      return;
    }
    this.sayResource(uri, content);
  }

  /** The address of the resource, as it may be shown. */
  #uri(uri: string): string {
    return this.secrets.text(uri, this.node.kind === 'resource' ? this.node.uri : undefined, this.at);
  }

  #summary(summary: string): void {
    const head =
      this.#issued?.kind === 'resourceRequested'
        ? `Resource content from ${oneLine(this.#uri(this.#issued.uri))} (summary):`
        : undefined;
    this.saySummary(this.secrets.text(summary, this.node.summary, this.at), head);
  }
}

type Say = (
  role: PromptMessage['role'],
  part: BlockMeta['stepwright/part'],
  text: string,
  meta?: Omit<BlockMeta, 'stepwright/part' | 'stepwright/step'>,
) => void;

/** Tells how earlier work is undone: by a step, or for a run that was cancelled. */
export class UndoLog {
  readonly #secrets: RunMask;
  readonly #say: Say;
  readonly #by: NodeInstance | undefined;

  /** @param by the step that undoes; missing for the run as a whole. */
  constructor(secrets: RunMask, say: Say, by?: NodeInstance) {
    this.#secrets = secrets;
    this.#say = say;
    this.#by = by;
  }

  /** Takes the facts of undoing; all others change nothing. */
  observe(fact: StepFact): void {
    switch (fact.kind) {
      case 'compensating':
        this.#begins(fact);
        return;
      case 'callIssued':
        if (fact.isCompensation) this.#calls(fact);
        return;
      case 'callReturned':
        this.#returned(fact);
        return;
      case 'compensationSkipped':
        this.#skipped(fact);
        return;
      case 'compensated':
        this.#say('assistant', 'undo', undoReport(fact.report, this.#secrets));
        return;
      default:
    }
  }

  #begins({ failure }: FactOf<'compensating'>): void {
    const what = failure === undefined ? 'was cancelled' : 'failed';
    const text =
      this.#by === undefined
        ? `The run ${what}. What it did is undone, the last step first.`
        : `Step '${this.#by.planned.node.id}' undoes what was done${failure?.message === undefined ? '.' : `, because of this failure: ${stop(oneLine(failure?.message))}`}`;
    this.#say('assistant', 'undo', this.#secrets.text(text));
  }

  #skipped({ tool, undoes }: FactOf<'compensationSkipped'>): void {
    const step = this.#nameOf(undoes);
    const why = step === undefined ? 'what it would undo was not done' : `'${step}' did not succeed`;
    this.#say('assistant', 'undo', `Nothing to undo with tool '${tool}': ${why}.`, undone(undoes));
  }

  #calls(fact: FactOf<'callIssued'>): void {
    const shown = this.#secrets.compensation(fact) as JsonObject;
    const { text, size } = limited(jsonText(shown, 2));
    const step = this.#nameOf(fact.undoes);
    const sentence = `Undoing${step === undefined ? '' : ` '${step}'`}: calling tool '${fact.tool}' with parameters:\n${text}${cutNote('text of the parameters', size)}`;
    this.#say('assistant', 'undo', sentence, { ...undone(fact.undoes), ...sized(size) });
  }

  /** A step as it is called in the workflow that undoes it. */
  #nameOf(key: string | undefined): string | undefined {
    const prefix = this.#by?.scope.workflow.prefix ?? '';
    return key?.startsWith(prefix) ? key.slice(prefix.length) : key;
  }

  #returned({ outcome, command }: FactOf<'callReturned'>): void {
    if (outcome.ok) {
      const { text, size } = limited(jsonText(this.#secrets.callResult(outcome.value, command), 2));
      this.#say('user', 'result', `Tool result:\n${text}${cutNote('result', size)}`, sized(size));
      return;
    }
    const { failure } = outcome;
    this.#say('user', 'error', this.#secrets.text(callFailed(failure)), { 'stepwright/code': failure.code });
  }
}

function callFailed({ message }: Failure): string {
  return `Error executing tool: ${oneLine(message)}`;
}

/** How undoing went, in words. */
export function undoReport({ done, failed, not_run }: CompensationReport, secrets: RunMask): string {
  const faults = failed.map(({ tool, failure }) => {
    return { tool, why: failure.message, isUnknown: failure.outcomeUnknown === true };
  });
  return secrets.text(undoText(done, faults, not_run));
}

function undone(key: string | undefined): { 'stepwright/undoes'?: string } {
  return defined({ 'stepwright/undoes': key });
}

/** Computed values, and steps that end a workflow: a trace shows them only if a fallback replaces them. */
export class SilentLog extends StepLog {}

/** A question or work of the client, and what became of it. */
export class ActionLog extends StepLog {
  #isOpen = false;

  protected override tell(fact: StepFact): void {
    if (fact.kind === 'waiting') this.#asks(fact);
    if (fact.kind === 'valueRefused') {
      const text = `The value does not fit (try ${fact.tries} of ${fact.of}): ${stop(oneLine(fact.problems.join('; ')))}`;
      this.say('user', 'note', this.secrets.text(text));
    }
    if (fact.kind !== 'answered') return;
    this.#isOpen = false;
    this.sayValue('user', 'answer', this.secrets.json(fact.value), 'Answer:', 'answer');
  }

  protected override attemptFailed(): void {
    this.#isOpen = false;
  }

  protected override failed(failure: Failure): boolean {
    const { id } = this.node;
    const sentence = this.#isOpen
      ? `Step '${id}' got no answer: ${stop(oneLine(failure.message))}`
      : stepFailed(id, failure.message);
    this.sayFailure(sentence, failure);
    return true;
  }

  protected override cancelled(): void {
    if (this.#isOpen) this.say('assistant', 'note', `Step '${this.node.id}' no longer waits for an answer.`);
  }

  #asks({ action, node: key }: FactOf<'waiting'>): void {
    if (action === undefined) return;
    this.#isOpen = true;
    const request = requestOf(this.secrets.action(key, action));
    this.say('assistant', 'question', requestText(this.node.id, request));
  }
}

export class WaitLog extends StepLog {
  #isOpen = false;

  protected override tell(fact: StepFact): void {
    if (fact.kind !== 'waiting' || fact.until === undefined) return;
    this.#isOpen = true;
    this.say('assistant', 'wait', waitsUntil(this.node.id, isoTime(fact.until)));
  }

  protected override succeeded(): void {
    if (this.#isOpen) this.say('user', 'wait', `Step '${this.node.id}' has finished waiting.`);
  }

  protected override failed(failure: Failure): boolean {
    this.sayFailure(stepFailed(this.node.id, failure.message), failure);
    return true;
  }

  protected override cancelled(): void {
    if (this.#isOpen) this.say('assistant', 'note', `Step '${this.node.id}' no longer waits.`);
  }
}

/** What is written into the run's state, all fields at once. */
export class SetLog extends StepLog {
  readonly #written = new Map<string, Json | undefined>();

  protected override tell(fact: StepFact): void {
    if (fact.kind === 'stateSet') this.#written.set(fact.field, fact.value);
  }

  protected override succeeded(): void {
    const { node } = this;
    if (node.kind !== 'set') return;
    const fields = [...this.#written].flatMap(([field, value]) => {
      const expr = node.updates.findLast((update) => update.field === field)?.value;
      return value === undefined ? [] : [[field, this.secrets.json(value, expr, this.at)] as const];
    });
    const cleared = [...this.#written].flatMap(([field, value]) => (value === undefined ? [field] : []));
    const ending =
      cleared.length === 0
        ? ''
        : `\nWithout a value now: ${cleared.map((field) => `'${field}'`).join(', ')}.`;
    const shown = this.secrets.json(Object.fromEntries(fields));
    this.sayValue('assistant', 'state', shown, `Step '${node.id}' writes the state:`, 'state', ending);
  }
}

/** A way back. */
export class GotoLog extends StepLog {
  protected override tell(fact: StepFact): void {
    if (fact.kind !== 'jumped') return;
    const { target, visit, max } = fact;
    this.say(
      'assistant',
      'goto',
      `Going back to '${target}', ${ordinal(visit)} of at most ${max} ${max === 1 ? 'time' : 'times'}.`,
    );
  }

  protected override succeeded(): void {
    if (this.node.kind !== 'goto') return;
    const { id, target, max } = this.node;
    this.say(
      'assistant',
      'goto',
      `Step '${id}' does not go back to '${target}' any more: it has done so ${max} ${max === 1 ? 'time' : 'times'}, the most it may.`,
    );
  }

  protected override failed(failure: Failure): boolean {
    this.sayFailure(stepFailed(this.node.id, failure.message), failure);
    return true;
  }
}

function ordinal(number: number): string {
  const tens = number % 100;
  const ending = tens > 10 && tens < 14 ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[number % 10];
  return `${number}${ending ?? 'th'}`;
}

/** Earlier work that is undone. */
export class CompensateLog extends StepLog {
  readonly #undo: UndoLog;

  constructor(instance: NodeInstance, secrets: RunMask) {
    super(instance, secrets);
    this.#undo = new UndoLog(secrets, (...args) => this.say(...args), instance);
  }

  protected override tell(fact: StepFact, _state: RunState): void {
    this.#undo.observe(fact);
  }
}

/** RFC 3339. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
