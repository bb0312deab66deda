import type { Json, JsonObject, Value } from '../../src/graph/json.js';
import type { ShellNode } from '../../src/graph/model.js';
import { standInLine } from './attempts.js';
import { forgetPlain, noteOutside, undoesOnFailure, undoOf } from './records.js';
import {
  countOf,
  type Fault,
  type Instance,
  type NodeStatus,
  type Part,
  type Run,
  type SkipReason,
  toldStatus,
} from './run.js';
import { end } from './stop.js';
import { attempt, fieldsWith, read } from './values.js';
import { rescue } from './world.js';

export function skip(run: Run, instance: Instance, reason: SkipReason): void {
  instance.reason = reason;
  settle(run, instance, 'skipped');
}

export function succeed(run: Run, instance: Instance, value: Value): void {
  instance.value = value;
  instance.fault = undefined;
  instance.replaced = undefined;
  const { writes } = instance.node;
  if (writes !== undefined && run.rules.writes) fieldsWith(run, instance.part, writes).set(writes, value);
  settle(run, instance, 'succeeded');
}

export function cancel(run: Run, instance: Instance): void {
  settle(run, instance, 'cancelled');
}

/** An attempt failed: another one follows where there is one left and it may help, or else what `onError` says. */
export function failAttempt(run: Run, instance: Instance, fault: Fault): void {
  release(run, instance);
  instance.fault = fault;
  const retry = retryOf(instance);
  const isClosing = instance.stopped || mayNotStart(instance.part);
  const extra = run.rules.extraTries(retry?.extra ?? 0);
  if (retry === undefined || !fault.again || instance.attempts > extra || isClosing) {
    giveUp(run, instance, fault);
    return;
  }
  const factor = { constant: 1, linear: instance.attempts, exponential: 2 ** (instance.attempts - 1) };
  const grown = retry.delayMs * factor[retry.backoff];
  const delay = retry.backoff === 'exponential' ? Math.min(retry.capMs, grown) : grown;
  instance.status = 'waiting';
  if (delay === 0) resume(run, instance);
  else alarm(run, instance, delay, () => resume(run, instance));
}

/** Another attempt may begin. */
function resume(run: Run, instance: Instance): void {
  instance.status = 'ready';
  instance.again = true;
  if (takesPlace(instance)) standInLine(run, instance);
}

function retryOf({ node, part }: Instance) {
  const strategy = part.frame.graph.errorStrategy;
  const applies = (node.kind === 'call' && node.executor === 'server') || node.kind === 'resource';
  return node.retry ?? (applies && strategy?.kind === 'retry' ? strategy.retry : undefined);
}

/** There are no more attempts. */
export function giveUp(run: Run, instance: Instance, fault: Fault): void {
  const { node, part } = instance;
  if (node.onError === undefined || !run.rules.fallbacks) {
    failOrPause(run, instance, fault);
  } else if ('fallbackNode' in node.onError) {
    const target = beside(instance, node.onError.fallbackNode);
    const isLost = target === undefined || ['skipped', 'failed', 'cancelled'].includes(target.status);
    const isGivenUp = part.aborted && !isLost && target.status !== 'succeeded';
    const isClosed = part.stopped || part.ended !== undefined;
    if (isLost || isGivenUp || (target.status === 'pending' && isClosed)) {
      failOrPause(run, instance, fault);
      return;
    }
    instance.fault = fault;
    settle(run, instance, 'handled');
    select(instance, node.onError.fallbackNode, fault);
  } else {
    const error = { code: fault.code, message: fault.message, attempts: instance.reached, node: node.id };
    const { value } = node.onError;
    attempt(
      () => {
        succeed(run, instance, read(run, part, value, error));
        instance.replaced = fault;
      },
      () => failOrPause(run, instance, fault),
    );
  }
}

export function fail(run: Run, instance: Instance, fault: Fault): void {
  instance.fault = fault;
  settle(run, instance, 'failed');
}

/** Nothing handles the failure: the scope fails with it. */
export function failForGood(run: Run, instance: Instance, fault: Fault): void {
  fail(run, instance, fault);
  const { graph } = instance.part.frame;
  const goesOn = graph.failFast === false || graph.errorStrategy?.kind === 'collect' || !run.rules.failFast;
  // After a `return` no failure can be made good any more.
  const { aborted, ended } = instance.part;
  if (!aborted && (!goesOn || ended === 'return')) end(run, instance.part, 'failure', 'upstream_failed');
}

