import path from 'node:path';
import { environmentOf } from '../../../check/environment.js';
import type { SpecFiles } from '../../../formats/load-files.js';
import type { SpecWorkflow, SpecWorkflows } from '../../../formats/spec-files.js';
import { hashGraph } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import { formatDiagnostics } from '../../../graph/diagnostics/format.js';
import type { Domain, Graph } from '../../../graph/model.js';
import { toolsIn } from '../../../graph/nodes.js';
import { clip } from '../../../graph/printable-text.js';
import type { Registry } from '../../tools/registry.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { SpecSources } from '../options.js';
import { FetchFault, type FetchOptions, fetchSpec } from './fetch-spec.js';
import { SpecError, shownUrl } from './url-rules.js';
import type { SpecChanges } from './watch-files.js';

/** The workflows of spec files, or a report of all that is wrong. */
export type LoadedSpecs =
  | {
      readonly ok: true;
      readonly workflows: readonly SpecWorkflow[];
      /** What the files say about their domains. */
      readonly domains: readonly Domain[];
      /** Empty if there is nothing to say. */
      readonly warnings: string;
    }
  | { readonly ok: false; readonly report: string };

/** What the workflows of files and addresses may use. */
export interface SpecBase {
  readonly registry: Registry;
  /** What clients get below them. */
  readonly catalogue: Catalogue;
  /** All workflows below them, offered or not. */
  readonly graphs: readonly Graph[];
}

/** Finds the files of patterns, in the order of their names. A pattern that is a name is a file, there or not. */
async function filesOf(
  patterns: readonly string[],
  root: string,
): Promise<{ readonly files: readonly string[]; readonly unmatched: readonly string[] }> {
  const { glob, isDynamicPattern } = await import('tinyglobby');
  const files = new Set<string>();
  const unmatched: string[] = [];
  for (const pattern of patterns) {
    const isName = !isDynamicPattern(pattern);
    const matches = isName ? [pattern] : await glob(pattern, { cwd: root, ignore: ['**/node_modules/**'] });
    if (matches.length === 0) unmatched.push(pattern);
    for (const file of matches.toSorted()) files.add(file);
  }
  return { files: [...files], unmatched };
}

/** The files of some patterns, which are read again when they change. */
export class SourceFiles {
  readonly #patterns: readonly string[];
  readonly #root: string;
  #reader: SpecFiles | undefined;
  /** Absolute. */
  #paths: ReadonlyMap<string, string> = new Map();
  /** The patterns without a file. */
  unmatched: readonly string[] = [];

  constructor(patterns: readonly string[], root: string) {
    this.#patterns = patterns;
    this.#root = root;
  }

