import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { CheckEnvironment } from '../check/check-graph.js';
import { checkSpecs, type LoweredSpec, lowerSpec, type SpecWorkflows } from './spec-files.js';
import { FILE_LIMITS, overLimit } from './text/limits.js';
import { SourceText } from './text/located.js';
import { formatOf } from './text/read-text.js';
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
  const start = { start: 0, end: 0 };
  const format = formatOf(file);
  if (format === undefined) {
    reports.report('SW5019', start, {
      file,
      reason: 'its extension is not `.yaml`, `.yml`, `.json` or `.xml`',
    });
    return { reports };
  }
  try {
    const from = path.resolve(root, file);
    const found = await stat(from);
    if (!found.isFile()) {
      reports.report('SW5019', start, { file, reason: 'it is not a file' });
      return { reports };
    }
    // No character takes more than 4 bytes.
    if (found.size > 4 * FILE_LIMITS.length) {
      reports.refuse(overLimit(0, 'characters', FILE_LIMITS.length));
      return { reports };
    }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(from));
    return await lowerSpec(text, { file, format });
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    reports.report('SW5019', start, { file, reason });
    return { reports };
  }
}

/** Why a file cannot be read; nothing for a fault of the product. */
function reasonOf(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown }).code;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is not UTF-8';
  return typeof code === 'string' && /^E[A-Z]+$/.test(code) ? `the system says ${code}` : undefined;
}
