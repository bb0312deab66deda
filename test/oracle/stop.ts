import { conclude } from './containers.js';
import { cancel, failForGood, giveUp, release, skip, takesPlace } from './endings.js';
import { rollsBack, safetyOf } from './records.js';
import {
  type Fault,
  type Instance,
  isContainer,
  isSettled,
  type Part,
  type Run,
  type SkipReason,
} from './run.js';

/** From here on nothing new starts in a scope, because of something in it. */
export function end(run: Run, part: Part, why: 'failure' | 'error' | 'return', reason: SkipReason): void {
  const isFirst = part.ended === undefined;
  if (isFirst || why !== 'return') part.ended = why;
  part.reason ??= reason;
  const first = isFirst ? reason : part.reason;
  const isHarmless = why === 'return' && part.nodes.every(({ status }) => status !== 'failed');
  for (const instance of part.nodes) {
    if (isSettled(instance)) continue;
    if (instance.paused) failForGood(run, instance, instance.fault as Fault);
    else if (isBetween(instance)) {
      // A container would start nodes, and an `ask` would request another action.
      if (isHarmless && takesPlace(instance)) continue;
      leaveLine(run, instance);
      if (isHarmless) cancel(run, instance);
      else giveUp(run, instance, instance.fault as Fault);
    } else if (instance.status === 'pending' || instance.status === 'ready') {
      if (!isFirst || isAwaited(instance)) continue;
      leaveLine(run, instance);
      skip(run, instance, first);
    } else if (instance.status === 'waiting') cancel(run, instance);
    else stopParts(run, instance, first);
  }
}

/** Nothing new starts in a scope because of something outside; what is in flight settles. */
export function stop(run: Run, part: Part, reason: SkipReason): void {
  if (part.outcome !== undefined) return;
  part.stopped = true;
  part.reason ??= reason;
  for (const instance of part.nodes) {
    if (isSettled(instance)) continue;
    if (isBetween(instance) || instance.status === 'waiting') {
      leaveLine(run, instance);
      cancel(run, instance);
    } else if (instance.status === 'pending' || instance.status === 'ready') {
      if (isAwaited(instance)) continue;
      leaveLine(run, instance);
      skip(run, instance, reason);
      part.cut = true;
    } else stopParts(run, instance, reason);
  }
}

export function stopParts(run: Run, instance: Instance, reason: SkipReason): void {
  if (isContainer(instance)) instance.stopped = true;
  for (const part of instance.parts) stop(run, part, reason);
}

/** As stopped, and calls in flight are aborted. Without a reason the run is cancelled. */
export function abort(run: Run, part: Part, reason?: SkipReason): void {
  if (part.outcome !== undefined) return;
  if (run.rules.abortWaits && reason !== undefined) {
    stop(run, part, reason);
    return;
  }
  part.stopped = true;
  part.aborted = true;
  if (reason !== undefined) part.reason ??= reason;
  for (const instance of part.nodes) {
    if (isSettled(instance)) continue;
    if (settlesFirst(run, instance)) continue;
    const hasBegun = isBetween(instance) || !['pending', 'ready'].includes(instance.status);
    leaveLine(run, instance);
    abortParts(run, instance, reason);
    // What comes to an end of its own is not cut off.
    if (isContainer(instance) && conclude(run, instance)) continue;
    if (isContainer(instance) && hasCallsIn(instance)) {
      // It has no timeout any more.
      release(run, instance);
      continue;
    }
    if (reason === undefined || hasBegun) cancel(run, instance);
    else {
      skip(run, instance, reason);
      part.cut = true;
    }
  }
}

/** A call in flight settles where what it does is to be undone, so that it is undone before what came before it. */
function settlesFirst(run: Run, instance: Instance): boolean {
  const { node, status } = instance;
  if (node.kind !== 'call' || status !== 'running' || safetyOf(run, node.tool) === 'readOnly') return false;
  if (run.cancelling === undefined) return rollsBack(instance);
  const isUndoable = run.effects.some(({ tool, status: of }) => tool !== undefined && of !== 'undone');
  return run.cancelling.compensate && (node.compensate !== undefined || isUndoable);
}

function hasCallsIn({ status, parts }: Instance): boolean {
  return status === 'running' && parts.some(({ nodes }) => nodes.some((each) => !isSettled(each)));
}

export function abortParts(run: Run, instance: Instance, reason?: SkipReason): void {
  if (isContainer(instance)) {
    instance.stopped = true;
    instance.aborted = true;
  }
  for (const part of instance.parts) abort(run, part, reason);
}

/** It failed, and the next attempt has not begun. */
function isBetween({ status, attempts, fault }: Instance): boolean {
  return attempts > 0 && fault !== undefined && (status === 'waiting' || status === 'ready');
}

/** It may have to undo what a `parallel` does that still runs. */
function isAwaited({ node: { id }, part }: Instance): boolean {
  return part.nodes.some(
    ({ node, status }) => node.kind === 'parallel' && node.compensateNode === id && status === 'running',
  );
}

function leaveLine(run: Run, instance: Instance): void {
  const place = run.line.findIndex(({ who }) => who === instance);
  if (place >= 0) run.line.splice(place, 1);
}
