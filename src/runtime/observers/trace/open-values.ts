import type { Expr, RefExpr, RefRoot } from '../../../graph/expression/tree.js';
import { type Json, type JsonObject, ownProperty, type Value } from '../../../graph/json.js';
import type { RunState } from '../../engine/contract.js';
import type { NodeInstance, ScopeInstance, WorkflowInstance } from '../../engine/instances.js';
import type { RunMask } from '../../hosts/run-mask.js';
import type { Ledger } from './ledger.js';
import type { StepStatus } from './messages.js';
import { outlookOf } from './outlook.js';
import { type Derived, Resolver, type Supply, type Surroundings } from './resolve.js';

/** The index of an item that stands for all of a loop that has not begun. */
export const ANY_ITEM = -1;

/** What the values of a run that stopped are made of. */
export interface OpenValuesContext {
  readonly state: RunState;
  readonly ledger: Ledger;
  readonly secrets: RunMask;
  /** Required inputs of the run that are missing. */
  readonly missing: ReadonlySet<string>;
}

/** What is known of a stopped run, and what the calls listed so far promise. */
export class OpenValues {
  readonly #context: OpenValuesContext;
  readonly #resolvers = new Map<string, Resolver>();
  /** By key: steps whose values calls of the hand-off will give. */
  readonly #promised = new Set<string>();
  /** By key: steps with bodies that are done when the calls of the hand-off are. */
  readonly #complete = new Set<string>();
  /** By key: steps that are left out when the calls of the hand-off are made. */
  readonly #left = new Set<string>();
  /** By key: steps of which those calls decide whether they are left out. */
  readonly #doubtful = new Set<string>();
  /** By key: values of steps the run did not get to. */
  readonly #derived = new Map<string, Derived>();
  /** By key of the node: inputs of workflows the run did not get to. */
  readonly #inputs = new Map<string, ReadonlyMap<string, Derived>>();
  readonly #items = new Map<string, readonly Json[]>();
  /** Fields of the state that the run did not get to write; nothing for one whose value can never exist. */
  readonly #fields = new Map<string, Derived | undefined>();

  constructor(context: OpenValuesContext) {
    this.#context = context;
  }

  promise({ key }: NodeInstance): void {
    this.#promised.add(key);
  }

  isPromised({ key }: NodeInstance): boolean {
    return this.#promised.has(key);
  }

  /** Everything in a step with bodies is done, or listed. */
  complete({ key }: NodeInstance): void {
    this.#complete.add(key);
  }

  /** Whether whoever follows the hand-off gets past a step. */
  isOffered({ key }: NodeInstance): boolean {
    return this.#promised.has(key) || this.#complete.has(key);
  }

  leave({ key }: NodeInstance): void {
    this.#left.add(key);
  }

  doubt({ key }: NodeInstance): void {
    this.#doubtful.add(key);
  }

  isDoubtful({ key }: NodeInstance): boolean {
    return this.#doubtful.has(key);
  }

  derive({ key }: NodeInstance, derived: Derived): void {
    this.#derived.set(key, derived);
  }

  hand({ key }: NodeInstance, inputs: ReadonlyMap<string, Derived>): void {
    this.#inputs.set(key, inputs);
  }

  /** The items of a loop that has not begun. */
  list({ key }: NodeInstance, items: readonly Json[]): void {
    this.#items.set(key, items);
  }

  write(field: string, derived: Derived | undefined): void {
    this.#fields.set(field, derived);
  }

