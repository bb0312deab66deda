import { canonicalJson } from '../../src/graph/canonical.js';
import type { Json, JsonObject } from '../../src/graph/json.js';
import type { CompensateNode, Compensation, ParallelNode } from '../../src/graph/model.js';
import { failForGood, release, select, succeed } from './endings.js';
import { stepsIn } from './expressions.js';
import {
  appendOwn,
  beginOwn,
  effectsIn,
  markNotUndoable,
  mayRepeat,
  notePerhapsUndone,
  noteUndone,
  type Undo,
  undoKey,
  want,
} from './records.js';
import { countOf, type Effect, type Fault, type Instance, type Part, type Run } from './run.js';
import { attempt, read, visible } from './values.js';
import { type Failure, reply, undoer } from './world.js';

/** How long a compensation may take. */
const UNDO_MS = 60_000;

interface Report {
  readonly done: string[];
  readonly failed: { readonly tool: string; readonly failure: Told }[];
  readonly not_run: string[];
}

type Told = Pick<Fault, 'code' | 'message'>;

/** What comes of a compensation. */
type Then = (failure?: Failure) => void;

/** What undoes: a node, or, where it is none, the cancelled run. */
type Owner = Instance | undefined;

/** The steps of a `compensate` node, in the written order. */
export function undoListed(run: Run, instance: Instance, node: CompensateNode): void {
  const [selected] = instance.selections;
  instance.status = 'running';
  instance.attempts += 1;
  beginOwn(run, instance);
  undoSteps(run, instance, node, (report, halted) => {
    // One that rolled back by itself may select it as a fallback.
    const rollback = selected?.by.rollback?.target === instance ? selected.by.rollback : undefined;
    if (rollback !== undefined && selected !== undefined) {
      want(effectsIn(run, selected.by));
      const again = rollback.again && mayRepeat(run, selected.by);
      failForGood(run, instance, partialFailure(rollback.failed, again, report));
    } else if (selected?.fault !== undefined) failForGood(run, instance, selected.fault);
    else if (halted) {
      const details = { compensation: report };
      failForGood(run, instance, { code: 'E_COMPENSATION', message: '', details, again: false });
    } else succeed(run, instance, report);
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
    undoNewest(
      run,
      instance,
      () => effectsIn(run, instance),
      (report) => {
        instance.rollback = { failed, again, report };
      },
    );
    return;
  }
  want(effectsIn(run, instance));
  const target = select(instance, node.compensateNode);
  instance.rollback = target === undefined ? { failed, again, report: null } : { failed, again, target };
}

/** Undoes what a workflow did that failed with `fault`. Gives whether there is anything to undo. */
export function undoWorkflow(run: Run, instance: Instance, fault: Fault): boolean {
  if (effectsIn(run, instance).length === 0) return false;
  release(run, instance);
  const rollback = { failed: {}, again: fault.again, fault };
  instance.rollback = rollback;
  undoNewest(
    run,
    instance,
    () => effectsIn(run, instance),
    (report) => {
      instance.rollback = { ...rollback, report };
    },
  );
  return true;
}

/** What a workflow, or the run, fails with once it was undone. */
export function undoneFault({ details, ...fault }: Fault, compensation: Json): Fault {
  return { ...fault, details: { compensation, ...(details === undefined ? {} : { details }) } };
}

/** What a `parallel` fails with that has rolled back. */
export function partialFailure(failed: JsonObject, again: boolean, compensation: Json): Fault {
  return { code: 'E_PARTIAL_FAILURE', message: '', details: { failed, compensation }, again };
}

/** All effects in a run that can be undone, the last one first. Of a run that failed, all effects. */
export function undoAll(run: Run, then: (report: Json) => void): void {
  const covered = () =>
    run.effects.filter(({ tool, status }) => (run.failing || tool !== undefined) && status !== 'undone');
  undoNewest(run, undefined, covered, then);
}

/** Undoes one effect after the other, always the newest that was not looked at. */
function undoNewest(run: Run, by: Owner, covered: () => Effect[], then: (report: Json) => void): void {
  const report: Report = { done: [], failed: [], not_run: [] };
  const seen = new Set<Effect>();
  const left = (): Effect[] => {
    if (run.rules.undoNothing) return [];
    want(covered());
    const open = covered().filter((effect) => !seen.has(effect));
    return open.sort((a, b) => (b.order - a.order) * (run.rules.undoForward ? -1 : 1));
  };
  const resume = (hasSlot: boolean): void => {
    for (const effect of left()) {
      const { tool, status } = effect;
      if (tool === undefined) {
        seen.add(effect);
        markNotUndoable(effect);
      } else if (status === 'failed') {
        seen.add(effect);
        report.failed.push({ tool, failure: told(effect.failure) });
      } else if (status === 'undoing') {
        seen.add(effect);
        effect.joined.push((failure) => isAlive(by) && count(effect, tool, failure));
        return;
      } else if (by !== undefined && !hasSlot) {
        run.line.push({ who: by, begin: () => resume(true) });
        return;
      } else {
        seen.add(effect);
        undoEffect(run, by, effect, (failure) => count(effect, tool, failure));
        return;
      }
    }
    then(toJson(report));
  };
  const count = ({ ignoreError }: Effect, tool: string, failure?: Told): void => {
    if (failure === undefined) report.done.push(tool);
    else report.failed.push({ tool, failure: told(failure) });
    if (failure === undefined || ignoreError) {
      resume(false);
      return;
    }
    const notRun = left().filter(({ status }) => status === 'active' || status === 'unknown');
    report.not_run.push(...notRun.flatMap((each) => each.tool ?? []));
    then(toJson(report));
  };
  resume(false);
}

/** The steps of a `compensate` node. A failure ends them, unless it is to be ignored. */
function undoSteps(
  run: Run,
  by: Instance,
  { steps }: CompensateNode,
  then: (report: Json, halted: boolean) => void,
): void {
  const report: Report = { done: [], failed: [], not_run: [] };
  const { part } = by;
  const resume = (index: number, hasSlot: boolean): void => {
    const step = steps[index];
    if (step === undefined) {
      then(toJson(report), false);
      return;
    }
    const count = (failure: Told | undefined, stillHasTurn = false): void => {
      if (failure === undefined) report.done.push(step.tool);
      else report.failed.push({ tool: step.tool, failure: told(failure) });
      if (failure === undefined || step.ignoreError) {
        resume(index + 1, stillHasTurn);
        return;
      }
      for (const [place, other] of steps.entries()) {
        if (place <= index || !hasHappened(part, other)) continue;
        report.not_run.push(other.tool);
        want([effectFor(run, by, place, other)]);
      }
      then(toJson(report), true);
    };
    if (!hasHappened(part, step)) {
      resume(index + 1, hasSlot);
      return;
    }
    if (!hasSlot) {
      run.line.push({ who: by, begin: () => resume(index, true) });
      return;
    }
    const effect = effectFor(run, by, index, step);
    want([effect]);
    switch (effect.status) {
      case 'active':
      case 'unknown':
        undoEffect(run, by, effect, (failure) => count(failure));
        break;
      case 'undoing':
        effect.joined.push((failure) => isAlive(by) && count(failure));
        break;
      case 'undone':
        resume(index + 1, hasSlot);
        break;
      case 'failed':
        count(told(effect.failure), hasSlot);
        break;
    }
  };
  resume(0, false);
}

/** What a step undoes: what is recorded with its tool and input, or else what it does by itself. */
function effectFor(run: Run, by: Instance, index: number, step: Compensation): Effect {
  const { part } = by;
  let undo: Undo = { tool: step.tool };
  attempt(
    () => {
      undo = { ...undo, input: read(run, part, step.input) ?? null };
    },
    ({ code, message }) => {
      undo = { ...undo, failure: { code, message } };
    },
  );
  const { input } = undo;
  const found = input === undefined || !run.rules.stepsJoin ? undefined : effectOf(run, step.tool, input);
  if (found !== undefined) return found;
  const [id, ...others] = new Set(stepsIn(step.input).plain);
  const named = id === undefined || others.length > 0 ? undefined : visible(part, id);
  return appendOwn(run, by, index, named, { ...undo, ignoreError: step.ignoreError === true });
}

/** The newest effect that is undone by this tool with this input; one that still can be before one that cannot. */
function effectOf(run: Run, tool: string, input: Json): Effect | undefined {
  const text = canonicalJson(input);
  const same = run.effects
    .filter(
      (each) =>
        each.own === undefined &&
        each.tool === tool &&
        each.input !== undefined &&
        canonicalJson(each.input) === text,
    )
    .sort((a, b) => b.order - a.order);
  const found = (['active', 'undoing', 'unknown', 'undone', 'failed'] as const).map((status) =>
    same.find((each) => each.status === status),
  );
  return found.find((each) => each !== undefined);
}

function undoEffect(run: Run, by: Owner, effect: Effect, then: Then): void {
  const { tool = '', input = null } = effect;
  effect.status = 'undoing';
  const end = (failure?: Failure): void => {
    if (failure === undefined) noteUndone(run, effect);
    else {
      effect.status = failure.outcomeUnknown ? 'unknown' : 'failed';
      effect.failure = failure;
      if (failure.outcomeUnknown) notePerhapsUndone(run, effect);
    }
  };
  const tellJoined = (failure?: Failure): void => {
    for (const joined of effect.joined.splice(0)) joined(failure);
  };
  send(run, by, { tool, input, key: undoKey(effect) }, (failure, isOwned) => {
    end(failure);
    if (isOwned) then(failure);
    tellJoined(failure);
  });
}

/** Makes a compensation. `then` says whether the one who made it still is there. */
function send(
  run: Run,
  by: Owner,
  { tool, input, key }: { readonly tool: string; readonly input: Json; readonly key: string },
  then: (failure: Failure | undefined, isOwned: boolean) => void,
): void {
  const who = undoer(tool, input);
  const answer = reply(run.world, { kind: 'undo', who, tool, input, before: countOf(run.asked, who) });
  const { now } = run.agenda;
  run.calls.push({ at: now, node: by?.key ?? '', tool, input, identity: key, compensation: true });
  let isOwned = true;
  const end = (failure?: Failure): void => {
    for (const due of dues) run.agenda.drop(due);
    if (!isOwned) run.detached -= 1;
    else if (by !== undefined) {
      by.flight = undefined;
      release(run, by);
    }
    then(failure, isOwned);
  };
  const timeout = { code: 'E_TIMEOUT', message: '', outcomeUnknown: true } as const;
  const dues = [
    run.agenda.add({ at: now + UNDO_MS, rank: 'timer', key: who, what: () => end(timeout) }),
    ...(answer.kind === 'hang'
      ? []
      : [
          run.agenda.add({
            ...{ at: now + answer.after, rank: 'answer' as const, key: who },
            what: () => end(answer.kind === 'failure' ? answer.failure : undefined),
          }),
        ]),
  ];
  if (by === undefined) return;
  by.placed = true;
  run.running += 1;
  by.flight = {
    giveUp: () => {
      isOwned = false;
      if (run.cancelling && run.rules.undoingGoesOn) {
        run.detached += 1;
        return;
      }
      for (const due of dues) run.agenda.drop(due);
      then({ code: 'E_CANCELLED', message: '', outcomeUnknown: true }, false);
    },
  };
}

function isAlive(by: Owner): boolean {
  return by === undefined || by.status === 'running';
}

function told({ code, message }: Told = { code: '', message: '' }): Told {
  return { code, message };
}

function toJson({ done, failed, not_run }: Report): Json {
  return { done, failed: failed.map(({ tool, failure }) => ({ tool, failure: { ...failure } })), not_run };
}

/** Whether every step it plainly refers to has succeeded. */
function hasHappened(part: Part, { input }: Compensation): boolean {
  return stepsIn(input).plain.every((id) => visible(part, id)?.status === 'succeeded');
}
