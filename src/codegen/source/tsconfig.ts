import path from 'node:path';
import { relativePath } from '../../formats/source-record.js';
import { parseJsonDocument } from '../../formats/text/json-document.js';
import { compareText } from '../../graph/names.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { Inputs } from '../incremental/inputs.js';
import type { LoaderSettings } from '../schemas/loader/compile.js';
import { spanOf } from './ast.js';
import { systemFor } from './program.js';
import { ts } from './typescript.mjs';

/** The parts of a project's tsconfig that codegen reads. */
export interface Tsconfig {
  /** The files it names, relative to the project's root and sorted; of a solution those of all its projects. */
  readonly files: readonly string[];
  /** The folders in which it looks for files, as glob patterns relative to the root. */
  readonly patterns: readonly string[];
  /** How modules of the project are loaded. */
  readonly loader: LoaderSettings;
  /** Where compiled files are, and the folder whose structure they have; relative to the root. */
  readonly build: { readonly outDirs: readonly string[]; readonly rootDir?: string };
  /** Faults of the configuration, one sentence each, with their places. */
  readonly faults: readonly TsconfigFault[];
}

interface TsconfigFault {
  readonly message: string;
  readonly place?: SourceLocation;
}

/**
 * Reads a tsconfig with all it extends.
 *
 * One without files of its own that has `references` is a solution: its files are those of the projects it refers to,
 * and its compiler options those of the first of them that imports `stepwright`, with the `paths` of all.
 *
 * @param root - absolute path of the project.
 * @param file - relative to the root; undefined when there is none.
 * @param inputs - records what is read. Default: nothing is recorded.
 */
export function readTsconfig(root: string, file: string, inputs?: Inputs): Tsconfig | undefined {
  const system = systemFor(inputs);
  const location = path.resolve(root, file);
  if (!system.fileExists(location)) return undefined;
  const { projects, faults } = readProjects(location, system, root);
  const { options, conflicts } = combine(sourcesFirst(projects, system), root);
  const files = projects.flatMap(({ parsed }) => parsed.fileNames.map((name) => relativePath(root, name)));
  return {
    files: [...new Set(files)].sort(compareText),
    patterns: projects.flatMap(({ parsed }) => patternsOf(parsed, root)),
    loader: loaderSettings(options),
    build: buildOf(options, root),
    faults: faults.length > 0 ? faults : conflicts,
  };
}

/**
 * Reads the compiler options of a tsconfig, as {@link readTsconfig} does.
 *
 * @param file - absolute path.
 * @throws when the file cannot be read.
 */
export function readCompilerOptions(file: string, inputs?: Inputs): ts.CompilerOptions {
  const system = systemFor(inputs);
  // The files that it names are not needed, and listing them may take long.
  const { projects, faults } = readProjects(file, { ...system, readDirectory: () => [] }, path.dirname(file));
  const [fault] = faults;
  if (projects.length === 0 && fault !== undefined) throw new Error(fault.message);
  const [only, ...others] = projects;
  if (only !== undefined && others.length === 0) return only.parsed.options;
  const solution = readProjects(file, system, path.dirname(file));
  return combine(sourcesFirst(solution.projects, system), path.dirname(file)).options;
}

function patternsOf({ wildcardDirectories = {} }: ts.ParsedCommandLine, root: string): readonly string[] {
  return Object.entries(wildcardDirectories).map(([folder, flags]) =>
    path.posix.join(relativePath(root, folder), flags === ts.WatchDirectoryFlags.Recursive ? '**/*' : '*'),
  );
}

interface ParsedTsconfig {
  /** Absolute. */
  readonly file: string;
  readonly parsed: ts.ParsedCommandLine;
}

interface SolutionProject extends ParsedTsconfig {
  /** Whether it has classes of tools or workflows, as far as imports tell. */
  readonly hasSources: boolean;
}

