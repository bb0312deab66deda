import type { Expr } from '../../graph/expression/tree.js';
import { isUnknown, Unknown, unknownIn, unknownOf } from '../../graph/expression/value.js';
import { type Json, type JsonObject, unreachable, type Value } from '../../graph/json.js';
import type {
  Arm,
  AskNode,
  BranchNode,
  CallNode,
  ComputeNode,
  DelegateNode,
  ForeachNode,
  ResourceNode,
  ShellNode,
} from '../../graph/model.js';
import { stopsAtFailure } from '../../graph/nodes.js';
import { ANY_ITEM, partKey } from '../../plan/instances.js';
import { complete, fail, issue, issueWait, nextAttemptId } from './attempt.js';
import { readerOf, settledNode } from './evaluation.js';
import type { Failure } from './events.js';
import { failures } from './failures.js';
import { beginNode } from './nodes/begin.js';
import { valueOfItem } from './nodes/loops.js';
import { nodeRecord } from './read.js';
import { ContainerRecord, type NodeRecord, type ScopeRecord } from './records.js';
import {
  beginParts,
  closeContainer,
  completePart,
  failedWith,
  type Outcome,
  openContainer,
  succeededWith,
} from './scopes.js';
import { select, settle, skip, succeed } from './settle.js';
import { containerOf, type RunState } from './state.js';
import type { NodeOverrides, Transition } from './transition.js';

/** A value that no later call provides. */
export const LOST: Json = Unknown.value({ sources: [], isUnavailable: true });

/** Whether a value contains one that no later call provides. */
export function containsLost(value: Value): boolean {
  return unknownIn(value).some((unknown) => unknown.isUnavailable);
}

/** How a node of a stopped run settled; undefined of one that is still to be called. */
export function settledIn(stopped: Stopped, key: string): Value {
  const { kind } = stopped.stoppedState(key);
  if (kind === 'pending' || kind === 'again' || kind === 'open') return undefined;
  const record = nodeRecord(stopped.state, key);
  if (record === undefined) return kind === 'skipped' ? settledNode(undefined) : LOST;
  return settledNode(record) ?? LOST;
}

/** A container that has begun and can continue. */
export interface StoppedOpen {
  readonly kind: 'open';
  /** Parts to continue. Of a loop those that have begun. */
  readonly parts: readonly number[];
  /** Of a loop: values of the other items that have begun. */
  readonly values?: ReadonlyMap<number, Json>;
  /** Of a loop, if they are known. */
  readonly items?: readonly Json[];
  /** Of a workflow, if it is known. */
  readonly input?: JsonObject;
}

/** The state of a node when its run stopped. */
export type StoppedState =
  | StoppedOpen
  /** It has not begun, or is treated so. */
  | { readonly kind: 'pending' }
  /** It failed, and is executed again. */
  | { readonly kind: 'again' }
  | { readonly kind: 'skipped' }
  /** It has no value, and no later call provides one. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'settled'; readonly value: Value; readonly goto?: string }
  | { readonly kind: 'handled'; readonly failure: Failure | undefined; readonly fallbackNode: string };

/** A stopped run, as a rehearsal reads it. Nodes are named by their keys. */
export interface Stopped {
  readonly state: RunState;
  stoppedState(node: string): StoppedState;
  /** The unknown value of a node that later calls provide. */
  promised(node: string): Json;
  /** The unknown values that represent any item of a loop and its index. */
  anyItem(loop: string): { readonly item: Json; readonly index: Json };
  /** Whether these are too many items to list one by one. */
  areMany(items: number): boolean;
}

/** The arms that a branch may take if unknown values decide. If `isComplete`, it takes the last one if no other. */
export interface OpenArms {
  readonly arms: readonly Arm[];
  readonly isComplete: boolean;
}

/** A container whose parts a rehearsal begins. */
interface OpenParts {
  /** The parts that are still to begin, in this order. */
  readonly rest: number[];
  readonly concurrency: number;
  /** What the container ends with. */
  readonly outcome: (container: ContainerRecord) => Outcome;
}

/**
 * Continues a stopped run with unknown values. Nodes start in the order of the engine, but settled nodes keep their values,
 * and a command for the host becomes an `evaluate` command with the host's input as its argument. If an unknown value
 * decides, a branch takes every arm, no check fails, and one item of a loop represents all.
 */
