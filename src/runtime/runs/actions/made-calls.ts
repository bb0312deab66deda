import type { Owner } from '../../../decorators/context.js';
import { canonicalJson } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import type { JsonObject } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import type { RunWarning } from '../../../graph/run-time-codes.js';
import { sha256Hex } from '../../../graph/sha256.js';
import type { StepAction } from '../../engine/events.js';
import { nodeOf } from '../../engine/identity.js';
import { maskedFailure } from '../../secrets/mask.js';
import { ownerKey } from '../run/owner.js';
import type { PendingAction, Submission } from './action.js';
import { type AnsweredRun, type Decision, rejected, unchanged } from './decision.js';
import { variablesFailure, workflowExtraKey } from './run-variables.js';

// What clients do about steps of a task that wait to be made: they make the call themselves, or have it tried again.

/** A call that a client made itself. */
type MadeCall = Submission & { readonly tool: string };

/** An open action of a step. */
type OpenStep = PendingAction & { readonly action: StepAction };

/**
 * What a call comes to that a client made itself: the result of the open step that it names, or of the only one with its
 * tool. A repeated request is not recorded again, and a call that fits no step is kept as a variable.
 */
export function decideMadeCall(run: AnsweredRun, call: MadeCall, by: Owner): Decision {
  const live = run.live?.state.run.status === 'running' && !run.isCancelled ? run.live : undefined;
  const open = openSteps(live?.asks.values() ?? []);
  const fitting = open.filter(
    ({ node, action }) => action.tool === call.tool && (call.stepId === undefined || call.stepId === node),
  );
  const content = contentOfCall(call);
  // Calls may be equal: where a step waits for one, only its request says whether it is repeated.
  if (isSentAgain(run, call) || (fitting.length === 0 && isEqual(run, call, content, by))) {
    const answer = run.safeEnvelope.then((envelope) => ({ ok: true, envelope }) as const);
    return { ...unchanged(answer), waits: true };
  }
  if (live === undefined) {
    const warnings = [NOT_USED];
    const answer = run.safeEnvelope.then((envelope) => ({ ok: true, envelope, warnings }) as const);
    return unchanged(answer, warnings);
  }
  const [pending, ...others] = fitting;
  if (pending === undefined || others.length > 0) return keptAside(run, call, open);
  const value = call.result ?? null;
  const failure = run.resultFailure(call.tool, value);
  if (failure !== undefined) return rejected(maskedFailure(failure, run.mask));
  const { requestKey } = call;
  const answer = { kind: 'value', value } as const;
  return { kind: 'fits', pending, answer, warnings: [], content, ...defined({ requestKey }) };
}

/** What a request comes to that has the server try a step again. */
export function decideRetry(run: AnsweredRun, { stepId = '' }: Submission): Decision {
  const open = openSteps(run.live?.asks.values() ?? []);
  const pending = open.find(({ node }) => node === stepId);
  if (pending !== undefined) return { kind: 'retry', pending };
  const steps = open.map(({ node }) => node);
  return rejected({
    code: 'WRONG_STEP',
    message: `Step '${clip(stepId)}' does not wait to be made. ${waitingText(steps)} Nothing was done.`,
    details: { pending_steps: steps },
  });
}

function openSteps(asks: Iterable<PendingAction>): OpenStep[] {
  return [...asks].filter((ask): ask is OpenStep => ask.action.type === 'step');
}

/** Equal for calls that are the same: what the client sent, and what the tool returned. */
function contentOfCall({ tool, args = {}, result = null }: MadeCall): string {
  return sha256Hex(canonicalJson({ tool, args, result }));
}

/** Whether the request of a call was recorded before. The result of its tool may differ. */
function isSentAgain({ actions }: AnsweredRun, { requestKey }: MadeCall): boolean {
  return requestKey !== undefined && actions.hasAnswer((answer) => answer.requestKey === requestKey);
}

/** Whether an equal call was recorded before: at its step, or as a call of this caller. */
function isEqual({ actions }: AnsweredRun, { stepId }: MadeCall, content: string, by: Owner): boolean {
  return actions.hasAnswer((answer, action) => {
    if (answer.content !== content) return false;
    return stepId === undefined ? answer.by === ownerKey(by) : nodeOf(action) === stepId;
  });
}

/** The result of a call that fits no step is a variable of the run. */
function keptAside(run: AnsweredRun, { tool, stepId, result = null }: MadeCall, open: readonly OpenStep[]) {
  const key = workflowExtraKey(tool);
  const variables: JsonObject = { [key]: result };
  const failure = variablesFailure(run.variables?.values ?? {}, variables);
  if (failure !== undefined) return rejected(failure);
  const steps = open.map(({ node }) => node);
  const what =
    stepId === undefined
      ? open.filter(({ action }) => action.tool === tool).length > 1
        ? `Several steps wait for a call of tool '${clip(tool)}': name one by \`_step\``
        : `No step waits for a call of tool '${clip(tool)}'`
      : `Step '${clip(stepId)}' does not wait for a call of tool '${clip(tool)}'`;
  const message = `${what}. ${waitingText(steps)} The result is kept as the variable '${clip(key)}'.`;
  const warnings: readonly RunWarning[] = [{ code: 'W_EXTRA_CALL', message }];
  const answer = run.safeEnvelope.then((envelope) => ({ ok: true, envelope, warnings }) as const);
  return { ...unchanged(answer, warnings), variables };
}

function waitingText(steps: readonly string[]): string {
  return steps.length === 0
    ? 'No step waits to be made.'
    : `Waiting to be made: ${steps.map((step) => `'${clip(step)}'`).join(', ')}.`;
}

const NOT_USED: RunWarning = {
  code: 'W_NOT_USED',
  message: 'The task was over when this call returned: its result was not used.',
};
