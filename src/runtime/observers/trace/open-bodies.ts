import type { Expr } from '../../../graph/expression/tree.js';
import type { Json } from '../../../graph/json.js';
import type { BranchNode, ComputeNode, ForeachNode, SetNode, WorkflowNode } from '../../../graph/model.js';
import type { NodeInstance, ScopeInstance } from '../../engine/instances.js';
import { shortJson } from './construct-texts.js';
import { ITEMS_IN_FULL } from './foreach-log.js';
import { handOffTexts } from './hand-off-texts.js';
import type { OpenCalls, Surrounding } from './open-calls.js';
import { ANY_ITEM } from './open-values.js';
import { printExpression } from './print-expression.js';
import type { Derived } from './resolve.js';
import { texts } from './texts.js';

/** Steps that a branch leads to which had not decided, with what to say of them. */
type LeadsTo = ReadonlyMap<string, string>;

const NOWHERE: LeadsTo = new Map();

/** What stands inside of steps that did not end well: the calls in their bodies, and the values they would have given. */
export class OpenBodies {
  readonly #calls: OpenCalls;

  constructor(calls: OpenCalls) {
    this.#calls = calls;
  }

  /** Lists what is open in a step, and works out its value as far as that can be known. */
  open(node: NodeInstance, around: Surrounding): LeadsTo {
    const { node: model } = node.planned;
    const record = this.#calls.context.ledger.record(node);
    const hasBegun = (record?.parts.size ?? 0) > 0;
    if (model.when !== undefined && !hasBegun && model.kind !== 'compute') {
      const condition = this.#calls.condition(model.when, node.scope);
      if (condition === 'excluded') return NOWHERE;
      return this.#inside(node, { ...around, notes: [...around.notes, ...condition] }, hasBegun);
    }
    return this.#inside(node, around, hasBegun);
  }