export class Rehearsal implements NodeOverrides {
  /** Branches that may take several arms, by key. */
  readonly openArms = new Map<string, OpenArms>();
  /** Keys of the nodes that can never be executed. */
  readonly unavailable = new Set<string>();
  /** Keys of the nodes for which an unknown value decides whether they begin once their container has. */
  readonly unsure = new Set<string>();
  /** The items of loops that continue or begin, by key; undefined if they are unknown. */
  readonly items = new Map<string, readonly Json[] | undefined>();
  readonly #stopped: Stopped;
  readonly #parts = new Map<string, OpenParts>();

  constructor(stopped: Stopped) {
    this.#stopped = stopped;
  }

  /** Copies the fields of the stopped run. */
  prepare(state: RunState): void {
    state.isRehearsed = true;
    // Calls to come are taken to succeed. Where one may not be made, how it settles is unknown.
    const settledBefore = (key: string): Value => {
      if (!this.unsure.has(key)) return settledIn(this.#stopped, key);
      const promised = this.#stopped.promised(key);
      return isUnknown(promised) ? promised : unknownOf(...unknownIn(promised));
    };
    state.settledBefore = settledBefore;
    for (const [name, field] of this.#stopped.state.fields.rows()) state.fields.put(name, field);
  }

  resume(transition: Transition, node: NodeRecord): 'activate' | 'begin' | 'done' {
    const stoppedState = this.#stopped.stoppedState(node.key);
    switch (stoppedState.kind) {
      case 'pending':
        return 'activate';
      case 'again':
        return 'begin';
      case 'skipped':
        skip(transition, node, 'condition_false');
        break;
      case 'lost':
        this.#restoreInside(transition.state, node);
        this.unavailable.add(node.key);
        succeed(transition, node, LOST);
        break;
      case 'handled':
        select(transition, node, stoppedState.fallbackNode, 'fallback');
        node.set('failure', stoppedState.failure);
        settle(transition, node, 'handled');
        break;
      case 'settled':
        this.#restoreInside(transition.state, node);
        if (stoppedState.goto !== undefined) select(transition, node, stoppedState.goto, 'goto');
        succeed(transition, node, stoppedState.value);
        break;
      case 'open':
        this.#continue(transition, node, stoppedState);
        break;
    }
    return 'done';
  }

  /** Restores the values inside a settled branch or `parallel`, which can still be read. */
  #restoreInside(state: RunState, node: NodeRecord): void {
    const { kind } = node.planned.node;
    if (kind !== 'branch' && kind !== 'parallel') return;
    const container = new ContainerRecord(node.key, 0, node.planned.parts.length);
    node.container = container;
    for (const part of node.planned.parts.keys()) {
      const scope = state.newPart(node, part);
      container.parts[part] = scope;
      for (const planned of scope.plan.nodes) {
        const inside = scope.node(planned);
        const stoppedState = this.#stopped.stoppedState(inside.key);
        if (stoppedState.kind === 'settled') inside.output = stoppedState.value;
        if (stoppedState.kind === 'lost') inside.output = LOST;
        if (stoppedState.kind === 'settled' || stoppedState.kind === 'lost')
          this.#restoreInside(state, inside);
      }
    }
  }

  #continue(transition: Transition, node: NodeRecord, stoppedState: StoppedOpen): void {
    const model = node.planned.node;
    const { parts, input } = stoppedState;
    const [part = 0] = parts;
    if (model.kind === 'foreach') this.#loop(transition, node, model, stoppedState);
    else if (model.kind === 'branch' || input !== undefined) {
      openContainer(transition, node, part, part + 1).input = input;
      beginParts(transition, node, 1);
    } else beginNode(transition, node);
  }

