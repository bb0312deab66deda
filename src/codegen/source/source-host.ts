import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { SourceLocation } from '../../graph/source-location.js';
import { workingOn } from '../diagnostics.js';
import type { Inputs } from '../inputs.js';
import type { IgnoreSyntax, ImportCycle, ImportEnding, SourceFileSyntax } from '../syntax.js';
import {
  eachNode,
  findDeepSyntax,
  type HostContext,
  MAX_SYNTAX_DEPTH,
  placeBetween,
  relativeFile,
  type TextRange,
} from './ast.js';
import { readClasses, readNamedHandles } from './classes.js';
import { FileGraph, type LinkedFile, NOTHING } from './file-graph.js';
import type { FileEntry, FileMemory, FileReading } from './file-memory.js';
import { type FileText, readFileText } from './files.js';
import { commonEnding, linksOf } from './imports.js';
import { Modules } from './modules.js';
import { Names } from './names.js';
import { Compiler, compilerPath, createProgram } from './program.js';
import { classPlace } from './symbols.js';
import { readCompilerOptions } from './tsconfig.js';
import { ts } from './typescript.mjs';

export interface SourceHostOptions {
  /** Folder that places are relative to, and that relative paths start from. */
  readonly root: string;
  /** The author's compiler options. Default: those of a current Node project. */
  readonly tsconfig?: string;
  /** The files to read. Files they import are resolved, not read. */
  readonly files: readonly string[];
  /** Texts that replace files, by path: unsaved documents, tests. */
  readonly overlay?: ReadonlyMap<string, string>;
  /** Takes note of what is read and looked for. Default: nothing does. */
  readonly inputs?: Inputs;
  /** What earlier runs have read of the same project. It is used with `inputs` only. Default: nothing. */
  readonly memory?: FileMemory;
  /** Asks the compiler for everything, also for what texts say; tests compare the two. Default false. */
  readonly asksCompiler?: boolean;
}

/** Source code as plain data. Only this folder of codegen uses the TypeScript compiler. */
export interface SourceHost {
  /**
   * Sorted by path. Files with syntax errors are among them, with `faults`.
   *
   * @param typed - the files, by the paths of their places, for which the compiler is asked for the types that most
   *   files do without. Default: all.
   */
  sourceFiles(typed?: ReadonlySet<string>): readonly SourceFileSyntax[];
  /** The comments that silence diagnostics, by file and in written order. */
  ignores(): readonly IgnoreSyntax[];
  /** How an import of the project's own files is written. */
  importEnding(): ImportEnding;
  /** Identifies what `sourceFiles` gave last for a file, by the path of its place; empty where nothing does. */
  readingOf(file: string): string;
  /** The classes of the project that a source exports, by the places of their names; with `export … from` as well. */
  exportedClasses(file: string): readonly { readonly name: string; readonly place: SourceLocation }[];
  /** The sources of the project that were read, as absolute paths. */
  seen(): ReadonlySet<string>;
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
  const absolute = remembered((file) => path.resolve(root, file));
  const overlay = new Map([...(options.overlay ?? [])].map(([file, text]) => [absolute(file), text]));
  const readText = (file: string): string | undefined => {
    const read = readAny(file);
    return read.kind === 'text' ? read.text : undefined;
  };
  const readAny = (file: string): FileText => {
    const text = overlay.get(absolute(file));
    if (text === undefined) return readFileText(absolute(file));
    return { kind: 'text', text: text.replace(/^\uFEFF/, '') };
  };

  const compilerOptions =
    options.tsconfig === undefined
      ? DEFAULT_OPTIONS
      : readCompilerOptions(absolute(options.tsconfig), options.inputs);
  /** Without the parents of nodes. */
  const parse = (file: string, text: string): ts.SourceFile =>
    ts.createSourceFile(file, text, compilerOptions.target ?? ts.ScriptTarget.Latest);
  const { inputs, memory } = options;
  const isOwn = remembered((file) => isOwnSource(root, file));
  const relative = remembered((file) => path.relative(root, file).split(path.sep).join('/'));

