import type { JsonObject } from '../../graph/json.js';
import type { NodeInstance } from '../../plan/instances.js';
import type { CompensationReport } from '../engine/contract.js';
import type { RunMask } from '../host/run-mask.js';
import { jsonText } from '../tools/encode-text.js';
import { constructTexts } from './construct-texts.js';
import { type BlockMeta, limited, type PromptMessage, sized } from './messages.js';
import type { FactOf, StepFact } from './step-log.js';
import { texts } from './texts.js';

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

  /** @param by the step that undoes; missing for a cancelled run. */
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
        this.#say('assistant', 'undo', constructTexts.nothingToUndo(fact.tool, this.#nameOf(fact.undoes)), {
          ...undone(fact.undoes),
        });
        return;
      case 'compensated':
        this.#say('assistant', 'undo', undoReport(fact.report, this.#secrets));
        return;
      default:
    }
  }

  #begins({ failure }: FactOf<'compensating'>): void {
    const text =
      this.#by === undefined
        ? constructTexts.undoingRun
        : constructTexts.undoing(this.#by.planned.node.id, failure?.message);
    this.#say('assistant', 'undo', this.#secrets.text(text));
  }

  #calls(fact: FactOf<'callIssued'>): void {
    const shown = this.#secrets.compensation(fact) as JsonObject;
    const { text, size } = limited(jsonText(shown, 2));
    const told = constructTexts.undoCall(fact.tool, this.#nameOf(fact.undoes), text, size);
    this.#say('assistant', 'undo', told, { ...undone(fact.undoes), ...sized(size) });
  }

  /** A step as it is called in the workflow that undoes it. */
  #nameOf(key: string | undefined): string | undefined {
    const prefix = this.#by?.scope.workflow.prefix ?? '';
    return key?.startsWith(prefix) ? key.slice(prefix.length) : key;
  }

  #returned({ outcome, command }: FactOf<'callReturned'>): void {
    if (outcome.ok) {
      const { text, size } = limited(jsonText(this.#secrets.given(outcome.value, command), 2));
      this.#say('user', 'result', texts.result(text, size), sized(size));
      return;
    }
    const { code, message } = outcome.failure;
    this.#say('user', 'error', this.#secrets.text(texts.failed(message)), { 'stepwright/code': code });
  }
}

/** How undoing went, in words. */
export function undoReport({ done, failed, not_run }: CompensationReport, secrets: RunMask): string {
  const faults = failed.map(({ tool, failure }) => {
    return { tool, why: failure.message, isUnknown: failure.outcomeUnknown === true };
  });
  return secrets.text(constructTexts.undoReport(done, faults, not_run));
}

function undone(key: string | undefined): { 'stepwright/undoes'?: string } {
  return key === undefined ? {} : { 'stepwright/undoes': key };
}
