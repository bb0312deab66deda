import { references } from '../../graph/expression/traversal.js';
import type { Expr } from '../../graph/expression/tree.js';
import { isUnknown, Unknown, unknownIn } from '../../graph/expression/value.js';
import type { Json, JsonObject, Value } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import type { Arm, BranchCase, ComputeNode, ForeachNode, GotoNode } from '../../graph/model.js';
import { failsByItem, isServerCall, ownResources } from '../../graph/nodes.js';
import { inlineText, oneLine } from '../../graph/printable-text.js';
import { ANY_ITEM, type NodeInstance, type ScopeInstance } from '../../plan/instances.js';
import { attemptOf } from '../../print/shapes.js';
import type { Fact } from '../engine/contract.js';
import { nodeRecord } from '../engine/read.js';
import { type Asking, givenTo } from '../engine/rehearsal.js';
import type { FailedStep } from './explain-failure.js';
import { entryOf, guidanceNote, readNote, whereIs } from './hand-off-calls.js';
import { isListed, NOT_BEGUN, nameOf } from './ledger.js';
import type { HandOffCall } from './messages.js';
import { type HandOffContext, isRolledBack, PlannedRun, type PlannedRunObserver } from './planned-run.js';
import { names, oneOf, printExpression, promptArgument, shortJson, stop } from './sentences.js';

/** What can still be done of a run that stopped, in words: see {@link OpenCalls}. */
export type StillOpen = { readonly [K in 'calls' | 'leftOut' | 'goBack']: Readonly<OpenCalls[K]> };

export const NOTHING_OPEN: StillOpen = { calls: [], leftOut: [], goBack: [] };

/** The calls that a run which stopped has left open, each with what a reader has to know about it. */
class OpenCalls implements PlannedRunObserver {
  readonly calls: HandOffCall[] = [];
  /** What to say of steps that are left out however the calls end. */
  readonly leftOut: string[] = [];
  /** What to say of steps that make calls again. */
  readonly goBack: string[] = [];
  readonly #context: HandOffContext;
  readonly #run: PlannedRun;
  /** What to say first of a step that is made again, by its key. */
  readonly #again: ReadonlyMap<string, string | undefined>;
  /** Names of the steps that are listed. */
  readonly #promised = new Set<string>();
  /** Branches that select a node if they are reached at all, by its key. */
  readonly #selectors = new Map<string, NodeInstance>();
  /** Keys of nodes that are left out. */
  readonly #left = new Set<string>();
  /** Keys of nodes that can never run, and of those around them. */
  readonly #incomplete = new Set<string>();
  readonly #waits: { readonly node: NodeInstance; readonly note: string }[] = [];
  /** Resources of the steps that are listed, which no note has named yet. */
  readonly #unread = new Set<string>();
  /** Checks that may end the workflow, and that no note has named yet. */
  readonly #guards = new Map<NodeInstance, Guard>();

  constructor(context: HandOffContext, run: PlannedRun, again: ReadonlyMap<string, string | undefined>) {
    this.#context = context;
    this.#run = run;
    this.#again = again;
  }

