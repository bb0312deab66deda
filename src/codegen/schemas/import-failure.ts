import { createRequire, SourceMap } from 'node:module';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { Script } from 'node:vm';
import type { TSCommon } from 'ts-node';
import { bundledCompiler, type Disk, filesOf, openDisk, specifiersOf } from './cache/closure.js';
import { texts } from './texts.js';

/** Why an import failed. */
export interface ImportFailure {
  /** One line: the error's name and first line, and the first frame inside the project. */
  readonly reason: string;
  /** The file of the project that is to blame, where it is known: relative to the root, with `/`. */
  readonly culprit?: string;
}

/** A file of the project, relative to its root and with `/`, and `line:column` in it, or the line alone. */
interface SourcePosition {
  readonly file: string;
  readonly position: string;
}

/**
 * Explains an error that an import ended with.
 *
 * @param error - whatever was thrown.
 * @param root - absolute path of the project; absolute paths under it are shortened.
 * @param findSyntaxFault - asked for the place of a syntax error that brings none: Node's own name no file.
 */
export function importFailure(
  error: unknown,
  root: string,
  findSyntaxFault: () => SourcePosition | undefined = () => undefined,
): ImportFailure {
  const summary = firstLine(summarise(error)).replaceAll(`${root}${sep}`, '');
  const syntax = /^(\S.*)\(\d+,\d+\): error TS\d+: /.exec(summary)?.[1];
  if (syntax !== undefined) return { reason: summary, culprit: syntax };
  const named = error instanceof Error ? projectFrame(error.stack ?? '', root) : undefined;
  const frame = named ?? (error instanceof SyntaxError ? findSyntaxFault() : undefined);
  if (frame === undefined) return { reason: summary };
  return { reason: `${summary} (${frame.file}:${frame.position})`, culprit: frame.file };
}

function summarise(error: unknown): string {
  if (typeof error !== 'object' || error === null) return texts.threw(String(error));
  const { name, message } = error as Record<'name' | 'message', unknown>;
  // ts-node's syntax errors lose all but their printed form on the way between threads.
  if (typeof message !== 'string') return inspect(error);
  return typeof name === 'string' && name !== '' ? `${name}: ${message}` : message;
}

function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? texts.noMessage
  );
}

/** A frame of the stack; of an import that finds no such export, what stands above the message. */
const FRAME = /((?:file:\/\/)?\/?[^\s()]+):(\d+:\d+)\)?$/;
const HEADING = /^((?:file:\/\/)?\/.+?):(\d+)$/;

function projectFrame(stack: string, root: string): SourcePosition | undefined {
  for (const line of stack.split('\n')) {
    const [, location, position] = FRAME.exec(line) ?? HEADING.exec(line) ?? [];
    if (location === undefined || position === undefined || location.startsWith('node:')) continue;
    const file = projectFile(absolutePath(location), root);
    if (file !== undefined) return { file, position };
  }
  return undefined;
}

/** An absolute path as one of the project; nothing for what lies outside of it, and for packages. */
function projectFile(path: string, root: string): string | undefined {
  const parts = relative(root, path).split(sep);
  const isOutside = parts[0] === '' || parts[0] === '..' || parts.includes('node_modules');
  return isOutside || isAbsolute(parts.join(sep)) ? undefined : parts.join('/');
}

function absolutePath(location: string): string {
  return location.startsWith('file://') ? fileURLToPath(location) : resolve(location);
}

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