  /** What keeps a file from being read, by its path. */
  const unread = new Map<string, SourceFileSyntax>();
  const parsed = new Map<string, ts.SourceFile>();
  /** The files whose trees others have asked for. */
  const imported = new Set<string>();
  const entries = new Map<string, FileEntry>();
  /** What is known of a file with the content that it has now. */
  const entryOf = (file: string): FileEntry => {
    const known = entries.get(file);
    if (known !== undefined) return known;
    inputs?.see(file);
    const text = overlay.get(absolute(file));
    const state = text === undefined ? inputs?.paths.get(absolute(file)) : `text ${sha256(text)}`;
    const entry = state === undefined ? { state: '', readings: {} } : memory?.entryOf(file, state);
    const found = entry ?? { state: '', readings: {} };
    entries.set(file, found);
    return found;
  };
  /** The source of a file; an empty one for a file that cannot be read or is nested too deeply, which is reported. */
  const sourceOf = (file: string): ts.SourceFile => {
    const known = parsed.get(compilerPath(absolute(file)));
    if (known !== undefined) return known;
    const { state } = entryOf(file);
    const source = memory?.parsed(file, state) ?? readSource(file);
    if (!unread.has(file)) memory?.keepParsed(file, state, source);
    parsed.set(compilerPath(absolute(file)), source);
    return source;
  };
  const readSource = (file: string): ts.SourceFile => {
    const name = compilerPath(absolute(file));
    const read = readAny(file);
    if (read.kind !== 'text') {
      unread.set(file, unreadable(file, read));
      return parse(name, '');
    }
    let source: ts.SourceFile | undefined;
    const deep = findDeepSyntax(read.text, () => {
      source = parse(name, read.text);
      return source;
    });
    if (deep === undefined && source !== undefined) return source;
    if (deep !== undefined) unread.set(file, tooDeep(file, read.text, deep));
    return parse(name, '');
  };
  const wanted = [...new Set(options.files.map(absolute))].map(relative).sort();
  const modules = new Modules({
    ...{ options: compilerOptions, overlay: byCompilerPath(overlay), isOwn, inputs },
    sourceAt: (file) => {
      const name = relative(file);
      imported.add(name);
      return parsed.has(file) || overlay.has(absolute(file)) || existsSync(file) ? sourceOf(name) : undefined;
    },
  });
  const compiler = new Compiler(() => {
    // All of the overlay takes part in resolution, whether it is to be read or not.
    for (const file of [...wanted, ...[...overlay.keys()].map(relative)]) sourceOf(file);
    return createProgram(compilerOptions, parsed, isOwn, (file) => sourceOf(relative(file)), inputs);
  });
  const names = new Names(modules);
  const context: HostContext = {
    ...{ root, options: compilerOptions, modules, compiler, untyped: new WeakSet() },
    known: { exports: new WeakMap(), calls: new WeakMap(), files: new Map() },
    ...(options.asksCompiler === true ? { isTyped: true } : { names }),
  };
  // No later run compares what is not remembered.
  const readLinks = (source: ts.SourceFile) => linksOf(context, source, memory !== undefined);
  const linked = (file: string): LinkedFile => {
    const entry = entryOf(file);
    // A deleted source makes the memory forget all, a deleted registry does not.
    const isStale = entry.links?.modules.some((module) => entryOf(module).state === NOTHING);
    const links = entry.links === undefined || isStale === true ? readLinks(sourceOf(file)) : entry.links;
    entry.links = links;
    return { state: entry.state, links };
  };
  const graph = new FileGraph(wanted, linked);
  /** Reads a file and its links, and forgets its tree. */
  const read = (file: string, isTyped: boolean): Omit<FileReading, 'closure'> => {
    const source = sourceOf(file);
    const { timesAsked } = compiler;
    // What the compiler has said of other files would be taken for what texts say.
    const { isMade } = compiler;
    const known = isMade ? { ...context.known, exports: new WeakMap(), calls: new WeakMap() } : context.known;
    const around = isMade || isTyped ? { ...context, known, ...(isTyped ? { isTyped } : {}) } : context;
    const syntax = unread.get(file) ?? workingOn({ file }, () => readFile(around, source));
    const ignores = unread.has(file) ? [] : readIgnores(context, source);
    entryOf(file).links ??= readLinks(source);
    // The trees of all files together would be most of the memory of a run.
    if (!imported.has(file) && !compiler.isMade) parsed.delete(compilerPath(absolute(file)));
    return { syntax, ignores, ...(compiler.timesAsked === timesAsked ? { isOfTexts: true } : {}) };
  };
  /** @param fresh - what was read of the file before the links of all files were known. */
  const readingOf = (file: string, isTyped: boolean, fresh?: Omit<FileReading, 'closure'>): FileReading => {
    const { readings } = entryOf(file);
    const kind = isTyped ? 'typed' : 'untyped';
    const closureFor = ({ isOfTexts }: Pick<FileReading, 'isOfTexts'>) =>
      graph.closureOf(file, isOfTexts === true);
    const known = readings[kind];
    if (known !== undefined && known.closure === closureFor(known)) return known;
    const found = fresh ?? read(file, isTyped);
    const reading = { closure: closureFor(found), ...found };
    if (reading.syntax.faults.length === 0) readings[kind] = reading;
    return reading;
  };
  let latest: readonly FileReading[] | undefined;
  const identities = new Map<string, string>();
  return {
    readText,
    importEnding: () =>
      commonEnding(
        compilerOptions,
        wanted.flatMap((file) => linked(file).links.endings),
      ),
    readingOf: (file) => identities.get(file) ?? '',
    exportedClasses: (file) =>
      [...names.exportsOf(sourceOf(file))].flatMap(([name, target]) => {
        const classes = target.kind === 'declared' && !target.isTypeOnly ? target.declarations : [];
        return classes
          .filter(ts.isClassDeclaration)
          .map((each) => ({ name, place: classPlace(context, each) }));
      }),
    seen: () =>
      new Set([...entries].flatMap(([file, { state }]) => (state === NOTHING ? [] : absolute(file)))),
    ignores: () => (latest ?? wanted.map((file) => readingOf(file, false))).flatMap(({ ignores }) => ignores),
    sourceFiles: (typed) => {
      const isTypedFile = (file: string): boolean => typed?.has(file) ?? true;
      const fresh = new Map(
        wanted
          .filter((file) => entryOf(file).readings[isTypedFile(file) ? 'typed' : 'untyped'] === undefined)
          .map((file) => [file, read(file, isTypedFile(file))]),
      );
      const cycles = graph.cycles();
      latest = wanted.map((file) => {
        const isTyped = isTypedFile(file);
        const reading = readingOf(file, isTyped, fresh.get(file));
        identities.set(file, `${isTyped ? 'typed' : 'untyped'} ${reading.closure}`);
        return reading;
      });
      const others = [...unread].filter(([file]) => !wanted.includes(file)).map(([, syntax]) => syntax);
      return [...latest.map(({ syntax }) => withCycles(syntax, cycles)), ...others].sort((a, b) =>
        a.file < b.file ? -1 : 1,
      );
    },
  };
}

