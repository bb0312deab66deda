import type { Expr } from '../../../graph/expression/tree.js';
import type { Json } from '../../../graph/json.js';
import type {
  Arm,
  BranchNode,
  ComputeNode,
  ForeachNode,
  SetNode,
  WorkflowNode,
} from '../../../graph/model.js';
import type { NodeInstance, ScopeInstance } from '../../engine/instances.js';
import { shortJson } from './construct-texts.js';
import { ITEMS_IN_FULL } from './foreach-log.js';
import { handOffTexts } from './hand-off-texts.js';
import type { OpenCalls, Surrounding } from './open-calls.js';
import { ANY_ITEM } from './open-values.js';
import { printExpression } from './print-expression.js';
import type { Derived } from './resolve.js';
import { texts } from './texts.js';

/** What became of a step whose body was looked into. */
export interface Opened {
  /** Steps that a branch leads to, with what to say of them. */
  readonly leadsTo: ReadonlyMap<string, string>;
  /** Everything in it is done, or can be. */
  readonly isComplete: boolean;
}

const NOWHERE: Opened['leadsTo'] = new Map();
const COMPLETE: Opened = { leadsTo: NOWHERE, isComplete: true };
const INCOMPLETE: Opened = { leadsTo: NOWHERE, isComplete: false };

const ended = (isComplete: boolean): Opened => (isComplete ? COMPLETE : INCOMPLETE);

/** What stands inside of steps that did not end well: the calls in their bodies, and the values they would have given. */
export class OpenBodies {
  readonly #calls: OpenCalls;

  constructor(calls: OpenCalls) {
    this.#calls = calls;
  }

  /** Lists what is open in a step, and works out its value as far as that can be known. */
  open(node: NodeInstance, around: Surrounding): Opened {
    const { node: model } = node.planned;
    const record = this.#calls.context.ledger.record(node);
    const hasBegun = (record?.parts.size ?? 0) > 0;
    if (model.when === undefined || hasBegun || model.kind === 'compute') {
      return this.#inside(node, around, hasBegun);
    }
    const condition = this.#calls.conditionOf(node);
    if (condition === 'excluded') return COMPLETE;
    if (condition === 'lost') return INCOMPLETE;
    return this.#inside(node, { ...around, notes: [...around.notes, ...condition] }, hasBegun);
  }

