import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Inputs } from '../incremental/inputs.js';
import { NOTHING } from '../incremental/inputs.js';
import { sha256 } from '../incremental/memo.js';
import type { SourceFileSyntax } from '../syntax.js';
import { findDeepSyntax, MAX_SYNTAX_DEPTH, type TextRange } from './ast.js';
import { type FileText, readFileText } from './files.js';
import { compilerPath } from './program.js';
import { ts } from './typescript.mjs';

interface ProjectFilesOptions {
  /** Absolute. */
  readonly root: string;
  readonly overlay: ReadonlyMap<string, string>;
  readonly inputs: Inputs | undefined;
  readonly target: ts.ScriptTarget;
  /** Parsed before, by file and state. */
  readonly trees: {
    recall(file: string, state: string): ts.SourceFile | undefined;
    keep(file: string, state: string, source: ts.SourceFile): void;
  };
}

/** The sources of a project: their paths, states, texts and trees. Files are named relative to the root, with `/`. */
export class ProjectFiles {
  /** Texts that replace files, by absolute path. */
  readonly overlay: ReadonlyMap<string, string>;
  /** By the paths of the compiler. */
  readonly parsed = new Map<string, ts.SourceFile>();
  /** The files that cannot be read or are nested too deeply, with the fault. */
  readonly unread = new Map<string, SourceFileSyntax>();
  readonly isOwn: (file: string) => boolean;
  readonly absolute: (file: string) => string;
  readonly relative: (absolute: string) => string;
  readonly #options: ProjectFilesOptions;
  readonly #states = new Map<string, string>();

  constructor(options: ProjectFilesOptions) {
    const { root } = options;
    this.#options = options;
    // Each file is asked for by each file that imports it.
    this.absolute = remembered((file) => path.resolve(root, file));
    this.relative = remembered((file) => path.relative(root, file).split(path.sep).join('/'));
    this.isOwn = remembered((file) => isOwnSource(root, file));
    this.overlay = new Map([...options.overlay].map(([file, text]) => [this.absolute(file), text]));
  }

  /** Undefined for a file that cannot be read. */
  readText(file: string): string | undefined {
    const reading = this.#read(file);
    return reading.kind === 'text' ? reading.text : undefined;
  }

  #read(file: string): FileText {
    const text = this.overlay.get(this.absolute(file));
    if (text === undefined) return readFileText(this.absolute(file));
    return { kind: 'text', text: text.replace(/^\uFEFF/, '') };
  }

  /** Identifies the content of a file; empty if inputs are not recorded. */
  stateOf(file: string): string {
    const cached = this.#states.get(file);
    if (cached !== undefined) return cached;
    const { inputs } = this.#options;
    inputs?.see(file);
    const text = this.overlay.get(this.absolute(file));
    const state =
      text === undefined ? (inputs?.paths.get(this.absolute(file)) ?? '') : `text ${sha256(text)}`;
    this.#states.set(file, state);
    return state;
  }

  /** The existing files that were asked for, as absolute paths. */
  seen(): ReadonlySet<string> {
    const existing = [...this.#states].filter(([, state]) => state !== NOTHING);
    return new Set(existing.map(([file]) => this.absolute(file)));
  }

  has(file: string): boolean {
    const absolute = this.absolute(file);
    return this.parsed.has(compilerPath(absolute)) || this.overlay.has(absolute) || existsSync(absolute);
  }

  /** The tree of a file; an empty one for a file that cannot be read or is nested too deeply, which is reported. */
  sourceOf(file: string): ts.SourceFile {
    const name = compilerPath(this.absolute(file));
    const cached = this.parsed.get(name);
    if (cached !== undefined) return cached;
    const state = this.stateOf(file);
    const { trees } = this.#options;
    const source = trees.recall(file, state) ?? this.#parse(file, name);
    if (!this.unread.has(file)) trees.keep(file, state, source);
    this.parsed.set(name, source);
    return source;
  }

  /** The trees of all files together would be most of the memory of a run. */
  forget(file: string): void {
    this.parsed.delete(compilerPath(this.absolute(file)));
  }

  #parse(file: string, name: string): ts.SourceFile {
    // Without the parents of nodes.
    const parse = (text: string) => ts.createSourceFile(name, text, this.#options.target);
    const reading = this.#read(file);
    if (reading.kind !== 'text') {
      this.unread.set(file, unreadable(file, reading));
      return parse('');
    }
    let source: ts.SourceFile | undefined;
    const deep = findDeepSyntax(reading.text, () => {
      source = parse(reading.text);
      return source;
    });
    if (deep === undefined && source !== undefined) return source;
    if (deep !== undefined) this.unread.set(file, tooDeep(file, reading.text, deep));
    return parse('');
  }
}

/** Source of the project itself, as compilers name it. */
function isOwnSource(root: string, file: string): boolean {
  const segments = path.relative(root, file).split(/[\\/]/);
  const isInside = segments[0] !== '..' && !path.isAbsolute(segments.join('/'));
  return isInside && !segments.includes('node_modules') && /(?<!\.d)\.(?:[cm]?[jt]sx?|json)$/.test(file);
}

function tooDeep(file: string, text: string, { start, end }: TextRange): SourceFileSyntax {
  const source = ts.createSourceFile(file, '', ts.ScriptTarget.Latest);
  source.text = text;
  const from = source.getLineAndCharacterOfPosition(start);
  const to = source.getLineAndCharacterOfPosition(end);
  const span = [from.line + 1, from.character + 1, to.line + 1, to.character + 1] as const;
  const fault = { message: 'it is nested too deeply', place: { file, span }, maxDepth: MAX_SYNTAX_DEPTH };
  return { file, classes: [], cycles: [], handles: [], instances: [], faults: [fault] };
}

function unreadable(file: string, reading: Exclude<FileText, { kind: 'text' }>): SourceFileSyntax {
  const fault =
    reading.kind === 'notUtf8'
      ? { message: 'the file is not UTF-8 text: save it as UTF-8', place: { file, span: reading.span } }
      : { message: 'the file cannot be read', place: { file, span: [1, 1, 1, 1] as const } };
  return {
    file,
    classes: [],
    cycles: [],
    handles: [],
    instances: [],
    faults: [{ ...fault, isUnreadable: true }],
  };
}

function remembered<V>(find: (file: string) => V): (file: string) => V {
  const all = new Map<string, V>();
  return (file) => {
    const value = all.get(file) ?? find(file);
    all.set(file, value);
    return value;
  };
}
