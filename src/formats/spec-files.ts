import { type CheckEnvironment, checkGraph, type ToolSignature } from '../check/check-graph.js';
import { GraphMemo } from '../check/environment.js';
import { defined } from '../graph/defined.js';
import {
  type Diagnostic,
  type DiagnosticCode,
  diagnostic,
  hasErrors,
  sortDiagnostics,
} from '../graph/diagnostics/diagnostic.js';
import type { Compensation, Node, Scope } from '../graph/kinds/node.js';
import { uniqueBy } from '../graph/maps.js';
import { DEFAULT_DOMAIN, type Domain, type Graph, mergedDomains } from '../graph/model.js';
import { compareText } from '../graph/names.js';
import { bundle, compensationsOf, isServerCall, nodesOf, withBodies } from '../graph/nodes.js';
import type { QualifiedName } from './dialects/dialect.js';
import {
  lowerDocument,
  repeatedKey,
  type SpecDocument,
  withHintOf,
  XML_MAPPINGS,
} from './dialects/dialects.js';
import { valueFault } from './json-schema/schema-compiler.js';
import { readText, type TextFormat } from './text/read-text.js';
import { Reports, type TextLimits } from './text/reading.js';

export type { Domain } from '../graph/model.js';

/** How the text of a spec file is read. */
export interface ParseOptions {
  /** The name of the file, for diagnostics. */
  readonly file: string;
  readonly format: TextFormat;
  /** The tools, resources and workflows that its workflows may use. Without it calls are not checked. */
  readonly registered?: CheckEnvironment;
}

/** A workflow of a spec file, as a server takes it. */
export interface SpecWorkflow {
  /** With the workflows that it runs. The highest version, where files have several. */
  readonly graph: Graph;
  /** The other versions. */
  readonly earlier?: readonly Graph[];
}

/** The workflows of spec files. */
export interface SpecWorkflows {
  /** The domains of the files, each once. */
  readonly domains: readonly Domain[];
  /** In the order of writing. Empty if there is an error. */
  readonly workflows: readonly SpecWorkflow[];
  /** Sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the workflows of the text of a spec file. All faults are reported at once; with an error there is no workflow.
 * Never throws for a text.
 */
export async function parseWorkflows(
  text: string,
  { file, format, registered }: ParseOptions,
): Promise<SpecWorkflows> {
  return checkSpecs([await lowerSpec(text, { file, format })], registered);
}

/** A spec file that was read, and not checked yet. */
export interface LoweredSpec {
  readonly reports: Reports;
  /** Missing if a fault of the text leaves no document. */
  readonly document?: SpecDocument;
}

export async function lowerSpec(
  text: string,
  { file, format, limits }: Pick<ParseOptions, 'file' | 'format'> & { readonly limits?: TextLimits },
): Promise<LoweredSpec> {
  const own = defined({ limits });
  const { source, root, diagnostics } = await readText(text, {
    ...{ file, format, repeatedKey },
    xml: XML_MAPPINGS,
    ...own,
  });
  const reports = new Reports(source);
  reports.add(diagnostics);
  const document = root === undefined ? undefined : lowerDocument(root, reports);
  return { reports, ...defined({ document }) };
}

/** Checks the graphs of files that may use each other's workflows. */
export function checkSpecs(
  specs: readonly LoweredSpec[],
  registered: CheckEnvironment | undefined,
  memo = new SpecMemo(),
): SpecWorkflows {
  const unknown = registered === undefined ? unknownTools(specs) : undefined;
  const tools = registered?.tools ?? unknown?.tools ?? new Map();
  const environment = { ...registered, tools, resources: registered?.resources ?? new Map() };
  const { graphs, earlier, byName, diagnostics: faults } = checkedGraphs(specs, environment, memo);
  const diagnostics = sortDiagnostics([...faults, ...(unknown?.diagnostics ?? [])]);
  const domains = domainsOf(specs);
  if (hasErrors(diagnostics)) return { domains, workflows: [], diagnostics };
  const bundled = (graph: Graph): Graph =>
    memo.bundled.get(graph, { ...environment, workflows: byName }, () =>
      bundle(graph, (name) => byName.get(name)),
    );
  const workflows = graphs.map((graph): SpecWorkflow => {
    const others = earlier.filter(({ name }) => name === graph.name).map(bundled);
    return { graph: bundled(graph), ...(others.length === 0 ? {} : { earlier: others }) };
  });
  return { domains, workflows, diagnostics };
}

/** What is known of the graphs of files that are read again, with one registry. */
export class SpecMemo {
  readonly checked = new GraphMemo<readonly Diagnostic[]>();
  readonly bundled = new GraphMemo<Graph>();
  readonly #renamed = new WeakMap<Graph, Graph>();

