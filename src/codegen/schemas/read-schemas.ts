import { readFile, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { ValueRules } from '../../decorators/arg.js';
import { readPattern } from '../../formats/json-schema/regular-expression.js';
import { relativePath } from '../../formats/source-record.js';
import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { compareText } from '../../graph/names.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type {
  ArgDeclaration,
  ClassHandle,
  Declarations,
  Phase,
  ResourceDeclaration,
  ToolDeclaration,
} from '../declarations.js';
import { workingOn } from '../diagnostics.js';
import type { Inputs } from '../incremental/inputs.js';
import type { ToolData } from '../manifest.js';
import type { ExpressionSyntax } from '../syntax.js';
import { unwrap } from '../verbs.js';
import {
  type ClassReading,
  importRemembered,
  type ModuleMemory,
  type ModuleOutcome,
  type ModuleRequest,
  type UnreadReason,
} from './import-modules.js';
import { classKey, isResource, type ReadDeclaration, readLiteralClasses } from './literal-classes.js';
import { type LoaderSettings, manifestOf } from './loader/compile.js';
import { DEFAULT_MODULE_LIMITS, type ModuleLimits, type StopReason } from './module-loader.js';
import { needsTypes, notRead, type ToolReading, toolReading } from './tool-reading.js';

export interface ReadSchemasOptions {
  /** Absolute path of the project, links resolved. */
  readonly root: string;
  /** By the author's tsconfig. Default: TC39 decorators, and no aliases. */
  readonly loader?: LoaderSettings;
  /** What the import of one module may use. Default: {@link DEFAULT_MODULE_LIMITS}. */
  readonly limits?: Partial<ModuleLimits>;
  /** Files with syntax errors, which have been reported: they are not imported, and not blamed again. */
  readonly broken?: ReadonlySet<string>;
  /** Of earlier runs. Default: all modules are imported. */
  readonly memory?: ModuleMemory;
  /** The folder that files of resources are found from at run time; absolute. Default: the root. */
  readonly packageRoot?: string;
  /** Records the modules and the files that are read. Default: nothing is recorded. */
  readonly inputs?: Inputs;
  /** What {@link importSchemas} has read of the same classes. Default: they are imported. */
  readonly imported?: ImportedSchemas;
}

/** What was read of classes. */
export interface ImportedSchemas {
  /** Those whose sources say all, by {@link classKey}. */
  readonly literal: ReadonlyMap<string, ClassReading>;
  /** What the modules of all others came to, by file. */
  readonly outcomes: ReadonlyMap<string, ModuleOutcome>;
}

/** What the imported modules declare. A class that could not be read is missing. */
export interface ToolSchemas {
  readonly tools: ReadonlyMap<ToolDeclaration, ToolReading>;
  readonly resources: ReadonlyMap<ResourceDeclaration, ResourceReading>;
  /** The tools whose types are needed, and were not read. */
  readonly untyped: readonly ToolDeclaration[];
}

export interface ResourceReading {
  /** The content, where it is embedded. */
  readonly text?: string;
  /** Where the content is, relative to the package. */
  readonly file?: string;
  /** Whether that file holds text. */
  readonly isText?: boolean;
  readonly fingerprint: string;
}

/** What is read: classes that modules are imported for, and arguments, whose rules end up in schemas as well. */
export type ReadDeclarations = Pick<Declarations, 'tools' | 'resources'> &
  Partial<Pick<Declarations, 'workflows' | 'prompts'>>;

/** Imports the modules of the classes whose sources do not say all, as {@link readSchemas} says. */
export async function importSchemas(
  declared: ReadDeclarations,
  { root, loader = { experimentalDecorators: false }, memory, inputs, ...options }: ReadSchemasOptions,
): Promise<ImportedSchemas> {
  const limits = { ...DEFAULT_MODULE_LIMITS, ...options.limits };
  const whole = classesIn(declared, options);
  const literal = readLiteralClasses(whole, { root, memo: memory?.memo, inputs });
  const modules = groupByFile(whole.filter((handle) => !literal.has(classKey(handle))));
  return { literal, outcomes: await importRemembered(modules, { root, loader, limits }, memory) };
}

