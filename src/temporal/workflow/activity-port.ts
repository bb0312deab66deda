import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  scheduleActivity,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { defined } from '../../graph/defined.js';
import type { Json, JsonObject } from '../../graph/json.js';
import { clip } from '../../graph/printable-text.js';
import type { Failure } from '../../runtime/engine/contract.js';
import type {
  CallContext,
  CallPort,
  EvaluationOutcome,
  FunctionReference,
  ResourceOutcome,
  ToolOutcome,
} from '../../runtime/tools/port.js';
import { jsonSize } from '../../runtime/tools/to-json.js';
import { excessOf, type PayloadPart } from '../payload-limit.js';
import { type Activities, CALL_GRACE_MS, type RemoteCall, type RunArguments } from '../protocol.js';

/** What a call without a limit of its own may take, in ms. */
const NO_LIMIT_MS = 365 * 86_400_000;

/**
 * Makes the calls of a run in activities. Temporal attempts each once: the engine repeats what failed. A call that was lost
 * with its worker is made again where that has no further effect.
 */
export class ActivityPort implements CallPort {
  readonly isolates = true;
  readonly limits: boolean;
  readonly #run: RunArguments;
  readonly #budget: PayloadBudget;
  #inFlight = 0;
  #lost = 0;
  /** The calls that wait for the next workflow of the run are not made in this one. */
  #isClosed = false;

  constructor(run: RunArguments, budget: PayloadBudget) {
    this.#run = run;
    this.#budget = budget;
    this.limits = run.limitsCalls === true;
  }

  /** Makes no further call until it is opened. */
  close(): void {
    this.#isClosed = true;
  }

  open(): void {
    this.#isClosed = false;
  }

  /** How many calls were lost with their workers. */
  get lostCalls(): number {
    return this.#lost;
  }

  /** Whether no call is in flight. */
  get isIdle(): boolean {
    return this.#inFlight === 0;
  }

  callTool(tool: string, input: JsonObject, context: CallContext): Promise<ToolOutcome> {
    const isRepeatable = this.#run.tools[tool] !== undefined;
    const call = { ...this.#callOf(context), tool, input };
    const excess = this.#excess(tool, call);
    if (excess !== undefined) return Promise.resolve({ ok: false, attempted: false, failure: excess });
    return this.#execute('callTool', call, { context, what: tool, isRepeatable }).catch(attemptedFailure);
  }

  readResource(resource: string, uri: string, context: CallContext): Promise<ResourceOutcome> {
    const call = { ...this.#callOf(context), resource, uri };
    const excess = this.#excess(uri, call);
    if (excess !== undefined) return Promise.resolve({ ok: false, failure: excess });
    return this.#execute('readResource', call, { context, what: uri, isRepeatable: true }).catch(failure);
  }

  evaluate(
    reference: FunctionReference,
    args: readonly Json[],
    context: CallContext,
  ): Promise<EvaluationOutcome> {
    const call = { ...this.#callOf(context), function: reference, args };
    const excess = this.#excess(reference.name, call);
    if (excess !== undefined) return Promise.resolve({ ok: false, failure: excess });
    return this.#execute('evaluate', call, { context, what: reference.name, isRepeatable: true }).catch(
      failure,
    );
  }

  /** Why a call cannot be sent to a worker. */
  #excess(what: string, call: RemoteCall): Failure | undefined {
    return this.#budget.excess(`The input of '${clip(what)}'`, 'input', call);
  }

  #callOf({ requestId, auth, idempotencyKey, origin }: CallContext): RemoteCall {
    const { owner, trace } = this.#run;
    return { requestId, owner, ...defined({ auth, idempotencyKey, origin, trace }) };
  }