  /** Executes a node as far as its values are known. */
  begin(transition: Transition, node: NodeRecord): void {
    const model = node.planned.node;
    const when = this.#conditionOf(transition, node);
    if (containsLost(when)) {
      this.#lose(transition, node);
      return;
    }
    const isUnsure = isUnknown(when) || this.#isSelectionUnsure(node) || this.#isJoinUnsure(node);
    if (isUnsure) this.unsure.add(node.key);
    switch (model.kind) {
      case 'call':
      case 'resource':
      case 'ask':
      case 'shell':
      case 'delegate':
        this.#issue(transition, node, model);
        return;
      case 'compute':
        if (model.function === undefined) this.#compute(transition, node, model, when);
        else this.#issue(transition, node, model);
        return;
      case 'branch':
        this.#branch(transition, node, model);
        return;
      case 'foreach':
        this.#loop(transition, node, model);
        return;
      case 'workflow':
        if (runsItself(node)) complete(transition, node, LOST);
        else beginNode(transition, node);
        return;
      case 'wait': {
        const time = readerOf(transition, node).value(model.durationMs ?? model.until ?? { kind: 'literal' });
        if (isUnsure || (time.ok && isUnknown(time.value))) succeed(transition, node, undefined);
        else beginNode(transition, node);
        return;
      }
      case 'goto':
        // It does not jump again. Without a condition, it fails at its limit for any result of the calls.
        if (model.when !== undefined || model.onLimit === 'continue') succeed(transition, node, undefined);
        else
          fail(transition, node, { failure: failures.loopLimit(model.max), reached: 0, isPermanent: true });
        return;
      case 'error':
      case 'return':
        if (isUnsure || this.#isInside(node)) skip(transition, node, 'condition_false');
        else beginNode(transition, node);
        return;
      case 'compensate':
        skip(transition, node, 'condition_false');
        return;
      case 'parallel':
      case 'set':
        beginNode(transition, node);
        return;
      default:
        unreachable(model);
    }
  }

  #conditionOf(transition: Transition, node: NodeRecord): Value {
    const { when } = node.planned.node;
    if (when === undefined || this.#stopped.stoppedState(node.key).kind === 'again') return true;
    const value = readerOf(transition, node).value(when);
    return value.ok ? value.value : undefined;
  }

  #lose(transition: Transition, node: NodeRecord): void {
    this.unavailable.add(node.key);
    complete(transition, node, LOST);
  }

