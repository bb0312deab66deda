import type { Input } from '../../../graph/model.js';
import { ERROR_FIELDS, nearestName } from '../../../graph/names.js';
import type { ReferenceScope, Resolution } from '../../references/lower-references.js';
import type { LocatedText } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import { RESERVED_NAMES } from './names.js';
import { hasResult, type NodeSpec, type ScopeSpec } from './node-specs.js';

/** The name of the index of an item, made of the name of the item. */
export function indexNameOf(as: string): string {
  return `${as}_index`;
}

export function itemNameOf({ fields }: NodeSpec): string {
  const as = fields.value('as');
  return as?.kind === 'text' ? as.value : 'item';
}

interface Named {
  /** Its description in messages. */
  readonly what: string;
  readonly at: LocatedText | undefined;
  readonly kind: 'parameter' | 'nodes';
  /** The nodes with this result: several where one of them runs at most. */
  readonly nodes: NodeSpec[];
}

/** The loops around a place. */
interface Loops {
  /** The names of their items. */
  readonly items: readonly string[];
  readonly repeated: ReadonlySet<NodeSpec>;
}

/** The names of a workflow that `$` may precede: parameters, and results of nodes. All are in one namespace. */
export class Namespace {
  readonly #reports: Reports;
  readonly #inputs: readonly Input[];
  readonly #nodes: readonly NodeSpec[];
  readonly #names = new Map<string, Named>();
  readonly #indexes = new Set<string>();

  /**
   * @param params where the parameters are named.
   * @param areExclusive whether at most one of two nodes runs, or one takes over from the other.
   */
  constructor(
    reports: Reports,
    inputs: readonly Input[],
    params: readonly LocatedText[],
    nodes: readonly NodeSpec[],
    areExclusive: (one: NodeSpec, other: NodeSpec) => boolean,
  ) {
    this.#reports = reports;
    this.#inputs = inputs;
    this.#nodes = nodes;
    for (const at of params) this.#add(at.value, { what: 'a parameter', at, kind: 'parameter', nodes: [] });
    for (const node of nodes) {
      const at = node.output ?? node.at;
      const name = node.output?.value ?? node.id;
      const first = this.#names.get(name);
      const isShared = first?.kind === 'nodes' && first.nodes.every((each) => areExclusive(each, node));
      if (isShared && node.output !== undefined) first.nodes.push(node);
      // A derived id is not a name.
      else if (node.output !== undefined || node.at.value !== '')
        this.#add(name, { what: `the result of node \`${node.id}\``, at, kind: 'nodes', nodes: [node] });
    }
    for (const node of nodes) if (node.kind === 'foreach') this.#checkItem(node);
  }

  /** Whether an expression that was resolved reads the index of this name. */
  usesIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** The names that expressions of a node, or of a body, may refer to. */
  scopeOf(scope: ScopeSpec): ReferenceScope {
    const items: string[] = [];
    const repeated = new Set<NodeSpec>();
    for (let each: ScopeSpec | undefined = scope; each !== undefined; each = each.container?.scope) {
      if (each.container?.kind === 'foreach') items.push(itemNameOf(each.container));
      if (each.container?.kind === 'repeat') repeated.add(each.container);
    }
    return { resolve: (name, keys) => this.#resolve(name, keys, { items, repeated }) };
  }

  #add(name: string, named: Named): void {
    const { at } = named;
    const first = this.#names.get(name);
    if (first === undefined) {
      this.#names.set(name, named);
      if (at !== undefined && RESERVED_NAMES.includes(name))
        this.#reports.report('SW5012', at, { name, first: 'a name of the product' });
      return;
    }
    if (at === undefined) return;
    // Two nodes of one id are reported by the checker.
    if (first.kind === 'nodes' && first.nodes[0]?.id === named.nodes[0]?.id) return;
    const related =
      first.at === undefined
        ? []
        : [{ message: 'first named here', place: this.#reports.source.placeOf(first.at) }];
    this.#reports.report('SW5012', at, { name, first: first.what }, { related });
  }

  #checkItem(node: NodeSpec): void {
    const as = node.fields.value('as');
    if (as?.kind !== 'text') return;
    const first = this.#names.get(as.value);
    const isReserved = as.value !== 'item' && RESERVED_NAMES.includes(as.value);
    if (first !== undefined) this.#reports.report('SW5012', as, { name: as.value, first: first.what });
    else if (isReserved)
      this.#reports.report('SW5012', as, { name: as.value, first: 'a name of the product' });
  }

  #resolve(name: string, keys: readonly (string | number)[], { items, repeated }: Loops): Resolution {
    if (items.includes(name)) return { kind: 'value', root: 'item', path: [name], length: 0 };
    const named = this.#names.get(name);
    if (named?.kind === 'parameter') return { kind: 'value', root: 'inputs', path: [name], length: 0 };
    if (named !== undefined) return this.#result(named, repeated);
    const reserved = this.#reserved(name, keys, items);
    if (reserved !== undefined) return reserved;
    const renamed = this.#nodes.find(({ id, output }) => id === name && output !== undefined);
    const names = [...items, ...this.#names.keys()];
    return { kind: 'unknown', suggestion: renamed?.output?.value ?? nearestName(name, names) };
  }

  #result({ nodes }: Named, repeated: ReadonlySet<NodeSpec>): Resolution {
    const [node, ...others] = nodes;
    // Inside a `repeat` its name is the result of its last node.
    const first = node !== undefined && repeated.has(node) ? node.bodies[0]?.nodes.at(-1) : node;
    if (first === undefined) return { kind: 'unknown' };
    if (!hasResult(first.kind)) {
      const why = `node \`${first.id}\` is of type \`${first.kind}\`, which has no result`;
      return { kind: 'withoutValue', why };
    }
    if (others.length > 0) return { kind: 'either', nodes: nodes.map(({ id }) => id) };
    return { kind: 'value', root: 'steps', path: [first.id], length: 0 };
  }

