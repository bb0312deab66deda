import type { SkipReason } from '../../src/runtime/engine/contract.js';
import { type Fault, type Instance, isSettled, type Part, type Run } from './run.js';
import { attempt, read } from './values.js';

export function skip(run: Run, instance: Instance, reason: SkipReason): void {
  settle(run, instance);
  instance.status = 'skipped';
  instance.reason = reason;
}

export function succeed(run: Run, instance: Instance, value: unknown): void {
  settle(run, instance);
  instance.status = 'succeeded';
  instance.value = value as never;
  instance.fault = undefined;
}

export function cancel(run: Run, instance: Instance): void {
  settle(run, instance);
  instance.status = 'cancelled';
}

/** An attempt failed: another one follows where there is one left and it may help, or else what `onError` says. */
export function failAttempt(run: Run, instance: Instance, fault: Fault): void {
  release(run, instance);
  instance.fault = fault;
  const retry = retryOf(instance);
  const isClosing =
    instance.part.stopped || (instance.part.ended !== undefined && instance.part.ended !== 'return');
  const extra = run.rules.extraTries(retry?.extra ?? 0);
  if (retry === undefined || !fault.again || instance.attempts > extra || isClosing) {
    giveUp(run, instance, fault);
    return;
  }
  const factor = { constant: 1, linear: instance.attempts, exponential: 2 ** (instance.attempts - 1) };
  const delay = Math.min(retry.capMs, retry.delayMs * factor[retry.backoff]);
  instance.status = 'waiting';
  const goOn = (): void => {
    instance.status = 'ready';
    instance.again = true;
    if (takesPlace(instance)) run.line.push(instance);
  };
  if (delay === 0) goOn();
  else alarm(run, instance, delay, goOn);
}

function retryOf({ node, part }: Instance) {
  const strategy = part.frame.graph.errorStrategy;
  const applies = node.kind === 'call' || node.kind === 'resource';
  return node.retry ?? (applies && strategy?.kind === 'retry' ? strategy.retry : undefined);
}

/** There are no more attempts. */
export function giveUp(run: Run, instance: Instance, fault: Fault): void {
  const { node, part } = instance;
  if (node.onError === undefined || !run.rules.fallbacks) {
    failForGood(run, instance, fault);
  } else if ('fallbackNode' in node.onError) {
    settle(run, instance);
    instance.status = 'handled';
    instance.fault = fault;
    select(instance, node.onError.fallbackNode, fault);
  } else {
    const error = { code: fault.code, message: fault.message, attempts: instance.reached, node: node.id };
    const { value } = node.onError;
    attempt(
      () => succeed(run, instance, read(run, part, value, error)),
      () => failForGood(run, instance, fault),
    );
  }
}

export function failForGood(run: Run, instance: Instance, fault: Fault): void {
  settle(run, instance);
  instance.status = 'failed';
  instance.fault = fault;
  const { graph } = instance.part.frame;
  const goesOn = graph.failFast === false || graph.errorStrategy?.kind === 'collect' || !run.rules.failFast;
  if (!goesOn) end(run, instance.part, 'failure', 'upstream_failed');
}

/** Selects a node beside this one. Only the first selection counts. */
export function select(by: Instance, id: string, fault?: Fault): Instance | undefined {
  const target = by.part.nodes.find(({ node }) => node.id === id);
  if (target?.status !== 'pending') return undefined;
  target.selected ??= { by, fault };
  return target;
}

/** From here on nothing new starts in a scope, because of something in it. */
export function end(run: Run, part: Part, why: 'failure' | 'error' | 'return', reason: SkipReason): void {
  if (part.ended === undefined || why !== 'return') part.ended = why;
  part.reason ??= reason;
  for (const instance of part.nodes) {
    if (isSettled(instance)) continue;
    if (isBetween(instance)) {
      if (why === 'return') continue;
      leaveLine(run, instance);
      giveUp(run, instance, instance.fault as Fault);
    } else if (instance.status === 'pending' || instance.status === 'ready') {
      if (isAwaited(instance)) continue;
      leaveLine(run, instance);
      skip(run, instance, reason);
    } else if (instance.status === 'waiting') cancel(run, instance);
    else stopParts(run, instance, reason);
  }
}

/** Nothing new starts in a scope because of something outside; what is in flight settles. */
function stop(run: Run, part: Part, reason: SkipReason): void {
  if (part.outcome !== undefined) return;
  part.stopped = true;
  part.reason ??= reason;
  for (const instance of part.nodes) {
    if (isSettled(instance)) continue;
    if (isBetween(instance) || instance.status === 'waiting') {
      leaveLine(run, instance);
      cancel(run, instance);
      part.cut = true;
    } else if (instance.status === 'pending' || instance.status === 'ready') {
      if (isAwaited(instance)) continue;
      leaveLine(run, instance);
      skip(run, instance, reason);
      part.cut = true;
    } else stopParts(run, instance, reason);
  }
}

export function stopParts(run: Run, instance: Instance, reason: SkipReason): void {
  instance.stopped = true;
  for (const part of instance.parts) if (part !== undefined) stop(run, part, reason);
}

/** As stopped, and calls in flight are given up at once. */
export function abort(run: Run, part: Part, reason: SkipReason): void {
  if (part.outcome !== undefined) return;
  if (run.rules.abortWaits) {
    stop(run, part, reason);
    return;
  }
  part.stopped = true;
  part.reason ??= reason;
  for (const instance of part.nodes) {
    if (isSettled(instance)) continue;
    part.cut = true;
    abortParts(run, instance, reason);
    leaveLine(run, instance);
    if ((instance.status === 'pending' || instance.status === 'ready') && !isBetween(instance))
      skip(run, instance, reason);
    else cancel(run, instance);
  }
}

export function abortParts(run: Run, instance: Instance, reason: SkipReason): void {
  instance.stopped = true;
  for (const part of instance.parts) if (part !== undefined) abort(run, part, reason);
}

/** It failed, and the next attempt has not begun. */
function isBetween({ status, attempts, fault }: Instance): boolean {
  return attempts > 0 && fault !== undefined && (status === 'waiting' || status === 'ready');
}

/** A `parallel` has selected it to undo, and waits for it. */
function isAwaited({ selected }: Instance): boolean {
  return selected?.by.rollback?.target !== undefined;
}

export function alarm(run: Run, instance: Instance, delay: number, then: () => void): void {
  const due = { at: run.agenda.now + delay, rank: 'timer', key: instance.key } as const;
  later(run, instance, due, then);
}

export function later(
  run: Run,
  instance: Instance,
  due: { readonly at: number; readonly rank: 'answer' | 'timer'; readonly key: string },
  then: () => void,
): void {
  const entry = run.agenda.add({
    ...due,
    what: () => {
      instance.pending = instance.pending.filter((each) => each !== entry);
      then();
    },
  });
  instance.pending.push(entry);
}

/** What was under way for a node is over: its timers, the reply it waits for, the place it took. */
export function release(run: Run, instance: Instance): void {
  for (const due of instance.pending) run.agenda.drop(due);
  instance.pending = [];
  if (instance.placed) run.running -= 1;
  instance.placed = false;
}

export function takesPlace({ node }: Instance): boolean {
  return (
    node.kind === 'call' ||
    node.kind === 'resource' ||
    (node.kind === 'compute' && node.function !== undefined)
  );
}

function leaveLine(run: Run, instance: Instance): void {
  const place = run.line.indexOf(instance);
  if (place >= 0) run.line.splice(place, 1);
}

function settle(run: Run, instance: Instance): void {
  release(run, instance);
  run.settlements += 1;
  instance.settledAt = run.settlements;
}
