import type { DictExpr } from '../../../graph/expression/tree.js';
import { append } from '../../../graph/maps.js';
import type { ReferenceLowering } from '../../references/lower-references.js';
import { parseReferences } from '../../references/parse-references.js';
import { entryOf, type Located, type LocatedMap, type LocatedText, rangeIn } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import type { QualifiedName } from '../dialect.js';
import type { Fields } from '../fields.js';
import { checkLiteral } from './names.js';
import type { Namespace } from './namespace.js';
import type { NodeSpec, ScopeSpec } from './node-specs.js';

/** The state that the nodes of a workflow share while they are lowered. */
export interface LoweringContext {
  readonly reports: Reports;
  readonly names: Namespace;
  readonly routesOf: (scope: ScopeSpec) => WrittenRoutes;
  /** Every node of the workflow. */
  readonly nodes: readonly NodeSpec[];
  /** The name of the workflow. */
  readonly workflow: string;
  /** Receives the names of workflows with a domain. */
  readonly qualifiedNames: QualifiedName[];
}

export interface NodeContext extends LoweringContext {
  readonly spec: NodeSpec;
  readonly references: ReferenceLowering;
  /** The nodes of its list that it may select, by id. */
  readonly siblings: readonly string[];
}

/** The name of a tool or a workflow, which takes no reference. */
export function literalName(context: NodeContext, key: string): LocatedText | undefined {
  const name = context.spec.fields.text(key);
  if (name === undefined) {
    context.spec.fields.require(key);
    return undefined;
  }
  return checkLiteral(context.reports, name, key) ? name : undefined;
}

export function argumentsOf({ references, reports }: NodeContext, fields: Fields): DictExpr {
  const args = fields.object('args');
  if (args === undefined) return { kind: 'dict', entries: [] };
  reportInterpolations(reports, args);
  return references.dict(args);
}

/** Arguments in which a value may become more than a value, and what to write instead. */
const RISKS: readonly {
  readonly keys: RegExp;
  readonly what: string;
  readonly instead: (path: string | undefined) => string;
}[] = [
  {
    keys: /^(?:path|url|endpoint)$/,
    what: 'an address',
    instead: (path) =>
      `write \`\${${path === undefined ? 'uri(…)' : `${path}|uri`}}\`, so that it stays one part of the address`,
  },
  {
    keys: /^(?:sql|query)$/,
    what: 'a query',
    instead: () => 'give it to the tool as a parameter of the query',
  },
  { keys: /^command$/, what: 'a command', instead: () => 'give it to the tool as an argument of its own' },
];

/** Reports references inside the texts of addresses, queries and commands. A value may be the whole text. */
function reportInterpolations(reports: Reports, args: LocatedMap): void {
  for (const { key, value } of args.entries) {
    const risk = RISKS.find(({ keys }) => keys.test(key.value));
    if (value.kind === 'map') reportInterpolations(reports, value);
    if (risk === undefined || value.kind !== 'text') continue;
    const parts = parseReferences(value.value);
    if (parts.length < 2) continue;
    for (const part of parts) {
      if (typeof part === 'string' || 'problem' in part) continue;
      if ('inner' in part ? /^\s*uri\(/.test(value.value.slice(part.inner.start)) : part.filter === 'uri')
        continue;
      const ref = value.value.slice(part.start, part.end);
      const path = 'inner' in part ? undefined : [part.name, ...part.keys].join('.');
      reports.report('SW5033', rangeIn(value, part), {
        ref,
        key: key.value,
        what: risk.what,
        instead: risk.instead(path),
      });
    }
  }
}

/** A place that names a node which is then selected. */
interface WrittenRoute {
  readonly from: NodeSpec;
  readonly target: string;
  /** The number of the case, if the route is one of a branch. */
  readonly arm?: number;
}

/** The routes between nodes of one list, as they are written. */
export class WrittenRoutes {
  readonly #byTarget = new Map<string, WrittenRoute[]>();

  constructor(scope: ScopeSpec) {
    for (const node of scope.nodes) {
      for (const route of routesFrom(node)) {
        append(this.#byTarget, route.target, route);
      }
    }
  }

  isRouted({ id }: NodeSpec): boolean {
    return this.#byTarget.has(id);
  }

  routesTo({ id }: NodeSpec): readonly WrittenRoute[] {
    return this.#byTarget.get(id) ?? [];
  }

  /** Whether two nodes are different cases of one branch, or one takes over from the other. */
  areExclusive(one: NodeSpec, other: NodeSpec): boolean {
    if (one.scope !== other.scope) return false;
    if (this.#takesOver(one, other) || this.#takesOver(other, one)) return true;
    if (one.dependsOn.length > 0 || other.dependsOn.length > 0) return false;
    const [mine, theirs] = [this.routesTo(one), this.routesTo(other)];
    const [first] = mine;
    if (first?.arm === undefined || theirs.length === 0) return false;
    return [...mine, ...theirs].every((route) => route.from === first.from);
  }

  #takesOver(node: NodeSpec, from: NodeSpec): boolean {
    return this.routesTo(node).some((route) => route.from === from && route.arm === undefined);
  }
}

function textIn(value: Located | undefined, key: string): LocatedText | undefined {
  const part = value?.kind === 'map' ? entryOf(value, key)?.value : undefined;
  return part?.kind === 'text' ? part : undefined;
}

function routesFrom(node: NodeSpec): WrittenRoute[] {
  const { fields, kind } = node;
  const routes: WrittenRoute[] = [];
  if (kind === 'branch') {
    const cases = fields.value('on');
    const items = cases?.kind === 'list' ? cases.items : [];
    for (const [arm, item] of items.entries()) {
      const fallback = item.kind === 'map' ? entryOf(item, 'default')?.value : undefined;
      const target = textIn(item, 'goto') ?? targetOf(fallback);
      if (target !== undefined) routes.push({ from: node, target: target.value, arm });
    }
    const target = targetOf(fields.value('default'));
    if (target !== undefined) routes.push({ from: node, target: target.value, arm: items.length });
  }
  const fallback = textIn(fields.value('on_error'), 'fallback');
  if (fallback !== undefined) routes.push({ from: node, target: fallback.value });
  const undoing = fields.value('on_partial_failure');
  if (undoing?.kind === 'text') routes.push({ from: node, target: undoing.value });
  return routes;
}

/** The target of `x` and of `{ goto: x }`. */
export function targetOf(value: Located | undefined): LocatedText | undefined {
  return value?.kind === 'text' ? value : textIn(value, 'goto');
}
