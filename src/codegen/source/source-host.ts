import path from 'node:path';
import type { SourceLocation } from '../../graph/source-location.js';
import { workingOn } from '../diagnostics.js';
import { type Inputs, NOTHING } from '../incremental/inputs.js';
import { Memo } from '../incremental/memo.js';
import type { IgnoreSyntax, ImportCycle, ImportEnding, SourceFileSyntax } from '../syntax.js';
import { eachNode, type HostContext, placeBetween, relativeFile } from './ast.js';
import { readClasses, readInstances, readNamedHandles } from './classes.js';
import { FileGraph, type FileLinks } from './file-graph.js';
import { ProjectFiles } from './files.js';
import { commonEnding, linksOf } from './imports.js';
import { Names } from './names.js';
import { Compiler, compilerPath, createProgram, Modules } from './program.js';
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
  /** Records what is read and looked for. Default: nothing is recorded. */
  readonly inputs?: Inputs;
  /** Gets the texts of the files that are read, by the paths that places name. Default: they are not kept. */
  readonly texts?: Map<string, string>;
  /** Of earlier runs. It is used with `inputs` only. Default: every file is read. */
  readonly memory?: SourceMemory;
  /** Asks the compiler for everything, also for what texts say; tests compare the two. Default false. */
  readonly asksCompiler?: boolean;
}

/** What earlier runs have read of the files of a registry. */
export interface SourceMemory {
  readonly memo: Memo;
  /** Distinguishes the registry from others of the project. */
  readonly scope: string;
  /** Identifies how modules are found: another one after each change of it. */
  readonly resolution: string;
}

interface FileReading {
  /** Without its cycles, which other files make. */
  readonly syntax: SourceFileSyntax;
  readonly ignores: readonly IgnoreSyntax[];
  /** Set where texts said everything. Then it depends on what the texts of other modules can say. */
  readonly isOfTexts?: true;
}

const DEFAULT_OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  experimentalDecorators: true,
};

type ReadingKind = 'typed' | 'untyped';

/**
 * The source code of a project as plain data. Only this folder of codegen uses the TypeScript compiler. Nothing is
 * type-checked as a whole: types and symbols are asked for one by one.
 */
export class SourceHost {
  readonly #memory: SourceMemory;
  readonly #isRemembered: boolean;
  readonly #compilerOptions: ts.CompilerOptions;
  readonly #files: ProjectFiles;
  /** The files to read. */
  readonly #wanted: readonly string[];
  /** The files whose trees others have asked for. */
  readonly #imported = new Set<string>();
  readonly #links = new Map<string, FileLinks>();
  readonly #graph: FileGraph;
  readonly #compiler: Compiler;
  readonly #names: Names;
  readonly #context: HostContext;
  #latest: readonly FileReading[] | undefined;
  readonly #identities = new Map<string, string>();

