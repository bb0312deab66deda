import { createHash } from 'node:crypto';
import { append } from '../../graph/maps.js';
import type { SourceLocation } from '../../graph/source-location.js';
import { NOTHING } from '../incremental/inputs.js';
import type { ImportCycle, ImportEnding } from '../syntax.js';
import { PACKAGE } from './names.js';
import { ts } from './typescript.mjs';

/** A module of the project that another one loads before itself, and the place of its specifier. */
export interface Import {
  /** Relative to the root. */
  readonly target: string;
  readonly place: SourceLocation;
}

/** The modules of the project that a module names. */
export interface FileLinks {
  /** Those that it loads before itself, in written order. */
  readonly imports: readonly Import[];
  /** All of them, those that are named for their types among them; relative to the root. */
  readonly modules: readonly string[];
  /** Of its relative imports and exports that lead to TypeScript files. */
  readonly endings: readonly ImportEnding[];
  /** Set where it may name more than its imports and exports do. */
  readonly isOpen?: true;
  /** What other files can read of it, see `surfaceOf`. */
  readonly surface: string;
}

/** A file with the content that it has now. */
export interface LinkedFile {
  /** Of its content. */
  readonly state: string;
  readonly links: FileLinks;
}

/** The files of a project, and what they name of each other. */
export class FileGraph {
  readonly #files: readonly string[];
  readonly #fileAt: (file: string) => LinkedFile;
  #all: ReadonlyMap<string, LinkedFile> | undefined;
  #whole: string | undefined;

  /**
   * @param files - those that are read, relative to the root.
   * @param fileAt - one of them, or one that they name.
   */
  constructor(files: readonly string[], fileAt: (file: string) => LinkedFile) {
    this.#files = files;
    this.#fileAt = fileAt;
  }

  cycles(): ReadonlyMap<string, readonly ImportCycle[]> {
    const imports = [...this.#reached()].map(([file, { links }]): [string, readonly Import[]] => [
      file,
      links.imports,
    ]);
    return importCycles(new Map(imports));
  }

  /**
   * Hashes a file and all that it names, directly or not.
   *
   * @param isOfTexts - whether of other modules only what their texts can say counts.
   */
  closureOf(start: string, isOfTexts: boolean): string {
    const files = this.#reached();
    const closure = new Set([start]);
    // The set grows while it is walked.
    for (const file of closure) {
      const { links } = files.get(file) ?? this.#fileAt(file);
      if (links.isOpen) {
        this.#whole ??= hashOf(files.keys(), (file) => files.get(file)?.state);
        return this.#whole;
      }
      for (const module of links.modules) closure.add(module);
    }
    return hashOf(closure, (file) => {
      const { state, links } = files.get(file) ?? {};
      return isOfTexts && file !== start && state !== NOTHING ? links?.surface : state;
    });
  }

  #reached(): ReadonlyMap<string, LinkedFile> {
    if (this.#all !== undefined) return this.#all;
    const all = new Map<string, LinkedFile>();
    const open = new Set(this.#files);
    for (const file of open) {
      const result = this.#fileAt(file);
      all.set(file, result);
      for (const module of result.links.modules) open.add(module);
    }
    this.#all = all;
    return all;
  }
}

function hashOf(files: Iterable<string>, markOf: (file: string) => string | undefined): string {
  const hash = createHash('sha256');
  for (const file of [...files].sort()) hash.update(`${file}\0${markOf(file)}\n`);
  return hash.digest('hex');
}

/**
 * The import cycles of each module. Modules without a cycle are missing.
 *
 * @param modules - what each module loads, by its path.
 */
function importCycles(
  modules: ReadonlyMap<string, readonly Import[]>,
): ReadonlyMap<string, readonly ImportCycle[]> {
  const importers = new Map<string, { readonly file: string; readonly place: SourceLocation }[]>();
  for (const [file, imports] of modules) {
    for (const { target, place } of imports) {
      append(importers, target, { file, place });
    }
  }
  const cycles = new Map<string, readonly ImportCycle[]>();
  for (const file of modules.keys()) {
    const result = cyclesOf(file, modules, importers);
    if (result.length > 0) cycles.set(file, result);
  }
  return cycles;
}

function cyclesOf(
  file: string,
  modules: ReadonlyMap<string, readonly Import[]>,
  importers: ReadonlyMap<string, readonly { readonly file: string; readonly place: SourceLocation }[]>,
): readonly ImportCycle[] {
  // Most modules have no importer in the project, or no import: they are in no cycle.
  if ((importers.get(file) ?? []).length === 0 || (modules.get(file) ?? []).length === 0) return [];
  const ways = new Map<string, ImportCycle['back']>([[file, []]]);
  // Iteration includes entries added to the map meanwhile: a breadth-first search, nearest importers first.
  for (const [target, back] of ways) {
    for (const importer of importers.get(target) ?? []) {
      if (!ways.has(importer.file)) ways.set(importer.file, [importer, ...back]);
    }
  }
  const reached = reachableFrom(file, modules);
  return [...ways]
    .filter(([other]) => other !== file && reached.has(other))
    .map(([other, back]) => ({ file: other, back }));
}

