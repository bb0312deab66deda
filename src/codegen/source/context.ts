import path from 'node:path';
import type { ts } from 'ts-morph';
import type { Place } from '../../graph/place.js';

/** What every reader of syntax needs: the compiler's answers and the folder that places are relative to. */
export interface HostContext {
  /** Absolute. */
  readonly root: string;
  readonly checker: ts.TypeChecker;
  readonly program: ts.Program;
  /** Set where the names of constants stay names: in the arguments of decorators, which run when the class is made. */
  readonly keepsNames?: true;
}

/** The path that places name: relative to the root, with `/`. */
export function relativeFile(context: HostContext, fileName: string): string {
  return path.relative(context.root, fileName).split(path.sep).join('/');
}

/** Whether a file is the author's own: source under the root, and no package's. */
export function isOfProject(context: HostContext, { fileName, isDeclarationFile }: ts.SourceFile): boolean {
  const segments = relativeFile(context, fileName).split('/');
  return !isDeclarationFile && segments[0] !== '..' && !segments.includes('node_modules');
}

/** Where a node stands, without the comments before it. */
export function placeOf(context: HostContext, node: ts.Node): Place {
  const source = node.getSourceFile();
  return placeBetween(context, source, node.getStart(source), node.getEnd());
}

/** The place of an offset range; both in UTF-16 code units from the start of the file. */
export function placeBetween(context: HostContext, source: ts.SourceFile, start: number, end: number): Place {
  const from = source.getLineAndCharacterOfPosition(start);
  const to = source.getLineAndCharacterOfPosition(end);
  return {
    file: relativeFile(context, source.fileName),
    span: [from.line + 1, from.character + 1, to.line + 1, to.character + 1],
  };
}
