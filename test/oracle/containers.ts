import type { Json, JsonObject, Value } from '../../src/graph/json.js';
import type {
  Arm,
  BranchNode,
  ForeachNode,
  ParallelNode,
  Scope,
  WorkflowNode,
} from '../../src/graph/model.js';
import { alarm, cancel, failAttempt, select, succeed } from './endings.js';
import {
  closeRollback,
  effectsIn,
  forgetFailedItems,
  forgetOwnItems,
  mayRepeat,
  noteFailedItem,
  undoesOnFailure,
  want,
} from './records.js';
import {
  type Fault,
  type Frame,
  type Instance,
  isSettled,
  type Outcome,
  type Part,
  partOf,
  type Run,
} from './run.js';
import { abort, stop } from './stop.js';
import { partialFailure, undoneFault, undoParts, undoWorkflow } from './undo.js';
import { attempt, holds, NoValue, read } from './values.js';

const DEEPEST = 5;

/** Begins an attempt of a container: finds out what parts it has. They begin in `resume`. @throws NoValue */
export function beginContainer(run: Run, instance: Instance): void {
  const { node } = instance;
  instance.status = 'running';
  instance.attempts += 1;
  instance.parts = [];
  instance.open = [];
  instance.verdict = undefined;
  instance.timedOut = false;
  instance.rollback = undefined;
  forgetFailedItems(run, instance);
  if (node.timeoutMs !== undefined) {
    alarm(run, instance, node.timeoutMs, () => {
      instance.verdict = { code: 'E_TIMEOUT', message: '', again: true };
      instance.timedOut = true;
      for (const part of instance.parts) abort(run, part, 'upstream_failed');
    });
  }
  switch (node.kind) {
    case 'branch':
      beginBranch(run, instance, node);
      break;
    case 'parallel':
      instance.open = node.branches.map(
        ({ body }) =>
          () =>
            inside(instance, body),
      );
      break;
    case 'foreach':
      beginLoop(run, instance, node);
      break;
    case 'workflow':
      beginWorkflow(run, instance, node);
      break;
    default:
      throw new Error(`${node.kind} holds nothing`);
  }
  instance.reached += 1;
}

function inside(owner: Instance, body: Scope, names?: ReadonlyMap<string, Json>, index?: number): Part {
  const { frame, indices, ...outer } = owner.part;
  return partOf(body, {
    ...{ frame, owner, outer: owner.part },
    names: names ?? outer.names,
    indices: index === undefined ? indices : [...indices, index],
  });
}

function beginBranch(run: Run, instance: Instance, node: BranchNode): void {
  const first = node.cases.find(({ when }) => holds(run, instance.part, when));
  const taken: Arm | undefined = first ?? (run.rules.elseTaken ? node.else : undefined);
  if (taken === undefined) throw new NoValue('E_NO_MATCH');
  if ('body' in taken) {
    const { body } = taken;
    instance.open = [() => inside(instance, body)];
  } else {
    select(instance, taken.goto);
    succeed(run, instance, undefined);
  }
}

function beginLoop(run: Run, instance: Instance, node: ForeachNode): void {
  const items = read(run, instance.part, node.items);
  if (!Array.isArray(items)) throw new NoValue('E_FOREACH_ITEMS');
  if (items.length > node.max) throw new NoValue('E_FOREACH_LIMIT');
  instance.open = items.map((item: Json, index) => () => {
    const names = new Map([...instance.part.names, [node.as, item]]);
    if (node.resultsAs !== undefined) names.set(node.resultsAs, instance.parts.map(valueOrNull));
    if (node.indexAs !== undefined) names.set(node.indexAs, index);
    return inside(instance, node.body, names, index);
  });
}

