import { Budget, ExpressionError, evaluate } from '../../../graph/expression/evaluate.js';
import { references } from '../../../graph/expression/references.js';
import type { Expr, RefExpr } from '../../../graph/expression/tree.js';
import { Unknown, unknownIn } from '../../../graph/expression/unknown.js';
import { isJsonObject, type Json, ownProperty, type Value } from '../../../graph/json.js';
import type { Arm, Graph } from '../../../graph/model.js';
import { valueExpressions } from '../../../graph/node-expressions.js';
import { rollsBack } from '../../../plan/compensations.js';
import { type NodeInstance, type ScopeInstance, visibleKey } from '../../../plan/instances.js';
import type { PlannedNode } from '../../../plan/plan.js';
import type { RunState } from '../../engine/contract.js';
import { fieldOf } from '../../engine/read.js';
import type { RunMask } from '../../hosts/run-mask.js';
import type { Ledger, NodeRecord } from './ledger.js';
import { outlookOf } from './outlook.js';
import { texts } from './texts.js';

/** The index of an item that stands for all of a loop that has not begun. */
export const ANY_ITEM = -1;

/** What one expression may cost. See `Budget` for the unit. */
const EXPRESSION_BUDGET = 1_000_000;

/** What a dry run has found out about a node, and takes for granted from then on. */
export type Finding =
  /** It has no value, and never will. */
  | { readonly kind: 'lost' }
  /** Values that are not known decide which of these arms a branch takes: where `isComplete`, the last one if no other. */
  | { readonly kind: 'arms'; readonly arms: readonly Arm[]; readonly isComplete: boolean }
  /** The items of a loop; missing where they are not known. */
  | { readonly kind: 'items'; readonly items?: readonly Json[] }
  /** A check that fires or a result that is reached, whatever the calls give. */
  | { readonly kind: 'ends' }
  /** It fails as it starts: its input is of a type that the engine does not take. */
  | { readonly kind: 'refused' };

export interface Stopped {
  readonly graph: Graph;
  readonly state: RunState;
  readonly ledger: Ledger;
  readonly secrets: RunMask;
  /** Keys of failed nodes that are carried out again. */
  readonly again: ReadonlySet<string>;
}

/** How a node stands: `open` is a container that has begun and can go on, `lost` what never has a value. */
type Standing = 'pending' | 'open' | 'settled' | 'skipped' | 'lost';

type Path = readonly (string | number)[];

export const literal = (value?: Json): Expr =>
  value === undefined ? { kind: 'literal' } : { kind: 'literal', value };
export const ABSENT = literal();
const NO_VALUE = Unknown.value({ sources: [], isLost: true });
export const LOST = literal(NO_VALUE);

/** How the nodes of a run that stopped stand, and what their expressions read. */
export class OpenNodes {
  protected readonly run: Stopped;
  readonly #found: ReadonlyMap<string, Finding>;
  readonly #standings = new Map<string, Standing>();

  /** @param found what dry runs have found out, by keys of the residual graph. */
  constructor(run: Stopped, found: ReadonlyMap<string, Finding> = new Map()) {
    this.run = run;
    this.#found = found;
  }

  finding(node: NodeInstance): Finding | undefined {
    return this.#found.get(residualKey(node.key));
  }

  /** Whether a node that failed is carried out again. */
  isAgain({ key }: NodeInstance): boolean {
    return this.run.again.has(key);
  }

  /** How a node stood when the run stopped. */
  standing(node: NodeInstance): Standing {
    const known = this.#standings.get(node.key);
    if (known !== undefined) return known;
    const standing = this.#around(node);
    this.#standings.set(node.key, standing);
    return standing;
  }

