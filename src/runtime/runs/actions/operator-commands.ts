import type { Owner } from '../../../decorators/context.js';
import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import type { Failure } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import type { InboxItem } from '../store/journal.js';

/** Who looks after a store: it has access to its file. */
export interface Operator {
  readonly kind: 'operator';
  readonly name: string;
  /** Who it is as a caller: it answers the questions that this caller may answer. Default: it answers any. */
  readonly principal?: Owner & JsonObject;
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
  /** Without a principal of the operator: in the place of those who may answer it. */
  | { readonly command: 'answer'; readonly actionId: string; readonly result: Json }
  | { readonly command: 'cancel'; readonly reason?: string; readonly compensate?: boolean };

type Outcome = Extract<Event, { kind: 'outcomeDecided' }>['outcome'];

/** The run ended before it took a command. */
export const RUN_OVER: Failure = {
  code: 'E_NOT_PAUSED',
  message: 'The run is over: the command was not taken.',
};

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
