import { defined } from '../../../graph/defined.js';
import type { DictEntry, Expr, RefExpr } from '../../../graph/expression/tree.js';
import { wholeNumber } from '../../../graph/kinds/descriptor.js';
import { getOrInsert } from '../../../graph/maps.js';
import { DEFAULT_DOMAIN, type Domain, EXPOSURES, GRAPH_VERSION, type Graph } from '../../../graph/model.js';
import { isValidName, nearestName } from '../../../graph/names.js';
import { ReferenceLowering } from '../../references/lower-references.js';
import type { Located, LocatedEntry, LocatedMap } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import type { LoweredDocument, QualifiedName } from '../dialect.js';
import { expectMap, Fields, textsOf } from '../fields.js';
import { type LoweredScope, lowerScope } from './lower-nodes.js';
import { Namespace } from './namespace.js';
import { WrittenRoutes } from './node-context.js';
import { hasResult, NodeReader, type NodeSpec, type ScopeSpec } from './node-specs.js';
import { lowerParameters } from './parameters.js';

/** `$schema` is for editors. */
export const DOCUMENT_KEYS = ['$schema', 'domain', 'version', 'description', 'rules', 'docs', 'workflows'];
export const WORKFLOW_KEYS = [
  'title',
  'description',
  'params',
  'graph',
  'returns',
  'expose',
  'fail_fast',
  'on_failure',
  'max_concurrency',
  'task',
  'task_support',
];

export function lowerDocument(map: LocatedMap, reports: Reports): LoweredDocument | undefined {
  const fields = new Fields(reports, map, 'the file', DOCUMENT_KEYS);
  if (!fields.require('workflows')) return undefined;
  fields.text('$schema');
  const domain = domainOf(reports, fields);
  const version = versionOf(reports, fields);
  const workflows = fields.object('workflows');
  if (workflows?.entries.length === 0)
    fields.mismatch('workflows', workflows, 'an object with one or more workflows');
  const qualifiedNames: QualifiedName[] = [];
  const graphs = (workflows?.entries ?? []).flatMap(
    (entry) => lowerWorkflow(reports, entry, { domain: domain.name, version }, qualifiedNames) ?? [],
  );
  return { domain, graphs, qualifiedNames };
}

function domainOf(reports: Reports, fields: Fields): Domain {
  const rules = fields.value('rules');
  const docs = fields.text('docs')?.value;
  return {
    name: fields.text('domain')?.value ?? DEFAULT_DOMAIN,
    rules:
      rules === undefined ? [] : textsOf(reports, rules, '`rules` of the file').map(({ value }) => value),
    ...defined({ docs }),
  };
}

function versionOf(reports: Reports, fields: Fields): string {
  const version = fields.value('version');
  if (version?.kind === 'number') {
    reports.report('SW5009', version, { text: version.source });
    return '0.0.0';
  }
  return fields.text('version')?.value ?? '0.0.0';
}

function lowerWorkflow(
  reports: Reports,
  { key, value }: LocatedEntry,
  document: { readonly domain: string; readonly version: string },
  qualifiedNames: QualifiedName[],
): Graph | undefined {
  const name = key.value;
  const map = expectMap(reports, value, `workflow \`${name}\``);
  if (map === undefined) return undefined;
  if (!isValidName('workflow', name)) {
    const rule = 'letters, digits, `_` and `-`, a letter first, and at most 62 characters';
    reports.report('SW5010', key, { kind: 'a workflow', name, rule });
    return undefined;
  }
  const fields = new Fields(reports, map, `workflow \`${name}\``, WORKFLOW_KEYS);
  fields.require('description');
  if (!fields.require('graph')) return undefined;
  const params = fields.object('params');
  const inputs = params === undefined ? [] : lowerParameters(reports, params);
  const graph = fields.object('graph');
  if (graph === undefined) return undefined;
  if (graph.entries.length === 0) fields.mismatch('graph', graph, 'an object with one or more nodes');
  const parts = lowerGraph(reports, { name, fields, inputs, params, graph, qualifiedNames });
  const title = fields.text('title')?.value;
  const failFast = fields.boolean('fail_fast');
  const onFailure = fields.oneOf('on_failure', ['compensate']) && ('undo' as const);
  const maxConcurrency = fields.numberIn('max_concurrency', wholeNumber(1));
  const task = fields.task();
  const expose = exposureOf(reports, fields);
  return {
    graphVersion: GRAPH_VERSION,
    name,
    ...defined({ title }),
    description: fields.text('description')?.value ?? '',
    ...document,
    inputs,
    instructions: [],
    ...defined({ expose }),
    ...parts,
    ...defined({ failFast, onFailure, maxConcurrency }),
    ...task,
    source: reports.source.placeOf(key),
  };
}