/** The classes of the project's files without syntax errors: manifests say all of those of packages. */
function classesIn(
  { tools, resources }: ReadDeclarations,
  { broken }: Pick<ReadSchemasOptions, 'broken'>,
): readonly ReadDeclaration[] {
  return [...tools, ...resources].filter((each) => each.listed === undefined && !broken?.has(each.file));
}

/**
 * Imports the modules of classes whose sources do not say all in one child process, and turns their schemas into JSON
 * Schema. With a cache only those that have changed, if any.
 *
 * A module that fails is reported (SW6001; SW6017 for a broken `package.json`, once) and does not keep the others from being read; a child that ends early is
 * started again without the module it ended in. A module that meets a limit is stopped (SW6005, SW6013).
 */
export async function readSchemas(
  declared: ReadDeclarations,
  options: ReadSchemasOptions,
): Promise<Phase<ToolSchemas>> {
  const limits = { ...DEFAULT_MODULE_LIMITS, ...options.limits };
  const { broken = new Set() } = options;
  const diagnostics: Diagnostic[] = [];
  const whole = classesIn(declared, options);
  const { literal, outcomes } = options.imported ?? (await importSchemas(declared, options));
  const modules = groupByFile(whole.filter((handle) => !literal.has(classKey(handle))));
  // A module that fails because of a module it imports is not reported if that one is.
  const isBlamed = (file: string): boolean => {
    const outcome = outcomes.get(file);
    return broken.has(file) || (outcome?.kind === 'failed' && (outcome.culprit ?? file) === file);
  };
  const tools = new Map<ToolDeclaration, ToolReading>();
  const resources = new Map<ResourceDeclaration, ResourceReading>();
  const untyped: ToolDeclaration[] = [];
  const readings = new Map(literal);
  const unread: UnreadModule[] = [];
  /** What is wrong with each `package.json` that keeps modules from being loaded. */
  const manifests = new Map<string, string>();

  for (const { file, handles } of modules) {
    const outcome = outcomes.get(file);
    const place = handles[0]?.place;
    switch (outcome?.kind) {
      case 'failed': {
        const { reason, culprit = file, manifest } = outcome;
        if (manifest !== undefined) manifests.set(manifest.file, manifest.problem);
        else if (culprit === file || !isBlamed(culprit))
          diagnostics.push(diagnostic('SW6001', place, { file, reason }));
        break;
      }
      case 'stopped':
        diagnostics.push(stoppedDiagnostic(file, place, outcome.why, limits));
        break;
      case 'unread':
        unread.push({ file, place, why: outcome.why });
        break;
      case 'imported':
        for (const reading of outcome.classes)
          readings.set(classKey({ file, exportName: reading.exportName }), reading);
        break;
      case undefined:
        break;
      default:
        outcome satisfies never;
    }
  }
  for (const [file, problem] of manifests)
    diagnostics.push(diagnostic('SW6017', undefined, { file, problem }));
  diagnostics.push(...unreadDiagnostics(unread));
  for (const tool of declared.tools) {
    if (tool.listed !== undefined) tools.set(tool, readingOfListed(tool.listed));
    const reading = readings.get(classKey(tool));
    if (reading === undefined) continue;
    if (tool.isUnread && needsTypes(reading)) {
      untyped.push(tool);
      continue;
    }
    const result = workingOn(tool, () => toolReading(tool, reading));
    diagnostics.push(...result.diagnostics);
    if (result.value !== undefined) tools.set(tool, result.value);
  }
  for (const resource of declared.resources) {
    if (resource.listed !== undefined) continue;
    const parsed = await resourceReading(options, resource, readings.get(classKey(resource)));
    diagnostics.push(...parsed.diagnostics);
    if (parsed.value !== undefined) resources.set(resource, parsed.value);
  }
  diagnostics.push(...argumentPatterns(declared));
  return { value: { tools, resources, untyped }, diagnostics };
}

function readingOfListed({ inputSchema, outputSchema, fingerprint }: ToolData): ToolReading {
  return { inputSchema, ...defined({ outputSchema }), fingerprint };
}

