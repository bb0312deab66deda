import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { UpstreamServer } from '../../runtime/upstream/config.js';
import type { UpstreamListing } from '../../runtime/upstream/port.js';
import { parseSnapshot, snapshotOf, snapshotText } from '../../runtime/upstream/snapshot.js';
import { foreignFile, type OutputFile, outputState, writeOutput } from '../writer.js';
import { classesText } from './classes.js';

/** What a server listed, to be recorded. */
export interface PullRequest {
  /** Absolute path of the project. */
  readonly root: string;
  /** The name of the server in the configuration. */
  readonly name: string;
  readonly server: UpstreamServer;
  readonly listing: UpstreamListing;
}

/** Paths are relative to the root. */
export interface PullResult {
  readonly written: readonly string[];
  readonly current: readonly string[];
  /** What the author should know about the tools, a sentence each. */
  readonly notes: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The files of a server: its classes, and its snapshot beside them. */
export function upstreamFiles(name: string, { out }: UpstreamServer): Record<'classes' | 'snapshot', string> {
  const classes = path.posix.normalize(out ?? `src/upstream/${name}.ts`);
  return { classes, snapshot: classes.replace(/\.m?ts$/, '.json') };
}

/** Writes the snapshot of a server and its classes, each only if it changes. */
export async function pullServer({ root, name, server, listing }: PullRequest): Promise<PullResult> {
  const files = upstreamFiles(name, server);
  const snapshot = snapshotOf(listing);
  const { visibility = 'workflow' } = server;
  const { text, notes } = classesText({ server: name, snapshot, visibility });
  const outputs: OutputFile[] = [
    { file: files.snapshot, text: snapshotText(snapshot) },
    { file: files.classes, text },
  ];
  const written: string[] = [];
  const current: string[] = [];
  const outdated: OutputFile[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const output of outputs) {
    const { file } = output;
    const state = outputState(root, output);
    if (state === 'current') current.push(file);
    else if (state === 'foreign' || (file === files.snapshot && isOther(root, file)))
      diagnostics.push(foreignFile(root, file));
    else outdated.push(output);
  }
  if (diagnostics.length > 0) return { written, current, notes, diagnostics };
  for (const output of outdated) {
    const fault = writeOutput(root, output);
    if (fault === undefined) written.push(output.file);
    else diagnostics.push(fault);
  }
  return { written, current, notes, diagnostics };
}

/** Whether another file than a snapshot has this name. */
function isOther(root: string, file: string): boolean {
  try {
    return parseSnapshot(readFileSync(path.join(root, file), 'utf8')) === undefined;
  } catch {
    return false;
  }
}