  #inside(node: NodeInstance, around: Surrounding, hasBegun: boolean): Opened {
    const { node: model } = node.planned;
    switch (model.kind) {
      case 'compute':
        this.#derive(node, model);
        return COMPLETE;
      case 'set':
        this.#write(node, model);
        return COMPLETE;
      case 'branch':
        return hasBegun ? this.#begun(node, around) : this.#branch(node, model, around);
      case 'parallel':
        return this.#parallel(node, around);
      case 'foreach':
        return hasBegun ? this.#restOfLoop(node, model, around) : this.#loop(node, model, around);
      case 'workflow':
        return hasBegun ? this.#begun(node, around) : this.#workflow(node, model, around);
      default:
        // What goes back, ends or undoes makes no calls of its own.
        return COMPLETE;
    }
  }

  /** Works a computed value out, for the calls that need it. What a function would make of it stays a placeholder. */
  #derive(node: NodeInstance, { when, value, function: fn }: ComputeNode): void {
    const { values } = this.#calls;
    const resolver = values.resolverAt(node.scope);
    if (when !== undefined) {
      const condition = resolver.resolve(when);
      // Left out it reads as absent; whether it is left out may hang on a call to come.
      if (!condition.ok) return;
      if (condition.symbolic) {
        values.doubt(node);
        return;
      }
      if (condition.value !== true) {
        values.leave(node);
        values.derive(node, { value: undefined, symbolic: false, sources: [] });
        return;
      }
    }
    const resolved = resolver.resolve(value);
    if (!resolved.ok) return;
    const sources = resolver.sourcesOf(value);
    if (fn === undefined) values.derive(node, { ...resolved, sources });
    else values.derive(node, { value: texts.computed(sources), symbolic: true, sources });
  }

  /** What would have been written is what later steps read. */
  #write(node: NodeInstance, { updates }: SetNode): void {
    const { values } = this.#calls;
    for (const { field, value } of updates) values.write(field, this.#derived(value, node.scope));
  }

  #branch(node: NodeInstance, model: BranchNode, around: Surrounding): Opened {
    const resolver = this.#calls.resolverAt(node.scope);
    const leadsTo = new Map<string, string>();
    let isOpen = false;
    let isComplete = true;
    const take = (arm: Arm, note: string): void => {
      const notes = note === '' ? around.notes : [...around.notes, note];
      if ('goto' in arm) leadsTo.set(arm.goto, note);
      else if (!this.#calls.walk(this.#part(node, arm.id), { ...around, notes })) isComplete = false;
    };
    const last = (arm: Arm): Opened => {
      take(arm, isOpen ? handOffTexts.otherwise(model.id, arm.id) : '');
      if (isComplete && isOpen) this.#calls.values.promise(node);
      else if (isComplete && 'body' in arm) this.#valueOf(node, this.#part(node, arm.id));
      return { leadsTo, isComplete };
    };
    for (const arm of model.cases) {
      const condition = resolver.resolve(arm.when);
      if (!condition.ok) return { leadsTo, isComplete: false };
      if (condition.symbolic) {
        isOpen = true;
        take(arm, handOffTexts.onlyIf(printExpression(arm.when), model.id, arm.id));
      } else if (condition.value === true) return last(arm);
    }
    if (model.else !== undefined) return last(model.else);
    if (isOpen && isComplete) this.#calls.values.promise(node);
    return { leadsTo, isComplete: isOpen && isComplete };
  }

  #parallel(node: NodeInstance, around: Surrounding): Opened {
    const { ledger } = this.#calls.context;
    const members: [arm: string, derived: Derived | undefined][] = [];
    let isComplete = true;
    for (const [part, { arm = '', value }] of node.planned.parts.entries()) {
      const scope = ledger.instances.part(node, part);
      const isDone = ledger.part(scope)?.status === 'succeeded';
      if (!isDone && !this.#calls.walk(scope, around)) isComplete = false;
      if (value !== undefined) members.push([arm, this.#derived(value, scope)]);
    }
    if (!isComplete || members.some(([, derived]) => derived === undefined)) return ended(isComplete);
    const known = members.flatMap(([arm, derived]) =>
      derived?.value === undefined ? [] : [[arm, derived.value] as const],
    );
    this.#calls.values.derive(node, {
      value: Object.fromEntries(known) as Json,
      symbolic: members.some(([, derived]) => derived?.symbolic),
      sources: [...new Set(members.flatMap(([, derived]) => derived?.sources ?? []))],
    });
    return COMPLETE;
  }

  #loop(node: NodeInstance, { items }: ForeachNode, around: Surrounding): Opened {
    const resolved = this.#calls.resolverAt(node.scope).resolve(items);
    if (!resolved.ok || (!resolved.symbolic && !Array.isArray(resolved.value))) return INCOMPLETE;
    const list = Array.isArray(resolved.value) ? (resolved.value as readonly Json[]) : undefined;
    const isKnown = list !== undefined && !resolved.symbolic;
    if (isKnown) this.#calls.values.list(node, list);
    const isComplete = this.#items(node, 0, isKnown ? list : undefined, around);
    if (isComplete) this.#calls.values.promise(node);
    return ended(isComplete);
  }

  /** A loop that ended early: what is open in items that have begun, then the items that have not. */
  #restOfLoop(node: NodeInstance, _model: ForeachNode, around: Surrounding): Opened {
    const record = this.#calls.context.ledger.record(node);
    const begun = [...(record?.parts.values() ?? [])].filter(({ status }) => status !== 'succeeded');
    for (const { scope } of begun.slice(0, ITEMS_IN_FULL)) this.#calls.walk(scope, around);
    const { count = 0, items } = record ?? {};
    const from = record?.parts.size ?? 0;
    if (from < count) this.#items(node, from, items, around);
    // The results of the items that succeeded are lost.
    return INCOMPLETE;
  }

  /** Items that have not begun: a few each by itself, many as one. */
  #items(node: NodeInstance, from: number, items: readonly Json[] | undefined, around: Surrounding): boolean {
    const { id } = node.planned.node;
    const left = items === undefined ? undefined : items.length - from;
    if (left !== undefined && left <= ITEMS_IN_FULL) {
      let isComplete = true;
      for (let index = from; index < from + left; index += 1) {
        if (!this.#calls.walk(this.#item(node, index), around)) isComplete = false;
      }
      return isComplete;
    }
    const shown = this.#itemsShown(node, items?.slice(from));
    const note =
      from === 0
        ? handOffTexts.eachItem(id, shown)
        : handOffTexts.otherItems(id, from + 1, from + (left ?? 0), shown);
    return this.#calls.walk(this.#item(node, ANY_ITEM), { ...around, notes: [...around.notes, note] });
  }

  #itemsShown(node: NodeInstance, items: readonly Json[] | undefined): string | undefined {
    if (items === undefined || node.planned.node.kind !== 'foreach') return undefined;
    return shortJson(this.#calls.context.secrets.json(items, node.planned.node.items, node.scope));
  }

  #workflow(node: NodeInstance, { workflow, input }: WorkflowNode, around: Surrounding): Opened {
    const { ledger } = this.#calls.context;
    const task = ledger.plan.tasks.get(workflow);
    if (task === undefined || isOpenAlready(node, workflow)) return INCOMPLETE;
    const given = new Map<string, Derived>();
    for (const entry of input.entries) {
      const derived = 'key' in entry ? this.#derived(entry.value, node.scope) : undefined;
      if (derived === undefined || !('key' in entry)) return INCOMPLETE;
      given.set(entry.key, derived);
    }
    for (const { name, default: standing } of task.graph.inputs) {
      if (given.get(name)?.value === undefined && standing !== undefined) {
        given.set(name, { value: standing, symbolic: false, sources: [] });
      }
    }
    this.#calls.values.hand(node, given);
    return this.#begun(node, around);
  }

  /** What is open in a body that runs, or would. */
  #begun(node: NodeInstance, around: Surrounding): Opened {
    const { ledger } = this.#calls.context;
    const [begun] = ledger.record(node)?.parts.values() ?? [];
    const scope = begun?.scope ?? ledger.instances.part(node, 0);
    const isComplete = this.#calls.walk(scope, around);
    if (isComplete) this.#valueOf(node, scope);
    return ended(isComplete);
  }

  /** The value of a step is that of its body. */
  #valueOf(node: NodeInstance, scope: ScopeInstance): void {
    const { plan, workflow } = scope;
    const isTop = plan.container === undefined;
    const expr = isTop ? workflow.plan.graph.returns : plan.value;
    // Which of the ways out of a workflow is taken is for whoever follows the hand-off to see.
    const hasOtherEnds =
      isTop && [...workflow.plan.byId.values()].some((each) => each.node.kind === 'return');
    const derived = expr === undefined ? undefined : this.#derived(expr, scope);
    if (hasOtherEnds) this.#calls.values.promise(node);
    else if (derived !== undefined) this.#calls.values.derive(node, derived);
    else if (expr === undefined) {
      this.#calls.values.derive(node, { value: isTop ? null : undefined, symbolic: false, sources: [] });
    }
  }

  #derived(expr: Expr, at: ScopeInstance): Derived | undefined {
    const resolver = this.#calls.resolverAt(at);
    const resolved = resolver.resolve(expr);
    if (!resolved.ok) return undefined;
    const { value, symbolic } = resolved;
    return { value, symbolic, sources: resolver.sourcesOf(expr) };
  }

  #part(node: NodeInstance, arm: string): ScopeInstance {
    const part = node.planned.parts.findIndex((each) => each.arm === arm);
    return this.#calls.context.ledger.instances.part(node, part);
  }

  #item(node: NodeInstance, index: number): ScopeInstance {
    return this.#calls.context.ledger.instances.part(node, index);
  }
}

/** A workflow that runs itself is told once. */
function isOpenAlready(node: NodeInstance, workflow: string): boolean {
  for (let each = node.scope.workflow; ; ) {
    if (each.plan.graph.name === workflow) return true;
    if (each.node === undefined) return false;
    each = each.node.scope.workflow;
  }
}