function exposureOf(reports: Reports, fields: Fields): Graph['expose'] {
  const value = fields.value('expose');
  if (value === undefined) return undefined;
  const what = `\`expose\` of ${fields.where}`;
  return textsOf(reports, value, what).flatMap((text) => {
    const exposure = EXPOSURES.find((each) => each === text.value);
    if (exposure !== undefined) return exposure;
    const suggestion = nearestName(text.value, EXPOSURES);
    reports.report('SW5021', text, { what, value: text.value, candidates: EXPOSURES, suggestion });
    return [];
  });
}

function lowerGraph(
  reports: Reports,
  parts: {
    readonly name: string;
    readonly fields: Fields;
    readonly inputs: Graph['inputs'];
    readonly params: LocatedMap | undefined;
    readonly graph: LocatedMap;
    readonly qualifiedNames: QualifiedName[];
  },
): Pick<Graph, 'nodes' | 'returns'> {
  const reader = new NodeReader(reports);
  const scope = reader.graph(parts.graph);
  const routesOf = routesByScope();
  const areExclusive = (one: NodeSpec, other: NodeSpec) => routesOf(one.scope).areExclusive(one, other);
  const params = (parts.params?.entries ?? []).map(({ key }) => key);
  const names = new Namespace(reports, parts.inputs, params, reader.nodes, areExclusive);
  const { name: workflow, qualifiedNames } = parts;
  const { nodes: all } = reader;
  const lowered = lowerScope(scope, { reports, names, routesOf, nodes: all, workflow, qualifiedNames });
  const references = new ReferenceLowering(reports, names.scopeOf(scope));
  const returns = lowerResult(reports, {
    returns: parts.fields.value('returns'),
    references,
    scope,
    lowered,
    routes: routesOf(scope),
    name: parts.name,
    at: parts.fields.map.entries.find(({ key }) => key.value === 'graph')?.key ?? parts.fields.map,
  });
  const { nodes } = lowered;
  return { nodes, ...defined({ returns }) };
}

function routesByScope(): (scope: ScopeSpec) => WrittenRoutes {
  const byScope = new Map<ScopeSpec, WrittenRoutes>();
  return (scope) => {
    const routes = getOrInsert(byScope, scope, () => new WrittenRoutes(scope));
    return routes;
  };
}

/** The parts of which the result of a workflow is made. */
interface WrittenResult {
  /** Its value `returns`. */
  readonly returns: Located | undefined;
  readonly references: ReferenceLowering;
  readonly scope: ScopeSpec;
  readonly lowered: LoweredScope;
  readonly routes: WrittenRoutes;
  /** The workflow. */
  readonly name: string;
  readonly at: Located;
}

/**
 * Makes the result of a workflow. Without `returns` it is made of the nodes that no other node uses: the result of the
 * one that ran, an object of several, or null.
 */
function lowerResult(
  reports: Reports,
  { returns, references, scope, lowered, routes, name, at }: WrittenResult,
): Expr | undefined {
  if (returns !== undefined) return references.value(returns);
  const sinks = sinksIn(scope, lowered);
  const [first, ...others] = sinks;
  if (first === undefined) return undefined;
  if (others.length === 0) {
    const none: Expr = { kind: 'literal', value: null };
    return { kind: 'call', fn: 'coalesce', args: [resultOf(first), none] };
  }
  const areAlternatives = others.every((each) => routes.areExclusive(first, each));
  if (!areAlternatives) reports.report('SW5032', at, { workflow: name, sinks: sinks.map(({ id }) => id) });
  const entries = sinks.map(
    (node): DictEntry => ({ key: node.output?.value ?? node.id, value: resultOf(node) }),
  );
  return { kind: 'call', fn: 'soleEntry', args: [{ kind: 'dict', entries }] };
}

function resultOf({ id }: NodeSpec): RefExpr {
  return { kind: 'ref', root: 'steps', path: [id], find: 'optional' };
}

/** The nodes with a result that no other node waits for. */
function sinksIn(scope: ScopeSpec, { inWritingOrder, dependencies }: LoweredScope): NodeSpec[] {
  const used = new Set(inWritingOrder.flatMap(({ after }) => after));
  for (const [index, edges] of dependencies.data.entries()) {
    // A compensation reads the result of the node that it undoes, and does not use it up.
    if (inWritingOrder[index]?.kind === 'compensate') continue;
    for (const { source } of edges) used.add(inWritingOrder[source]?.id ?? '');
  }
  const lowered = new Set(inWritingOrder.map(({ id }) => id));
  return scope.nodes.filter(({ id, kind }) => hasResult(kind) && lowered.has(id) && !used.has(id));
}
