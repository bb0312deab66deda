import { isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { texts } from './texts.js';

/** Why an import failed. */
export interface ImportFailure {
  /** One line: the error's name and first line, and the first frame inside the project. */
  readonly reason: string;
  /** The file of the project that is to blame, where it is known: relative to the root, with `/`. */
  readonly culprit?: string;
}

/** A file of the project, relative to its root and with `/`, and `line:column` in it, or the line alone. */
export interface SourcePosition {
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
export function projectFile(path: string, root: string): string | undefined {
  const parts = relative(root, path).split(sep);
  const isOutside = parts[0] === '' || parts[0] === '..' || parts.includes('node_modules');
  return isOutside || isAbsolute(parts.join(sep)) ? undefined : parts.join('/');
}

function absolutePath(location: string): string {
  return location.startsWith('file://') ? fileURLToPath(location) : resolve(location);
}
