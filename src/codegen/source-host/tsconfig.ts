import path from 'node:path';
import { ts } from 'ts-morph';
import type { Place } from '../../graph/place.js';

/** What codegen wants to know of a project's tsconfig. */
export interface Tsconfig {
  /** The files it names, relative to the project's root and sorted. */
  readonly files: readonly string[];
  /** Legacy decorators where true, TC39 ones otherwise. */
  readonly experimentalDecorators: boolean;
  /** Faults of the configuration, one sentence each, and where they are written. */
  readonly faults: readonly { readonly message: string; readonly place?: Place }[];
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
  const relative = (name: string): string => path.relative(root, name).split(path.sep).join('/');
  const faultOf = ({ messageText, file: source, start = 0, length = 0 }: ts.Diagnostic) => {
    const message = ts.flattenDiagnosticMessageText(messageText, ' ');
    if (source === undefined) return { message };
    const from = source.getLineAndCharacterOfPosition(start);
    const to = source.getLineAndCharacterOfPosition(start + length);
    const span = [from.line + 1, from.character + 1, to.line + 1, to.character + 1] as const;
    return { message, place: { file: relative(source.fileName), span } };
  };
  // Read as a document, so that faults know their places.
  const source = ts.readJsonConfigFile(location, ts.sys.readFile) as ParsedJson;
  const [syntax] = source.parseDiagnostics;
  // What follows a syntax error is mostly its echo.
  if (syntax !== undefined) return { files: [], experimentalDecorators: false, faults: [faultOf(syntax)] };
  const folder = path.dirname(location);
  const parsed = ts.parseJsonSourceFileConfigFileContent(source, ts.sys, folder, undefined, location);
  return {
    files: parsed.fileNames.map(relative).sort(),
    experimentalDecorators: parsed.options.experimentalDecorators === true,
    faults: parsed.errors.filter(({ code }) => code !== NO_INPUTS).map(faultOf),
  };
}

type ParsedJson = ts.TsConfigSourceFile & { readonly parseDiagnostics: readonly ts.Diagnostic[] };

/** "No inputs were found": no fault where the configuration of codegen names the files. */
const NO_INPUTS = 18003;
