import { type CheckEnvironment, checkGraph, type ToolSignature } from '../check/check-graph.js';
import { type Diagnostic, hasErrors, sortDiagnostics } from '../graph/diagnostics/diagnostic.js';
import type { Graph } from '../graph/model.js';
import { bundle, compensationsOf, nodesOf } from '../graph/nodes.js';
import { type Domain, lowerDocument } from './orchestrator/document.js';
import { withSpecHint } from './orchestrator/hints.js';
import { documentOfXml } from './orchestrator/xml-document.js';
import { FILE_LIMITS, type TextLimits } from './text/limits.js';
import { readText, type TextFormat } from './text/read-text.js';
import { Reports } from './text/reading.js';

export type { Domain } from './orchestrator/document.js';
export type { TextFormat } from './text/read-text.js';

/** How the text of a spec file is read. */
export interface ParseOptions {
  /** The name of the file, for diagnostics. */
  readonly file: string;
  readonly format: TextFormat;
  /** The tools, resources and workflows that its workflows may use. Without it calls are not checked. */
  readonly registered?: CheckEnvironment;
  /** Default: those of files of the project. */
  readonly limits?: TextLimits;
}

/** The workflows of a spec file. */
export interface ParsedWorkflows {
  readonly domain?: Domain;
  /** In the order of writing, with the workflows that they run. Empty if the file has an error. */
  readonly graphs: readonly Graph[];
  /** Sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the workflows of a spec file. All faults are reported at once; with an error there is no workflow. Never throws
 * for a text.
 */
export async function parseWorkflows(
  text: string,
  { file, format, registered, limits = FILE_LIMITS }: ParseOptions,
): Promise<ParsedWorkflows> {
  const { source, root, diagnostics } = await readText(text, { file, format, limits, xml: documentOfXml });
  if (root === undefined) return { graphs: [], diagnostics: sortDiagnostics(diagnostics) };
  const reports = new Reports(source);
  reports.add(diagnostics);
  const lowered = lowerDocument(reports, root);
  if (lowered === undefined) return { graphs: [], diagnostics: sortDiagnostics(reports.diagnostics) };
  const { graphs, domain } = lowered;
  const isWhole = !reports.hasErrors;
  const byName = new Map([
    ...(registered?.workflows ?? []),
    ...graphs.map((graph) => [graph.name, graph] as const),
  ]);
  const tools = registered?.tools ?? unknownTools(graphs, reports);
  const environment = { tools, resources: registered?.resources ?? new Map(), workflows: byName };
  for (const graph of graphs) reports.add(checkGraph(graph, environment, { isWhole }).map(withSpecHint));
  const found = sortDiagnostics(unique(reports.diagnostics));
  if (hasErrors(found)) return { domain, graphs: [], diagnostics: found };
  return {
    domain,
    graphs: graphs.map((graph) => bundle(graph, (name) => byName.get(name))),
    diagnostics: found,
  };
}

/** Tools of which only the names are known, each of which is reported where it is called first. */
function unknownTools(graphs: readonly Graph[], reports: Reports): Map<string, ToolSignature> {
  const tools = new Map<string, ToolSignature>();
  for (const node of graphs.flatMap((graph) => nodesOf(graph))) {
    const called = [
      ...(node.kind === 'call' ? [node.tool] : []),
      ...compensationsOf(node).map(({ tool }) => tool),
    ];
    for (const tool of called) {
      if (tools.has(tool)) continue;
      tools.set(tool, { inputSchema: { type: 'object' } });
      if (node.source !== undefined) reports.reportAt('SW5034', node.source.span, { tool });
    }
  }
  return tools;
}

/** A part that is lowered twice, as the default of a branch, is reported once. */
function unique(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ code, message, place }) => {
    const key = JSON.stringify([code, message, place?.span]);
    return !seen.has(key) && seen.add(key);
  });
}