/** An import of the decorators; that of a plugin for a bundler has another name. */
const IMPORT = /['"]stepwright['"]/;

/** The projects of a solution in their order, those with sources before others such as that of `vite.config.ts`. */
function sourcesFirst(
  projects: readonly ParsedTsconfig[],
  { readFile }: Pick<ts.System, 'readFile'>,
): readonly SolutionProject[] {
  if (projects.length < 2) return projects.map((project) => ({ ...project, hasSources: true }));
  const all = projects.map((project) => ({
    ...project,
    hasSources: project.parsed.fileNames.some((file) => IMPORT.test(readFile(file) ?? '')),
  }));
  return [...all.filter(({ hasSources }) => hasSources), ...all.filter(({ hasSources }) => !hasSources)];
}

type ParsedJson = ts.TsConfigSourceFile & { readonly parseDiagnostics: readonly ts.Diagnostic[] };

/** "No inputs were found", "the list of files is empty": no fault where the configuration of codegen names the files. */
const NO_INPUTS: ReadonlySet<number> = new Set([18002, 18003]);

/** Reads a tsconfig or, of a solution, the projects it refers to. */
function readProjects(
  location: string,
  host: ts.ParseConfigHost,
  root: string,
  visited = new Set<string>(),
): { readonly projects: readonly ParsedTsconfig[]; readonly faults: readonly TsconfigFault[] } {
  if (visited.has(location)) return { projects: [], faults: [] };
  visited.add(location);
  // Read as a document, so that faults know their places.
  const source = ts.readJsonConfigFile(location, host.readFile) as ParsedJson;
  const [syntax] = source.parseDiagnostics;
  // What follows a syntax error is mostly its echo.
  if (syntax !== undefined) return { projects: [], faults: [faultOf(syntax, root)] };
  const parsed = ts.parseJsonSourceFileConfigFileContent(
    ...([source, host, path.dirname(location), undefined, location] as const),
  );
  const faults = parsed.errors.filter(({ code }) => !NO_INPUTS.has(code)).map((each) => faultOf(each, root));
  const references = parsed.projectReferences ?? [];
  if (references.length === 0 || !hasNoFiles(parsed))
    return { projects: [{ file: location, parsed }], faults };
  const reading = references.map((reference, index) => {
    const file = ts.resolveProjectReferencePath(reference);
    if (host.fileExists(file)) return readProjects(file, host, root, visited);
    const { placeOf } = parseJsonDocument(relativePath(root, location), source.text);
    const message = `there is no file \`${relativePath(root, file)}\``;
    return { projects: [], faults: [{ message, place: placeOf(`/references/${index}/path`) }] };
  });
  return {
    projects: reading.flatMap(({ projects }) => projects),
    faults: [...faults, ...reading.flatMap((each) => each.faults)],
  };
}

function hasNoFiles({ raw }: ts.ParsedCommandLine): boolean {
  const { files, include } = raw as {
    readonly files?: readonly unknown[];
    readonly include?: readonly unknown[];
  };
  if (files === undefined && include === undefined) return false;
  return (files ?? []).length === 0 && (include ?? []).length === 0;
}

function faultOf({ messageText, file, start = 0, length = 0 }: ts.Diagnostic, root: string): TsconfigFault {
  const message = ts.flattenDiagnosticMessageText(messageText, ' ');
  if (file === undefined) return { message };
  return {
    message,
    place: { file: relativePath(root, file.fileName), span: spanOf(file, start, start + length) },
  };
}

interface Combined {
  readonly options: ts.CompilerOptions;
  /** What projects of one solution want differently, though there is one loader of modules. */
  readonly conflicts: readonly TsconfigFault[];
}

function combine([first, ...others]: readonly SolutionProject[], root: string): Combined {
  if (first === undefined) return { options: {}, conflicts: [] };
  const { options } = first.parsed;
  if (others.length === 0) return { options, conflicts: [] };
  const paths: Record<string, string[]> = absolutePaths(options);
  const conflicts: TsconfigFault[] = [];
  const conflict = (setting: string, { file }: ParsedTsconfig): void => {
    const [one, other] = [relativePath(root, first.file), relativePath(root, file)];
    const message = `\`${setting}\` of \`${other}\` differs from that of \`${one}\`: name one of them as \`tsconfig\` in the configuration`;
    conflicts.push({ message, place: { file: other, span: [1, 1, 1, 2] } });
  };
  for (const other of others) {
    const theirs = other.parsed.options;
    const isOfOtherKind = Boolean(theirs.experimentalDecorators) !== Boolean(options.experimentalDecorators);
    if (other.hasSources && isOfOtherKind) conflict('experimentalDecorators', other);
    for (const [pattern, targets] of Object.entries(absolutePaths(theirs))) {
      if (paths[pattern] !== undefined && paths[pattern].join('\0') !== targets.join('\0'))
        conflict(`paths["${pattern}"]`, other);
      paths[pattern] ??= targets;
    }
  }
  return { options: Object.keys(paths).length === 0 ? options : { ...options, paths }, conflicts };
}

function absolutePaths(options: ts.CompilerOptions): Record<string, string[]> {
  const { baseUrl, pathsBasePath } = options;
  const base = baseUrl ?? (typeof pathsBasePath === 'string' ? pathsBasePath : '.');
  return Object.fromEntries(
    Object.entries(options.paths ?? {}).map(([pattern, targets]) => [
      pattern,
      targets.map((target) => path.resolve(base, target)),
    ]),
  );
}

function buildOf({ outDir, declarationDir, rootDir }: ts.CompilerOptions, root: string): Tsconfig['build'] {
  const outDirs = [outDir, declarationDir].flatMap((each) =>
    each === undefined ? [] : relativePath(root, each),
  );
  return { outDirs, ...(rootDir === undefined ? {} : { rootDir: relativePath(root, rootDir) }) };
}

function loaderSettings(options: ts.CompilerOptions): LoaderSettings {
  const { baseUrl, customConditions: conditions = [] } = options;
  const paths: Record<string, readonly string[]> = absolutePaths(options);
  if (baseUrl !== undefined && paths['*'] === undefined) paths['*'] = [path.join(baseUrl, '*')];
  return {
    experimentalDecorators: options.experimentalDecorators === true,
    ...(Object.keys(paths).length === 0 ? {} : { paths }),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}
