import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { relativePath } from '../../formats/source-record.js';
import type { Span } from '../../graph/source-location.js';
import { type Inputs, NOTHING } from '../incremental/inputs.js';
import { sha256 } from '../incremental/memo.js';
import type { SourceFileSyntax } from '../syntax.js';
import { findDeepSyntax, MAX_SYNTAX_DEPTH, spanOf, type TextRange } from './ast.js';
import { compilerPath } from './program.js';
import { ts } from './typescript.mjs';

/** The text of a file, or why it cannot be read. */
export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable' }
  /** `span` marks the first bytes that are not UTF-8. */
  | { readonly kind: 'notUtf8'; readonly span: Span };

/** Reads a file as UTF-8. A byte order mark is left out. */
export function readFileText(file: string): FileText {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return { kind: 'unreadable' };
  }
  const text = decode(bytes);
  return text === undefined
    ? { kind: 'notUtf8', span: spanAfter(longestText(bytes)) }
    : { kind: 'text', text };
}

function decode(bytes: Uint8Array, stream = false): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream });
  } catch {
    return undefined;
  }
}

/** The longest valid prefix, by binary search: every prefix of valid UTF-8 is valid as a stream. */
function longestText(bytes: Uint8Array): string {
  let sound = 0;
  let faulty = bytes.length + 1;
  while (faulty - sound > 1) {
    const middle = Math.floor((sound + faulty) / 2);
    if (decode(bytes.subarray(0, middle), true) === undefined) faulty = middle;
    else sound = middle;
  }
  return decode(bytes.subarray(0, sound), true) ?? '';
}

function spanAfter(text: string): Span {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
  const column = (lines.at(-1)?.length ?? 0) + 1;
  return [lines.length, column, lines.length, column + 1];
}

/** The specifiers of the modules that a text loads: not those of types alone, which are erased. */
export function loadedSpecifiers(text: string): readonly string[] {
  const { statements } = ts.createSourceFile('module.ts', text, ts.ScriptTarget.Latest);
  const isErased = (statement: ts.Statement): boolean =>
    ts.isImportDeclaration(statement)
      ? statement.importClause?.isTypeOnly === true
      : ts.isExportDeclaration(statement) && statement.isTypeOnly;
  const code = statements.filter((each) => !isErased(each)).map((each) => text.slice(each.pos, each.end));
  return ts.preProcessFile(code.join('\n'), true, true).importedFiles.map(({ fileName }) => fileName);
}

interface ProjectFilesOptions {
  /** Absolute. */
  readonly root: string;
  readonly overlay: ReadonlyMap<string, string>;
  readonly inputs: Inputs | undefined;
  readonly target: ts.ScriptTarget;
  /** Gets the text of each file that is parsed. */
  readonly texts: Map<string, string> | undefined;
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
    this.relative = remembered((file) => relativePath(root, file));
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
    if (!this.unread.has(file)) {
      trees.keep(file, state, source);
      this.#options.texts?.set(file, source.text);
    }
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
  const place = { file, span: spanOf(source, start, end) };
  return withoutContent(file, { message: 'it is nested too deeply', place, maxDepth: MAX_SYNTAX_DEPTH });
}

function unreadable(file: string, reading: Exclude<FileText, { kind: 'text' }>): SourceFileSyntax {
  const fault =
    reading.kind === 'notUtf8'
      ? { message: 'the file is not UTF-8 text: save it as UTF-8', place: { file, span: reading.span } }
      : { message: 'the file cannot be read', place: { file, span: [1, 1, 1, 1] as const } };
  return withoutContent(file, { ...fault, isUnreadable: true });
}

function withoutContent(file: string, fault: SourceFileSyntax['faults'][number]): SourceFileSyntax {
  return { file, classes: [], cycles: [], handles: [], instances: [], faults: [fault] };
}

function remembered<V>(find: (file: string) => V): (file: string) => V {
  const all = new Map<string, V>();
  return (file) => {
    const value = all.get(file) ?? find(file);
    all.set(file, value);
    return value;
  };
}