  /** Issues a command with the host's input. An input that the engine refuses fails as in a run. */
  #issue(transition: Transition, node: NodeRecord, model: Asking): void {
    const evaluated = readerOf(transition, node).value(givenTo(model));
    if (evaluated.ok && containsLost(evaluated.value)) {
      this.#lose(transition, node);
    } else if (evaluated.ok && isAccepted(model, evaluated.value)) {
      const [kind, id] = ['evaluate' as const, nextAttemptId(transition, node)];
      const args = [evaluated.value ?? null];
      const command = { kind, id, node: node.key, args, function: { name: '', hash: '' }, dueAt: 0 };
      if (node.planned.takesSlot) issue(transition, node, command);
      else issueWait(transition, node, command);
    } else this.#failOrPromise(transition, node);
  }

  /** If the condition is unknown, so is the value. */
  #compute(transition: Transition, node: NodeRecord, { value }: ComputeNode, when: Value): void {
    const evaluated = readerOf(transition, node).value(value);
    if (!evaluated.ok) this.#failOrPromise(transition, node);
    else complete(transition, node, isUnknown(when) ? unknownOf(when, evaluated.value) : evaluated.value);
  }

  /** A node that fails as it begins fails for certain only if it begins for certain. */
  #failOrPromise(transition: Transition, node: NodeRecord): void {
    if (this.unsure.has(node.key)) complete(transition, node, this.#stopped.promised(node.key));
    else beginNode(transition, node);
  }

  #branch(transition: Transition, node: NodeRecord, model: BranchNode): void {
    const arms: Arm[] = [];
    let isDecided = false;
    let hasFailed = false;
    for (const arm of model.cases) {
      const reader = readerOf(transition, node);
      const value = reader.value(arm.when);
      if (value.ok && containsLost(value.value)) {
        this.#lose(transition, node);
        return;
      }
      if (value.ok && isUnknown(value.value)) {
        arms.push(arm);
        continue;
      }
      const condition = reader.condition(arm.when);
      // A failure after a condition that may be true may not be reached.
      hasFailed = !condition.ok;
      isDecided = condition.ok && condition.value;
      if (isDecided) arms.push(arm);
      if (isDecided || hasFailed) break;
    }
    if (arms.length === 0 && hasFailed) {
      this.#failOrPromise(transition, node);
      return;
    }
    if (arms.length === 0 || (arms.length === 1 && isDecided)) {
      beginNode(transition, node);
      return;
    }
    const otherwise = isDecided || hasFailed ? undefined : model.else;
    if (otherwise !== undefined) arms.push(otherwise);
    this.openArms.set(node.key, { arms, isComplete: isDecided || otherwise !== undefined });
    for (const arm of arms) {
      const fact = { kind: 'branchTaken', node: node.key, arm: arm.id } as const;
      transition.report('goto' in arm ? { ...fact, goto: arm.goto } : fact);
      if ('goto' in arm) select(transition, node, arm.goto, 'goto');
    }
    const bodies = arms.filter((arm) => 'body' in arm).map(({ id }) => id);
    const rest = bodies.map((id) => node.planned.parts.findIndex(({ arm }) => arm === id));
    const promised = succeededWith(this.#stopped.promised(node.key));
    const outcome = ({ parts }: ContainerRecord): Outcome => {
      const failed = parts.flatMap((part) => part?.details.failure ?? []);
      const [failure] = failed;
      return failure !== undefined && failed.length === arms.length ? failedWith(failure, true) : promised;
    };
    openContainer(transition, node, 0, node.planned.parts.length);
    this.#beginParts(transition, node, { rest, concurrency: rest.length, outcome });
  }

  /** Begins the items that have not ended: few of them one by one, many as one. */
  #loop(transition: Transition, node: NodeRecord, model: ForeachNode, stoppedState?: StoppedOpen): void {
    const { key } = node;
    const { parts: started = [], values = new Map<number, Json>(), items } = stoppedState ?? {};
    const evaluated = items === undefined ? readerOf(transition, node).value(model.items) : undefined;
    const value = evaluated === undefined ? (items as Json[]) : evaluated.ok ? evaluated.value : undefined;
    if (isUnknown(value) && value.isUnavailable) {
      this.#lose(transition, node);
      return;
    }
    const list = Array.isArray(value) && value.length <= model.max ? (value as readonly Json[]) : undefined;
    if (list === undefined && !isUnknown(value)) {
      this.#failOrPromise(transition, node);
      return;
    }
    this.items.set(key, list);
    const from = started.length + values.size;
    const rest = (list ?? []).slice(from).map((_item, index) => from + index);
    const isAny = list === undefined || this.#stopped.areMany(rest.length);
    const parts = [...started, ...(isAny ? [ANY_ITEM] : rest)];
    const promised = succeededWith(this.#stopped.promised(key));
    const { state } = transition;
    const outcome = ({ failure }: ContainerRecord): Outcome => {
      if (failure !== undefined) return failedWith(failure, true);
      const failed = parts.map((part) => state.failedItems.get(partKey(node, part))?.failure);
      const itemFailure =
        model.onItemError === 'settle' ? failed.find((each) => each !== undefined) : undefined;
      if (itemFailure !== undefined) return failedWith(itemFailure, true);
      const all = [...values, ...parts.map((part) => [part, valueOfItem(state, node, model, part)] as const)];
      all.sort(([one], [other]) => one - other);
      return isAny ? promised : succeededWith(all.map(([, each]) => each));
    };
    const { item, index } = this.#stopped.anyItem(key);
    const all = [...(list ?? [])];
    all[ANY_ITEM] = item;
    const container = openContainer(transition, node, ANY_ITEM, Math.max(all.length, ...parts) + 1);
    container.items = all;
    container.anyIndex = index;
    this.#beginParts(transition, node, { rest: [...parts], concurrency: model.concurrency, outcome });
  }

  /** Begins parts of a container, as many as may run at once, and ends it after the last one. */
  #beginParts(transition: Transition, node: NodeRecord, parts: OpenParts): void {
    this.#parts.set(node.key, parts);
    const container = transition.change(containerOf(node));
    const { rest, concurrency, outcome } = parts;
    const isStopped = container.stopped || container.failure !== undefined;
    while (!isStopped && rest.length > 0 && container.running < Math.max(1, concurrency)) {
      container.next = rest.shift() ?? container.end;
      beginParts(transition, node, container.running + 1);
    }
    container.next = container.end;
    if (container.running > 0) return;
    this.#parts.delete(node.key);
    closeContainer(transition, node, container.interrupted ? { status: 'cancelled' } : outcome(container));
  }

  /** Ends a part that the rehearsal has begun. */
  endPart(transition: Transition, node: NodeRecord, scope: ScopeRecord): boolean {
    const parts = this.#parts.get(node.key);
    if (parts === undefined) return false;
    const model = node.planned.node;
    const isFatal = model.kind === 'foreach' && stopsAtFailure(model);
    completePart(transition, node, scope, isFatal ? 'stop' : undefined);
    this.#beginParts(transition, node, parts);
    return true;
  }

  /** Whether an unknown value decides about a container around a node. */
  #isInside({ scope: { container, part } }: NodeRecord): boolean {
    if (container === undefined) return false;
    if (part === ANY_ITEM || this.openArms.has(container.key) || this.unsure.has(container.key)) return true;
    return this.#isInside(container);
  }

  #isSelectionUnsure({ details: { selections } }: NodeRecord): boolean {
    const isOpen = ({ key }: NodeRecord) => this.openArms.has(key) || this.unsure.has(key);
    return selections.length > 0 && selections.every(({ by }) => isOpen(by));
  }

  #isJoinUnsure({ planned, scope }: NodeRecord): boolean {
    const joined = planned.joins.map((each) => scope.node(each));
    const isUnsure = ({ key }: NodeRecord) => this.unsure.has(key);
    switch (planned.node.join) {
      case 'all_success':
        return joined.some(isUnsure);
      case 'one_success':
      case 'none_failed_min_one_success':
        return (
          joined.some(isUnsure) && !joined.some((each) => each.status === 'succeeded' && !isUnsure(each))
        );
      default:
        return false;
    }
  }
}