function beginWorkflow(run: Run, instance: Instance, node: WorkflowNode): void {
  const { frame } = instance.part;
  const graph = run.graph.tasks?.find(({ name }) => name === node.workflow);
  if (graph === undefined) throw new Error(`${node.workflow} is not there`);
  const given = read(run, instance.part, node.input) as JsonObject;
  const isUnknown = Object.keys(given).some((key) => !graph.inputs.some(({ name }) => name === key));
  const isMissing = graph.inputs.some(({ name, required }) => required && !Object.hasOwn(given, name));
  if (isUnknown || isMissing) throw new NoValue('E_INPUT');
  if (frame.depth + 1 > DEEPEST) throw new NoValue('E_DEPTH');
  const inputs = { ...(run.rules.defaults ? defaultsOf(graph.inputs) : {}), ...given };
  const own: Frame = { graph, prefix: `${instance.key}/`, inputs, depth: frame.depth + 1, fields: new Map() };
  const at = {
    frame: own,
    owner: instance,
    names: new Map(),
    indices: [],
  };
  instance.open = [() => partOf({ nodes: graph.nodes, value: graph.returns }, at)];
}

export function defaultsOf(
  inputs: readonly { readonly name: string; readonly default?: Json }[],
): JsonObject {
  return Object.fromEntries(
    inputs.flatMap((input) => ('default' in input ? [[input.name, input.default ?? null]] : [])),
  );
}

/** Begins the next parts of a container, as many as there is room for. Gives whether one began. */
export function beginParts(run: Run, instance: Instance): boolean {
  const before = instance.parts.length;
  const window = windowOf(run, instance);
  for (let open = nextOf(instance); open !== undefined && liveIn(instance) < window; open = nextOf(instance))
    instance.parts.push(open());
  return instance.parts.length > before;
}

/** Ends a part of a container, if all of its nodes are settled. Gives whether it ended. */
export function endPart(run: Run, instance: Instance, part: Part): boolean {
  if (part.outcome !== undefined || !part.nodes.every(isSettled)) return false;
  part.outcome = outcomeOf(run, part);
  if (part.outcome.status === 'failed') partFailed(run, instance, part, part.outcome.fault);
  return true;
}

/** Ends a container that was aborted, with what its parts came to. Gives whether that is an end. */
export function conclude(run: Run, instance: Instance): boolean {
  if (instance.status !== 'running' || instance.rollback !== undefined) return false;
  for (const part of instance.parts) endPart(run, instance, part);
  finish(run, instance);
  return isSettled(instance);
}

/** How the part begins that comes next, where one may still begin. */
function nextOf({ stopped, verdict, open, parts }: Instance): (() => Part) | undefined {
  return stopped || verdict !== undefined ? undefined : open[parts.length];
}

function liveIn({ parts }: Instance): number {
  return parts.filter(({ outcome }) => outcome === undefined).length;
}

function windowOf(run: Run, { node, open }: Instance): number {
  if (node.kind !== 'foreach' && node.kind !== 'parallel') return 1;
  return Math.max(1, run.rules.window(node.concurrency ?? open.length));
}

/** How a scope ends whose nodes are all settled. */
export function outcomeOf(run: Run, part: Part): Outcome {
  const failed = part.nodes
    .filter(({ status }) => status === 'failed')
    .sort((a, b) => (a.settledAt ?? 0) - (b.settledAt ?? 0));
  const first = failed[0]?.fault === undefined ? undefined : { ...failed[0].fault, from: failed[0] };
  const fault = part.error ?? first;
  if (fault !== undefined) return { status: 'failed', fault };
  if (part.cut) return { status: 'cancelled' };
  const { returned } = part.frame;
  if (part.outer === undefined && returned !== undefined)
    return { status: 'succeeded', value: returned.value };
  if (part.nodes.some(({ status }) => status === 'cancelled')) return { status: 'cancelled' };
  if (part.value === undefined)
    return { status: 'succeeded', value: part.outer === undefined ? null : undefined };
  const { value } = part;
  let outcome: Outcome = { status: 'cancelled' };
  attempt(
    () => {
      outcome = { status: 'succeeded', value: read(run, part, value) };
    },
    (without) => {
      outcome = { status: 'failed', fault: without };
    },
  );
  return outcome;
}

