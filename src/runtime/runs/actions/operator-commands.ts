import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import type { Failure } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import type { Delivery } from '../run/inbox.js';
import type { InboxItem } from '../store/journal.js';
import type { LiveActions } from './action.js';
import { refusal } from './action.js';
import type { AnsweredRun } from './answers.js';

/** Who looks after a store: it has access to its file. */
export interface Operator {
  readonly kind: 'operator';
  readonly name: string;
  /** Why, in its words. */
  readonly reason?: string;
}

/**
 * What an operator sends to a run. Steps are named by the keys of their nodes; a call is that of a step whose result is not
 * known, see `paused_steps`.
 */
export type OperatorCommand =
  | { readonly command: 'decide'; readonly step: string; readonly outcome: Outcome }
  /** The call is made again, whether or not it happened. */
  | { readonly command: 'retry'; readonly step: string }
  /** Answers a question in the place of those who may answer it. */
  | { readonly command: 'answer'; readonly actionId: string; readonly result: Json }
  | { readonly command: 'cancel'; readonly reason?: string; readonly compensate?: boolean };

type Outcome = Extract<Event, { kind: 'outcomeDecided' }>['outcome'];

/** An item for the inbox of a run. */
export function operatorItem(
  { run, id, at }: Pick<InboxItem, 'run' | 'id' | 'at'>,
  command: OperatorCommand,
  by: Operator,
): InboxItem {
  return { run, id, kind: 'operator', at, by: { ...by }, content: { ...command } as unknown as JsonObject };
}

/** Reads an item; nothing for a command of a later version. */
export function commandIn({ command, ...given }: JsonObject): OperatorCommand | undefined {
  const { step, outcome, actionId, result, reason, compensate } = given;
  if (command === 'decide' && typeof step === 'string' && isOutcome(outcome))
    return { command, step, outcome };
  if (command === 'retry' && typeof step === 'string') return { command, step };
  if (command === 'answer' && typeof actionId === 'string' && result !== undefined)
    return { command, actionId, result };
  if (command !== 'cancel') return undefined;
  return {
    command,
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(compensate === true ? { compensate } : {}),
  };
}

function isOutcome(given: Json | undefined): given is Json & Outcome {
  if (!isJsonObject(given)) return false;
  return given.kind === 'didNotHappen' || (given.kind === 'happened' && given.value !== undefined);
}

/** A decision about a call, on its way into a run. */
export class DecisionDelivery implements Delivery {
  readonly item: string;
  readonly #run: AnsweredRun;
  readonly #command: Extract<OperatorCommand, { command: 'decide' | 'retry' }>;
  readonly #by: Operator;
  #failure: Failure | undefined;

  constructor(
    run: AnsweredRun,
    item: string,
    command: Extract<OperatorCommand, { command: 'decide' | 'retry' }>,
    by: Operator,
  ) {
    this.#run = run;
    this.item = item;
    this.#command = command;
    this.#by = by;
  }

  open(): Event | undefined {
    const command = this.#command;
    const pausedCalls = this.#run.live?.heldCalls ?? [];
    const call = pausedCalls.find(({ node }) => node === command.step);
    this.#failure = call === undefined ? notPaused(command.step, pausedCalls) : this.#misfit(call.tool);
    if (this.#failure !== undefined) return undefined;
    const head = { at: this.#run.clock.now(), id: this.item, by: { ...this.#by }, node: command.step };
    return command.command === 'retry'
      ? { kind: 'retryRequested', ...head }
      : { kind: 'outcomeDecided', ...head, outcome: command.outcome };
  }

  #misfit(tool: string): Failure | undefined {
    const command = this.#command;
    if (command.command === 'retry' || command.outcome.kind === 'didNotHappen') return undefined;
    return this.#run.resultFailure(tool, command.outcome.value);
  }

  respond(): Json {
    return this.#failure === undefined ? { ok: true } : refusal(this.#failure);
  }

  done(): void {}

  told(): void {}

  failed(): void {}
}

function notPaused(step: string, pausedCalls: LiveActions['heldCalls']): Failure {
  const steps = pausedCalls.map(({ node }) => node);
  return {
    code: 'E_NOT_PAUSED',
    message:
      steps.length === 0
        ? `No call of this run waits for a decision, also not that of step '${clip(step)}'. Nothing was done.`
        : `The call of step '${clip(step)}' does not wait for a decision, but that of ${steps.map((each) => `'${clip(each)}'`).join(', ')} does. Nothing was done.`,
    details: { paused_steps: steps },
  };
}