  /**
   * Reads the workflows of the files. They may run each other, and everything that is registered.
   *
   * @param changes what has changed since they were read. Default: anything.
   */
  async load(base: SpecBase, others: readonly SpecWorkflow[], changes?: SpecChanges): Promise<LoadedSpecs> {
    if (this.#patterns.length === 0) return { ok: true, workflows: [], domains: [], warnings: '' };
    if (changes?.isContent !== true) {
      const { files, unmatched } = await filesOf(this.#patterns, this.#root);
      this.unmatched = unmatched;
      this.#paths = new Map(files.map((file) => [file, path.resolve(this.#root, file)]));
    }
    if (this.#paths.size === 0) return { ok: true, workflows: [], domains: [], warnings: '' };
    const { SpecFiles } = await import('../../../formats/load-files.js');
    this.#reader ??= new SpecFiles(this.#root);
    const graphs = [...base.graphs, ...others.map(({ graph }) => graph)];
    const registered = environmentOf(base.registry, graphs);
    const isChanged = (file: string): boolean => changes?.files.has(this.#paths.get(file) ?? '') ?? true;
    const loaded = await this.#reader.load([...this.#paths.keys()], registered, isChanged);
    return loadedOf(loaded, loaded.readSource);
  }
}

/**
 * Reads the workflows of an address that the rules allow. They may use what clients may use: no private tools, and no
 * workflows that only others run. A client needs the scopes of all that they call.
 *
 * @throws SpecError when it cannot be read; `log` gets the reason.
 */
export async function loadUrl(
  url: URL,
  base: SpecBase,
  options: FetchOptions & { readonly log: (text: string) => void },
): Promise<LoadedSpecs> {
  const fetched = await fetchSpec(url, options).catch((error: unknown) => {
    if (!(error instanceof FetchFault)) throw error;
    // What the network is like is the operator's concern: every refusal reads the same.
    options.log(`the workflows at ${clip(shownUrl(url))} cannot be read: ${error.message}`);
    throw new SpecError(
      'E_SPEC_FETCH',
      `The workflows at ${clip(shownUrl(url))} cannot be read; the log of the server says why`,
    );
  });
  const { text, format } = fetched;
  const { clientTools, workflows } = base.catalogue;
  const tools = Object.fromEntries(
    Object.entries(base.registry.tools).filter(([name]) => clientTools.has(name)),
  );
  const graphs = base.graphs.filter(({ name }) => workflows.get(name)?.isExposed === true);
  const registered = environmentOf({ ...base.registry, tools }, graphs);
  const { parseUntrustedWorkflows } = await import('../../../formats/untrusted/parse-untrusted.js');
  const result = await parseUntrustedWorkflows(text, { file: shownUrl(url), format, registered });
  const needed = scopesOf(base.registry, graphs);
  return loadedOf(
    { ...result, workflows: result.workflows.map((workflow) => withScopes(workflow, needed)) },
    () => undefined,
  );
}

function loadedOf(
  { workflows, domains, diagnostics }: SpecWorkflows,
  readSource: (file: string) => string | undefined,
): LoadedSpecs {
  const report = formatDiagnostics(diagnostics, readSource).trimEnd();
  return diagnostics.some(({ severity }) => severity === 'error')
    ? { ok: false, report }
    : { ok: true, workflows, domains, warnings: diagnostics.length === 0 ? '' : report };
}

/** The scopes of a tool or a workflow, which its callers need. */
function scopesOf({ tools }: Registry, graphs: readonly Graph[]) {
  const ofGraph = new Map(graphs.map(({ name, scopes = [] }) => [name, scopes]));
  return {
    tool: (name: string): readonly string[] =>
      (Object.hasOwn(tools, name) ? tools[name]?.scopes : undefined) ?? [],
    workflow: (name: string): readonly string[] => ofGraph.get(name) ?? [],
  };
}

/** A workflow acts for its caller whatever the scopes of its steps: one that others wrote needs those of all steps. */
function withScopes({ graph, earlier }: SpecWorkflow, needed: ReturnType<typeof scopesOf>): SpecWorkflow {
  const scoped = (each: Graph): Graph => graphWithScopes(each, needed);
  return { graph: scoped(graph), ...defined({ earlier: earlier?.map(scoped) }) };
}

function graphWithScopes(graph: Graph, needed: ReturnType<typeof scopesOf>): Graph {
  const { tasks = [], ...own } = graph;
  const called = [...toolsIn({ nodes: own.nodes, tasks })].flatMap(needed.tool);
  const run = tasks.flatMap(({ name }) => needed.workflow(name));
  const scopes = [...new Set([...(graph.scopes ?? []), ...called, ...run])].sort();
  return scopes.length === 0 ? graph : { ...graph, scopes };
}

/** Describes workflows as resources. One that is offered as well, the same, is both. */
export function asResources(
  workflows: readonly SpecWorkflow[],
  described: readonly SpecWorkflow[],
): readonly SpecWorkflow[] {
  if (described.length === 0) return workflows;
  const alike = new Map(described.map(({ graph }) => [hashGraph(graph), graph.name]));
  const both = new Set<string>();
  const offered = workflows.map((workflow): SpecWorkflow => {
    const { graph } = workflow;
    const name = alike.get(hashGraph(graph));
    if (name === undefined) return workflow;
    both.add(name);
    const { expose = ['prompt', 'tool'] } = graph;
    return { ...workflow, graph: { ...graph, expose: [...new Set([...expose, 'resource' as const])] } };
  });
  const alone = described.filter(({ graph }) => !both.has(graph.name));
  return [...offered, ...alone.map(({ graph }) => ({ graph: { ...graph, expose: ['resource' as const] } }))];
}

export function hasSources({ files = [], urls = [] }: SpecSources = {}): boolean {
  return files.length > 0 || urls.length > 0;
}
