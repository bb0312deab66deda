import { canonicalJson } from '../../src/graph/canonical.js';
import type { Json, Value } from '../../src/graph/json.js';
import { stepsIn } from './expressions.js';
import type { Effect, Fault, Instance, Remains, Run } from './run.js';
import { attempt, lookupIn, readWith, visible } from './values.js';
import { repeatedIn } from './walk.js';
import type { Safety } from './world.js';

export const RUN_ID = 'run';

/** The containers around a node, the innermost first, those of the workflows around it included. */
export function aroundOf({ part }: Instance): Instance[] {
  return part.owner === undefined ? [] : [part.owner, ...aroundOf(part.owner)];
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** A `goto` starts a node over. */
export function noteRestart(run: Run, { key }: Instance): void {
  if (run.rules.restartsCount) add(run.restarts, key);
}

function generationOf(run: Run, instance: Instance): number {
  const restarts = [instance, ...aroundOf(instance)].map(({ key }) => run.restarts.get(key) ?? 0);
  return restarts.reduce((sum, count) => sum + count, 1 + (run.reissues.get(instance.key) ?? 0));
}

/**
 * The generation in which a call is issued now. Another input than the last one of a generation begins another one, and
 * so does a call whose effect may be undone.
 */
export function issue(run: Run, instance: Instance, input: Json): number {
  const { key } = instance;
  const current = generationOf(run, instance);
  const mayBeGone = run.effects.some((each) => isOf(each, key, current) && isPerhapsUndone(each));
  if (mayBeGone && run.rules.perhapsUndoneRises) add(run.reissues, key);
  const last = run.issued.get(`${key}@${generationOf(run, instance)}`);
  if (last !== undefined && last !== canonicalJson(input)) add(run.reissues, key);
  const generation = generationOf(run, instance);
  run.issued.set(`${key}@${generation}`, canonicalJson(input));
  return generation;
}

function isPerhapsUndone({ status }: Effect): boolean {
  return status === 'undoing' || status === 'unknown';
}

export function callKey({ key }: Instance, generation: number): string {
  return canonicalJson(['call', RUN_ID, key, generation]);
}

export function undoKey({ call, generation, further, own }: Effect): string {
  if (own !== undefined) return canonicalJson(['call', RUN_ID, own.node, generation, own.step]);
  return canonicalJson(['undo', canonicalJson(['call', RUN_ID, call, generation]), further]);
}

export function safetyOf({ world }: Run, tool: string): Safety {
  return world.tools?.[tool] ?? 'none';
}

/** Whether a repeated call of a tool has no second effect. */
function isSafe(run: Run, tool: string): boolean {
  return safetyOf(run, tool) !== 'none';
}

/** How an effect is undone, or why it cannot be; empty without a compensation. */
export type Undo = Pick<Effect, 'tool' | 'input' | 'ignoreError' | 'failure'>;

/** How the effect of a call is undone, worked out from what it gives and what the other steps are at this moment. */
export function undoOf(run: Run, { node, part }: Instance): (value: Value) => Undo {
  const { compensate } = node;
  if (compensate === undefined) return () => ({});
  const { all, plain } = stepsIn(compensate.input);
  const beside = new Map(
    all.map((id) => [id, visible(part, id)] as const).map(([id, at]) => [id, { ...at }]),
  );
  const look = lookupIn({ ...run, fields: new Map(run.fields) }, part);
  const ignoreError = compensate.ignoreError === true;
  return (value) => {
    const { tool } = compensate;
    const isMissing = plain.some((id) => id !== node.id && beside.get(id)?.status !== 'succeeded');
    if (isMissing) return { tool, ignoreError, failure: { code: 'E_COMPENSATION', message: '' } };
    let undo: Undo = {};
    attempt(
      () => {
        const input = readWith(compensate.input, (root, name) => {
          if (root !== 'steps') return look(root, name);
          if (name === node.id) return value;
          const other = beside.get(name);
          return other?.status === 'succeeded' ? other.value : undefined;
        });
        undo = { tool, ignoreError, input: input ?? null };
      },
      ({ code }) => {
        undo = { tool, ignoreError, failure: { code, message: '' } };
      },
    );
    return undo;
  };
}

/** A call succeeded: what it did is recorded, if somebody may have to undo it. */
export function noteSuccess(run: Run, instance: Instance, generation: number, undo: Undo): void {
  const { node, key } = instance;
  if (node.kind !== 'call') return;
  const safe = isSafe(run, node.tool);
  if (safe) run.unknown.delete(`${key}@${generation}`);
  const isPlain = undo.tool === undefined;
  if (isPlain && safetyOf(run, node.tool) === 'readOnly') return;
  const same = isPlain && !safe ? undefined : recorded(run, instance, generation, undo)[0];
  if (same !== undefined) {
    renew(run, same, undo);
  } else if (!isPlain || rollsBack(instance)) append(run, instance, generation, undo);
  if (!rollsBack(instance)) dropPlain(run, ({ call }) => call === key);
}

/** A call was made outside. It is another call than those of the step; an idempotent one has the effect of those before it. */
export function noteOutside(run: Run, instance: Instance, undo: Undo): void {
  const { node, key } = instance;
  if (node.kind !== 'call') return;
  if (safetyOf(run, node.tool) !== 'idempotent' && run.rules.outsideRises) add(run.reissues, key);
  noteSuccess(run, instance, generationOf(run, instance), undo);
  if (run.rules.outsideRises) add(run.reissues, key);
}

/**
 * A call that was given up succeeded all the same. No step accounts for what it did, unless another attempt was the same
 * call: then it was not unknown any more.
 */
export function noteLate(
  run: Run,
  instance: Instance,
  generation: number,
  undo: Undo,
  wasUnknown: boolean,
): void {
  const { node } = instance;
  if (node.kind !== 'call' || safetyOf(run, node.tool) === 'readOnly') return;
  const isPlain = undo.tool === undefined;
  const safe = isSafe(run, node.tool);
  if (isPlain && safe && !wasUnknown) return;
  const same = isPlain && !safe ? undefined : recorded(run, instance, generation, undo)[0];
  if (same !== undefined) placeLast(run, same);
  else if (run.rules.lateNamed)
    Object.assign(append(run, instance, generation, undo), { wanted: true, late: true });
  else if (!isPlain || rollsBack(instance)) append(run, instance, generation, undo);
}

function recorded(run: Run, { key }: Instance, generation: number, undo: Undo): Effect[] {
  return run.effects.filter((each) => isOf(each, key, generation) && undoText(each) === undoText(undo));
}

function isOf({ call, generation: of, own }: Effect, key: string, generation: number): boolean {
  return own === undefined && call === key && of === generation;
}

function undoText({ tool, input }: Undo): string {
  return canonicalJson([tool ?? null, ...(input === undefined ? [] : [input])]);
}

function placeLast(run: Run, effect: Effect): void {
  run.effectOrder += 1;
  effect.order = run.effectOrder;
}

function renew(run: Run, effect: Effect, { failure }: Undo): void {
  placeLast(run, effect);
  if (effect.status === 'undone' || isPerhapsUndone(effect)) return;
  const status = failure === undefined ? 'active' : 'failed';
  Object.assign(effect, { status, failure, wanted: false, late: undefined });
}

function append(run: Run, instance: Instance, generation: number, undo: Undo): Effect {
  const { key: call, node } = instance;
  const around = aroundOf(instance);
  const before = run.effects.filter((each) => isOf(each, call, generation));
  run.effectOrder += 1;
  const effect: Effect = {
    ...{ ...undo, call, generation, further: before.length, order: run.effectOrder },
    ...{ around: around.map(({ key }) => key), top: (around.at(-1) ?? instance).node.id },
    ...{ status: undo.failure === undefined ? 'active' : 'failed', wanted: false, joined: [] },
    safety: node.kind === 'call' ? safetyOf(run, node.tool) : 'none',
  };
  run.effects.push(effect);
  return effect;
}

/** A step of a `compensate` node that undoes no recorded call is to be made: a call of its own. */
export function appendOwn(
  run: Run,
  by: Instance,
  step: number,
  named: Instance | undefined,
  undo: Undo,
): Effect {
  const of = named ?? by;
  const around = aroundOf(of);
  run.effectOrder += 1;
  const effect: Effect = {
    ...{ ...undo, call: of.key, generation: generationOf(run, by), further: 0, order: run.effectOrder },
    ...{ around: around.map(({ key }) => key), top: (around.at(-1) ?? of).node.id },
    ...{ status: undo.failure === undefined ? 'active' : 'failed', wanted: true, joined: [] },
    ...{ safety: of.node.kind === 'call' ? safetyOf(run, of.node.tool) : 'readOnly' },
    own: { node: by.key, step },
  };
  run.effects.push(effect);
  return effect;
}

/** A `compensate` node begins. What it does in another attempt of a container around it are other calls. */
export function beginOwn(run: Run, by: Instance): void {
  const generation = generationOf(run, by);
  const isKnown = run.effects.some((each) => each.own?.node === by.key && each.generation === generation);
  if (isKnown) add(run.reissues, by.key);
}

/** Whether a `parallel` around a node that still runs may roll back, or a workflow around it undoes on failure. */
export function rollsBack(instance: Instance): boolean {
  const around = aroundOf(instance);
  if ([instance, ...around].some(({ part }) => part.frame.graph.onFailure === 'undo')) return true;
  return around.some(
    ({ node, status }) =>
      node.kind === 'parallel' && node.onPartialFailure === 'rollback' && status === 'running',
  );
}

/** Deletes effects without a compensation once no rollback runs or may run. */
export function forgetPlain(run: Run, parallel: Instance): void {
  const { node } = parallel;
  const mayRollBack = node.kind === 'workflow' || node.kind === 'parallel';
  if (mayRollBack && !rollsBack(parallel) && !repeatedIn(run.graph).has(node))
    dropPlain(run, ({ around }) => around.includes(parallel.key));
}

function dropPlain(run: Run, of: (effect: Effect) => boolean): void {
  run.effects = run.effects.filter(
    (each) => each.tool !== undefined || each.wanted || each.status === 'undone' || !of(each),
  );
}

export function effectsIn(run: Run, { key }: Instance): Effect[] {
  return run.effects.filter(({ around, status }) => around.includes(key) && status !== 'undone');
}

/** Whether a node runs a workflow that undoes on failure. */
export function undoesOnFailure({ graph }: Run, { node }: Instance): boolean {
  return (
    node.kind === 'workflow' && graph.tasks?.find(({ name }) => name === node.workflow)?.onFailure === 'undo'
  );
}

/** They were to be undone. */
export function want(effects: readonly Effect[]): void {
  for (const effect of effects) effect.wanted = true;
}

/** Nothing inside is undone any more. What nothing says how to undo cannot be. */
export function closeRollback(run: Run, parallel: Instance): void {
  const open = effectsIn(run, parallel);
  want(open);
  for (const effect of open)
    if (effect.tool === undefined && effect.status === 'active') markNotUndoable(effect);
}

export function markNotUndoable(effect: Effect): void {
  effect.status = 'failed';
  effect.failure = { code: 'E_NOT_UNDOABLE', message: '' };
}

/** Whether what a roll-back left allows that it is all done again. */
export function mayRepeat(run: Run, parallel: Instance): boolean {
  const isSafeAgain = (effect: Effect): boolean =>
    effect.safety !== 'none' && (effect.safety !== 'key' || !isPerhapsUndone(effect));
  return (
    !run.rules.finalRollback || effectsIn(run, parallel).every((each) => !each.wanted || isSafeAgain(each))
  );
}

/** The outcome of a compensation is unknown. A step's own compensation does not follow the generation of a call. */
export function notePerhapsUndone(run: Run, { call, own }: Effect): void {
  if (own !== undefined && own.node !== call && run.rules.perhapsUndoneRises) add(run.reissues, call);
}

export function noteUndone(run: Run, effect: Effect): void {
  const { call, own } = effect;
  effect.status = 'undone';
  effect.failure = undefined;
  if (own?.node !== call && run.rules.undoneRises) add(run.reissues, call);
  if (own === undefined) return;
  const [kept] = run.effects
    .filter((each) => each.call === call && each.tool === undefined && each.status === 'active' && !each.late)
    .sort((a, b) => b.order - a.order);
  if (kept !== undefined) kept.status = 'undone';
}

/** The outcome of a call is unknown. */
export function noteUnknown(run: Run, row: string, step: string, tool: string, call: object): void {
  if (safetyOf(run, tool) === 'readOnly') return;
  const known = run.unknown.get(row) ?? { step, tool, calls: new Set() };
  known.calls.add(call);
  run.unknown.set(row, known);
}

/** One of the calls of which it was not known came back. Gives whether it still was one of them. */
export function noteKnown(run: Run, row: string, call: object): boolean {
  const known = run.unknown.get(row);
  const wasUnknown = known?.calls.delete(call) === true;
  if (known?.calls.size === 0) run.unknown.delete(row);
  return wasUnknown;
}

/** What a run left behind. */
export function remainsIn(run: Run): Remains {
  const { effects } = run;
  /** Steps of a `compensate` node have the position of its last one. */
  const time = ({ own, generation, order }: Effect): number => {
    const others = effects.filter((each) => own !== undefined && each.own?.node === own.node);
    return Math.max(order, ...others.flatMap((each) => (each.generation === generation ? each.order : [])));
  };
  const isPassed = ({ call, order }: Effect): boolean =>
    effects.some((each) => {
      const isKept = each.own === undefined && !each.wanted && each.status !== 'undone';
      return isKept && each.call === call && each.order > order;
    });
  const notUndone = effects
    .filter(({ status, wanted }) => wanted && status !== 'undone')
    .sort((a, b) => time(b) - time(a) || a.order - b.order);
  return {
    steps: [...new Set(effects.filter(({ status }) => status === 'undone').map(({ top }) => top))].sort(),
    notUndone: notUndone.map((effect) => {
      const { call: step, tool, input, failure, status, own, late } = effect;
      return {
        step,
        ...(tool === undefined ? {} : { tool }),
        ...(input === undefined ? {} : { input }),
        ...(failure === undefined ? {} : { failure: failure.code }),
        ...(status === 'unknown' ? { outcomeUnknown: true } : {}),
        ...(own === undefined ? {} : { by: own }),
        ...(late ? { isLate: true } : {}),
        ...(isPassed(effect) ? { ranAgain: true } : {}),
      };
    }),
    unknown: [...run.unknown.values()].map(({ step, tool }) => `${step} ${tool}`).sort(),
    failedItems: [...run.failedItems].map(([key, { fault }]) => `${key} ${fault.code}`).sort(),
  };
}

/** An item of a loop failed, and the loop goes on. */
export function noteFailedItem(run: Run, loop: Instance, index: number, fault: Fault): void {
  const around = [loop, ...aroundOf(loop)].map(({ key }) => key);
  run.failedItems.set(`${loop.key}[${index}]`, { around, fault });
}

/** The failed items of a loop are told by its own failure. */
export function forgetOwnItems(run: Run, { key }: Instance): void {
  for (const [row, { around }] of run.failedItems) if (around[0] === key) run.failedItems.delete(row);
}

/** A node starts over, with all nodes inside it. */
export function forgetFailedItems(run: Run, { key }: Instance): void {
  for (const [row, { around }] of run.failedItems) if (around.includes(key)) run.failedItems.delete(row);
}