  #around(node: NodeInstance): Standing {
    const own = this.#own(node);
    const { container, plan, key } = node.scope;
    if (container === undefined || own === 'settled' || own === 'skipped') return own;
    const around = this.standing(container);
    const parts = this.run.ledger.record(container)?.parts;
    const found = this.finding(container);
    switch (around) {
      case 'pending':
        return found?.kind !== 'arms' || found.arms.some(({ id }) => id === plan.arm) ? own : 'skipped';
      case 'open':
        return container.planned.node.kind !== 'branch' || parts?.has(key) ? own : 'skipped';
      case 'settled':
        return parts?.has(key) ? 'lost' : 'skipped';
      default:
        return around;
    }
  }

  #own(node: NodeInstance): Standing {
    const { ledger } = this.run;
    if (this.finding(node)?.kind === 'lost' || ledger.undoneSteps.has(node.key)) return 'lost';
    const record = ledger.record(node);
    if (record === undefined || this.isAgain(node)) return 'pending';
    const { status } = outlookOf(record);
    if (status === 'completed') {
      // Nothing starts behind a result that was reached.
      if (node.planned.node.kind === 'return') return 'pending';
      // Its value may be forgotten with what it stood in, and is found again.
      if (record.output !== undefined || record.hasFallback) return 'settled';
      const { node: model } = node.planned;
      if (model.kind === 'compute' && model.function === undefined) return 'pending';
      return record.parts.size > 0 ? 'open' : 'settled';
    }
    if (status === 'skipped') return this.#isStillWanted(record) ? 'pending' : 'skipped';
    if (status === 'handled') return 'skipped';
    if (status !== 'failed') return record.parts.size > 0 ? 'open' : 'pending';
    if (record.parts.size > 0) return isRolledBack(node) ? 'lost' : 'open';
    const canBe =
      record.failure?.code === 'E_NOBODY_TO_ASK' || (record.issued === undefined && this.#lacked(node));
    return canBe ? 'pending' : 'lost';
  }

  /** Whether a node was skipped only because others were that can still be done. */
  #isStillWanted({ node: { planned, scope }, reason }: NodeRecord): boolean {
    if (reason !== 'not_selected' && reason !== 'upstream_skipped') return false;
    return [...planned.joins, ...planned.routers].some((each) => {
      const standing = this.standing(this.run.ledger.instances.node(scope, each));
      return standing === 'pending' || standing === 'open';
    });
  }

  /** Whether a node failed only for want of what can still be had. */
  #lacked({ planned, scope }: NodeInstance): boolean {
    const { when } = planned.node;
    const exprs = [...valueExpressions(planned.node), ...(when === undefined ? [] : [when])];
    return exprs.flatMap(references).some(({ ref }) => {
      const step = ref.root === 'steps' ? this.run.ledger.seenFrom(scope, String(ref.path[0])) : undefined;
      return step !== undefined && this.standing(step) === 'pending';
    });
  }

  /** The items of a loop, as far as they are known. */
  itemsOf(loop: NodeInstance): readonly Json[] | undefined {
    const found = this.finding(loop);
    if (found?.kind === 'items') return found.items;
    const { items, parts } = this.run.ledger.record(loop) ?? {};
    const { node } = loop.planned;
    if (items !== undefined || parts === undefined || parts.size === 0 || node.kind !== 'foreach')
      return items;
    // The loop ended when it began, and the state had forgotten them.
    const value = this.#valueOf(node.items, loop.scope);
    return Array.isArray(value) ? value : undefined;
  }

  /** What a workflow that has begun was given. */
  #givenTo(node: NodeInstance, name: string): Value {
    const { given } = this.run.ledger.record(node) ?? {};
    const { node: model } = node.planned;
    if (given !== undefined || model.kind !== 'workflow') return ownProperty(given ?? {}, name);
    // The workflow ended when it began.
    const value = this.#valueOf(model.input, node.scope);
    const { inputs } = this.run.ledger.instances.part(node, 0).workflow.plan.graph;
    const own = isJsonObject(value) ? ownProperty(value, name) : undefined;
    return own ?? inputs.find((input) => input.name === name)?.default;
  }

  /** The first item of a loop that has not begun. */
  firstLeft(loop: NodeInstance): number {
    return this.run.ledger.record(loop)?.parts.size ?? 0;
  }

  /** A value that calls to come give to a node. */
  promised(node: NodeInstance): Json {
    return placeholder(nameOf(node.key), texts.output, texts.field);
  }

  /** A node that has selected this one, or may have done so. */
  selector({ planned, scope }: NodeInstance): NodeInstance | undefined {
    const { ledger } = this.run;
    // A `goto` that starts a router over selects nothing itself.
    return planned.routers
      .filter(({ node: { kind } }) => kind !== 'goto')
      .map((router) => ledger.instances.node(scope, router))
      .find((router) => {
        const found = this.finding(router);
        if (found?.kind === 'arms') return found.arms.some((arm) => leadsTo(arm, planned));
        const { taken, status } = ledger.record(router) ?? {};
        return taken?.goto === planned.node.id || (status === 'handled' && taken === undefined);
      });
  }

  /** Whether a node needs no selection, was selected, or another one is left that may select it. */
  isReachable(node: NodeInstance): boolean {
    const { planned, scope } = node;
    if (!planned.needsSelection || this.isAgain(node) || this.selector(node) !== undefined) return true;
    // A `goto` that starts a router over selects nothing itself.
    return planned.routers
      .filter(({ node: { kind } }) => kind !== 'goto')
      .map((router) => this.run.ledger.instances.node(scope, router))
      .some((router) => this.standing(router) === 'pending' && this.isReachable(router));
  }

  /** Whether an expression has a value although the run has stopped. */
  hasValue(expr: Expr, at: ScopeInstance): boolean {
    return !isLost(this.#valueOf(expr, at));
  }

  /** The value of an expression as far as the run that stopped has it: lost where it is in want of another step. */
  #valueOf(expr: Expr, at: ScopeInstance): Value {
    const { state } = this.run;
    const lookup = (root: RefExpr['root'], name: string | number): Value => {
      if (root === 'inputs') return ownProperty(state.input, String(name));
      if (root !== 'state') return NO_VALUE;
      const declared = at.workflow.plan.graph.state?.find((field) => field.name === name);
      return (fieldOf(state, String(name)) ?? { value: declared?.initial }).value;
    };
    try {
      return evaluate(this.expr(expr, at), { lookup }, new Budget(EXPRESSION_BUDGET));
    } catch (error) {
      if (error instanceof ExpressionError) return NO_VALUE;
      throw error;
    }
  }

  /** An expression of the run's graph in the words of the residual one. */
  expr(expr: Expr, at: ScopeInstance): Expr {
    return this.#mapped(expr, at) as Expr;
  }

  #mapped(part: unknown, at: ScopeInstance): unknown {
    if (Array.isArray(part)) return part.map((each) => this.#mapped(each, at));
    if (typeof part !== 'object' || part === null) return part;
    const { kind } = part as { readonly kind?: unknown };
    if (kind === 'literal') return part;
    if (kind === 'ref') return this.#reference(part as RefExpr, at);
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, this.#mapped(each, at)]));
  }

  #reference(ref: RefExpr, at: ScopeInstance): Expr {
    const { ledger, secrets } = this.run;
    const [first = '', ...rest] = ref.path;
    const name = String(first);
    const runBy = at.workflow.node;
    const isArgument = ref.root === 'inputs' && runBy === undefined;
    const secret = isArgument ? undefined : secrets.sourcesOf(ref, at);
    if (secret !== undefined && secret.length > 0) return literal(Unknown.value({ sources: secret }));
    switch (ref.root) {
      case 'inputs': {
        if (runBy === undefined || this.standing(runBy) === 'pending') return ref;
        return chained(literal(this.#givenTo(runBy, name)), rest);
      }
      case 'item':
      case 'index':
        return chained(this.#ofLoop(ref.root, name, at), rest);
      case 'steps': {
        const key = visibleKey(at, name);
        if (key === undefined) return chained(ABSENT, rest);
        const step = ledger.instances.find(key);
        if (secret !== undefined) return chained(literal(this.promised(step)), rest);
        const standing = this.standing(step);
        if (standing === 'pending' || standing === 'open')
          return { ...ref, path: [residualId(step), ...rest] };
        if (standing === 'settled') return chained(literal(ledger.record(step)?.output), rest);
        return chained(standing === 'lost' ? LOST : ABSENT, rest);
      }
      default:
        return ref;
    }
  }

  /** The item or the place of the nearest loop around that calls it so. */
  #ofLoop(root: 'item' | 'index', name: string, at: ScopeInstance): Expr {
    for (let scope = at; scope.container !== undefined; scope = scope.container.scope) {
      const { container, part } = scope;
      const { node } = container.planned;
      if (node.kind !== 'foreach' || (root === 'item' ? node.as : node.indexAs) !== name) continue;
      if (part !== ANY_ITEM) return literal(root === 'index' ? part : this.itemsOf(container)?.[part]);
      const loop = nameOf(container.key);
      return literal(
        root === 'index'
          ? placeholder(loop, texts.itemPlace, () => texts.itemPlace(loop))
          : placeholder(loop, texts.item, texts.itemField),
      );
    }
    return ABSENT;
  }
}

