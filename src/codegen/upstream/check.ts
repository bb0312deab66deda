import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Graph } from '../../graph/model.js';
import {
  type Break,
  breaksOf,
  breakText,
  changesOf,
  isAbout,
  type RecordedTools,
} from '../../runtime/upstream/drift.js';
import { nameTools } from '../../runtime/upstream/names.js';
import { parseSnapshot } from '../../runtime/upstream/snapshot.js';
import { type PullRequest, upstreamFiles } from './pull.js';

export interface CheckRequest extends PullRequest {
  /** The workflows of the project, with the locations of their steps. */
  readonly graphs: readonly Graph[];
}

export interface CheckResult {
  /** What workflows need and the server does not have any more, where they need it (SW9020). */
  readonly diagnostics: readonly Diagnostic[];
  /** All other changes since the snapshot, a line each. */
  readonly changes: readonly string[];
}

/** Compares a server with its snapshot. */
export function checkServer({ root, name, server, listing, graphs }: CheckRequest): CheckResult {
  const { snapshot: file } = upstreamFiles(name, server);
  const at = path.join(root, file);
  const snapshot = existsSync(at) ? parseSnapshot(readFileSync(at, 'utf8')) : undefined;
  if (snapshot === undefined)
    return { diagnostics: [diagnostic('SW9021', undefined, { file, server: name })], changes: [] };
  const named = nameTools(name, snapshot.tools);
  const recorded: RecordedTools = Object.fromEntries(
    named.map(({ tool, toolName }) => [toolName, { ...tool, upstream: { server: name, tool: tool.name } }]),
  );
  const live = new Map([[name, listing.tools]]);
  const found = graphs.flatMap((graph) => breaksOf(graph, recorded, live));
  const { version } = listing.server;
  return {
    diagnostics: distinct(found),
    changes: [
      ...(version === snapshot.server.version ? [] : [`version ${version}, was ${snapshot.server.version}`]),
      ...changesOf(snapshot.tools, listing.tools)
        .filter((change) => !found.some((each) => isAbout(each, change)))
        .map(({ tool, what }) => `tool '${tool}' ${what}`),
    ],
  };
}

/** A workflow may be in several registries. */
function distinct(breaks: readonly Break[]): readonly Diagnostic[] {
  const found = new Map<string, Diagnostic>();
  for (const each of breaks) {
    const { workflow, step, server, source } = each;
    const params = { workflow, step, server, problem: breakText(each) };
    found.set(JSON.stringify([params, source]), diagnostic('SW9020', source, params));
  }
  return [...found.values()];
}
