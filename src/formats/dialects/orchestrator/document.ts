import { defined } from '../../../graph/defined.js';
import type { Domain } from '../../../graph/domain.js';
import { GRAPH_VERSION, type Graph } from '../../../graph/model.js';
import { isValidName, nearestName } from '../../../graph/names.js';
import { ReferenceLowering } from '../../references/lower-references.js';
import type { LocatedEntry, LocatedMap } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import type { LoweredDocument } from '../dialect.js';
import { expectMap, Fields, textsOf } from '../fields.js';
import { lowerScope } from './lower-nodes.js';
import { Namespace } from './namespace.js';
import { NodeReader, type NodeSpec, type ScopeSpec } from './node-specs.js';
import { lowerParameters } from './parameters.js';
import { lowerResult } from './results.js';
import { WrittenRoutes } from './routes.js';

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
  'max_concurrency',
];

/** Lowers a document to graphs. */
export function lowerDocument(map: LocatedMap, reports: Reports): LoweredDocument | undefined {
  const fields = new Fields(reports, map, 'the file', DOCUMENT_KEYS);
  if (!fields.require('workflows')) return undefined;
  fields.text('$schema');
  const domain = domainOf(reports, fields);
  const version = versionOf(reports, fields);
  const workflows = fields.object('workflows');
  if (workflows?.entries.length === 0)
    fields.mismatch('workflows', workflows, 'an object with one or more workflows');
  const graphs = (workflows?.entries ?? []).flatMap(
    (entry) => lowerWorkflow(reports, entry, { domain: domain.name, version }) ?? [],
  );
  return { domain, graphs };
}

function domainOf(reports: Reports, fields: Fields): Domain {
  const rules = fields.value('rules');
  const docs = fields.text('docs')?.value;
  return {
    name: fields.text('domain')?.value ?? 'default',
    rules:
      rules === undefined ? [] : textsOf(reports, rules, '`rules` of the file').map(({ value }) => value),
    ...defined({ docs }),
  };
}

function versionOf(reports: Reports, fields: Fields): string {
  const version = fields.value('version');
  if (version?.kind === 'number') {
    reports.report('SW5009', version, { text: version.written });
    return '0.0.0';
  }
  return fields.text('version')?.value ?? '0.0.0';
}

function lowerWorkflow(
  reports: Reports,
  { key, value }: LocatedEntry,
  document: { readonly domain: string; readonly version: string },
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
  const written = fields.object('graph');
  if (written === undefined) return undefined;
  if (written.entries.length === 0) fields.mismatch('graph', written, 'an object with one or more nodes');
  const parts = lowerGraph(reports, { name, fields, inputs, params, written });
  const title = fields.text('title')?.value;
  const failFast = fields.boolean('fail_fast');
  const maxConcurrency = fields.number('max_concurrency');
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
    ...defined({ failFast, maxConcurrency }),
    source: reports.source.placeOf(key),
  };
}

/** What clients get of a workflow, as the option `expose` of `@Workflow`. */
export const EXPOSURES: readonly NonNullable<Graph['expose']>[number][] = ['prompt', 'tool', 'resource'];

function exposureOf(reports: Reports, fields: Fields): Graph['expose'] {
  const value = fields.value('expose');
  if (value === undefined) return undefined;
  const what = `\`expose\` of ${fields.where}`;
  return textsOf(reports, value, what).flatMap((text) => {
    const known = EXPOSURES.find((each) => each === text.value);
    if (known !== undefined) return known;
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
    readonly written: LocatedMap;
  },
): Pick<Graph, 'nodes' | 'returns'> {
  const reader = new NodeReader(reports);
  const scope = reader.graph(parts.written);
  const routesOf = routesByScope();
  const areExclusive = (one: NodeSpec, other: NodeSpec) => routesOf(one.scope).areExclusive(one, other);
  const params = (parts.params?.entries ?? []).map(({ key }) => key);
  const names = new Namespace(reports, parts.inputs, params, reader.nodes, areExclusive);
  const lowered = lowerScope(scope, { reports, names, routesOf, nodes: reader.nodes });
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
  const known = new Map<ScopeSpec, WrittenRoutes>();
  return (scope) => {
    const routes = known.get(scope) ?? new WrittenRoutes(scope);
    known.set(scope, routes);
    return routes;
  };
}