  /** How a step stands; what stands in a body that was not taken is skipped with it. */
  statusOf(node: NodeInstance): StepStatus {
    const { ledger } = this.#context;
    if (this.#left.has(node.key)) return 'skipped';
    const record = ledger.record(node);
    if (record !== undefined) return outlookOf(record).status;
    const { container } = node.scope;
    if (container === undefined || ledger.part(node.scope) !== undefined) return 'pending';
    const around = this.statusOf(container);
    const isLeft = around === 'completed' || around === 'skipped' || around === 'handled';
    return isLeft || ledger.record(container)?.taken !== undefined ? 'skipped' : 'pending';
  }

  /** The steps an expression is made of whose values calls of the hand-off will give. */
  promisedIn(expr: Expr, at: ScopeInstance): string[] {
    const names = new Set([...this.#promised].map(nameOf));
    return this.resolverAt(at)
      .sourcesOf(expr)
      .filter((source) => names.has(source));
  }

  /** Works out the values of expressions of a scope. */
  resolverAt(at: ScopeInstance): Resolver {
    const known = this.#resolvers.get(at.key);
    if (known !== undefined) return known;
    const resolver = new Resolver(this.#seenFrom(at));
    this.#resolvers.set(at.key, resolver);
    return resolver;
  }

  #seenFrom(at: ScopeInstance): Surroundings {
    return {
      lookup: (root, name) => this.#lookup(at, root, name),
      supply: (ref) => this.#supply(at, ref),
      derived: (ref) => this.#derivedOf(at, ref),
      secretSources: (ref) => this.#context.secrets.sourcesOf(ref, at),
      name: (ref) => this.#nameOf(at, ref),
    };
  }

  #lookup(at: ScopeInstance, root: RefRoot, name: string): Value {
    const { state, ledger } = this.#context;
    const derived = this.#derivedOf(at, { kind: 'ref', root, path: [name] });
    if (derived !== undefined) return derived.value;
    switch (root) {
      case 'inputs':
        return ownProperty(this.#givenTo(at.workflow), name);
      case 'steps': {
        const node = ledger.seenFrom(at, name);
        return node === undefined ? undefined : ledger.record(node)?.output;
      }
      case 'item': {
        const loop = loopNamed(at, root, name);
        const node = loop && ledger.instances.find(loop.key);
        return node && (ledger.record(node)?.items ?? this.#items.get(node.key))?.[loop.index];
      }
      case 'index':
        return loopNamed(at, root, name)?.index;
      case 'state': {
        const row = ownProperty(state.fields, name);
        return row === undefined ? initialOf(at.workflow, name) : row.value;
      }
      case 'error':
      case 'run':
      case 'local':
        return undefined;
      default:
        return root satisfies never;
    }
  }

  #supply(at: ScopeInstance, ref: RefExpr): Supply {
    const { ledger, secrets, missing } = this.#context;
    const name = String(ref.path[0]);
    const derived = this.#derivedOf(at, ref);
    if (derived !== undefined) return derived.symbolic ? 'promised' : 'known';
    switch (ref.root) {
      case 'inputs':
        if (at.workflow.node !== undefined) return 'known';
        return secrets.hasName(name) || missing.has(name) ? 'promised' : 'known';
      case 'steps': {
        const node = ledger.seenFrom(at, name);
        if (node === undefined || ledger.undoneSteps.has(node.key)) return 'never';
        if (this.#promised.has(node.key)) return 'promised';
        const status = this.statusOf(node);
        return status === 'completed' || status === 'skipped' || status === 'handled' ? 'known' : 'never';
      }
      case 'item':
      case 'index':
        return loopNamed(at, ref.root, name)?.index === ANY_ITEM ? 'promised' : 'known';
      case 'state':
        return this.#fields.has(name) ? 'never' : 'known';
      case 'error':
        return 'never';
      case 'run':
      case 'local':
        return 'known';
      default:
        return ref.root satisfies never;
    }
  }

  #derivedOf(at: ScopeInstance, { root, path }: RefExpr): Derived | undefined {
    const name = String(path[0]);
    if (root === 'state') return this.#fields.get(name);
    if (root === 'inputs') return this.#inputs.get(at.workflow.node?.key ?? '')?.get(name);
    if (root !== 'steps') return undefined;
    const node = this.#context.ledger.seenFrom(at, name);
    return node === undefined ? undefined : this.#derived.get(node.key);
  }

  #nameOf(at: ScopeInstance, { root, path }: RefExpr): string {
    const name = String(path[0]);
    if (root === 'steps') return nameOf(this.#context.ledger.seenFrom(at, name)?.key ?? name);
    if (root === 'item' || root === 'index') return nameOf(loopNamed(at, root, name)?.key ?? name);
    return name;
  }

  #givenTo({ node }: WorkflowInstance): JsonObject {
    if (node === undefined) return this.#context.state.input;
    return this.#context.ledger.record(node)?.given ?? {};
  }
}

/** A key without the items that stand for all. */
export function nameOf(key: string): string {
  return key.replaceAll(`[${ANY_ITEM}]`, '');
}

/** The nearest loop around that calls its item or its place so, and which item this is. */
function loopNamed(
  { plan, workflow, indices }: ScopeInstance,
  root: 'item' | 'index',
  name: string,
): { readonly key: string; readonly index: number } | undefined {
  for (let depth = plan.loops.length - 1; depth >= 0; depth -= 1) {
    const node = plan.loops[depth]?.node;
    const index = indices[depth];
    if (node?.kind !== 'foreach' || index === undefined) continue;
    if ((root === 'item' ? node.as : node.indexAs) !== name) continue;
    const around = indices.slice(0, depth).map((each) => `[${each}]`);
    return { key: `${workflow.prefix}${node.id}${around.join('')}`, index };
  }
  return undefined;
}

/** A field nobody has written reads as its workflow, or one around it, declares it. */
function initialOf(workflow: WorkflowInstance, name: string): Value {
  for (let each: WorkflowInstance | undefined = workflow; each; each = each.node?.scope.workflow) {
    const field = each.plan.graph.state?.find((declared) => declared.name === name);
    if (field !== undefined) return field.initial;
  }
  return undefined;
}
