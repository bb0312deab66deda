import { createHash } from 'node:crypto';
import type { SourceLocation } from '../../graph/source-location.js';
import { NOTHING } from '../incremental/inputs.js';
import type { ImportCycle, ImportEnding } from '../syntax.js';

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

  /** The import cycles of each file that has one. */
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
      const found = this.#fileAt(file);
      all.set(file, found);
      for (const module of found.links.modules) open.add(module);
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
      const others = importers.get(target);
      if (others === undefined) importers.set(target, [{ file, place }]);
      else others.push({ file, place });
    }
  }
  const cycles = new Map<string, readonly ImportCycle[]>();
  for (const file of modules.keys()) {
    const found = cyclesOf(file, modules, importers);
    if (found.length > 0) cycles.set(file, found);
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
