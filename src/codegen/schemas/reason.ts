import { relative, resolve, sep } from 'node:path';
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

/**
 * Explains an error that an import ended with.
 *
 * @param error - whatever was thrown.
 * @param root - absolute path of the project; absolute paths under it are shortened.
 */
export function importFailure(error: unknown, root: string): ImportFailure {
  const summary = firstLine(summarise(error)).replaceAll(`${root}${sep}`, '');
  const syntax = /^(\S.*)\(\d+,\d+\): error TS\d+: /.exec(summary)?.[1];
  if (syntax !== undefined) return { reason: summary, culprit: syntax };
  const frame = error instanceof Error ? projectFrame(error.stack ?? '', root) : undefined;
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

function projectFrame(stack: string, root: string): { file: string; position: string } | undefined {
  for (const line of stack.split('\n')) {
    const found = /((?:file:\/\/)?\/?[^\s()]+):(\d+):(\d+)\)?$/.exec(line);
    if (found?.[1] === undefined || found[1].startsWith('node:')) continue;
    const path = relative(root, absolutePath(found[1]));
    const outside = path === '' || path.startsWith('..') || path.split(sep).includes('node_modules');
    if (!outside) return { file: path.split(sep).join('/'), position: `${found[2]}:${found[3]}` };
  }
  return undefined;
}

function absolutePath(location: string): string {
  return location.startsWith('file://') ? fileURLToPath(location) : resolve(location);
}
