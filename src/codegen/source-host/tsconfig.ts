import path from 'node:path';
import { ts } from 'ts-morph';

/** What codegen wants to know of a project's tsconfig. */
export interface Tsconfig {
  /** The files it names, relative to the project's root and sorted. */
  readonly files: readonly string[];
  /** Legacy decorators where true, TC39 ones otherwise. */
  readonly experimentalDecorators: boolean;
  /** Faults of the configuration, one sentence each. */
  readonly faults: readonly string[];
}

/**
 * Reads a tsconfig with all it extends.
 *
 * @param root - absolute path of the project.
 * @param file - relative to the root; undefined when there is none.
 */
export function readTsconfig(root: string, file: string): Tsconfig | undefined {
  const location = path.resolve(root, file);
  if (!ts.sys.fileExists(location)) return undefined;
  const { config, error } = ts.readConfigFile(location, ts.sys.readFile);
  if (error !== undefined) return { files: [], experimentalDecorators: false, faults: [messageOf(error)] };
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, path.dirname(location), undefined, location);
  return {
    files: parsed.fileNames.map((name) => path.relative(root, name).split(path.sep).join('/')).sort(),
    experimentalDecorators: parsed.options.experimentalDecorators === true,
    faults: parsed.errors.filter(({ code }) => code !== NO_INPUTS).map(messageOf),
  };
}

/** "No inputs were found": no fault where the configuration of codegen names the files. */
const NO_INPUTS = 18003;

function messageOf(diagnostic: ts.Diagnostic): string {
  return ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ');
}