  renamed(graph: Graph, tools: Tools): Graph {
    const renamed = this.#renamed.get(graph) ?? withRegisteredTools(graph, tools);
    this.#renamed.set(graph, renamed);
    return renamed;
  }
}

/** The graphs of files that may use each other's workflows, and what is wrong with them. */
export interface CheckedGraphs {
  /** In the order of writing, each name once: its highest version. */
  readonly graphs: readonly Graph[];
  /** The other versions. */
  readonly earlier: readonly Graph[];
  /** With the registered workflows. */
  readonly byName: ReadonlyMap<string, Graph>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks graphs without bundling them. A workflow of a file takes the place of a registered one of its name. */
export function checkedGraphs(
  loweredSpecs: readonly LoweredSpec[],
  { workflows, ...registered }: CheckEnvironment,
  memo = new SpecMemo(),
): CheckedGraphs {
  const specs = loweredSpecs.map(({ reports, document }): LoweredSpec => {
    if (document === undefined) return { reports };
    const graphs = document.graphs.map((graph) => memo.renamed(graph, registered.tools));
    return { reports, document: { ...document, graphs } };
  });
  const byName = new Map(workflows);
  const { graphs, earlier, repeated } = byVersion(specs.flatMap(({ document }) => document?.graphs ?? []));
  for (const graph of graphs) byName.set(graph.name, graph);
  repeated.push(...tasksNamedAsWorkflows(graphs, byName));
  const environment = { ...registered, workflows: byName };
  const faults = specs.flatMap(({ reports, document }) => {
    const hasRepeated = repeated.some(({ place }) => place?.file === reports.source.file);
    const isWhole = !reports.hasErrors && !hasRepeated;
    const check = (graph: Graph): readonly Diagnostic[] =>
      checkGraph(graph, environment, { isWhole, valueFault }).map((each) =>
        withHintOf(document?.dialect ?? '', each),
      );
    const ofGraphs = (document?.graphs ?? []).flatMap((graph) =>
      isWhole ? memo.checked.get(graph, environment, () => check(graph)) : check(graph),
    );
    const ofDomains = (document?.qualifiedNames ?? []).flatMap((each) => domainFault(each, byName) ?? []);
    return [...reports.diagnostics, ...ofGraphs, ...ofDomains].filter(
      ({ code }) => isWhole || !CONSEQUENCES.has(code),
    );
  });
  return { graphs, earlier, byName, diagnostics: unique([...faults, ...repeated]) };
}

/** The fault of a name with another domain than that of its workflow. The checker reports names without a workflow. */
function domainFault(
  { domain, name, caller, source }: QualifiedName,
  workflows: ReadonlyMap<string, Graph>,
): Diagnostic | undefined {
  const callee = workflows.get(name);
  if (callee === undefined) return undefined;
  const { domain: ownDomain = DEFAULT_DOMAIN } = callee;
  if (domain === ownDomain) return undefined;
  const suggestion = `${ownDomain}/${name}`;
  return diagnostic('SW4026', source, { workflow: caller, target: `${domain}/${name}`, suggestion });
}

/** The highest version of each name, the other versions, and the faults of graphs with the name and version of another. */
function byVersion(all: readonly Graph[]): Pick<CheckedGraphs, 'graphs' | 'earlier'> & {
  readonly repeated: Diagnostic[];
} {
  const highest = new Map<string, Graph>();
  const first = new Map<string, Graph>();
  const repeated: Diagnostic[] = [];
  for (const graph of all) {
    const { name, version = '' } = graph;
    const key = JSON.stringify([name, version]);
    const other = first.get(key);
    if (other !== undefined) repeated.push(writtenTwice(graph, other));
    else first.set(key, graph);
    const best = highest.get(name);
    if (best === undefined || compareVersions(version, best.version ?? '') > 0) highest.set(name, graph);
  }
  const graphs = [...highest.values()];
  return { graphs, earlier: [...first.values()].filter((graph) => !graphs.includes(graph)), repeated };
}

/** Reports a workflow that cannot be beside another one of its name. */
export function writtenTwice(graph: Graph, first: Graph): Diagnostic {
  const related = first.source === undefined ? [] : [{ message: 'first written here', place: first.source }];
  const hint = 'remove one of them, or give it another name or version';
  return diagnostic('SW5004', graph.source, { key: graph.name }, { related, hint });
}

/** Tasks of a file with the name of a workflow: a graph runs both by name. */
function tasksNamedAsWorkflows(
  graphs: readonly Graph[],
  workflows: ReadonlyMap<string, Graph>,
): readonly Diagnostic[] {
  return graphs.flatMap(({ tasks = [] }) =>
    tasks.flatMap(({ name, source }) => {
      const workflow = workflows.get(name);
      if (workflow === undefined) return [];
      const related =
        workflow.source === undefined ? [] : [{ message: 'the workflow is here', place: workflow.source }];
      return [diagnostic('SW5004', source, { key: name }, { related })];
    }),
  );
}

/** Warnings that a faulty part may be the reason of. */
const CONSEQUENCES: ReadonlySet<DiagnosticCode> = new Set(['SW5030', 'SW5032']);

/** Tools of which only the names are known, each of which is reported where it is called first. */
function unknownTools(specs: readonly LoweredSpec[]): {
  readonly tools: ReadonlyMap<string, ToolSignature>;
  readonly diagnostics: readonly Diagnostic[];
} {
  const tools = new Map<string, ToolSignature>();
  const diagnostics: Diagnostic[] = [];
  for (const node of specs.flatMap(({ document }) => (document?.graphs ?? []).flatMap(nodesOf))) {
    const called = isServerCall(node) ? [node.tool] : [];
    for (const tool of [...called, ...compensationsOf(node).map((each) => each.tool)]) {
      if (tools.has(tool)) continue;
      tools.set(tool, { inputSchema: { type: 'object' } });
      if (node.source !== undefined) diagnostics.push(diagnostic('SW5034', node.source, { tool }));
    }
  }
  return { tools, diagnostics };
}

/** The domains of files, each once. */
export function domainsOf(specs: readonly LoweredSpec[]): readonly Domain[] {
  return mergedDomains(specs.flatMap(({ document }) => document?.domain ?? []));
}

/** A part that is lowered twice, as the default of a branch, is reported once. */
function unique(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return uniqueBy(diagnostics, ({ code, message, place }) => JSON.stringify([code, message, place]));
}

type Tools = CheckEnvironment['tools'];

/**
 * A graph whose tools have their registered names, also where they are written as `server/tool` or `server.tool`. One
 * that is written with registered names comes back as it is.
 */
function withRegisteredTools(graph: Graph, tools: Tools): Graph {
  if (nodesOf(graph).every((node) => hasRegisteredNames(node, tools))) return graph;
  return { ...graph, ...inScope(graph, tools) };
}

function hasRegisteredNames(node: Node, tools: Tools): boolean {
  if (isServerCall(node) && !tools.has(node.tool)) return false;
  return compensationsOf(node).every(({ tool }) => tools.has(tool));
}

function inScope(scope: Scope, tools: Tools): Scope {
  const nodes = scope.nodes.map((node) => withBodies(withNames(node, tools), (body) => inScope(body, tools)));
  return { ...scope, nodes };
}

function withNames(node: Node, tools: Tools): Node {
  const named = <T extends { readonly tool: string }>(call: T): T => ({
    ...call,
    tool: registeredName(call.tool, tools),
  });
  const undone: { readonly compensate?: Compensation } =
    node.compensate === undefined ? {} : { compensate: named(node.compensate) };
  if (isServerCall(node)) return { ...named(node), ...undone };
  if (node.kind === 'compensate') return { ...node, steps: node.steps.map(named) };
  return { ...node, ...undone };
}

function registeredName(name: string, tools: Tools): string {
  if (tools.has(name)) return name;
  const [, server, tool] = /^([^/.]+)[/.](.+)$/.exec(name) ?? [];
  for (const [name, { upstream }] of tools)
    if (upstream !== undefined && upstream.server === server && upstream.tool === tool) return name;
  return name;
}

/**
 * Compares versions as Semantic Versioning orders them: by their three numbers, then a pre-release before its release. Parts
 * that are not numbers are compared as text; build metadata does not count.
 */
export function compareVersions(left: string, right: string): number {
  const [one, other] = [partsOf(left), partsOf(right)];
  return (
    comparePart(one.numbers, other.numbers) ||
    Number(other.preRelease.length > 0) - Number(one.preRelease.length > 0) ||
    comparePart(one.preRelease, other.preRelease)
  );
}

function partsOf(version: string) {
  const [, numbers = '', preRelease] = /^v?([^-+]*)(?:-([^+]*))?/.exec(version) ?? [];
  // A workflow without a version is older than any.
  return { numbers: numbers === '' ? [] : numbers.split('.'), preRelease: preRelease?.split('.') ?? [] };
}

function comparePart(left: readonly string[], right: readonly string[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const [one, other] = [left[index], right[index]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    const numbers = [one, other].map((part) => /^\d+$/.test(part));
    const order =
      numbers[0] && numbers[1]
        ? Number(one) - Number(other)
        : Number(numbers[1]) - Number(numbers[0]) || compareText(one, other);
    if (order !== 0) return order;
  }
  return 0;
}