function partFailed(run: Run, instance: Instance, part: Part, fault: Fault): void {
  const { node } = instance;
  const index = instance.parts.indexOf(part);
  if (instance.verdict !== undefined) return;
  if (node.kind === 'parallel' && node.onPartialFailure === 'abort') {
    for (const other of instance.parts) abort(run, other, 'upstream_failed');
    instance.verdict = { ...fault, details: before(fault) };
  }
  if (node.kind !== 'foreach') return;
  if (endsAtFailure(node)) {
    for (const other of instance.parts) stop(run, other, 'upstream_failed');
    instance.verdict = { ...fault, details: { index, ...before(fault) } };
  } else noteFailedItem(run, instance, index, fault);
}

/** Whether no item begins after one that failed. */
function endsAtFailure({ onItemError, concurrency }: ForeachNode): boolean {
  return onItemError === 'fail' || (onItemError === 'settle' && concurrency === 1);
}

function valueOrNull({ outcome }: Part): Json {
  return outcome?.status === 'succeeded' ? (outcome.value ?? null) : null;
}

/** How all items of a loop ended. */
function resultsIn({ open, parts }: Pick<Instance, 'open' | 'parts'>): Json[] {
  return open.map((_, index): Json => {
    const part = parts[index];
    if (part?.outcome === undefined) return { status: 'not_run' };
    if (part.outcome.status !== 'failed') return { status: 'succeeded', value: valueOrNull(part) };
    const { code, message } = part.outcome.fault;
    return { status: 'failed', error: { code, message } };
  });
}

/** What the failure told before stands inside of what is told now. */
function before({ details }: Fault): JsonObject {
  return details === undefined ? {} : { details };
}

/** The values of branches that succeeded, absent ones left out. */
function valuesOf(parts: Instance['parts'], { branches }: ParallelNode): JsonObject {
  const values: [string, Json][] = branches.flatMap(({ id }, index): [string, Json][] => {
    const outcome = parts[index]?.outcome;
    return outcome?.status === 'succeeded' && outcome.value !== undefined
      ? [[id, outcome.value as Json]]
      : [];
  });
  return Object.fromEntries(values);
}

/** What the parts gave that succeeded, those included that ended after the one that failed. */
function partialIn({ node, open, parts, verdict }: Instance): Pick<Fault, 'details'> {
  const tell = (partial: JsonObject) => ({ details: { ...(verdict?.details as JsonObject), partial } });
  if (node.kind === 'parallel' && node.onPartialFailure === 'abort') return tell(valuesOf(parts, node));
  if (node.kind !== 'foreach') return {};
  if (node.onItemError === 'settle') {
    const told = (verdict?.details ?? {}) as JsonObject;
    return { details: { ...told, results: resultsIn({ open, parts }) } };
  }
  const values = parts.flatMap(({ outcome }, index): [string, Json][] =>
    outcome?.status === 'succeeded' && outcome.value !== undefined
      ? [[String(index), outcome.value as Json]]
      : [],
  );
  return tell(Object.fromEntries(values));
}

