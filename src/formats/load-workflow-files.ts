import type { CheckEnvironment } from '../check/check-graph.js';
import { checkSpecs, type LoweredSpec, lowerSpec, type SpecWorkflows } from './spec-files.js';
import { SourceText } from './text/located.js';
import { openText } from './text/open-text.js';
import { Reports } from './text/reading.js';

/** How spec files are found and checked. */
export interface LoadOptions {
  /** The folder that the names of the files are relative to. Default: the working directory. */
  readonly root?: string;
  /** The tools, resources and workflows that their workflows may use. Without it calls are not checked. */
  readonly registered?: CheckEnvironment;
}

/** The workflows of spec files, with the texts that the diagnostics are about. */
export interface LoadedWorkflows extends SpecWorkflows {
  /** The text of a file, for `formatDiagnostics`. */
  readonly readSource: (file: string) => string | undefined;
}

/**
 * Reads spec files, whose workflows may run each other. The format of each follows from its extension. All faults of all
 * files are reported at once; with an error there is no workflow. Never throws for a file.
 */
export async function loadWorkflowFiles(
  files: readonly string[],
  { root = '.', registered }: LoadOptions = {},
): Promise<LoadedWorkflows> {
  const specs: LoweredSpec[] = [];
  for (const file of files) specs.push(await loadFile(file, root));
  const texts = new Map(specs.map(({ reports: { source } }) => [source.file, source.text]));
  return { ...checkSpecs(specs, registered), readSource: (file) => texts.get(file) };
}

/** Reads a spec file and lowers it. A file that cannot be read is a diagnostic. */
export async function loadFile(file: string, root: string): Promise<LoweredSpec> {
  const reports = new Reports(new SourceText(file, ''));
  const opened = await openText(file, root, reports);
  return opened === undefined ? { reports } : lowerSpec(opened.text, { file, format: opened.format });
}
