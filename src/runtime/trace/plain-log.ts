import type { Json } from '../../graph/json.js';
import type { NodeInstance } from '../../plan/instances.js';
import type { Failure, RunState } from '../engine/contract.js';
import type { RunMask } from '../host/run-mask.js';
import { jsonText } from '../tools/encode-text.js';
import { constructTexts } from './construct-texts.js';
import { type FactOf, type StepFact, StepLog } from './step-log.js';
import { texts } from './texts.js';
import { UndoLog } from './undo-log.js';

/** Computed values, and what ends a workflow: they are told only where something stands in for them. */
export class SilentLog extends StepLog {}

/** A question, and what became of it. */
export class AskLog extends StepLog {
  #isOpen = false;

  protected override tell(fact: StepFact): void {
    if (fact.kind === 'waiting') this.#asks(fact);
    if (fact.kind !== 'answered') return;
    this.#isOpen = false;
    this.sayValue('user', 'answer', fact.value, constructTexts.answer);
  }

  protected override attemptFailed(): void {
    this.#isOpen = false;
  }

  protected override failed(failure: Failure): boolean {
    const { id } = this.node;
    const told = this.#isOpen
      ? constructTexts.notAnswered(id, failure.message)
      : texts.stepFailed(id, failure.message);
    this.sayFailure(told, failure);
    return true;
  }

  protected override cancelled(): void {
    if (this.#isOpen) this.say('assistant', 'note', constructTexts.withdrawn(this.node.id));
  }

  #asks({ action }: FactOf<'waiting'>): void {
    if (action === undefined || this.node.kind !== 'ask') return;
    this.#isOpen = true;
    const { mode, message, options = [] } = action;
    const question = jsonText(this.secrets.text(message, this.node.message, this.at));
    const shown = this.secrets.json(options, this.node.options, this.at);
    const list = Array.isArray(shown) ? shown.map(String) : [];
    this.say('assistant', 'question', constructTexts.question(this.node.id, mode, question, list));
  }
}

/** A time that is waited for. */
export class WaitLog extends StepLog {
  #isOpen = false;

  protected override tell(fact: StepFact): void {
    if (fact.kind !== 'waiting' || fact.until === undefined) return;
    this.#isOpen = true;
    this.say('assistant', 'wait', constructTexts.waits(this.node.id, isoTime(fact.until)));
  }

  protected override succeeded(): void {
    if (this.#isOpen) this.say('user', 'wait', constructTexts.waited(this.node.id));
  }

  protected override failed(failure: Failure): boolean {
    this.sayFailure(texts.stepFailed(this.node.id, failure.message), failure);
    return true;
  }

  protected override cancelled(): void {
    if (this.#isOpen) this.say('assistant', 'note', constructTexts.waitGivenUp(this.node.id));
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
    const given = [...this.#written].flatMap(([field, value]) => {
      const expr = node.updates.findLast((update) => update.field === field)?.value;
      return value === undefined ? [] : [[field, this.secrets.json(value, expr, this.at)] as const];
    });
    const cleared = [...this.#written].flatMap(([field, value]) => (value === undefined ? [field] : []));
    const ending = cleared.length === 0 ? '' : constructTexts.cleared(cleared);
    this.sayValue(
      'assistant',
      'state',
      Object.fromEntries(given),
      (json, size) => `${constructTexts.wrote(node.id, json, size)}${ending}`,
    );
  }
}

/** A way back. */
export class GotoLog extends StepLog {
  protected override tell(fact: StepFact): void {
    if (fact.kind !== 'jumped') return;
    const { target, visit, max } = fact;
    this.say('assistant', 'goto', constructTexts.goingBack(target, visit, max));
  }

  protected override succeeded(): void {
    if (this.node.kind !== 'goto') return;
    const { id, target, max } = this.node;
    this.say('assistant', 'goto', constructTexts.noMoreJumps(id, target, max));
  }

  protected override failed(failure: Failure): boolean {
    this.sayFailure(texts.stepFailed(this.node.id, failure.message), failure);
    return true;
  }
}

/** Earlier work that is undone. */
export class CompensateLog extends StepLog {
  readonly #undo: UndoLog;

  constructor(instance: NodeInstance, secrets: RunMask) {
    super(instance, secrets);
    this.#undo = new UndoLog(secrets, (...told) => this.say(...told), instance);
  }

  protected override tell(fact: StepFact, _state: RunState): void {
    this.#undo.observe(fact);
  }
}

/** RFC 3339. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