function stoppedDiagnostic(
  file: string,
  place: SourceLocation | undefined,
  why: StopReason,
  limits: ModuleLimits,
): Diagnostic {
  if (why === 'memory') return diagnostic('SW6013', place, { file, limitMb: limits.memoryMb });
  return diagnostic('SW6005', place, { file, reason: stopReason(why, limits) });
}

/** Why a module was stopped, as SW6005 says it. */
export function stopReason(why: Exclude<StopReason, 'memory'>, { cpuMs, waitMs }: ModuleLimits): string {
  switch (why) {
    case 'cpu':
      return `it used ${cpuMs / 1000} s of CPU time`;
    case 'wait':
      return `it waits: it used under ${waitMs / 100_000} s of CPU time in ${waitMs / 1000} s`;
    case 'unsettled':
      return 'it awaits a promise that can no longer be settled';
    default:
      return why satisfies never;
  }
}

interface UnreadModule {
  readonly file: string;
  readonly place: SourceLocation | undefined;
  readonly why: UnreadReason;
}

/** One diagnostic for all of them: no single module is the cause. */
function unreadDiagnostics(unread: readonly UnreadModule[]): readonly Diagnostic[] {
  const [first] = unread;
  if (first === undefined) return [];
  const { why } = first;
  const count = unread.length;
  switch (why.kind) {
    case 'noProcess':
      return [diagnostic('SW6014', undefined, { reason: why.reason, count })];
    case 'afterStops':
      return [diagnostic('SW6015', first.place, { stops: why.stops, file: first.file, count })];
    default:
      return why satisfies never;
  }
}

function argumentPatterns({ workflows = [], prompts = [] }: ReadDeclarations): readonly Diagnostic[] {
  return [
    ...workflows.flatMap(({ name, args }) =>
      argumentPatternDiagnostics(args, `the arguments of workflow \`${name}\``),
    ),
    ...prompts.flatMap(({ name, args }) =>
      argumentPatternDiagnostics(args, `the arguments of prompt \`${name}\``),
    ),
  ];
}

interface ModuleGroup extends ModuleRequest {
  readonly handles: readonly ClassHandle[];
}

/** In the order of the file names, whatever order the declarations came in. */
function groupByFile(declarations: readonly ReadDeclaration[]): readonly ModuleGroup[] {
  const groups = new Map<
    string,
    { handles: ClassHandle[]; classes: { kind: 'tool' | 'resource'; exportName: string }[] }
  >();
  for (const handle of declarations) {
    const { file, exportName } = handle;
    if (exportName === undefined) continue;
    const group = groups.get(file) ?? { handles: [], classes: [] };
    group.handles.push(handle);
    group.classes.push({ kind: isResource(handle) ? 'resource' : 'tool', exportName });
    groups.set(file, group);
  }
  return [...groups].map(([file, group]) => ({ file, ...group })).sort((a, b) => compareText(a.file, b.file));
}

async function resourceReading(
  { root, packageRoot = root, inputs }: ReadSchemasOptions,
  resource: ResourceDeclaration,
  reading: ClassReading | undefined,
): Promise<Phase<ResourceReading | undefined>> {
  const diagnostics: Diagnostic[] = [];
  if (reading !== undefined && reading.kind !== 'resource')
    diagnostics.push(notRead(resource, reading, 'resource'));
  let content: Omit<ResourceReading, 'fingerprint'> = {};
  if (resource.contentFile !== undefined) {
    inputs?.see(join(dirname(resource.file), resource.contentFile));
    const result = await readContent(root, resource.file, resource.contentFile, packageRoot);
    switch (result.kind) {
      case 'text':
        content = { text: result.text };
        break;
      case 'file':
        content = { file: result.file, isText: result.isText };
        break;
      case 'unreadable': {
        const params = { resource: resource.name, file: resource.contentFile };
        const place = resource.contentFilePlace ?? resource.place;
        diagnostics.push(diagnostic('SW6004', place, params, { hint: result.why }));
        break;
      }
      default:
        result satisfies never;
    }
  }
  if (reading?.kind !== 'resource' || diagnostics.length > 0) return { value: undefined, diagnostics };
  return { value: { ...content, fingerprint: reading.fingerprint }, diagnostics };
}