function reachableFrom(file: string, modules: ReadonlyMap<string, readonly Import[]>): ReadonlySet<string> {
  const reached = new Set<string>([file]);
  for (const each of reached) for (const { target } of modules.get(each) ?? []) reached.add(target);
  return reached;
}

/** The classes whose texts and methods no other file reads. The address and the texts of a resource are parts of links. */
const CLOSED: ReadonlySet<string> = new Set(['Tool', 'Workflow']);

/** The options of their decorators that only the class itself has a use for. */
const TEXTS: ReadonlySet<string> = new Set(['title', 'description']);

/** What has no place that a diagnostic or a graph could name. */
const CLOSING = /^[\s)\]},;]*$/;

/** A range of a text that other files cannot read. */
interface Hidden {
  readonly start: number;
  readonly end: number;
  /** Whether what comes behind it has places that other files read. */
  readonly isPlaced: boolean;
}

/**
 * Hashes what other files can read of a file without asking the compiler: its text without the bodies of methods of
 * tools and workflows and without their titles and descriptions, with the places of what comes behind them.
 */
export function surfaceOf(source: ts.SourceFile): string {
  const { text } = source;
  const hash = createHash('sha256');
  let position = 0;
  for (const { start, end, isPlaced } of hiddenIn(source)) {
    hash.update(`${start - position}\0${text.slice(position, start)}\0`);
    position = end;
    if (isPlaced && !CLOSING.test(text.slice(end))) hash.update(placeBehind(source, end));
  }
  return hash.update(text.slice(position)).digest('hex');
}

function placeBehind(source: ts.SourceFile, end: number): string {
  const { line, character } = source.getLineAndCharacterOfPosition(end);
  const [rest = ''] = source.text.slice(end).split('\n', 1);
  return CLOSING.test(rest) ? `${line}\0` : `${line} ${character}\0`;
}

/** In the order of the text. Nothing in a file with a syntax error: where its parts end is not known. */
function hiddenIn(source: ts.SourceFile): readonly Hidden[] {
  const { parseDiagnostics } = source as unknown as { readonly parseDiagnostics: readonly unknown[] };
  const names = importedNames(source);
  if (names.size === 0 || parseDiagnostics.length > 0) return [];
  return source.statements.flatMap((statement) =>
    ts.isClassDeclaration(statement) ? ofClass(source, statement, names) : [],
  );
}

function ofClass(source: ts.SourceFile, node: ts.ClassDeclaration, names: ReadonlySet<string>): Hidden[] {
  const decorators = (ts.getDecorators(node) ?? []).filter(({ expression }) => isNamed(expression, names));
  if (decorators.length === 0) return [];
  const texts = decorators.flatMap((decorator): Hidden[] => [
    ...textsIn(decorator).map((each) => inside(source, each, false)),
    { start: decorator.end, end: decorator.end, isPlaced: true },
  ]);
  const bodies = node.members.flatMap((member) =>
    ts.isMethodDeclaration(member) && member.body !== undefined ? inside(source, member.body, true) : [],
  );
  return [...texts, ...bodies];
}

function isNamed(expression: ts.Expression, names: ReadonlySet<string>): boolean {
  return (
    ts.isCallExpression(expression) &&
    ts.isIdentifier(expression.expression) &&
    names.has(expression.expression.text)
  );
}

function textsIn({ expression }: ts.Decorator): readonly ts.Expression[] {
  const [options] = ts.isCallExpression(expression) ? expression.arguments : [];
  if (options === undefined || !ts.isObjectLiteralExpression(options)) return [];
  return options.properties.flatMap((property) => {
    const isText =
      ts.isPropertyAssignment(property) &&
      ts.isIdentifier(property.name) &&
      TEXTS.has(property.name.text) &&
      ts.isStringLiteralLike(property.initializer);
    return isText ? property.initializer : [];
  });
}

/** What is between the quotation marks of a text, or the braces of a block. */
function inside(source: ts.SourceFile, node: ts.Node, isPlaced: boolean): Hidden {
  return { start: node.getStart(source) + 1, end: node.end - 1, isPlaced };
}

/** The decorators of such classes that a file imports by their own names. */
function importedNames(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (statement.moduleSpecifier.text !== PACKAGE || bindings === undefined) continue;
    if (!ts.isNamedImports(bindings)) continue;
    for (const { name, propertyName } of bindings.elements)
      if (propertyName === undefined && CLOSED.has(name.text)) names.add(name.text);
  }
  return names;
}
