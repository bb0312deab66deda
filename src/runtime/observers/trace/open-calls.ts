import { inlineText } from '../../../graph/expression/inline.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { ErrorNode } from '../../../graph/model.js';
import { valueExpressions } from '../../../graph/node-expressions.js';
import { attemptOf } from '../../../print/shapes.js';
import type { NodeInstance, ScopeInstance } from '../../engine/instances.js';
import { askOf, callOf, type ListedStep } from './call-entry.js';
import type { HandOffContext } from './hand-off.js';
import { handOffTexts, whereIs } from './hand-off-texts.js';
import type { HandOffCall } from './messages.js';
import { OpenBodies } from './open-bodies.js';
import { type Prospect, RUNS, type Turn, turnOf } from './open-joins.js';
import { OpenValues } from './open-values.js';
import { isListed, NOT_BEGUN } from './outlook.js';
import { printExpression } from './print-expression.js';
import type { Resolver } from './resolve.js';
import type { FailedStep } from './stop-reason.js';
import { texts } from './texts.js';

/** What is known where a list of steps begins. */
export interface Surrounding {
  /** What to say of every call there. */
  readonly notes: readonly string[];
  /** Checks that come before, which may end the workflow. */
  readonly guards: readonly { readonly guard: ErrorNode; readonly at: ScopeInstance }[];
  /** Steps that were chosen by a branch that had not decided, with what to say of that. */
  readonly chosen?: ReadonlyMap<string, string>;
}

const AT_THE_TOP: Surrounding = { notes: [], guards: [] };

/** The calls that a run which stopped has left open, each with what a reader has to know about it. */
export class OpenCalls {
  /** What the run has, and what the calls listed so far promise. */
  readonly values: OpenValues;
  readonly context: HandOffContext;
  readonly #bodies: OpenBodies;
  readonly #calls: HandOffCall[] = [];
  readonly #leftOut: string[] = [];
  /** The checks that a reader has been told of. */
  readonly #toldGuards = new Set<string>();

  constructor(context: HandOffContext) {
    const { graph, state, secrets, ledger } = context;
    this.context = context;
    const required = graph.inputs.filter((input) => input.required).map(({ name }) => name);
    const missing = new Set(required.filter((name) => !Object.hasOwn(state.input, name)));
    this.values = new OpenValues({ state, secrets, ledger, missing });
    this.#bodies = new OpenBodies(this);
  }

  resolverAt(at: ScopeInstance): Resolver {
    return this.values.resolverAt(at);
  }

  /** The calls to make after these steps have failed. */
  after(failed: readonly FailedStep[]): HandOffCall[] {
    // What a cancelled run did was taken back: there is nothing to continue.
    if (this.context.ledger.undone !== undefined) return [];
    for (const step of failed) {
      if (!this.isUndone(step.node)) this.#onceMore(step);
    }
    this.walk(this.context.ledger.instances.root, AT_THE_TOP);
    return this.#calls;
  }

  /** The first step that did not begin, in declaration order. */
  firstPending(): NodeInstance | undefined {
    const { instances, plan } = this.context.ledger;
    const nodes = plan.main.root.nodes.map((planned) => instances.node(instances.root, planned));
    return nodes.find((node) => this.values.statusOf(node) === 'pending');
  }

  /** Whether what a step did was taken back, with everything else in a node around it. */
  isUndone(node: NodeInstance): boolean {
    const { ledger } = this.context;
    if (ledger.undoneSteps.has(node.key)) return true;
    const { container } = node.scope;
    if (container === undefined) return false;
    return this.#isRolledBack(container) || this.isUndone(container);
  }

