import { createHash } from 'node:crypto';
import type { ImportCycle } from '../syntax.js';
import type { FileLinks, Import } from './file-memory.js';
import { importCycles } from './imports.js';

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

/** The state of a file that is not there. */
export const NOTHING = 'nothing';

function hashOf(files: Iterable<string>, markOf: (file: string) => string | undefined): string {
  const hash = createHash('sha256');
  for (const file of [...files].sort()) hash.update(`${file}\0${markOf(file)}\n`);
  return hash.digest('hex');
}