/** The same object where there are none, since later phases remember what they made of it. */
function withCycles(
  syntax: SourceFileSyntax,
  all: ReadonlyMap<string, readonly ImportCycle[]>,
): SourceFileSyntax {
  const cycles = all.get(syntax.file);
  return cycles === undefined ? syntax : { ...syntax, cycles };
}

function byCompilerPath(overlay: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...overlay].map(([file, text]) => [compilerPath(file), text]));
}

type Parsed = ts.SourceFile & { readonly parseDiagnostics: readonly ts.DiagnosticWithLocation[] };

function readFile(context: HostContext, source: ts.SourceFile): SourceFileSyntax {
  const faults = (source as Parsed).parseDiagnostics.map(({ messageText, start, length }) => ({
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
    place: placeBetween(context, source, start, start + length),
  }));
  context.untyped.delete(source);
  const classes = readClasses(context, source);
  const handles = readNamedHandles(context, source);
  const file = relativeFile(context, source.fileName);
  const isUntyped = context.untyped.has(source);
  return { file, classes, cycles: [], handles, faults, ...(isUntyped ? { isUntyped } : {}) };
}

/** Source of the project itself, as compilers name it. */
function isOwnSource(root: string, file: string): boolean {
  const segments = path.relative(root, file).split(/[\\/]/);
  const isInside = segments[0] !== '..' && !path.isAbsolute(segments.join('/'));
  return isInside && !segments.includes('node_modules') && /(?<!\.d)\.[cm]?[jt]sx?$/.test(file);
}