  #reserved(
    name: string,
    keys: readonly (string | number)[],
    items: readonly string[],
  ): Resolution | undefined {
    const [key, property] = keys;
    switch (name) {
      case 'params':
        return this.#ofParams(key);
      case 'steps':
        return this.#ofSteps(key, property);
      case 'error': {
        if (typeof key !== 'string' || !ERROR_FIELDS.includes(key))
          return { kind: 'withoutValue', why: `write one of ${listOf(ERROR_FIELDS, '$error.')}` };
        return { kind: 'value', root: 'error', path: [key], length: 1 };
      }
      case 'index': {
        const [item] = items;
        if (item === undefined)
          return { kind: 'withoutValue', why: 'only the body of a `foreach` has an index' };
        this.#indexes.add(indexNameOf(item));
        return { kind: 'value', root: 'index', path: [indexNameOf(item)], length: 0 };
      }
      case 'item':
        return { kind: 'withoutValue', why: 'only the body of a `foreach` without `as` has an item' };
      case 'run':
      case 'env':
      case 'user':
      case 'secrets':
        return { kind: 'withoutValue', why: 'add a parameter for what the workflow needs from outside' };
      default:
        return undefined;
    }
  }

  #ofParams(key: string | number | undefined): Resolution {
    const names = this.#inputs.map((input) => input.name);
    if (typeof key === 'string' && names.includes(key))
      return { kind: 'value', root: 'inputs', path: [key], length: 1 };
    return unknownIn('params', key, names);
  }

  #ofSteps(key: string | number | undefined, property: string | number | undefined): Resolution {
    const node = this.#nodes.find(({ id }) => id === key);
    if (node === undefined) {
      const field = STEP_FIELDS.find((each) => each === property) ?? 'result';
      const ids = this.#nodes.map(({ id }) => id);
      return unknownIn('steps', key, ids, `.${field}`);
    }
    if (property === 'status' || property === 'error')
      return { kind: 'value', root: 'nodes', path: [node.id, property], length: 2 };
    if (property === 'result' && hasResult(node.kind))
      return { kind: 'value', root: 'steps', path: [node.id], length: 2 };
    const why =
      property === 'result'
        ? `a node of type \`${node.kind}\` has no result`
        : `write one of ${listOf(STEP_FIELDS, `$steps.${node.id}.`)}`;
    return { kind: 'withoutValue', why };
  }
}

/** The properties of a node behind `$steps`. */
const STEP_FIELDS = ['result', 'status', 'error'] as const;

/** An unknown name behind `$params` or `$steps`. */
function unknownIn(
  root: string,
  key: string | number | undefined,
  names: readonly string[],
  rest = '',
): Resolution {
  const near = nearestName(String(key ?? ''), names);
  return {
    kind: 'unknown',
    name: key === undefined ? root : `${root}.${key}`,
    suggestion: near === undefined ? undefined : `${root}.${near}${rest}`,
  };
}

function listOf(names: readonly string[], prefix: string): string {
  return names.map((name) => `\`${prefix}${name}\``).join(', ');
}