/** Whether a `workflow` node runs a workflow that contains it: a recursion is listed once. */
function runsItself({ planned: { node }, scope }: NodeRecord): boolean {
  for (let { workflow } = scope; node.kind === 'workflow'; { workflow } = workflow.node.scope) {
    if (workflow.plan.graph.name === node.workflow) return true;
    if (workflow.node === undefined) return false;
  }
  return false;
}

/** A node that a host executes. */
export type Asking = CallNode | ResourceNode | AskNode | ComputeNode | ShellNode | DelegateNode;

/** The input of a host for a node, as one value. */
export function givenTo(model: Asking): Expr {
  switch (model.kind) {
    case 'call':
      return model.input;
    case 'resource':
      return model.uri;
    case 'compute':
      return model.value;
    case 'ask':
      return dictOf({ message: model.message, options: model.options });
    case 'shell':
      return dictOf({ command: model.command, argv: model.argv, env: model.env });
    case 'delegate':
      return dictOf({ prompt: model.prompt });
  }
}

function dictOf(values: Readonly<Record<string, Expr | undefined>>): Expr {
  const entries = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value }],
  );
  return { kind: 'dict', entries };
}

/** Whether the engine accepts the input of a host, as far as it is known. */
function isAccepted(model: Asking, evaluated: Value): boolean {
  switch (model.kind) {
    case 'call':
      return true;
    case 'resource':
      return isText(evaluated);
    case 'compute':
      return isUnknown(evaluated) || Array.isArray(evaluated);
    case 'ask': {
      const { message, options } = evaluated as JsonObject;
      if (!isText(message) || model.mode !== 'choice' || isUnknown(options)) return isText(message);
      if (!Array.isArray(options) || options.length === 0 || !options.every(isText)) return false;
      return new Set(options).size === options.length;
    }
    case 'shell': {
      const { command, argv, env } = evaluated as JsonObject;
      return isText(command) && areTexts(argv) && areTexts(env);
    }
    case 'delegate':
      return isText((evaluated as JsonObject).prompt);
  }
}

/** Whether a list or an object has only texts, or values that are unknown. */
function areTexts(value: Value): boolean {
  return value === undefined || isUnknown(value) || Object.values(Object(value) as object).every(isText);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || isUnknown(value);
}