function tooDeep(file: string, text: string, { start, end }: TextRange): SourceFileSyntax {
  const source = ts.createSourceFile(file, '', ts.ScriptTarget.Latest);
  source.text = text;
  const from = source.getLineAndCharacterOfPosition(start);
  const to = source.getLineAndCharacterOfPosition(end);
  const span = [from.line + 1, from.character + 1, to.line + 1, to.character + 1] as const;
  const fault = { message: 'it is nested too deeply', place: { file, span }, maxDepth: MAX_SYNTAX_DEPTH };
  return { file, classes: [], cycles: [], handles: [], faults: [fault] };
}

function unreadable(file: string, read: Exclude<FileText, { kind: 'text' }>): SourceFileSyntax {
  const fault =
    read.kind === 'notUtf8'
      ? { message: 'the file is not UTF-8 text: save it as UTF-8', place: { file, span: read.span } }
      : { message: 'the file cannot be read', place: { file, span: [1, 1, 1, 1] as const } };
  return { file, classes: [], cycles: [], handles: [], faults: [{ ...fault, isUnreadable: true }] };
}

const MARK = 'stepwright-ignore';

/** The comments of a file that silence diagnostics, in written order. */
function readIgnores(context: HostContext, source: ts.SourceFile): IgnoreSyntax[] {
  const { text } = source;
  if (!text.includes(MARK)) return [];
  const found = new Map<number, IgnoreSyntax>();
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const add = ({ pos, end }: ts.CommentRange, lines: IgnoreSyntax['lines']): void => {
    const rest = textAfterMark(text.slice(pos, end));
    if (rest === undefined || found.has(pos)) return;
    found.set(pos, { place: placeBetween(context, source, pos, end), text: rest, lines });
  };
  eachNode(source, (node) => {
    const children = node.getChildren(source);
    // Comments belong to tokens: the same text in a string or a template is not a comment.
    if (children.length === 0 && node.kind !== ts.SyntaxKind.JsxText) {
      const own = lineOf(node.getStart(source));
      for (const range of ts.getTrailingCommentRanges(text, node.end) ?? []) {
        const line = lineOf(range.pos);
        add(range, [line, opensNextLine(text, range.pos) ? line + 1 : line]);
      }
      for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
        const line = lineOf(range.pos);
        add(range, line === own ? [own, own] : [own, Math.max(own, lineOf(nameStart(node, source)))]);
      }
    }
    return children;
  });
  return [...found].sort(([a], [b]) => a - b).map(([, ignore]) => ignore);
}

/** Formatters put the comment above an arm of a condition behind its `?` or `:`. */
function opensNextLine(text: string, comment: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', comment) + 1, comment).trim();
  return line === '?' || line === ':';
}

/** The text after the mark in a comment that begins with it. */
function textAfterMark(comment: string): string | undefined {
  const inner = comment.replace(/^\/[/*]|\*\/$/g, '').trim();
  if (!inner.startsWith(MARK) || /^[\w-]/.test(inner.slice(MARK.length))) return undefined;
  return inner.slice(MARK.length).trim();
}

/** A comment above the decorators of a class or member applies down to the line of its name. */
function nameStart(token: ts.Node, source: ts.SourceFile): number {
  const start = token.getStart(source);
  let name = start;
  for (let node = token.parent; node !== undefined && node.getStart(source) === start; node = node.parent) {
    if ((ts.isClassElement(node) || ts.isClassLike(node)) && node.name !== undefined) {
      name = node.name.getStart(source);
    }
  }
  return name;
}

/** Each file is asked for by each file that imports it. */
function remembered<V>(find: (file: string) => V): (file: string) => V {
  const known = new Map<string, V>();
  return (file) => {
    const found = known.get(file) ?? find(file);
    known.set(file, found);
    return found;
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