  observe(fact: Fact, node: NodeInstance): void {
    const run = this.#run;
    const { planned, scope } = node;
    const { node: model } = planned;
    if (run.rehearsal.unavailable.has(node.key)) this.#lose(node);
    const { kind } = run.open.stoppedState(node.key);
    if (kind !== 'pending' && kind !== 'again') return;
    if (fact.kind === 'branchTaken' && fact.goto !== undefined) {
      const target = this.#context.ledger.seenFrom(scope, fact.goto);
      const isDoubtful = run.rehearsal.unsure.has(node.key) || run.rehearsal.openArms.has(node.key);
      if (target !== undefined && isDoubtful) this.#selectors.set(target.key, node);
    } else if (fact.kind === 'nodeSucceeded' && model.kind === 'wait') {
      const time = model.durationMs ?? model.until;
      const value = time === undefined ? undefined : run.valueOf(time, node);
      const note = value?.ok ? timeText(value.value, model.durationMs !== undefined) : undefined;
      this.#waits.push({
        node,
        note:
          note === undefined
            ? `Step '${model.id}' waits before this.`
            : `Before this, step '${model.id}' waits ${note}.`,
      });
    } else if (model.kind === 'goto' && (fact.kind === 'nodeSucceeded' || fact.kind === 'nodeFailed')) {
      this.#goesBack(node, model);
    } else if (fact.kind === 'nodeSkipped') {
      this.#left.add(node.key);
      if (fact.reason === 'condition_false') this.#guard(node);
      // In an attempt it goes without saying.
      const attempt = scope.container && attemptOf(scope.container.planned.node);
      if (fact.reason !== 'upstream_skipped' || !isListed(model) || attempt?.otherwise.includes(model))
        return;
      const without = this.#joined(node).filter((each) => this.#isLeft(each));
      const verb = without.length === 1 ? 'is' : 'are';
      this.leftOut.push(
        `Step '${model.id}'${whereIs(scope)} is skipped, because ${names(without.map(idOf))} ${verb}.`,
      );
    }
  }

  asked(node: NodeInstance, input: Value): Json {
    const { node: model } = node.planned;
    if (model.kind === 'compute') {
      const unknown = unknownIn(input).flatMap(({ sources }) => sources);
      const referenced = references(model.value).map(({ ref }) => ref.path.join('.'));
      const sources = [...new Set(unknown.length > 0 ? unknown : referenced)];
      return Unknown.value({ sources: sources.length > 0 ? sources : [model.id] });
    }
    const { secrets } = this.#context;
    const shown = secrets.isEmpty || !isAsked(model) ? undefined : this.#run.valueOf(givenTo(model), node);
    const entry = entryOf(node, shown?.ok ? shown.value : input, secrets);
    this.#noteUnread(node);
    if (model.kind === 'ask' && model.feeds !== undefined && 'ask' in entry) {
      // The call that it feeds is listed with the message as a placeholder.
      this.#run.open.supply(node.key, oneLine(entry.ask));
      return this.#run.open.promised(node.key);
    }
    const { lines = [], text: guidance } = guidanceOf(node.planned.node.guidance, node, this.#run);
    const notes = [...this.#notesOf(node), ...lines];
    this.calls.push({
      ...entry,
      ...(notes.length === 0 ? {} : { note: secrets.text(notes.join(' ')) }),
      ...(guidance === undefined ? {} : { guidance: secrets.text(guidance) }),
    });
    this.#promised.add(nameOf(node.key));
    return this.#run.open.promised(node.key);
  }

  /** Takes note of the resources of a step that its reader has not seen. */
  #noteUnread({ key, planned }: NodeInstance): void {
    const { state, secrets } = this.#context;
    const shown = nodeRecord(state, key)?.details.shown ?? 0;
    for (const { uri } of ownResources(planned.node).slice(shown)) this.#unread.add(secrets.text(uri));
  }

  #readNote(): string[] {
    const uris = [...this.#unread];
    this.#unread.clear();
    return readNote(uris);
  }

  #isLeft(node: NodeInstance): boolean {
    const { kind } = this.#run.open.stoppedState(node.key);
    return this.#left.has(node.key) || kind === 'skipped' || kind === 'handled';
  }

  #lose(node: NodeInstance): void {
    this.#incomplete.add(node.key);
    if (node.scope.container !== undefined) this.#lose(node.scope.container);
  }

  #notesOf(node: NodeInstance): string[] {
    const own = this.#again.get(node.key);
    const where = whereIs(node.scope);
    return [
      ...(own === undefined ? [] : [own]),
      ...(where === '' ? [] : [`It is made${where}.`]),
      ...this.#around(node),
      ...this.#conditionNote(node),
      ...this.#afterNote(node),
      ...this.#guardNotes(node),
      ...this.#readNote(),
    ];
  }

  /** Notes about the place of a node, from the outside in. */
  #around(node: NodeInstance): string[] {
    const { scope } = node;
    const { container } = scope;
    const around =
      container === undefined
        ? []
        : [
            ...this.#around(container),
            ...this.#conditionNote(container),
            ...this.#partNote(container, scope),
          ];
    const waits = this.#waits.filter((wait) => wait.node.scope === scope).map(({ note }) => note);
    const needs = this.#needsOf(node);
    return [...around, ...waits, ...this.#selectorNotes(node), ...(needs === undefined ? [] : [needs])];
  }

  #selectorNotes(node: NodeInstance): string[] {
    const selector = this.#selectors.get(node.key);
    if (selector === undefined) return [];
    if (this.#run.rehearsal.openArms.has(selector.key))
      return this.#armNote(selector, (arm) => 'goto' in arm && arm.goto === idOf(node));
    const needs = this.#needsOf(selector);
    return [
      ...this.#selectorNotes(selector),
      ...this.#conditionNote(selector),
      ...(needs === undefined ? [] : [needs]),
    ];
  }

  #conditionNote(node: NodeInstance): string[] {
    const { when } = node.planned.node;
    if (when === undefined || this.#run.open.stoppedState(node.key).kind !== 'pending') return [];
    const value = this.#run.conditionOf(node);
    if (!isUnknown(value)) return [];
    const promised = value.sources.filter((source) => this.#promised.has(source));
    if (promised.length > 0)
      return [
        `This step is conditional: whether to make this call depends on the result of ${names(promised)}.`,
      ];
    const condition = printExpression(when);
    return [condition === undefined ? 'This step is conditional.' : `Only if \`${condition}\`.`];
  }

  #partNote(container: NodeInstance, scope: ScopeInstance): string[] {
    const { node } = container.planned;
    if (node.kind === 'branch') return this.#armNote(container, ({ id }) => id === scope.plan.arm);
    return node.kind === 'foreach' && scope.part === ANY_ITEM ? [this.#itemsNote(container, node)] : [];
  }

  #armNote(branch: NodeInstance, isThis: (arm: Arm) => boolean): string[] {
    const openArms = this.#run.rehearsal.openArms.get(branch.key);
    if (openArms === undefined) return [];
    const { node } = branch.planned;
    return openArms.arms.filter(isThis).map((arm) => {
      const isLast = openArms.isComplete && arm === openArms.arms.at(-1);
      const takes = `step '${node.id}' takes '${arm.id}'.`;
      if (isLast || !isCase(arm)) return `Only if no condition before it holds: then ${takes}`;
      const condition = printExpression(arm.when);
      return condition === undefined ? `Only if ${takes}` : `Only if \`${condition}\`: then ${takes}`;
    });
  }

  #itemsNote(loop: NodeInstance, { id, items: expr }: ForeachNode): string {
    const from = this.#run.open.firstOpenItem(loop);
    const items = this.#run.rehearsal.items.get(loop.key);
    const shown = items && shortJson(this.#context.secrets.json(items.slice(from), expr, loop.scope));
    const [first, last] = [from + 1, items?.length ?? from];
    const which =
      from === 0
        ? `Once for each item of '${id}'`
        : first === last
          ? `Only for item ${first} of '${id}'`
          : `Only once each for the items ${first} to ${last} of '${id}'`;
    return `${which}, with that item filled in${shown === undefined ? '' : `: ${shown}`}.`;
  }

  /** What to say of a node whose join hangs on others that may be left out. */
  #needsOf(node: NodeInstance): string | undefined {
    const joined = this.#joined(node);
    const open = joined.filter(({ key }) => this.#run.rehearsal.unsure.has(key));
    if (open.length === 0 || this.#again.has(node.key)) return undefined;
    switch (node.planned.node.join) {
      case 'all_success':
        return `Only if ${names(open.map(idOf))} ${open.length > 1 ? 'were' : 'was'} not skipped.`;
      case 'one_success':
      case 'none_failed_min_one_success': {
        const isSure = joined.some(
          (each) => !this.#isLeft(each) && !this.#run.rehearsal.unsure.has(each.key),
        );
        return isSure ? undefined : `Only if ${oneOf(open.map(idOf))} was not skipped.`;
      }
      default:
        return undefined;
    }
  }

  #joined({ planned, scope }: NodeInstance): NodeInstance[] {
    return planned.joins.map((each) => this.#context.ledger.instances.node(scope, each));
  }

  /** A call the workflow would make only after one that failed and is not listed: its data is there, but it is not ready. */
  #afterNote(node: NodeInstance): string[] {
    const blockers = [...new Set(this.#blockers(node, new Set()))];
    return blockers.length === 0
      ? []
      : [
          `The workflow makes this call only after ${node.planned.node.join === 'one_success' ? oneOf(blockers) : names(blockers)} succeeded: decide whether it still makes sense.`,
        ];
  }

  #blockers(node: NodeInstance, visited: Set<string>): string[] {
    const { instances } = this.#context.ledger;
    const { planned, scope } = node;
    const isOffered = (each: NodeInstance) => !this.#incomplete.has(each.key) && !this.#isLeft(each);
    const { join } = planned.node;
    if (join === 'all_done' || (join === 'one_success' && this.#joined(node).some(isOffered))) return [];
    // The nodes after a `goto` wait for it, named or not.
    const backs = planned.orders.filter(({ node: { kind } }) => kind === 'goto');
    return [...new Set([...planned.joins, ...backs])].flatMap((each) => {
      const before = instances.node(scope, each);
      if (isOffered(before) || visited.has(before.key)) return [];
      visited.add(before.key);
      const status = this.#context.ledger.record(before)?.status;
      return status === 'failed' || status === 'cancelled' ? [idOf(before)] : this.#blockers(before, visited);
    });
  }

  #goesBack({ planned, scope, key }: NodeInstance, { id, when, target, max }: GotoNode): void {
    const remainingJumps = max - (this.#context.ledger.part(scope)?.nodes.get(planned.node.id)?.jumps ?? 0);
    const condition =
      when === undefined || !this.#run.rehearsal.unsure.has(key) ? undefined : printExpression(when);
    if (remainingJumps <= 0) return;
    const step = `tep '${id}'${whereIs(scope)}`;
    const head = condition === undefined ? `S${step} then goes` : `If \`${condition}\`, s${step} goes`;
    const times = remainingJumps === 1 ? 'time' : 'times';
    this.goBack.push(
      `${head} back to '${target}', at most ${remainingJumps} ${times}: make the calls from there on again.`,
    );
  }

  /** A check that may end the workflow, or a result that may be reached. */
  #guard(node: NodeInstance): void {
    const { node: model } = node.planned;
    if (model.kind !== 'error' && model.kind !== 'return') return;
    const value = this.#run.conditionOf(node);
    const isOpen = isUnknown(value) && value.sources.some((source) => this.#promised.has(source));
    if (value !== true && !isOpen) return;
    const condition = model.when === undefined || !isOpen ? undefined : printExpression(model.when);
    const stopMessage = model.kind === 'error' ? this.#run.valueOf(model.message, node) : undefined;
    const message = stopMessage?.ok ? textOf(stopMessage.value) : undefined;
    this.#guards.set(node, { note: guardText(model.id, condition, message), reach: endedBy(node) });
  }

  /** Told once, at the first call that comes after the check. */
  #guardNotes(node: NodeInstance): string[] {
    const notes: string[] = [];
    for (const [guard, { note, reach }] of this.#guards) {
      if (!isWithin(node, reach)) continue;
      this.#guards.delete(guard);
      notes.push(note);
    }
    return notes;
  }
}

/** @param condition an expression in print, if it is not known whether it holds. */
function guardText(step: string, condition: string | undefined, message: string | undefined): string {
  const ending = `step '${step}' ends the workflow`;
  const why = message === undefined ? '.' : `: ${stop(oneLine(message))}`;
  return condition === undefined
    ? `Stop before this call if ${ending}${why}`
    : `Stop before this call if \`${condition}\`: ${ending} then${why}`;
}

/** What to say at a call that comes after a check. */
interface Guard {
  readonly note: string;
  /** Where nothing is done any more once it ends the workflow. */
  readonly reach: ScopeInstance;
}

/** The widest list of nodes that ends where a check fires, or a result is reached. */
function endedBy({ planned: { node }, scope: own }: NodeInstance): ScopeInstance {
  let scope = own;
  while (scope.container !== undefined && passesOn(scope.container.planned.node, node.kind === 'return')) {
    ({ scope } = scope.container);
  }
  return scope;
}

/** Whether the node around another one ends with it. */
function passesOn(around: Node, isReturn: boolean): boolean {
  if (isReturn) return around.kind !== 'workflow';
  if (around.onError !== undefined) return false;
  if (around.kind === 'foreach') return failsByItem(around);
  return around.kind !== 'parallel' || around.onPartialFailure !== 'continue';
}

/** The calls to make after these steps have failed, and what to say of steps that are left out. */
export function openCalls(context: HandOffContext, failed: readonly FailedStep[]): StillOpen {
  const { graph, state, secrets, ledger } = context;
  // A cancelled run was undone: there is nothing to continue.
  if (ledger.undone !== undefined) return NOTHING_OPEN;
  const again = new Map(
    failed.filter((step) => isRepeated(step, context)).map((step) => [step.node.key, whyAgain(step)]),
  );
  const input: Record<string, Json> = { ...state.input };
  for (const { name, required } of graph.inputs) {
    if (!secrets.hasName(name) && (!required || Object.hasOwn(input, name))) continue;
    input[name] = Unknown.value({
      sources: [name],
      text: (path) => promptArgument([name, ...path].join('.')),
    });
  }
  const scope = { graph, state, secrets, ledger, again: new Set(again.keys()) };
  const run = new PlannedRun(scope);
  const open = new OpenCalls(context, run, again);
  run.to(input as JsonObject, open);
  return open;
}

/** Whether a step was undone, alone or with a node around it. */
export function isUndone(node: NodeInstance, { ledger }: HandOffContext): boolean {
  if (ledger.undoneSteps.has(node.key)) return true;
  for (let { container } = node.scope; container !== undefined; container = container.scope.container) {
    const isFailed = ledger.record(container)?.status === 'failed';
    if ((isFailed && isRolledBack(container, ledger.plan)) || ledger.undoneSteps.has(container.key))
      return true;
  }
  return false;
}

/** Whether a step that failed is made once more. Where a step has taken over, what it took over is settled. */
function isRepeated(
  { node, record, failure, attempts, retryable }: FailedStep,
  context: HandOffContext,
): boolean {
  const { node: model } = node.planned;
  const isAgain = isServerCall(model) || model.kind === 'resource' || record.isUnread;
  if (!isAgain || isUndone(node, context) || record.status === 'handled') return false;
  return retryable || (attempts === 0 && (NOT_BEGUN.has(failure.code) || failure.code === 'E_INPUT_INVALID'));
}

function whyAgain({ failure, attempts }: FailedStep): string | undefined {
  const isRefused = attempts === 0 && failure.code === 'E_INPUT_INVALID';
  return isRefused ? `Correct the arguments first: ${stop(oneLine(failure.message))}` : undefined;
}

function guidanceOf(
  guidance: Expr | undefined,
  node: NodeInstance,
  run: PlannedRun,
): ReturnType<typeof guidanceNote> {
  if (guidance === undefined) return {};
  const parts = guidance.kind === 'text' ? guidance.parts : [guidance];
  const shown = parts.map((part) => {
    if (typeof part === 'string') return part;
    const value = run.valueOf(guidance.kind === 'text' ? { ...guidance, parts: [part] } : part, node);
    const text = value.ok ? textOf(value.value) : undefined;
    return text === undefined || part.kind === 'literal' ? text : inlineText(text);
  });
  return shown.includes(undefined) ? {} : guidanceNote(node, shown.join(''));
}

function timeText(value: Value, isDuration: boolean): string | undefined {
  if (value === undefined) return undefined;
  return isDuration && typeof value === 'number'
    ? `for ${value} ms`
    : `until ${textOf(value) ?? String(value)}`;
}

function textOf(value: Value): string | undefined {
  if (isUnknown(value)) return value.isUnavailable ? undefined : value.toJSON();
  return typeof value === 'string' ? value : undefined;
}

function isAsked(node: Node): node is Exclude<Asking, ComputeNode> {
  return ['call', 'resource', 'ask', 'shell', 'delegate'].includes(node.kind);
}

function isCase(arm: Arm): arm is BranchCase {
  return 'when' in arm;
}

function idOf({ planned }: NodeInstance): string {
  return planned.node.id;
}

function isWithin(node: NodeInstance, scope: ScopeInstance): boolean {
  for (let each: ScopeInstance | undefined = node.scope; each !== undefined; each = each.container?.scope) {
    if (each === scope) return true;
  }
  return false;
}