  async #execute<Name extends keyof Activities>(
    name: Name,
    call: Parameters<Activities[Name]>[0],
    options: CallOptions,
  ): Promise<Awaited<ReturnType<Activities[Name]>>> {
    const { context } = options;
    const { dueAt = Date.now() + NO_LIMIT_MS } = context;
    const whole = dueAt - Date.now();
    const limitOf = (): number => (this.limits ? whole : dueAt - Date.now());
    if (this.#isClosed) await condition(() => !this.#isClosed);
    this.#inFlight += 1;
    try {
      const room = this.#budget.reserve(call);
      if (room !== undefined) await room;
      if (context.signal.aborted) throw new CancelledFailure(NOT_MADE);
      return await this.#attempt(name, call, { ...options, limitOf });
    } finally {
      this.#inFlight -= 1;
    }
  }

  async #attempt<Name extends keyof Activities>(
    name: Name,
    call: Parameters<Activities[Name]>[0],
    { context, what, isRepeatable, limitOf }: CallOptions & { readonly limitOf: () => number },
  ): Promise<Awaited<ReturnType<Activities[Name]>>> {
    const { origin, signal } = context;
    const node = origin?.source === 'workflow' ? `${origin.node}: ` : '';
    for (;;) {
      const scope = new CancellationScope();
      const cancel = (): void => scope.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        return await scope.run(() =>
          scheduleActivity<Awaited<ReturnType<Activities[Name]>>>(name, [call], {
            startToCloseTimeout: Math.max(0, limitOf()) + CALL_GRACE_MS,
            heartbeatTimeout: this.#run.leaseMs,
            // A call that is over its limit may still return what it did.
            cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            retry: { maximumAttempts: 1 },
            summary: `${node}${what}`.slice(0, SUMMARY_LENGTH),
          }),
        );
      } catch (fault) {
        if (isLost(fault)) this.#lost += 1;
        if (!isRepeatable || !isLost(fault) || signal.aborted) throw fault;
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    }
  }
}

const NOT_MADE = 'The call was cancelled before it was made.';

interface CallOptions {
  readonly context: CallContext;
  /** Names the tool, the resource or the function. */
  readonly what: string;
  /** Whether another call has no further effect. */
  readonly isRepeatable: boolean;
}

/** Temporal refuses longer ones. */
const SUMMARY_LENGTH = 200;

/** Whether the worker of an activity went silent. */
function isLost(fault: unknown): boolean {
  return (
    fault instanceof ActivityFailure &&
    fault.cause instanceof TimeoutFailure &&
    fault.cause.timeoutType === 'HEARTBEAT'
  );
}

function attemptedFailure(fault: unknown): Extract<ToolOutcome, { ok: false }> {
  // Without an activity the tool was not called.
  const attempted = fault instanceof ActivityFailure;
  return { ...failure(fault, attempted), attempted, ...(isLost(fault) ? { isLost: true } : {}) };
}

/** The failure of a call whose activity returned no outcome. @throws a fault of the activity itself. */
function failure(fault: unknown, hasEffect = false): Extract<ResourceOutcome, { readonly ok: false }> {
  const cause = fault instanceof ActivityFailure ? fault.cause : fault;
  const outcomeUnknown = hasEffect ? ({ outcomeUnknown: true } as const) : {};
  if (cause instanceof CancelledFailure)
    return {
      ok: false,
      failure: { code: 'E_CANCELLED', message: 'The call was cancelled.', ...outcomeUnknown },
    };
  if (!(cause instanceof TimeoutFailure)) throw cause ?? fault;
  const lost = { code: 'E_CALL_LOST', message: LOST, ...outcomeUnknown };
  return { ok: false, failure: lost, ...(cause.timeoutType === 'START_TO_CLOSE' && { isTimedOut: true }) };
}

const LOST = 'The worker that made the call stopped before it returned.';

/**
 * What a workflow may send to Temporal. A single value is limited, and so is all that is sent with one task of the workflow:
 * Temporal ends a workflow with a task that is larger than a message.
 */
export class PayloadBudget {
  readonly #bytes: number;
  /** The length of the history with which the current task began. */
  #task = -1;
  #used = 0;
  #nextTask: Promise<void> | undefined;

  /** @param bytes of one value, and of all values of a task. Default: no limit. */
  constructor(bytes = Number.POSITIVE_INFINITY) {
    this.#bytes = bytes;
  }

  /** Why a value cannot be sent. @param what begins the message. */
  excess(what: string, part: PayloadPart, value: object): Failure | undefined {
    return this.#isLimited ? excessOf(what, part, value, this.#bytes) : undefined;
  }

  /** Reserves room for a value in the current task, or resolves in the first task with room. */
  reserve(value: object): Promise<void> | undefined {
    if (!this.#isLimited) return undefined;
    const size = jsonSize(value as Json, this.#bytes);
    return this.#take(size) ? undefined : this.#takeLater(size);
  }

  get #isLimited(): boolean {
    return this.#bytes < Number.POSITIVE_INFINITY;
  }

  #take(size: number): boolean {
    const { historyLength } = workflowInfo();
    if (historyLength !== this.#task) {
      this.#task = historyLength;
      this.#used = 0;
    }
    if (this.#used > 0 && this.#used + size > this.#bytes) return false;
    this.#used += size;
    return true;
  }

  async #takeLater(size: number): Promise<void> {
    do {
      this.#nextTask ??= CancellationScope.nonCancellable(() => sleep(1)).then(() => {
        this.#nextTask = undefined;
      });
      await this.#nextTask;
    } while (!this.#take(size));
  }
}
