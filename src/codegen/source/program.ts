import path from 'node:path';
import { isPlugAndPlay, linkedFolder, linkedNames, realFolder } from '../../formats/plug-n-play.js';
import { getOrInsert } from '../../graph/maps.js';
import { type Inputs, signatureOf } from '../incremental/inputs.js';
import { libraryText, ts } from './typescript.mjs';

/** The file system of the compiler. Reads are recorded in `inputs`. */
export function systemFor(inputs: Inputs | undefined): ts.System {
  return withLinkedPackages(inputs === undefined ? ts.sys : recordingSystem(inputs));
}

function recordingSystem(inputs: Inputs): ts.System {
  const seeing =
    <T>(look: (file: string) => T) =>
    (file: string): T => {
      inputs.see(file);
      return look(file);
    };
  return {
    ...ts.sys,
    readFile: (file, encoding) => seeing((each) => ts.sys.readFile(each, encoding))(file),
    fileExists: seeing(ts.sys.fileExists),
    // Of packages that are included without an import.
    getDirectories: seeing(ts.sys.getDirectories),
    directoryExists: (folder) => {
      const isThere = ts.sys.directoryExists(folder);
      // What is in a folder is looked at by itself.
      if (!isThere) inputs.see(folder);
      return isThere;
    },
  };
}

/** The path as the compiler writes it: with `/`. */
export const compilerPath = (file: string): string => file.split(path.sep).join('/');

/** The compiler's view of a project, which is made when it is first asked for. */
export class Compiler {
  readonly #create: () => ts.Program;
  #program: ts.Program | undefined;
  #timesAsked = 0;

  constructor(create: () => ts.Program) {
    this.#create = create;
  }

  /** How often it was asked for something. */
  get timesAsked(): number {
    return this.#timesAsked;
  }

  get program(): ts.Program {
    this.#timesAsked += 1;
    this.#program ??= this.#create();
    return this.#program;
  }

  /** Whether it was asked for. */
  get isMade(): boolean {
    return this.#program !== undefined;
  }

  get checker(): ts.TypeChecker {
    return this.program.getTypeChecker();
  }
}

/** Where ts-morph keeps the declarations of the language. */
const LIBRARIES = '/node_modules/typescript/lib';

/**
 * Creates a program of parsed files. Files that they import are read from disk.
 *
 * @param sources - the root files, by {@link compilerPath}.
 * @param isOwn - whether an imported file is a source of the project. All others are shared with later programs of this
 *   process: they are large, and seldom change.
 * @param parse - parses a source of the project.
 * @param inputs - records what is read and looked for. Default: nothing is recorded.
 */
export function createProgram(
  options: ts.CompilerOptions,
  sources: ReadonlyMap<string, ts.SourceFile>,
  isOwn: (file: string) => boolean,
  parse: (file: string, text: string) => ts.SourceFile,
  inputs?: Inputs,
): ts.Program {
  const system = systemFor(inputs);
  const shared = sharedFiles(options);
  const folders = new Set([...sources.keys()].flatMap(foldersOf));
  const read = (file: string): ts.SourceFile | undefined => {
    if (!isOwn(file)) {
      if (!file.startsWith(LIBRARIES)) inputs?.see(file);
      return shared(file);
    }
    const text = system.readFile(file);
    return text === undefined ? undefined : parse(file, text);
  };
  return ts.createProgram([...sources.keys()], options, {
    ...system,
    getSourceFile: (file) => sources.get(file) ?? read(file),
    fileExists: (file) => sources.has(file) || system.fileExists(file),
    readFile: (file) => sources.get(file)?.text ?? system.readFile(file),
    directoryExists: (folder) => folders.has(folder) || system.directoryExists(folder),
    getDefaultLibFileName: (each) => `${LIBRARIES}/${ts.getDefaultLibFileName(each)}`,
    getCanonicalFileName: (file) => file,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    writeFile: () => {},
  });
}

/** All folders above a file, by {@link compilerPath}. */
function foldersOf(file: string): string[] {
  const folder = path.posix.dirname(file);
  return folder === file ? [] : [folder, ...foldersOf(folder)];
}

/** Finds files that are parsed and bound once in this process, for programs of the same options. */
type SharedFiles = (file: string) => ts.SourceFile | undefined;