/** A value that is not known, by the name it comes from. */
function placeholder(
  name: string,
  whole: (name: string) => string,
  field: (path: string, name: string) => string,
): Json {
  const text = (path: Path) => (path.length === 0 ? whole(name) : field(path.join('.'), name));
  return Unknown.value({ sources: [name], text });
}

/** Whether a value can never exist. */
export function isLost(value: Value): boolean {
  return unknownIn(value).some((unknown) => unknown.isLost);
}

/** A key without the items that stand for all. */
export function nameOf(key: string): string {
  return key.replaceAll(`[${ANY_ITEM}]`, '');
}

/** The key of a node in the residual graph. */
export function residualKey(key: string): string {
  return key.replaceAll(/\[(-?\d+)\]/g, '~$1');
}

export function residualId({ key, scope }: NodeInstance): string {
  return residualKey(key.slice(scope.workflow.prefix.length));
}

/** Whether a node that failed has undone what was done inside. */
export function isRolledBack({ planned: { node } }: NodeInstance): boolean {
  return rollsBack(node);
}

function leadsTo(arm: Arm, { node }: PlannedNode): boolean {
  return 'goto' in arm && arm.goto === node.id;
}

function chained(of: Expr, path: Path): Expr {
  return path.reduce<Expr>((before, key) => ({ kind: 'get', of: before, key: literal(key) }), of);
}