  #isRolledBack(node: NodeInstance): boolean {
    const { node: model } = node.planned;
    const rollsBack = model.kind === 'parallel' && model.onPartialFailure === 'rollback';
    return rollsBack && this.context.ledger.record(node)?.status === 'failed';
  }

  /** Lists the open calls of a scope, one step after the other. False where a step of it can never be done. */
  walk(scope: ScopeInstance, { notes, guards: before, chosen }: Surrounding): boolean {
    let isComplete = true;
    const guards = [...before];
    const waits: string[] = [];
    const selected = new Map(chosen);
    for (const planned of scope.plan.nodes) {
      const node = this.context.ledger.instances.node(scope, planned);
      const status = this.values.statusOf(node);
      const { node: model } = planned;
      const isOpen =
        status === 'pending' || (status === 'failed' && (this.#mayHoldMore(node) || this.#lacked(node)));
      if (this.values.isPromised(node)) continue;
      if (!isOpen) {
        if (status === 'failed') isComplete = false;
        continue;
      }
      const why = planned.needsSelection ? (selected.get(model.id) ?? this.#selectedBefore(node)) : '';
      if (why === undefined) {
        if (this.#isDecided(node)) this.values.leave(node);
        continue;
      }
      const turn = status === 'pending' ? this.#turnOf(node) : RUNS;
      if (turn.kind === 'left') {
        this.values.leave(node);
        // In an attempt it goes without saying.
        const attempt = scope.container && attemptOf(scope.container.planned.node);
        const isTold = isListed(model) && !attempt?.otherwise.includes(model);
        if (isTold) this.#leftOut.push(handOffTexts.leftOut(model.id, whereIs(scope), turn.without));
        continue;
      }
      if (why !== '' || turn.kind === 'open') this.values.doubt(node);
      const onlyIf = turn.kind === 'open' ? [handOffTexts.onlyAfter(turn.needs, turn.how)] : [];
      const here = { notes: [...notes, ...waits, ...(why === '' ? [] : [why]), ...onlyIf], guards };
      switch (model.kind) {
        case 'error':
          guards.push({ guard: model, at: scope });
          break;
        case 'call':
        case 'resource':
        case 'ask':
          if (status === 'failed' && model.kind !== 'ask' && !this.#lacked(node)) isComplete = false;
          else if (!this.add(node, undefined, here)) isComplete = false;
          break;
        case 'wait':
          waits.push(handOffTexts.waitFirst(model.id, this.#timeOf(model.durationMs, model.until, scope)));
          break;
        default: {
          const opened = this.#bodies.open(node, here);
          for (const [target, note] of opened.leadsTo) selected.set(target, note);
          if (opened.isComplete) this.values.complete(node);
          else isComplete = false;
        }
      }
    }
    return isComplete;
  }

  /** Adds a call, if all it needs exists or is promised by those before it. False where it can never be made. */
  add(node: NodeInstance, note: string | undefined, { notes: around, guards }: Surrounding): boolean {
    const step = node.planned.node as ListedStep;
    const condition = this.conditionOf(node);
    if (condition === 'excluded') return true;
    if (condition === 'lost') return false;
    const resolver = this.resolverAt(node.scope);
    const { secrets } = this.context;
    const entry =
      step.kind === 'ask' ? askOf(step, node, resolver, secrets) : callOf(step, node, resolver, secrets);
    if (entry === undefined) return false;
    const where = whereIs(node.scope);
    const notes = [
      ...(note === undefined ? [] : [note]),
      ...(where === '' ? [] : [handOffTexts.inside(where)]),
      ...around,
      ...condition,
      ...this.#afterNote(node),
      ...guards.flatMap(({ guard, at }) => this.#guardNote(guard, at)),
      ...this.#guidance(step.guidance, resolver),
    ];
    this.#calls.push({ ...entry, ...(notes.length === 0 ? {} : { note: secrets.text(notes.join(' ')) }) });
    this.values.promise(node);
    return true;
  }

  /** What to say of steps that are left out however the calls end, once these are listed. */
  get leftOut(): readonly string[] {
    return this.#leftOut;
  }

  /** How many calls are listed so far. */
  get count(): number {
    return this.#calls.length;
  }

  /**
   * What to say about a step's condition: nothing when it holds, a note when only a call to come decides it. `excluded`
   * where it does not hold, `lost` where it can never be told.
   */
  conditionOf(node: NodeInstance): readonly string[] | 'excluded' | 'lost' {
    const { when } = node.planned.node;
    if (when === undefined) return [];
    const resolved = this.resolverAt(node.scope).resolve(when);
    if (!resolved.ok) return 'lost';
    if (!resolved.symbolic) {
      if (resolved.value === true) return [];
      this.values.leave(node);
      return 'excluded';
    }
    this.values.doubt(node);
    const promised = this.#promisedIn(when, node.scope);
    return [
      promised.length > 0 ? texts.conditional(promised) : handOffTexts.conditional(printExpression(when)),
    ];
  }

  /** What the join of a step that has not begun says, if the calls before it succeed. */
  #turnOf({ planned, scope }: NodeInstance): Turn {
    const { instances } = this.context.ledger;
    const joined = planned.joins.map((each) => ({
      id: each.node.id,
      prospect: this.#prospectOf(instances.node(scope, each)),
    }));
    return turnOf(planned.node.join, joined);
  }

  #prospectOf(node: NodeInstance): Prospect {
    const status = this.values.statusOf(node);
    // What fails here or gives a result here ends the workflow: whoever gets past it has skipped it.
    const { kind } = node.planned.node;
    const isEnd = kind === 'error' || kind === 'return';
    if (status === 'skipped' || status === 'handled' || (isEnd && status === 'pending')) return 'left';
    return this.values.isDoubtful(node) ? 'open' : 'done';
  }

  /** Whether nobody is left who could select a step. */
  #isDecided({ planned, scope }: NodeInstance): boolean {
    const { instances } = this.context.ledger;
    return planned.routers.every((router) => {
      const node = instances.node(scope, router);
      const status = this.values.statusOf(node);
      return this.values.isOffered(node) || (status !== 'failed' && status !== 'pending');
    });
  }

  /** A failed step as a call to make once more, if it is one. */
  #onceMore({ node, record, failure, attempts, retryable }: FailedStep): void {
    const { kind } = node.planned.node;
    if (kind !== 'call' && kind !== 'resource') return;
    const refused = attempts === 0 && failure.code === 'E_INPUT_INVALID';
    const note = refused ? texts.correctFirst(failure.message) : undefined;
    const isAgain = retryable || (attempts === 0 && NOT_BEGUN.has(failure.code)) || refused;
    // Where a step has taken over, what it took over is settled.
    if (isAgain && record.status !== 'handled') this.add(node, note, AT_THE_TOP);
  }

  /** Whether something inside of a failed step can still be done, or somebody can still be asked. */
  #mayHoldMore(node: NodeInstance): boolean {
    const record = this.context.ledger.record(node);
    if (record?.failure?.code === 'E_NOBODY_TO_ASK' && node.planned.node.kind === 'ask') return true;
    return (record?.parts.size ?? 0) > 0 && !this.#isRolledBack(node) && !this.isUndone(node);
  }

  /** Whether a step failed only for want of what a call listed before it will give. */
  #lacked(node: NodeInstance): boolean {
    const { node: model } = node.planned;
    const record = this.context.ledger.record(node);
    if (record === undefined || record.status !== 'failed' || record.issued !== undefined) return false;
    const exprs = [...valueExpressions(model), ...(model.when === undefined ? [] : [model.when])];
    return record.parts.size === 0 && exprs.some((expr) => this.#promisedIn(expr, node.scope).length > 0);
  }

  /** Nothing where a step was not selected; an empty note where it was. */
  #selectedBefore({ planned, scope }: NodeInstance): string | undefined {
    const { ledger } = this.context;
    const isSelected = planned.routers.some((router) => {
      const record = ledger.record(ledger.instances.node(scope, router));
      return record?.taken?.goto === planned.node.id || (record?.status === 'handled' && !record.taken);
    });
    return isSelected ? '' : undefined;
  }

  #timeOf(durationMs: Expr | undefined, until: Expr | undefined, at: ScopeInstance): string | undefined {
    const expr = durationMs ?? until;
    const resolved = expr === undefined ? undefined : this.resolverAt(at).resolve(expr);
    if (!resolved?.ok || resolved.value === undefined) return undefined;
    const { value } = resolved;
    return durationMs !== undefined && typeof value === 'number'
      ? handOffTexts.forMs(value)
      : handOffTexts.until(String(value));
  }

  /** A call the workflow would make only after one that failed and is not listed: its data is there, its turn is not. */
  #afterNote(node: NodeInstance): string[] {
    const blockers = this.#blockers(node, new Set());
    const oneIsEnough = node.planned.node.join === 'one_success';
    return blockers.length === 0 ? [] : [texts.afterFailed(blockers, oneIsEnough)];
  }

  #blockers({ planned, scope }: NodeInstance, seen: Set<string>): string[] {
    const { join } = planned.node;
    if (join === 'all_done') return [];
    const { instances } = this.context.ledger;
    const hasOne = planned.joins.some((each) => {
      const before = instances.node(scope, each);
      return this.values.isOffered(before) || this.values.statusOf(before) === 'completed';
    });
    if (join === 'one_success' && hasOne) return [];
    // A way back is waited for by what stands behind it, named or not.
    const backs = planned.orders.filter(({ node }) => node.kind === 'goto');
    return [...new Set([...planned.joins, ...backs])].flatMap((each) => {
      const before = instances.node(scope, each);
      const { id } = each.node;
      if (this.values.isOffered(before) || seen.has(id)) return [];
      seen.add(id);
      const status = this.values.statusOf(before);
      if (status === 'failed') return [id];
      return status === 'pending' ? this.#blockers(before, seen) : [];
    });
  }

  /** Told once, at the first call that comes after the check. */
  #guardNote({ id, when, message }: ErrorNode, at: ScopeInstance): string[] {
    const key = `${at.key} ${id}`;
    if (when === undefined || this.#toldGuards.has(key) || this.#promisedIn(when, at).length === 0) return [];
    this.#toldGuards.add(key);
    const resolved = this.resolverAt(at).resolve(message);
    const shown = resolved.ok && typeof resolved.value === 'string' ? resolved.value : undefined;
    return [texts.guarded(id, printExpression(when), shown)];
  }

  #guidance(guidance: Expr | undefined, resolver: Resolver): string[] {
    if (guidance === undefined) return [];
    const parts = guidance.kind === 'text' ? guidance.parts : [guidance];
    const shown = parts.map((part) => {
      if (typeof part === 'string') return part;
      const resolved = resolver.resolve(guidance.kind === 'text' ? { ...guidance, parts: [part] } : part);
      if (!resolved.ok || typeof resolved.value !== 'string') return undefined;
      return part.kind === 'literal' ? resolved.value : inlineText(resolved.value);
    });
    return shown.includes(undefined) ? [] : [texts.guidanceNote(shown.join(''))];
  }

  #promisedIn(expr: Expr, at: ScopeInstance): string[] {
    return this.values.promisedIn(expr, at);
  }
}
