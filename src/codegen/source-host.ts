import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Project, ts } from 'ts-morph';
import { readClasses } from './source-host/classes.js';
import { type HostContext, placeBetween } from './source-host/context.js';
import type { SourceFileSyntax } from './syntax.js';

export interface SourceHostOptions {
  /** Folder that places are relative to, and that relative paths start from. */
  readonly root: string;
  /** The author's compiler options. Without it, those of a current Node project are taken. */
  readonly tsconfig?: string;
  /** The files to read. Files they import are resolved, not read. */
  readonly files: readonly string[];
  /** Texts that stand in for files, by path: unsaved documents, tests. */
  readonly overlay?: ReadonlyMap<string, string>;
}

/** Source code as plain data. The only part of codegen that knows a TypeScript compiler. */
export interface SourceHost {
  /** Sorted by path. Files with syntax errors are among them, with `faults`. */
  sourceFiles(): readonly SourceFileSyntax[];
  /** Text of a file by the path that places name, without a byte order mark; nothing for a file that cannot be read. */
  readText(file: string): string | undefined;
}

const DEFAULT_OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  experimentalDecorators: true,
};

/**
 * Opens the sources of a project. Nothing is type-checked as a whole: types and symbols are asked for one by one.
 * @throws when `tsconfig` names a file that is not there.
 */
export function openSourceHost(options: SourceHostOptions): SourceHost {
  const root = path.resolve(options.root);
  const absolute = (file: string): string => path.resolve(root, file);
  const overlay = new Map([...(options.overlay ?? [])].map(([file, text]) => [absolute(file), text]));
  const readText = (file: string): string | undefined => {
    const text = overlay.get(absolute(file)) ?? readIfThere(absolute(file));
    return text?.replace(/^\uFEFF/, '');
  };

  const project = new Project({
    ...(options.tsconfig === undefined
      ? { compilerOptions: DEFAULT_OPTIONS }
      : { tsConfigFilePath: absolute(options.tsconfig) }),
    skipAddingFilesFromTsConfig: true,
    skipFileDependencyResolution: true,
  });
  const wanted = new Set(options.files.map(absolute));
  const missing: SourceFileSyntax[] = [];
  const sources: ts.SourceFile[] = [];
  // All of the overlay takes part in resolution, whether it is to be read or not.
  for (const file of [...new Set([...wanted, ...overlay.keys()])].sort()) {
    const text = readText(file);
    if (text === undefined) {
      missing.push(unreadable(root, file));
      continue;
    }
    const source = project.createSourceFile(file, text, { overwrite: true }).compilerNode;
    if (wanted.has(file)) sources.push(source);
  }

  let read: readonly SourceFileSyntax[] | undefined;
  return {
    readText,
    sourceFiles: () => {
      if (read !== undefined) return read;
      const program = project.getProgram().compilerObject;
      const context: HostContext = { root, program, checker: program.getTypeChecker() };
      read = [...missing, ...sources.map((source) => readFile(context, source))].sort((a, b) =>
        a.file < b.file ? -1 : 1,
      );
      return read;
    },
  };
}

function readFile(context: HostContext, source: ts.SourceFile): SourceFileSyntax {
  const faults = context.program.getSyntacticDiagnostics(source).map(({ messageText, start, length }) => ({
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
    place: placeBetween(context, source, start, start + length),
  }));
  const { file } = placeBetween(context, source, 0, 0);
  return { file, classes: readClasses(context, source), faults };
}

function unreadable(root: string, absolute: string): SourceFileSyntax {
  const file = path.relative(root, absolute).split(path.sep).join('/');
  return {
    file,
    classes: [],
    faults: [{ message: 'the file cannot be read', place: { file, span: [1, 1, 1, 1] } }],
  };
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