  /** @throws Error when `tsconfig` names a file that is not there. */
  constructor(host: SourceHostOptions) {
    const { files, tsconfig, overlay = new Map(), inputs, texts, memory, asksCompiler } = host;
    const root = path.resolve(host.root);
    this.#isRemembered = memory !== undefined;
    this.#memory = memory ?? { memo: new Memo(), scope: '', resolution: '' };
    const options =
      tsconfig === undefined ? DEFAULT_OPTIONS : readCompilerOptions(path.resolve(root, tsconfig), inputs);
    this.#compilerOptions = options;
    const { memo } = this.#memory;
    this.#files = new ProjectFiles({
      ...{ root, overlay, inputs, texts, target: options.target ?? ts.ScriptTarget.Latest },
      trees: {
        recall: (file, state) => memo.recall('tree', file, state),
        keep: (file, state, source) => memo.keepObject('tree', file, state, source),
      },
    });
    const { absolute, relative, isOwn } = this.#files;
    this.#wanted = [...new Set(files.map(absolute))].map(relative).sort();
    const modules = new Modules({
      ...{ options, overlay: byCompilerPath(this.#files.overlay), isOwn, inputs },
      sourceAt: (file) => this.#importedSource(relative(file)),
    });
    this.#compiler = new Compiler(() => this.#createProgram(inputs));
    this.#names = new Names(modules);
    this.#context = {
      ...{ root, options, modules, compiler: this.#compiler, untyped: new WeakSet() },
      known: { exports: new WeakMap(), calls: new WeakMap(), files: new Map() },
      ...(asksCompiler === true ? { isTyped: true } : { names: this.#names }),
    };
    this.#graph = new FileGraph(this.#wanted, (file) => ({
      state: this.#files.stateOf(file),
      links: this.#linksOf(file),
    }));
  }

  /** Text of a file by the path that places name, without a byte order mark; nothing for a file that cannot be read. */
  readText(file: string): string | undefined {
    return this.#files.readText(file);
  }

  /** Whether each exported name has to say its type. */
  get isIsolated(): boolean {
    return this.#compilerOptions.isolatedDeclarations === true;
  }

  /** How an import of the project's own files is written. */
  importEnding(): ImportEnding {
    return commonEnding(
      this.#compilerOptions,
      this.#wanted.flatMap((file) => this.#linksOf(file).endings),
    );
  }

  /** Identifies what `sourceFiles` gave last for a file, by the path of its place; empty where nothing does. */
  readingOf(file: string): string {
    return this.#identities.get(file) ?? '';
  }

  /** The classes of the project that a source exports, by the places of their names; with `export … from` as well. */
  exportedClasses(file: string): readonly { readonly name: string; readonly place: SourceLocation }[] {
    return [...this.#names.exportsOf(this.#files.sourceOf(file))].flatMap(([name, target]) => {
      const classes = target.kind === 'declared' && !target.isTypeOnly ? target.declarations : [];
      return classes
        .filter(ts.isClassDeclaration)
        .map((each) => ({ name, place: classPlace(this.#context, each) }));
    });
  }

  /** The sources of the project that were read, as absolute paths. */
  seen(): ReadonlySet<string> {
    return this.#files.seen();
  }

  /** The comments that silence diagnostics, by file and in written order. */
  ignores(): readonly IgnoreSyntax[] {
    const readings = this.#latest ?? this.#wanted.map((file) => this.#readingOf(file, 'untyped'));
    return readings.flatMap(({ ignores }) => ignores);
  }

  /**
   * Sorted by path. Files with syntax errors are among them, with `faults`.
   *
   * @param typed - the files, by the paths of their places, for which the compiler is asked for the types that most
   *   files do without. Default: all.
   */
  sourceFiles(typed?: ReadonlySet<string>): readonly SourceFileSyntax[] {
    const kindOf = (file: string): ReadingKind => ((typed?.has(file) ?? true) ? 'typed' : 'untyped');
    // A file is read together with its links, before the links of all files are known.
    const fresh = new Map(
      this.#wanted
        .filter((file) => !this.#hasReading(file, kindOf(file)))
        .map((file) => [file, this.#read(file, kindOf(file))]),
    );
    const cycles = this.#graph.cycles();
    this.#latest = this.#wanted.map((file) => this.#readingOf(file, kindOf(file), fresh.get(file)));
    const others = [...this.#files.unread].filter(([file]) => !this.#wanted.includes(file));
    return [
      ...this.#latest.map(({ syntax }) => withCycles(syntax, cycles)),
      ...others.map(([, syntax]) => syntax),
    ].sort((a, b) => (a.file < b.file ? -1 : 1));
  }

  #importedSource(file: string): ts.SourceFile | undefined {
    this.#imported.add(file);
    return this.#files.has(file) ? this.#files.sourceOf(file) : undefined;
  }

  #createProgram(inputs: Inputs | undefined): ts.Program {
    const { overlay, relative, parsed, isOwn } = this.#files;
    // All of the overlay takes part in resolution, whether it is to be read or not.
    for (const file of [...this.#wanted, ...[...overlay.keys()].map(relative)]) this.#files.sourceOf(file);
    const parse = (file: string) => this.#files.sourceOf(relative(file));
    return createProgram(this.#compilerOptions, parsed, isOwn, parse, inputs);
  }

  #keyOf(file: string): string {
    return `${this.#memory.resolution} ${this.#files.stateOf(file)}`;
  }

  #linksOf(file: string): FileLinks {
    const current = this.#links.get(file);
    if (current !== undefined) return current;
    const { memo, scope } = this.#memory;
    const [phase, key] = [`links ${scope}`, this.#keyOf(file)];
    const recalled = memo.recall<FileLinks>(phase, file, key);
    // A deleted source is another resolution, a deleted registry is not.
    const isStale = recalled?.modules.some((module) => this.#files.stateOf(module) === NOTHING);
    // No later run compares what is not remembered.
    const read = () => linksOf(this.#context, this.#files.sourceOf(file), this.#isRemembered);
    const links = recalled === undefined || isStale === true ? read() : recalled;
    if (links !== recalled) memo.keep(phase, file, key, links);
    this.#links.set(file, links);
    return links;
  }

  #hasReading(file: string, kind: ReadingKind): boolean {
    return this.#memory.memo.has(`${kind} ${this.#memory.scope}`, file, this.#keyOf(file));
  }

  /**
   * The reading of a file, which depends on all modules that the file names.
   *
   * @param fresh - it was just read.
   */
  #readingOf(file: string, kind: ReadingKind, fresh?: FileReading): FileReading {
    const { memo, scope, resolution } = this.#memory;
    const [phase, key] = [`${kind} ${scope}`, this.#keyOf(file)];
    const closureOf = (parsed: string): string => this.#graph.closureOf(file, parsed === 'texts');
    const recalled = fresh === undefined ? memo.recall<FileReading>(phase, file, key, closureOf) : undefined;
    const reading = recalled ?? fresh ?? this.#read(file, kind);
    const result = reading.isOfTexts === true ? 'texts' : 'modules';
    const closure = closureOf(result);
    if (reading !== recalled && reading.syntax.faults.length === 0)
      memo.keep(phase, file, key, reading, [[result, closure]]);
    this.#identities.set(file, `${resolution} ${kind} ${closure}`);
    return reading;
  }

  /** Reads a file and its links, and forgets its tree. */
  #read(file: string, kind: ReadingKind): FileReading {
    const source = this.#files.sourceOf(file);
    const { isMade, timesAsked } = this.#compiler;
    const { known } = this.#context;
    const context: HostContext = {
      ...this.#context,
      // What the compiler has said of other files would be taken for what texts say.
      known: isMade ? { ...known, exports: new WeakMap(), calls: new WeakMap() } : known,
      ...(kind === 'typed' ? { isTyped: true } : {}),
    };
    const fault = this.#files.unread.get(file);
    const syntax = fault ?? workingOn({ file }, () => readFile(context, source));
    const ignores = fault === undefined ? readIgnores(this.#context, source) : [];
    this.#linksOf(file);
    if (!this.#imported.has(file) && !this.#compiler.isMade) this.#files.forget(file);
    return { syntax, ignores, ...(this.#compiler.timesAsked === timesAsked ? { isOfTexts: true } : {}) };
  }
}

function byCompilerPath(overlay: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...overlay].map(([file, text]) => [compilerPath(file), text]));
}

/** The same object where there are none, since later phases remember what they made of it. */
function withCycles(
  syntax: SourceFileSyntax,
  all: ReadonlyMap<string, readonly ImportCycle[]>,
): SourceFileSyntax {
  const cycles = all.get(syntax.file);
  return cycles === undefined ? syntax : { ...syntax, cycles };
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
  const instances = readInstances(context, source);
  const file = relativeFile(context, source.fileName);
  const isUntyped = context.untyped.has(source);
  return { file, classes, cycles: [], handles, instances, faults, ...(isUntyped ? { isUntyped } : {}) };
}

const MARK = 'stepwright-ignore';

/** The comments of a file that silence diagnostics, in written order. */
function readIgnores(context: HostContext, source: ts.SourceFile): IgnoreSyntax[] {
  const { text } = source;
  if (!text.includes(MARK)) return [];
  const results = new Map<number, IgnoreSyntax>();
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const add = ({ pos, end }: ts.CommentRange, lines: IgnoreSyntax['lines']): void => {
    const rest = textAfterMark(text.slice(pos, end));
    if (rest === undefined || results.has(pos)) return;
    results.set(pos, { place: placeBetween(context, source, pos, end), text: rest, lines });
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
  return [...results].sort(([a], [b]) => a - b).map(([, ignore]) => ignore);
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