/** Nothing handles the failure. A node of a task that would end it waits to be made outside, or tried again. */
function failOrPause(run: Run, instance: Instance, fault: Fault): void {
  const isPassedOn = fault.passedOn === true && instance.node.onError === undefined;
  if (!run.rules.pauses || isPassedOn || !pauses(run, instance, fault)) {
    failForGood(run, instance, fault);
    return;
  }
  const { key } = instance;
  release(run, instance);
  instance.status = 'waiting';
  instance.paused = true;
  instance.fault = fault;
  instance.attempts += 1;
  const what = rescue(run.world, memberOf(instance), key, countOf(run.asked, `${key} rescued`));
  later(run, instance, { at: run.agenda.now + what.after, rank: 'answer', key }, () => {
    instance.paused = false;
    if (what.kind === 'failure') failForGood(run, instance, { ...what.failure, again: fault.again });
    else if (what.kind === 'retry') resume(run, instance);
    else {
      // It undoes what was done in the state before this.
      const undo = undoOf(run, instance)(what.value);
      madeOutside(run, instance, what.value);
      if (isServerCall(instance)) noteOutside(run, instance, undo);
    }
  });
}

/** The member that every result of a node has. */
function memberOf({ node }: Instance): string | undefined {
  if (node.kind === 'shell') return 'exit_code';
  if (node.kind === 'delegate') return 'response';
  if (node.kind !== 'ask') return undefined;
  const members = { info: 'acknowledged', confirm: 'confirmed', text: 'input', choice: 'selected' };
  return node.mode === 'yield' || node.mode === 'model' ? undefined : members[node.mode];
}

function madeOutside(run: Run, instance: Instance, value: Json): void {
  const { node } = instance;
  if (node.kind === 'shell') commandDone(run, instance, node, value);
  else succeed(run, instance, value);
}

/** What a command printed is its value, unless its exit code fails it. */
export function commandDone(run: Run, instance: Instance, { failOnError }: ShellNode, value: Json): void {
  const result = value as JsonObject;
  if (failOnError && result.exit_code !== 0) {
    const details = { result };
    failAttempt(run, instance, { code: 'E_EXIT_CODE', message: '', details, again: true });
  } else succeed(run, instance, { stdout: '', stderr: '', ...result });
}

/** Whether a failure is one that its run, which is a task, would end with. */
function pauses(run: Run, { node, part }: Instance, { again }: Fault): boolean {
  if (run.graph.task !== true || run.cancelling !== undefined) return false;
  if (['compensate', 'error', 'return'].includes(node.kind)) return false;
  return reachesTop(run, part, again);
}

/** Whether a failure in a scope becomes that of the run: no container around it handles it. */
function reachesTop(run: Run, part: Part, again: boolean): boolean {
  const { owner, stopped, ended, nodes } = part;
  if (stopped || ended !== undefined) return false;
  if (owner === undefined) return true;
  const [first] = nodes
    .filter(({ status }) => status === 'failed')
    .sort((a, b) => (a.settledAt ?? 0) - (b.settledAt ?? 0));
  const mayHelp = first?.fault === undefined ? again : first.fault.again;
  const { node, attempts } = owner;
  if (node.onError !== undefined || undoesOnFailure(run, owner)) return false;
  if (mayHelp && attempts <= run.rules.extraTries(node.retry?.extra ?? 0) && node.retry !== undefined)
    return false;
  if (node.kind === 'parallel' && node.onPartialFailure !== 'abort') return false;
  if (node.kind === 'foreach' && node.onItemError !== 'fail') return false;
  return reachesTop(run, owner.part, mayHelp);
}

/** Whether a scope has been stopped, or fails: a `return` alone lets those go on that have begun. */
function mayNotStart({ stopped, ended, nodes }: Part): boolean {
  if (stopped) return true;
  return ended !== undefined && (ended !== 'return' || nodes.some(({ status }) => status === 'failed'));
}

function beside({ part }: Instance, id: string): Instance | undefined {
  return part.nodes.find(({ node }) => node.id === id);
}

/** Selects a node of the same scope. Only the first selection counts, unless it is cancelled. */
export function select(by: Instance, id: string, fault?: Fault): Instance | undefined {
  const target = beside(by, id);
  if (target?.status !== 'pending') return undefined;
  target.selections = [...target.selections, { by, fault }];
  return target;
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

/** Ends the timers of a node, the answer it waits for, and its slot. */
export function release(run: Run, instance: Instance): void {
  const { flight } = instance;
  instance.flight = undefined;
  flight?.giveUp();
  for (const due of instance.pending) run.agenda.drop(due);
  instance.pending = [];
  if (instance.placed) run.running -= 1;
  instance.placed = false;
}

export function takesPlace(instance: Instance): boolean {
  const { node } = instance;
  return (
    isServerCall(instance) ||
    node.kind === 'resource' ||
    (node.kind === 'compute' && node.function !== undefined)
  );
}

function isServerCall({ node }: Instance): boolean {
  return node.kind === 'call' && node.executor === 'server';
}

function settle(run: Run, instance: Instance, status: NodeStatus): void {
  release(run, instance);
  instance.status = status;
  if (status === 'cancelled' && instance.part.stopped) instance.part.cut = true;
  run.settlements += 1;
  instance.settledAt = run.settlements;
  if (['parallel', 'workflow'].includes(instance.node.kind)) forgetPlain(run, instance);
  const { key: node, value } = instance;
  const end = { at: run.agenda.now, node, status: toldStatus(instance) };
  run.ends.push(status === 'succeeded' ? { ...end, value } : end);
}
