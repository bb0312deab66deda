import { createRequire, SourceMap } from 'node:module';
import { Script } from 'node:vm';
import type { TSCommon } from 'ts-node';
import { type Disk, openDisk } from './cache/disk.js';
import { filesOf } from './cache/packages.js';
import { specifiersOf } from './cache/specifiers.js';
import { bundledCompiler } from './compiler.js';
import { projectFile, type SourcePosition } from './reason.js';

const SOURCE = /\.[cm]?[jt]sx?$/;

/**
 * The first place that JavaScript does not admit, in a module and what it imports of the project. TypeScript compiles
 * some of it (an `await` in a plain function), and the error that Node then throws names no file.
 *
 * @param entry - absolute path of the module.
 * @param root - absolute path of the project.
 */
export function findSyntaxFault(entry: string, root: string): SourcePosition | undefined {
  const compiler = createRequire(import.meta.url)(bundledCompiler()) as TSCommon;
  const disk = openDisk();
  for (const path of importedFiles(disk, entry, root)) {
    const position = faultIn(compiler, path, disk.text(path) ?? '');
    const file = projectFile(path, root);
    if (position !== undefined && file !== undefined) return { file, position };
  }
  return undefined;
}

function importedFiles(disk: Disk, entry: string, root: string): ReadonlySet<string> {
  const files = new Set([entry]);
  // A set goes on with what is added while it is walked.
  for (const file of files) {
    for (const specifier of specifiersOf(disk.text(file) ?? '').named) {
      const loaded = filesOf(disk, specifier, file).filter((path) => SOURCE.test(path));
      for (const path of loaded) if (projectFile(path, root) !== undefined) files.add(path);
    }
  }
  return files;
}

function faultIn(compiler: TSCommon, path: string, text: string): string | undefined {
  const { outputText, sourceMapText = '' } = compiler.transpileModule(text, {
    fileName: path,
    compilerOptions: {
      module: compiler.ModuleKind.CommonJS,
      target: compiler.ScriptTarget.ES2022,
      sourceMap: true,
    },
  });
  // Of the same length, so that columns stay; and a module may wait at its top level.
  const code = `(async function () {\n${outputText.replaceAll('import.meta', 'import_meta')}\n})`;
  try {
    new Script(code, { filename: path, lineOffset: -1 });
    return undefined;
  } catch (error) {
    const place = error instanceof SyntaxError ? placeOf(error, path) : undefined;
    return place && originalOf(place, sourceMapText);
  }
}

interface Position {
  /** From 0. */
  readonly line: number;
  /** From 0. */
  readonly column: number;
}

/** Node puts the place above the message: `/src/a.ts:4`, the line, and carets below the fault. */
function placeOf({ stack = '' }: SyntaxError, path: string): Position | undefined {
  const [heading = '', , carets = ''] = stack.split('\n');
  if (!heading.startsWith(`${path}:`)) return undefined;
  return { line: Number(heading.slice(path.length + 1)) - 1, column: Math.max(0, carets.indexOf('^')) };
}

function originalOf({ line, column }: Position, sourceMap: string): string | undefined {
  const entry = new SourceMap(JSON.parse(sourceMap)).findEntry(line, column);
  return 'originalLine' in entry ? `${entry.originalLine + 1}:${entry.originalColumn + 1}` : undefined;
}
