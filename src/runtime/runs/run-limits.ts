import type { Owner } from '../../decorators/context.js';
import { clip } from '../../graph/printable-text.js';
import type { Failure } from '../engine/contract.js';
import type { RunAnswer } from './run/envelope.js';
import { accessKey, ownerKey } from './run/owner.js';
import type { RunLimits } from './run-store.js';

/** With what the quota of an anonymous owner begins; that of others begins with a brace. */
export const ANONYMOUS = 'anonymous ';

/** Equal for runs that are counted together. Anonymous callers are distinguished by their address alone. */
export function quotaOf(owner: Owner, remoteAddress?: string): string {
  return owner.kind === 'anonymous' ? `${ANONYMOUS}${remoteAddress ?? ''}` : ownerKey(owner);
}

/** The runs that one is counted with, and the callers that reach it: those with an equal `access`. */
export function groupOf(
  owner: Owner,
  quota: string,
): { readonly quota: string; readonly access: string; readonly owner: Owner } {
  return { quota, access: accessKey(owner), owner };
}

/** How much of a store a caller uses. */
interface Usage {
  /** Its open runs. */
  readonly open: number;
  /** Their open actions. */
  readonly pending: number;
  /** Open runs of all anonymous callers, where it is one. */
  readonly anonymous: number | undefined;
}

/** What keeps a caller from starting another run. No run is cancelled to make room for it. */
export function excess(
  { open, pending, anonymous = 0 }: Usage,
  { maxOpenRuns, maxPendingActions, maxAnonymousRuns }: RunLimits,
): Failure | undefined {
  if (open >= maxOpenRuns)
    return exhausted(
      `${open} runs are open, and no more than ${maxOpenRuns} may be: finish or cancel one first.`,
    );
  if (anonymous >= maxAnonymousRuns)
    return exhausted(
      `${maxAnonymousRuns} runs without authentication are open, which is the limit of this server: finish or cancel one first, or authenticate.`,
    );
  return pending < maxPendingActions
    ? undefined
    : exhausted(
        `${pending} actions are open, and a run may begin only below ${maxPendingActions}: answer or cancel some first.`,
      );
}

function exhausted(message: string): Failure {
  return { code: 'RESOURCE_EXHAUSTED', message };
}

/** The answer about a run that does not exist, or not for the caller. */
export function unknownRun(id: string): Extract<RunAnswer, { readonly ok: false }> {
  return {
    ok: false,
    failure: {
      code: 'WORKFLOW_NOT_FOUND',
      message: `Run '${clip(id)}' not found: it does not exist, was forgotten, or belongs to another caller. Check the id, and call as the caller that started it.`,
    },
  };
}
