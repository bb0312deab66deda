import { defined } from '../../graph/defined.js';
import type { SourceLocation } from '../../graph/source-location.js';
import { type KeptText, KeptTexts } from '../kept-texts.js';
import type { IgnoreSyntax, ImportEnding, SourceFileSyntax } from '../syntax.js';
import type { ts } from './typescript.mjs';

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

/** What was read of a file. */
export interface FileReading {
  /** Of the file and of all modules that it names, directly or not. */
  readonly closure: string;
  /** Set where texts said everything. Then the closure has of other modules what they can say. */
  readonly isOfTexts?: true;
  /** Without its cycles, which other files make. */
  readonly syntax: SourceFileSyntax;
  readonly ignores: readonly IgnoreSyntax[];
}

/** What is remembered of a file. */
export interface FileEntry {
  /** Of its content. */
  readonly state: string;
  links?: FileLinks;
  /** By its text, and by what the compiler was asked as well. */
  readonly readings: { untyped?: FileReading; typed?: FileReading };
}

/** What an entry was made of. */
interface Restored extends KeptText {
  readonly parts: readonly unknown[];
}

/**
 * What earlier runs have read of the files of a project, by their paths relative to the root. What is remembered of a
 * file with another content is forgotten.
 */
export class FileMemory {
  readonly #keepsTrees: boolean;
  readonly #entries = new Map<string, FileEntry>();
  readonly #parsed = new Map<string, { readonly state: string; readonly source: ts.SourceFile }>();
  readonly #restored = new WeakMap<FileEntry, Restored>();
  #kept = new KeptTexts();

  /** @param keepsTrees - whether later runs of this process will read the files again. */
  constructor(keepsTrees: boolean) {
    this.#keepsTrees = keepsTrees;
  }

  entryOf(file: string, state: string): FileEntry {
    const known = this.#entries.get(file);
    if (known?.state === state) return known;
    const entry = this.#restore(file, state) ?? { state, readings: {} };
    this.#entries.set(file, entry);
    return entry;
  }

  #restore(file: string, state: string): FileEntry | undefined {
    const kept = this.#kept.get(file, state);
    if (kept === undefined) return undefined;
    const { links, readings } = JSON.parse(kept.body) as Omit<FileEntry, 'state'>;
    const entry = { state, ...defined({ links }), readings };
    this.#restored.set(entry, { ...kept, parts: partsOf(entry) });
    return entry;
  }

  parsed(file: string, state: string): ts.SourceFile | undefined {
    const known = this.#parsed.get(file);
    return known?.state === state ? known.source : undefined;
  }

  keepParsed(file: string, state: string, source: ts.SourceFile): void {
    if (this.#keepsTrees) this.#parsed.set(file, { state, source });
  }

  /** Forgets all, since a file was added or removed, or what is installed has changed. */
  clear(): void {
    this.#entries.clear();
    this.#parsed.clear();
    this.#kept = new KeptTexts();
  }

  /** Takes what {@link texts} gave in another process. */
  restore(kept: KeptTexts): void {
    this.#kept = kept;
  }

  /** All entries, by file and state. */
  texts(): readonly (readonly [string, KeptText])[] {
    return [...this.#entries].map(([file, entry]) => [file, this.#textOf(entry)]);
  }

  #textOf(entry: FileEntry): KeptText {
    const restored = this.#restored.get(entry);
    const parts = partsOf(entry);
    if (restored?.parts.every((part, index) => part === parts[index])) return restored;
    const { state, links, readings } = entry;
    return { mark: state, body: JSON.stringify({ links, readings }) };
  }
}

function partsOf({ links, readings }: FileEntry): readonly unknown[] {
  return [links, readings.untyped, readings.typed];
}
