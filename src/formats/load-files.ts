import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { CheckEnvironment } from '../check/check-graph.js';
import { checkSpecs, type LoweredSpec, lowerSpec, SpecMemo, type SpecWorkflows } from './spec-files.js';
import { SourceText } from './text/located.js';
import { openText } from './text/read-text.js';
import { Reports } from './text/reading.js';

/** How spec files are found and checked. */
export interface LoadOptions {
  /**
   * The folder that the names of the files are relative to, and that they have to be in. Default: the working directory,
   * and any folder.
   */
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
  { root, registered }: LoadOptions = {},
): Promise<LoadedWorkflows> {
  return new SpecFiles(root).load(files, registered);
}

/** Spec files of one folder and one registry, which are read again: only what has changed is read and checked. */
export class SpecFiles {
  readonly #root: string | undefined;
  readonly #specs = new Map<string, LoweredSpec>();
  #memo = new SpecMemo();
  #tools: CheckEnvironment['tools'] | undefined;

  /** @param root the folder that the files are in. Default: the working directory, and any folder. */
  constructor(root?: string) {
    this.#root = root;
  }

  /**
   * @param isChanged whether a file that was read before may have changed. Default: each file.
   */
  async load(
    files: readonly string[],
    registered?: CheckEnvironment,
    isChanged: (file: string) => boolean = () => true,
  ): Promise<LoadedWorkflows> {
    if (registered?.tools !== this.#tools) this.#memo = new SpecMemo();
    this.#tools = registered?.tools;
    const names = new Set(files);
    for (const file of this.#specs.keys()) if (!names.has(file)) this.#specs.delete(file);
    for (const file of files) {
      const before = this.#specs.get(file);
      if (before !== undefined && !isChanged(file)) continue;
      const spec = await this.#read(file);
      const isSame = before?.document !== undefined && before.reports.source.text === spec.text;
      if (!isSame) this.#specs.set(file, await spec.lower());
    }
    const specs = files.flatMap((file) => this.#specs.get(file) ?? []);
    return {
      ...checkSpecs(specs, registered, this.#memo),
      readSource: (file) => this.#specs.get(file)?.reports.source.text,
    };
  }

  async #read(file: string): Promise<{ readonly text?: string; lower(): Promise<LoweredSpec> }> {
    const reports = new Reports(new SourceText(String(file), ''));
    const lower = async (): Promise<LoweredSpec> => ({ reports });
    const reason = await outsideReason(file, this.#root);
    if (reason !== undefined) {
      reports.report('SW5019', { start: 0, end: 0 }, { file: String(file), reason });
      return { lower };
    }
    const opened = await openText(file, this.#root ?? '.', reports);
    if (opened === undefined) return { lower };
    return { text: opened.text, lower: () => lowerSpec(opened.text, { file, format: opened.format }) };
  }
}

/** Why a file is not read: it is not in the folder, or leads out of it. */
async function outsideReason(file: unknown, root: string | undefined): Promise<string | undefined> {
  if (typeof file !== 'string') return 'its name is not a text';
  if (root === undefined) return undefined;
  const folder = await realpath(root).catch(() => path.resolve(root));
  // A file that is not there is reported when it is read.
  const real = await realpath(path.resolve(root, file)).catch(() => path.resolve(folder, file));
  const relative = path.relative(folder, real);
  if (!relative.startsWith('..') && !path.isAbsolute(relative)) return undefined;
  return `it is not in the folder ${folder}: move it there, or set specs.root of the server, or root of a program`;
}

/** Reads a spec file and lowers it. A file that cannot be read is a diagnostic. */
export async function loadFile(file: string, root: string): Promise<LoweredSpec> {
  const reports = new Reports(new SourceText(file, ''));
  const opened = await openText(file, root, reports);
  return opened === undefined ? { reports } : lowerSpec(opened.text, { file, format: opened.format });
}
