import path from 'node:path';
import type { Inputs } from '../incremental/inputs.js';
import { compilerPath, foldersOf, systemFor } from './program.js';
import { ts } from './typescript.mjs';

export interface ModulesOptions {
  readonly options: ts.CompilerOptions;
  /** The texts that replace files, by {@link compilerPath}. */
  readonly overlay: ReadonlyMap<string, string>;
  /** Whether a file is a source of the project. */
  readonly isOwn: (file: string) => boolean;
  /** A source of the project by {@link compilerPath}; nothing for one that is not there. */
  readonly sourceAt: (file: string) => ts.SourceFile | undefined;
  /** Takes note of what is looked for. Default: nothing does. */
  readonly inputs?: Inputs | undefined;
}

/** The modules of a project: finds and parses those that others import. */
export class Modules {
  readonly #options: ModulesOptions;
  readonly #host: ts.ModuleResolutionHost;
  readonly #cache: ts.ModuleResolutionCache;
  readonly #known = new WeakMap<ts.StringLiteral, ts.SourceFile | null>();
  /** By the folder of the file that names it, and by specifier; null for one that leads nowhere. */
  readonly #files = new Map<string, Map<string, string | null>>();

  constructor(options: ModulesOptions) {
    this.#options = options;
    const system = systemFor(options.inputs);
    const { overlay } = options;
    const folders = new Set([...overlay.keys()].flatMap(foldersOf));
    this.#host = {
      ...system,
      fileExists: (file) => overlay.has(file) || system.fileExists(file),
      directoryExists: (folder) => folders.has(folder) || system.directoryExists(folder),
    };
    this.#cache = ts.createModuleResolutionCache('/', (file) => file, options.options);
  }

  /** The module of the project that a specifier names. */
  resolve(specifier: ts.StringLiteral): ts.SourceFile | undefined {
    const known = this.#known.get(specifier);
    if (known !== undefined) return known ?? undefined;
    const found = this.#find(specifier);
    this.#known.set(specifier, found ?? null);
    return found;
  }

  /** The absolute path of the module of the project that a specifier names; nothing is parsed. */
  ownFile(specifier: ts.StringLiteral): string | undefined {
    const file = this.#fileOf(specifier);
    return file !== undefined && this.#options.isOwn(file) ? file : undefined;
  }

  /** The module that a specifier names, where it is not of the project: its path with links resolved. */
  elsewhere(specifier: ts.StringLiteral): string | undefined {
    const file = this.#fileOf(specifier);
    return file === undefined || this.#options.isOwn(file) ? undefined : file;
  }

  /**
   * Whether a specifier names a module by its path, and there is none. An ambient declaration may make a module of any
   * other file (`declare module '*.md'`): only the compiler knows.
   */
  isMissing(specifier: ts.StringLiteral): boolean {
    const { text } = specifier;
    if (!/^\.\.?\//.test(text) || !/(?:\.[cm]?[jt]sx?|\/[^./]+)$/.test(text)) return false;
    if (this.#fileOf(specifier) !== undefined) return false;
    // One without exports, or named by another ending, may be there.
    const base = path.posix.join(path.posix.dirname(specifier.getSourceFile().fileName), text);
    return moduleCandidates(base).every((file) => !this.#host.fileExists(file));
  }

  #find(specifier: ts.StringLiteral): ts.SourceFile | undefined {
    const file = this.ownFile(specifier);
    return file === undefined ? undefined : this.#options.sourceAt(compilerPath(file));
  }

  #fileOf({ text, parent }: ts.StringLiteral): string | undefined {
    const from = parent.getSourceFile().fileName;
    const folder = from.slice(0, from.lastIndexOf('/'));
    const inFolder = this.#files.get(folder) ?? new Map<string, string | null>();
    this.#files.set(folder, inFolder);
    const known = inFolder.get(text);
    if (known !== undefined) return known ?? undefined;
    const { resolvedModule } = ts.resolveModuleName(
      ...([text, from, this.#options.options, this.#host, this.#cache] as const),
      undefined,
      ts.ModuleKind.ESNext,
    );
    inFolder.set(text, resolvedModule?.resolvedFileName ?? null);
    return resolvedModule?.resolvedFileName;
  }
}

/** The files that a specifier may mean where the compiler finds no module, by the absolute path that it names. */
export function moduleCandidates(base: string): readonly string[] {
  return [base, base.replace(/\.([cm]?)js$/, '.$1ts'), base.replace(/\.jsx?$/, '.tsx')];
}
