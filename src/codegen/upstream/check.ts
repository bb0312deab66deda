import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Graph } from '../../graph/model.js';
import type { UpstreamServer } from '../../runtime/upstream/config.js';
import {
  type Break,
  breaksOf,
  breakText,
  changesOf,
  isAbout,
  type RecordedTools,
} from '../../runtime/upstream/drift.js';
import { nameTools, parseSnapshot, type UpstreamSnapshot } from '../../runtime/upstream/snapshot.js';
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
  const snapshot = recordedSnapshot(root, name, server);
  if (snapshot === undefined) {
    const { snapshot: file } = upstreamFiles(name, server);
    return { diagnostics: [diagnostic('SW9021', undefined, { file, server: name })], changes: [] };
  }
  const named = nameTools(name, snapshot.tools);
  const recorded: RecordedTools = Object.fromEntries(
    named.map(({ tool, toolName }) => [toolName, { ...tool, upstream: { server: name, tool: tool.name } }]),
  );
  const live = new Map([[name, listing.tools]]);
  const results = graphs.flatMap((graph) => breaksOf(graph, recorded, live));
  const { version } = listing.server;
  return {
    diagnostics: distinct(results),
    changes: [
      ...(version === snapshot.server.version ? [] : [`version ${version}, was ${snapshot.server.version}`]),
      ...changesOf(snapshot.tools, listing.tools)
        .filter((change) => !results.some((each) => isAbout(each, change)))
        .map(({ tool, what }) => `tool '${tool}' ${what}`),
    ],
  };
}

/** The snapshot of a server; nothing if there is none of this version. */
export function recordedSnapshot(
  root: string,
  name: string,
  server: UpstreamServer,
): UpstreamSnapshot | undefined {
  const file = path.join(root, upstreamFiles(name, server).snapshot);
  return existsSync(file) ? parseSnapshot(readFileSync(file, 'utf8')) : undefined;
}

/** A workflow may be in several registries. */
function distinct(breaks: readonly Break[]): readonly Diagnostic[] {
  const results = new Map<string, Diagnostic>();
  for (const each of breaks) {
    const { workflow, step, server, source } = each;
    const params = { workflow, step, server, problem: breakText(each) };
    results.set(JSON.stringify([params, source]), diagnostic('SW9020', source, params));
  }
  return [...results.values()];
}
