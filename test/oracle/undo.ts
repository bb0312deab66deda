import type { Json, JsonObject } from '../../src/graph/json.js';
import type { CompensateNode, Compensation, ParallelNode } from '../../src/graph/model.js';
import { failForGood, later, release, select, succeed } from './endings.js';
import { stepsIn } from './expressions.js';
import { countOf, type Fault, type Instance, type Part, type Run } from './run.js';
import { attempt, read, visible } from './values.js';
import { reply } from './world.js';

/** A compensation to be made. */
interface Step {
  readonly compensation: Compensation;
  /** Where its input is evaluated. */
  readonly part: Part;
  /** What calls of it have in common, and no others. */
  readonly identity: string;
  /** The node whose call it takes back. */
  readonly of?: Instance;
}

interface Report {
  readonly done: string[];
  readonly failed: {
    readonly tool: string;
    readonly failure: { readonly code: string; readonly message: string };
  }[];
  readonly not_run: string[];
}

/** The steps of a `compensate` node, in the written order. */
export function undoListed(run: Run, instance: Instance, node: CompensateNode): void {
  const { part, key } = instance;
  const [selected] = instance.selections;
  instance.status = 'running';
  instance.attempts += 1;
  const identity = `${key} ${part.visits}${instance.visits}`;
  const steps = node.steps.map((compensation, index) => ({
    compensation,
    part,
    identity: `undo ${identity} ${index}`,
  }));
  undo(run, instance, steps, (report, halted) => {
    const { rollback } = selected?.by ?? {};
    if (rollback !== undefined)
      failForGood(run, instance, partialFailure(rollback.failed, rollback.again, toJson(report)));
    else if (selected?.fault !== undefined) failForGood(run, instance, { ...selected.fault, again: false });
    else if (halted) failForGood(run, instance, { code: 'E_COMPENSATION', message: '', again: false });
    else succeed(run, instance, toJson(report));
  });
}

/** Undoes what the branches of a `parallel` did, or selects the node that does. `failed` says which of them failed. */
export function undoParts(
  run: Run,
  instance: Instance,
  node: ParallelNode,
  failed: JsonObject,
  again: boolean,
): void {
  // What it takes to undo is not bounded.
  release(run, instance);
  if (node.compensateNode === undefined) {
    instance.rollback = { failed, again };
    const done = instance.parts.flatMap((part) => callsIn(part));
    undo(run, instance, stepsFor(run, done), (report) => {
      instance.rollback = { failed, again, report: toJson(report) };
    });
    return;
  }
  const target = select(instance, node.compensateNode);
  instance.rollback = target === undefined ? { failed, again, report: null } : { failed, again, target };
}

/** What a `parallel` fails with that has rolled back. */
export function partialFailure(failed: JsonObject, again: boolean, compensation: Json): Fault {
  return { code: 'E_PARTIAL_FAILURE', message: '', details: { failed, compensation }, again };
}

/** All calls in a run that can be undone, the last one first. */
export function undoAll(run: Run, then: () => void): void {
  undo(run, undefined, stepsFor(run, callsIn(run.root)), then);
}

function stepsFor(run: Run, calls: readonly Instance[]): Step[] {
  const order = [...calls].sort((a, b) => (b.settledAt ?? 0) - (a.settledAt ?? 0));
  if (run.rules.undoForward) order.reverse();
  return order.flatMap((of) => {
    const { compensate } = of.node;
    const identity = `undo ${of.key} ${of.part.visits}${of.visits}`;
    return compensate === undefined || run.rules.undoNothing
      ? []
      : [{ compensation: compensate, part: of.part, identity, of }];
  });
}

/** The calls in a scope that succeeded and say how they are undone, those of inner scopes too. */
function callsIn(part: Part): Instance[] {
  return part.nodes.flatMap((instance) => {
    const inner = instance.parts.flatMap((each) => callsIn(each));
    const { node, status, called, undone } = instance;
    const counts =
      node.kind === 'call' && node.compensate !== undefined && status === 'succeeded' && called && !undone;
    return counts ? [instance, ...inner] : inner;
  });
}

/** One after the other. A failure ends it, unless it is to be ignored. */
function undo(
  run: Run,
  by: Instance | undefined,
  [step, ...others]: readonly Step[],
  then: (report: Report, halted: boolean) => void,
  report: Report = { done: [], failed: [], not_run: [] },
): void {
  if (step === undefined) {
    then(report, false);
    return;
  }
  const goOn = (): void => undo(run, by, others, then, report);
  if (!hasHappened(step)) {
    goOn();
    return;
  }
  const { tool, input, ignoreError } = step.compensation;
  const fail = ({ code, message }: Pick<Fault, 'code' | 'message'>): void => {
    report.failed.push({ tool, failure: { code, message } });
    if (ignoreError) {
      goOn();
      return;
    }
    report.not_run.push(...others.filter(hasHappened).map(({ compensation }) => compensation.tool));
    then(report, true);
  };
  const call = (): void =>
    attempt(() => {
      const value = read(run, step.part, input) ?? null;
      const before = countOf(run.asked, tool);
      const answer = reply(run.world, { kind: 'undo', who: tool, tool, input: value, before });
      if (answer.kind === 'hang') throw new Error('what undoes always comes back');
      const { identity } = step;
      run.calls.push({
        ...{ at: run.agenda.now, node: by?.key ?? '', tool },
        input: value,
        identity,
        compensation: true,
      });
      const what = (): void => {
        if (by !== undefined) release(run, by);
        if (answer.kind === 'failure') {
          fail(answer.failure);
          return;
        }
        report.done.push(tool);
        if (step.of !== undefined) step.of.undone = true;
        goOn();
      };
      const due = { at: run.agenda.now + answer.after, rank: 'answer', key: tool } as const;
      if (by === undefined) {
        run.agenda.add({ ...due, what });
        return;
      }
      by.placed = true;
      run.running += 1;
      later(run, by, due, what);
    }, fail);
  if (by === undefined) call();
  else run.line.push({ who: by, begin: call });
}

function toJson({ done, failed, not_run }: Report): Json {
  return { done, failed, not_run };
}

/** Whether every step it plainly refers to has succeeded. */
function hasHappened({ compensation, part }: Step): boolean {
  return stepsIn(compensation.input).plain.every((id) => visible(part, id)?.status === 'succeeded');
}