  #inside(node: NodeInstance, around: Surrounding, hasBegun: boolean): LeadsTo {
    const { node: model } = node.planned;
    switch (model.kind) {
      case 'compute':
        this.#derive(node, model);
        return NOWHERE;
      case 'set':
        this.#write(node, model);
        return NOWHERE;
      case 'branch':
        return hasBegun ? this.#begun(node, around) : this.#branch(node, model, around);
      case 'parallel':
        this.#parallel(node, around);
        return NOWHERE;
      case 'foreach':
        if (hasBegun) this.#restOfLoop(node, model, around);
        else this.#loop(node, model, around);
        return NOWHERE;
      case 'workflow':
        if (hasBegun) this.#begun(node, around);
        else this.#workflow(node, model, around);
        return NOWHERE;
      default:
        // What goes back, ends or undoes makes no calls of its own.
        return NOWHERE;
    }
  }

  /** Works a computed value out, for the calls that need it. What a function would make of it stays a placeholder. */
  #derive(node: NodeInstance, { when, value, function: fn }: ComputeNode): void {
    const { values } = this.#calls;
    const resolver = values.resolverAt(node.scope);
    if (when !== undefined) {
      const condition = resolver.resolve(when);
      // Left out it reads as absent; whether it is left out may hang on a call to come.
      if (!condition.ok || condition.symbolic) return;
      if (condition.value !== true) {
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

  #branch(node: NodeInstance, model: BranchNode, around: Surrounding): LeadsTo {
    const resolver = this.#calls.resolverAt(node.scope);
    const leadsTo = new Map<string, string>();
    let isOpen = false;
    const take = (arm: BranchNode['cases'][number] | NonNullable<BranchNode['else']>, note: string): void => {
      const notes = note === '' ? around.notes : [...around.notes, note];
      if ('goto' in arm) leadsTo.set(arm.goto, note);
      else this.#calls.walk(this.#part(node, arm.id), { ...around, notes });
    };
    for (const arm of model.cases) {
      const condition = resolver.resolve(arm.when);
      if (!condition.ok) return leadsTo;
      if (condition.symbolic) {
        isOpen = true;
        take(arm, handOffTexts.onlyIf(printExpression(arm.when), model.id, arm.id));
      } else if (condition.value === true) {
        take(arm, isOpen ? handOffTexts.otherwise(model.id, arm.id) : '');
        this.#valueOfArm(node, arm, isOpen);
        return leadsTo;
      }
    }
    if (model.else !== undefined) {
      take(model.else, isOpen ? handOffTexts.otherwise(model.id, model.else.id) : '');
      this.#valueOfArm(node, model.else, isOpen);
    } else if (isOpen) this.#calls.values.promise(node);
    return leadsTo;
  }

  #valueOfArm(node: NodeInstance, arm: { readonly id: string }, isOpen: boolean): void {
    if (isOpen) this.#calls.values.promise(node);
    else if ('body' in arm) this.#valueOf(node, this.#part(node, arm.id));
  }

  #parallel(node: NodeInstance, around: Surrounding): void {
    const { ledger } = this.#calls.context;
    const members: Record<string, Derived | undefined> = {};
    for (const [part, { arm = '', value }] of node.planned.parts.entries()) {
      const scope = ledger.instances.part(node, part);
      if (ledger.part(scope)?.status !== 'succeeded') this.#calls.walk(scope, around);
      if (value !== undefined) members[arm] = this.#derived(value, scope);
    }
    const derived = Object.entries(members);
    if (derived.some(([, member]) => member === undefined)) return;
    const known = derived.flatMap(([arm, member]) =>
      member?.value === undefined ? [] : [[arm, member.value] as const],
    );
    this.#calls.values.derive(node, {
      value: Object.fromEntries(known) as Json,
      symbolic: derived.some(([, member]) => member?.symbolic),
      sources: [...new Set(derived.flatMap(([, member]) => member?.sources ?? []))],
    });
  }

  #loop(node: NodeInstance, { id, items, body }: ForeachNode, around: Surrounding): void {
    const resolved = this.#calls.resolverAt(node.scope).resolve(items);
    if (!resolved.ok || (!resolved.symbolic && !Array.isArray(resolved.value))) return;
    const known = resolved.symbolic ? undefined : (resolved.value as Json);
    if (Array.isArray(known) && known.length === 0) {
      this.#calls.values.derive(node, { value: [], symbolic: false, sources: [] });
      return;
    }
    const shown = this.#itemsShown(node, known);
    const notes = [...around.notes, handOffTexts.eachItem(id, shown)];
    const before = this.#calls.count;
    this.#calls.walk(this.#item(node, ANY_ITEM), { ...around, notes });
    if (this.#calls.count > before || body.value !== undefined) this.#calls.values.promise(node);
  }

  /** A loop that ended early: what is open in items that have begun, then the items that have not. */
  #restOfLoop(node: NodeInstance, { id }: ForeachNode, around: Surrounding): void {
    const record = this.#calls.context.ledger.record(node);
    if (record === undefined) return;
    const begun = [...record.parts.values()].filter(({ status }) => status !== 'succeeded');
    for (const { scope } of begun.slice(0, ITEMS_IN_FULL)) this.#calls.walk(scope, around);
    const { count = 0, items } = record;
    const from = record.parts.size;
    if (from >= count) return;
    const shown = this.#itemsShown(node, items?.slice(from));
    const notes = [...around.notes, handOffTexts.otherItems(id, from + 1, count, shown)];
    this.#calls.walk(this.#item(node, ANY_ITEM), { ...around, notes });
  }

  #itemsShown(node: NodeInstance, items: Json | undefined): string | undefined {
    if (!Array.isArray(items) || node.planned.node.kind !== 'foreach') return undefined;
    return shortJson(this.#calls.context.secrets.json(items as Json, node.planned.node.items, node.scope));
  }

  #workflow(node: NodeInstance, { workflow, input }: WorkflowNode, around: Surrounding): void {
    const { ledger } = this.#calls.context;
    if (isOpenAlready(node, workflow)) return;
    const task = ledger.plan.tasks.get(workflow);
    if (task === undefined) return;
    const given = new Map<string, Derived>();
    for (const entry of input.entries) {
      if (!('key' in entry)) return;
      const derived = this.#derived(entry.value, node.scope);
      if (derived === undefined) return;
      given.set(entry.key, derived);
    }
    for (const { name, default: standing } of task.graph.inputs) {
      if (given.get(name)?.value === undefined && standing !== undefined) {
        given.set(name, { value: standing, symbolic: false, sources: [] });
      }
    }
    this.#calls.values.hand(node, given);
    this.#begun(node, around);
  }

  /** What is open in a body that runs, or would. */
  #begun(node: NodeInstance, around: Surrounding): LeadsTo {
    const { ledger } = this.#calls.context;
    const record = ledger.record(node);
    const [begun] = record?.parts.values() ?? [];
    const scope = begun?.scope ?? ledger.instances.part(node, 0);
    const before = this.#calls.count;
    this.#calls.walk(scope, around);
    this.#valueOf(node, scope, this.#calls.count > before);
    return NOWHERE;
  }

  /** The value of a step is that of its body. @param isPromised calls of the hand-off make it, whatever it is. */
  #valueOf(node: NodeInstance, scope: ScopeInstance, isPromised = false): void {
    const { plan, workflow } = scope;
    const expr = plan.container === undefined ? workflow.plan.graph.returns : plan.value;
    const derived = expr === undefined ? undefined : this.#derived(expr, scope);
    if (derived !== undefined) this.#calls.values.derive(node, derived);
    else if (isPromised && expr === undefined) this.#calls.values.promise(node);
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