const existing = new Map<string, SharedFiles>();

/** Flags and enumerations contain all options that decide how a file is parsed and bound. */
function sharedFiles(options: ts.CompilerOptions): SharedFiles {
  const flags = Object.entries(options).filter(([, value]) => /^(?:number|boolean)$/.test(typeof value));
  const key = JSON.stringify(flags.sort());
  return getOrInsert(existing, key, () => openFiles(Object.fromEntries(flags)));
}

function openFiles({ target = ts.ScriptTarget.Latest }: ts.CompilerOptions): SharedFiles {
  const files = new Map<string, { readonly state: string; readonly source: ts.SourceFile | undefined }>();
  return (file) => {
    const state = signatureOf(file) ?? 'nothing';
    const cached = files.get(file);
    if (cached?.state === state) return cached.source;
    const isLibrary = file.startsWith(LIBRARIES);
    const text = isLibrary ? libraryText(path.posix.basename(file)) : ts.sys.readFile(file);
    const source = text === undefined ? undefined : ts.createSourceFile(file, text, target);
    files.set(file, { state, source });
    return source;
  };
}

/** The parts of the compiler's file system through which it finds packages. */
interface PackageSystem {
  readFile(file: string, encoding?: string): string | undefined;
  fileExists(file: string): boolean;
  directoryExists(folder: string): boolean;
  getDirectories(folder: string): string[];
  realpath?(path: string): string;
}

/**
 * A file system in which every package has a `node_modules` with links to those that it depends on, as the compiler
 * expects it. Without Yarn's Plug'n'Play it is the one that is given.
 */
function withLinkedPackages<System extends PackageSystem>(system: System): System {
  if (!isPlugAndPlay()) return system;
  const links = new Map<string, string | undefined>();
  const linkOf = (owner: string, name: string): string | undefined => {
    const key = `${owner}\0${name}`;
    if (!links.has(key)) links.set(key, linkedFolder(owner, name));
    return links.get(key);
  };
  /** The path without its last link. */
  const follow = (file: string): string => {
    const { owner, name, inside } = linkIn(file) ?? {};
    const folder = owner === undefined || name === undefined ? undefined : linkOf(owner, name);
    return folder === undefined ? file : compilerPath(folder) + inside;
  };
  return {
    ...system,
    readFile: (file: string, encoding?: string) => system.readFile(follow(file), encoding),
    fileExists: (file: string) => system.fileExists(follow(file)),
    directoryExists: (folder: string) => system.directoryExists(follow(folder)) || linksIn(folder).length > 0,
    getDirectories: (folder: string) => {
      const names = linksIn(folder);
      return names.length > 0 ? names : system.getDirectories(follow(folder));
    },
    realpath: (file: string) => {
      const followed = follow(file);
      return compilerPath(realFolder(system.realpath?.(followed) ?? followed));
    },
  };
}

/** Splits `OWNER/node_modules/NAME/inside` at the last such folder. */
function linkIn(
  file: string,
): { readonly owner: string; readonly name: string; readonly inside: string } | undefined {
  const [, owner, name, inside = ''] =
    /^(.*)\/node_modules\/((?:@[^/]+\/)?[^@/][^/]*)(\/.*)?$/.exec(file) ?? [];
  return owner === undefined || name === undefined ? undefined : { owner, name, inside };
}

/** What `node_modules`, or a folder of a scope in it, would list. */
function linksIn(folder: string): string[] {
  const [, owner, scope] = /^(.*)\/node_modules(?:\/(@[^/]+))?\/?$/.exec(folder) ?? [];
  const names = owner === undefined ? undefined : linkedNames(owner);
  if (names === undefined) return [];
  if (scope === undefined) return [...names];
  return names.filter((name) => name.startsWith(`${scope}/`)).map((name) => name.slice(scope.length + 1));
}

interface ModulesOptions {
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
    const cached = this.#known.get(specifier);
    if (cached !== undefined) return cached ?? undefined;
    const result = this.#find(specifier);
    this.#known.set(specifier, result ?? null);
    return result;
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
    const inFolder = getOrInsert(this.#files, folder, () => new Map<string, string | null>());
    const cached = inFolder.get(text);
    if (cached !== undefined) return cached ?? undefined;
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