/** Settles a container whose parts have all ended, or undoes what they did. Gives whether there was anything to do. */
export function finish(run: Run, instance: Instance): boolean {
  if (liveIn(instance) > 0 || nextOf(instance) !== undefined) return false;
  const { node, rollback } = instance;
  if (instance.verdict !== undefined && instance.timedOut) {
    // What it did is not undone any more.
    const isRollback = node.kind === 'parallel' && node.onPartialFailure === 'rollback';
    if (isRollback || undoesOnFailure(run, instance)) want(effectsIn(run, instance));
    failAttempt(run, instance, instance.verdict);
    return true;
  }
  if (instance.verdict !== undefined) {
    const isHandled = node.kind === 'foreach' && node.onItemError === 'settle';
    const fault =
      isHandled || rollback !== undefined ? withoutFrom(instance.verdict) : passOn(instance.verdict);
    failAttempt(run, instance, { ...fault, ...partialIn(instance) });
    return true;
  }
  if (rollback !== undefined) {
    const { failed, again, report, target, fault } = rollback;
    if (target === undefined ? report === undefined : !isSettled(target)) return false;
    closeRollback(run, instance);
    instance.verdict =
      (fault && { ...undoneFault(fault, report ?? null), again: fault.again && mayRepeat(run, instance) }) ??
      target?.fault ??
      partialFailure(failed, again && mayRepeat(run, instance), report ?? null);
    return true;
  }
  const outcomes = instance.open.map(
    (_, index): Outcome => instance.parts[index]?.outcome ?? { status: 'cancelled' },
  );
  const faults = outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome.fault] : []));
  if (node.kind === 'parallel' && node.onPartialFailure === 'rollback') {
    if (faults.length > 0 || run.rules.happyUndoes) {
      const again = faults[0]?.again ?? false;
      if (instance.aborted) {
        want(effectsIn(run, instance));
        failAttempt(run, instance, partialFailure({}, again, null));
      } else undoParts(run, instance, node, failedBranches(node, outcomes), again);
      return true;
    }
  }
  if (outcomes.some(({ status }) => status === 'cancelled')) {
    cancel(run, instance);
    return true;
  }
  switch (node.kind) {
    case 'parallel': {
      const [first] = faults;
      if (first !== undefined && faults.length === outcomes.length)
        failAttempt(run, instance, withoutFrom(first));
      else succeed(run, instance, { ...valuesOf(instance.parts, node), ...errorsOf(node, outcomes) });
      return true;
    }
    case 'foreach': {
      const [first] = faults;
      if (node.onItemError === 'settle' && first !== undefined && run.rules.settles) {
        forgetOwnItems(run, instance);
        const index = outcomes.findIndex(({ status }) => status === 'failed');
        const details = { index, results: resultsIn(instance), ...before(first) };
        const again = faults.every((fault) => fault.again);
        failAttempt(run, instance, { ...withoutFrom(first), again, details });
        return true;
      }
      const isReported = node.onItemError === 'report';
      const valueAt = (outcome: Outcome): Json => {
        if (outcome.status !== 'failed' || !isReported) return valueIn(outcome) ?? null;
        const { code, message } = outcome.fault;
        return { error: { code, message } };
      };
      succeed(run, instance, run.rules.order(outcomes.map(valueAt)));
      return true;
    }
    default: {
      const [fault] = faults;
      if (fault !== undefined && undoesOnFailure(run, instance)) {
        if (instance.aborted) want(effectsIn(run, instance));
        else if (undoWorkflow(run, instance, withoutFrom(fault))) return true;
      }
      if (fault !== undefined)
        failAttempt(run, instance, undoesOnFailure(run, instance) ? withoutFrom(fault) : passOn(fault));
      else succeed(run, instance, outcomes[0] === undefined ? undefined : valueIn(outcomes[0]));
      return true;
    }
  }
}

function valueIn(outcome: Outcome): Value {
  return outcome.status === 'succeeded' ? outcome.value : undefined;
}

function withoutFrom({ from: _, passedOn: __, ...fault }: Fault): Fault {
  return fault;
}

/** The failure of a part becomes that of its container. */
function passOn(fault: Fault): Fault {
  return { ...withoutFrom(fault), passedOn: true };
}

function errorsOf({ branches }: ParallelNode, outcomes: readonly Outcome[]): JsonObject {
  return Object.fromEntries(
    Object.entries(failedBranches({ branches }, outcomes)).map(([id, error]) => [
      id,
      { error: error as Json },
    ]),
  );
}

function failedBranches(
  { branches }: Pick<ParallelNode, 'branches'>,
  outcomes: readonly Outcome[],
): JsonObject {
  return Object.fromEntries(
    branches.flatMap(({ id }, index) => {
      const outcome = outcomes[index];
      if (outcome?.status !== 'failed') return [];
      const { code, message } = outcome.fault;
      return [[id, { code, message }]];
    }),
  );
}