/** Text of this many bytes and less is embedded in the registry. */
export const MAX_EMBEDDED_BYTES = 64 * 1024;

/** The content of a resource's file, or why it cannot be read. */
export type ContentReading =
  | { readonly kind: 'text'; readonly text: string }
  /** Too large to be embedded, or not text: it is read at run time. */
  | {
      readonly kind: 'file';
      /** Relative to the package, with `/`. */
      readonly file: string;
      readonly isText: boolean;
    }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Reads the file a resource names.
 *
 * @param root - absolute path of the project, which the file must not leave, not even through a link.
 * @param owner - the source file of the resource's class, relative to the root.
 * @param contentFile - as written in the decorator: relative to the owner's folder.
 * @param packageRoot - absolute path of the folder that files are found from at run time.
 */
export async function readContent(
  root: string,
  owner: string,
  contentFile: string,
  packageRoot = root,
): Promise<ContentReading> {
  if (isAbsolute(contentFile)) return unreadable('write a path relative to the class');
  const path = resolve(root, dirname(owner), contentFile);
  const outside = unreadable('the file is outside the project');
  if (!contains(root, path)) return outside;
  let bytes: Buffer;
  try {
    if (!contains(await realpath(root), await realpath(path))) return outside;
    bytes = await readFile(path);
  } catch (error) {
    return unreadable(systemReason(error));
  }
  // The line ends are those of the checkout.
  const text = decode(bytes)?.replaceAll('\r\n', '\n');
  if (text !== undefined && Buffer.byteLength(text) <= MAX_EMBEDDED_BYTES) return { kind: 'text', text };
  if (!contains(packageRoot, path))
    return unreadable(
      'it is not text or too large to be embedded, and is outside the package of the registry',
    );
  const file = relativePath(packageRoot, path);
  return { kind: 'file', file, isText: text !== undefined };
}

/** The decoder drops a byte order mark by itself. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The folder that a registry's files are found from at run time: the nearest one above it with a `package.json`, or
 * else its own.
 *
 * @param out - the registry's path relative to the root.
 */
export function packageRootOf(root: string, out: string): string {
  const file = resolve(root, out);
  return dirname(manifestOf(file) ?? file);
}

const unreadable = (why: string): ContentReading => ({ kind: 'unreadable', why });

function contains(folder: string, path: string): boolean {
  const inner = relative(folder, path);
  return inner !== '' && inner !== '..' && !inner.startsWith(join('..', sep)) && !isAbsolute(inner);
}

function systemReason(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  switch (code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
      return 'it is not permitted to read it';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

/** The patterns of `@Arg` that cannot be matched at run time (SW6010), each at its own place. */
export function argumentPatternDiagnostics(args: readonly ArgDeclaration[], owner: string): Diagnostic[] {
  return args.flatMap(({ name, place, options, optionSyntax }) => {
    const faults: Diagnostic[] = [];
    visitRules(options as ValueRules, optionSyntax, name, (path, pattern, at = place) => {
      const reading = readPattern(pattern);
      if (!reading.ok) faults.push(diagnostic('SW6010', at, { path, owner, pattern, problem: reading.why }));
    });
    return faults;
  });
}

type OptionSyntax = Readonly<Record<string, ExpressionSyntax>>;

function visitRules(
  rules: ValueRules,
  syntax: OptionSyntax,
  path: string,
  see: (path: string, pattern: string, place: SourceLocation | undefined) => void,
): void {
  if (typeof rules.pattern === 'string') see(path, rules.pattern, syntax.pattern?.place);
  const written = entriesOf(syntax.properties);
  for (const [name, inner] of Object.entries(rules.properties ?? {}))
    visitRules(inner, entriesOf(written[name]), `${path}.${name}`, see);
}

function entriesOf(syntax: ExpressionSyntax | undefined): OptionSyntax {
  const object = syntax && unwrap(syntax);
  if (object?.kind !== 'object') return {};
  return Object.fromEntries(
    object.entries.flatMap((entry) => ('value' in entry ? [[entry.key, entry.value]] : [])),
  );
}
