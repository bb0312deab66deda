import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { relativePath, type SourcePatterns, sourceNames, textIn } from '../formats/source-record.js';
import { parseJsonDocument } from '../formats/text/json-document.js';
import { defined } from '../graph/defined.js';
import {
  applySeverity,
  type Diagnostic,
  diagnostic,
  hasErrors,
  sortDiagnostics,
} from '../graph/diagnostics/diagnostic.js';
import { isJsonObject, type JsonSchema, pointerOf } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import { formatLocation } from '../graph/source-location.js';
import { type CompiledRegistry, compileRegistry, type RunContext } from './compile-registry.js';
import { type CodegenPlan, type ModulePlan, modulePlanOf, planCodegen, type RegistryPlan } from './config.js';
import type { Phase } from './declarations.js';
import { applyIgnores, InternalError, internalFault, readSourceIn } from './diagnostics.js';
import type { RegistryParts } from './emit/registry.js';
import { unusedSettings } from './hints-and-domains.js';
import { Inputs, manifestsIn, namesRead, statsOf } from './incremental/inputs.js';
import { Memo } from './incremental/memo.js';
import { type CodegenSession, memoryOf, type SessionMemory } from './incremental/memory.js';
import { keepRun, keepSources, memoFile } from './incremental/run-record.js';
import { aliasedPaths, type LoaderSettings, moduleCandidates } from './schemas/loader/compile.js';
import type { ModuleLimits } from './schemas/module-loader.js';
import { loadedSpecifiers } from './source/files.js';
import type { IgnoreSyntax } from './syntax.js';
import { type OutputFile, outputState, removeRemains, type WrittenOutputs, writeOutputs } from './writer.js';

export interface CodegenOptions {
  /** The project's folder. Default: the working directory. */
  readonly root?: string;
  /** Configuration file, relative to the root. Default: `stepwright.config.json`, else `package.json` with a member `stepwright`, else none. */
  readonly configFile?: string;
  /** Compares instead of writing: a registry that is not current is an error. Default false. */
  readonly check?: boolean;
  /**
   * Whether tool modules that have not changed, nor anything they import, are left alone: what was read of them is kept
   * in `node_modules/.cache/stepwright/`. Default true.
   */
  readonly cache?: boolean;
  /** Earlier runs of this process on the same project, whose work is used again. Default: none; without `cache` it is not used. */
  readonly session?: CodegenSession;
  /**
   * Texts that replace files, by path, absolute or relative to the root: unsaved documents of an editor. Nothing is
   * written then. Schemas of tools that are made by code are those of the saved files. Default: none.
   */
  readonly overlay?: ReadonlyMap<string, string>;
  /** What the import of one tool module may use. They win over those of the configuration. */
  readonly moduleLimits?: Partial<ModuleLimits>;
}

/** What a run found and did. Paths are relative to the root, with `/`. */
export interface CodegenResult {
  /** In the order of their places; those of the whole run first. */
  readonly diagnostics: readonly Diagnostic[];
  /** Files whose bytes have changed. */
  readonly written: readonly string[];
  /** Files that were already up to date. */
  readonly current: readonly string[];
  /** How many tools, resources and workflows were found, over all registries. */
  readonly found: { readonly tools: number; readonly resources: number; readonly workflows: number };
  /** The graph of every workflow, with the file of its registry, as far as they could be read. */
  readonly workflows: readonly { readonly registry: string; readonly graph: Graph }[];
  /** The tools of registries without errors, with the files of their registries. */
  readonly tools: readonly {
    readonly registry: string;
    readonly name: string;
    readonly description: string;
    readonly outputSchema?: JsonSchema;
  }[];
  /** Faults of codegen itself, which are among the diagnostics (SW9014), with their stacks. */
  readonly internalErrors: readonly Error[];
  /** Text of a file that a diagnostic names, for its frame. */
  readSource(file: string): string | undefined;
}

/** A run, with what a program needs that serves the project. */
export interface ProjectRun extends CodegenResult {
  /** Missing where the configuration could not be read. */
  readonly plan?: ModulePlan;
  /** The registries without errors in parts, by their files. */
  readonly parts: ReadonlyMap<string, () => RegistryParts>;
}

/** A run that has not been recorded for later ones. */
interface UnrecordedRun extends ProjectRun {
  /** Records it, before the next run of its session. */
  record(): void;
}

/**
 * Reads the project's workflows, checks them, and writes its registries. With any error nothing is written.
 *
 * The author's faults come back as diagnostics, and so do faults of codegen itself in a known source (SW9014). It
 * rejects for other faults of codegen, and for a root that is not there.
 */
export async function runCodegen(options: CodegenOptions = {}): Promise<CodegenResult> {
  return runRecorded(options);
}

/** @param recorded - records what the run reads. Default: only a run with a cache records it. */
export async function runRecorded(options: CodegenOptions, recorded?: Inputs): Promise<ProjectRun> {
  const { record, ...run } = await runProject(options, recorded);
  record();
  return run;
}

/** As {@link runRecorded}, for a program that has no time until the registries are written. */
export async function runProject(options: CodegenOptions, recorded?: Inputs): Promise<UnrecordedRun> {
  const session = memoryOf(options.session);
  const { cache = true, overlay } = options;
  const check = options.check === true || overlay !== undefined;
  const { run, plan, registries } = await planRun(session, options, recorded);
  const compilation = await compileAll(run, plan.value, registries, check);
  const diagnostics = judge(run, plan, compilation);
  const outputs: WrittenOutputs = hasErrors(diagnostics)
    ? { diagnostics: [], written: [], current: [] }
    : writeOutputs(run.root, compilation.outputs, check);
  const all = [...diagnostics, ...outputs.diagnostics];
  const isClean = compilation.internalErrors.length === 0 && !hasErrors(all);
  const record = (): void => {
    // Readings of texts that are not saved are of no use to others.
    if (!cache || overlay !== undefined) return;
    if (isClean) keepRecords(run, options, plan.value, compilation.outputs, sortDiagnostics(diagnostics));
    else run.memo.save(false);
  };
  return {
    record,
    diagnostics: sortDiagnostics(all),
    written: outputs.written,
    current: outputs.current,
    found: compilation.found,
    workflows: compilation.workflows,
    tools: compilation.tools,
    internalErrors: compilation.internalErrors,
    parts: compilation.parts,
    ...defined({ plan: plan.value && modulePlanOf(plan.value) }),
    readSource: checkedSources(run, all),
  };
}

/**
 * Reads sources for frames: those of the diagnostics as they were checked. A file that has changed during the run and is not
 * TypeScript has no frame.
 */
function checkedSources(
  { root, overlay, inputs, texts: readTexts }: RunContext,
  diagnostics: readonly Diagnostic[],
): CodegenResult['readSource'] {
  const read = readSourceIn(root, overlay);
  const files = new Set(diagnostics.flatMap(({ place }) => place?.file ?? []));
  const texts = new Map(
    [...files].map((file) => {
      const text = read(file);
      const absolute = path.join(root, file);
      const state = overlay === undefined ? inputs?.paths.get(absolute) : undefined;
      const isChecked = state === undefined || inputs?.stateOf(absolute) === state;
      return [file, isChecked ? text : readTexts.get(file)];
    }),
  );
  return (file) => (texts.has(file) ? texts.get(file) : read(file));
}

/** Reads the configuration, and what later runs compare before they read anything. */
async function planRun(
  session: SessionMemory,
  { root: folder = '.', configFile, cache = true, overlay, moduleLimits }: CodegenOptions,
  recorded: Inputs | undefined,
) {
  // Node names modules by their real paths.
  const root = realpathSync(folder);
  const { states } = session;
  const inputs = recorded ?? (cache ? new Inputs(root, states) : undefined);
  for (const manifest of manifestsIn(root)) inputs?.see(manifest);
  const plan = await planCodegen({ root, ...defined({ inputs, configFile }) });
  const registries = plan.value?.registries ?? [];
  const outputs = registries.flatMap(outputsOf);
  const patterns = { ...patternsOf(registries), specs: [] };
  const names = inputs === undefined ? '' : sourceNames(root, outputs, patterns);
  // Without states of files the keys of phases say nothing of their content.
  const file = cache ? memoFile({ root, configFile }) : undefined;
  const memo = inputs === undefined ? new Memo() : session.memoOf(file, registries.length > 1);
  const limits = { ...plan.value?.moduleLimits, ...moduleLimits };
  const texts = new Map<string, string>();
  const run: RunContext = { root, limits, overlay, memo, states, isCached: cache, inputs, names, texts };
  return { run, plan, registries };
}

function outputsOf({ out, manifest, specs }: RegistryPlan): readonly string[] {
  const others = [manifest?.file, specs?.schema];
  return [out, ...others.filter((file) => file !== undefined)];
}

function patternsOf(registries: readonly RegistryPlan[]): SourcePatterns {
  return {
    sources: registries.flatMap(({ patterns }) => patterns),
    specs: registries.flatMap(({ specs }) => specs?.patterns ?? []),
  };
}

/** What the registries of a run were compiled to. */
interface Compilation extends Pick<ProjectRun, 'found' | 'workflows' | 'tools' | 'parts'> {
  readonly diagnostics: readonly Diagnostic[];
  readonly internalErrors: readonly InternalError[];
  readonly outputs: readonly OutputFile[];
  readonly ignores: readonly IgnoreSyntax[];
  /** The files with decorators and the registries, relative to the root. */
  readonly decorated: ReadonlySet<string>;
  /** The upstream servers that have a tool in some registry. */
  readonly servers: ReadonlySet<string>;
}

async function compileAll(
  run: RunContext,
  plan: CodegenPlan | undefined,
  registries: readonly RegistryPlan[],
  check: boolean,
): Promise<Compilation> {
  const compiled: (CompiledRegistry & { readonly registry: string })[] = [];
  const internalErrors: InternalError[] = [];
  for (const registry of registries) {
    if (!check) for (const file of outputsOf(registry)) removeRemains(run.root, file);
    try {
      const result = await compileRegistry(run, plan as CodegenPlan, registry);
      compiled.push({ registry: registry.out, ...result });
    } catch (error) {
      if (!(error instanceof InternalError)) throw error;
      internalErrors.push(error);
    }
  }
  const declarations = compiled.map((each) => each.declarations);
  const tools = declarations.flatMap((each) => each.tools);
  const resources = declarations.flatMap((each) => each.resources);
  const workflows = compiled.flatMap(({ registry, graphs }) => graphs.map((graph) => ({ registry, graph })));
  const classes = [
    tools,
    resources,
    ...declarations.flatMap((each) => [each.prompts, each.workflows]),
  ].flat();
  const own = classes.filter((each) => each.package === undefined);
  return {
    ...{ internalErrors, workflows },
    diagnostics: [
      ...compiled.flatMap((each) => each.diagnostics),
      ...internalErrors.map((error) => internalFault(error)),
    ],
    outputs: compiled.flatMap((each) => each.outputs),
    parts: new Map(
      compiled.flatMap(({ registry, parts }) => (parts === undefined ? [] : [[registry, parts] as const])),
    ),
    // One file may be a source of several registries.
    ignores: [
      ...new Map(
        compiled.flatMap(({ ignores }) => ignores.map((each) => [formatLocation(each.place), each] as const)),
      ).values(),
    ],
    found: { tools: tools.length, resources: resources.length, workflows: workflows.length },
    tools: compiled.flatMap(({ registry, tools }) => tools.map((tool) => ({ registry, ...tool }))),
    decorated: new Set([...registries.map(({ out }) => out), ...own.map(({ file }) => file)]),
    servers: new Set(tools.flatMap(({ upstream }) => upstream?.server ?? [])),
  };
}

/** The diagnostics of the whole run, without those that comments or the configuration silence. */
function judge(
  { root, inputs }: RunContext,
  plan: Phase<CodegenPlan | undefined>,
  { diagnostics, decorated, workflows, servers, ignores }: Compilation,
): readonly Diagnostic[] {
  const { value } = plan;
  const all = [...plan.diagnostics, ...diagnostics];
  if (value !== undefined)
    all.push(...plainNodeScripts({ root, loader: value.loader, decorated, ...defined({ inputs }) }));
  // Where something could not be read, it is not known what is there.
  if (value !== undefined && !hasErrors(all)) {
    const graphs = workflows.map(({ graph }) => graph);
    all.push(...unusedSettings(value, graphs, servers));
  }
  return applySeverity(applyIgnores(all, ignores), value?.severity ?? {});
}

/** Saves a run without errors: the memo for other runs, and for servers what the registries were made from. */
function keepRecords(
  { root, inputs, memo, names }: RunContext,
  { configFile }: CodegenOptions,
  plan: CodegenPlan | undefined,
  outputs: readonly OutputFile[],
  diagnostics: readonly Diagnostic[],
): void {
  if (inputs === undefined || plan === undefined) return;
  const { registries } = plan;
  const patterns = patternsOf(registries);
  const allOutputs = registries.flatMap(outputsOf);
  const reading = namesRead(allOutputs, patterns);
  const withSpecs = patterns.specs.length === 0 ? names : sourceNames(root, allOutputs, patterns);
  inputs.add([[reading, withSpecs]]);
  const files = outputs.map(({ file }) => file);
  const isCurrent = inputs.areCurrent(files.map((file) => path.join(root, file)));
  // Others may have changed an output since.
  const isUntouched = outputs.every((output) => outputState(root, output) === 'current');
  const isSame = sourceNames(root, allOutputs, patterns) === withSpecs;
  if (isCurrent && isUntouched && isSame && !inputs.isOpen)
    keepRun(memo, root, inputs, { diagnostics, files, plan: modulePlanOf(plan) });
  memo.save(true);
  const outs = registries.map(({ out }) => out);
  const written = outputs.filter(({ file }) => outs.includes(file));
  keepSources({ root, configFile }, { inputs, names: withSpecs, isCurrent }, written, patterns);
}

const PACKAGE_FILE = 'package.json';

interface PlainNodeOptions {
  /** Absolute path of the project. */
  readonly root: string;
  readonly loader: LoaderSettings;
  /** The files with decorators and the registries, which need not be written yet; relative to the root. */
  readonly decorated: ReadonlySet<string>;
  /** Records what is read. Default: nothing is recorded. */
  readonly inputs?: Inputs;
}

/**
 * Reports scripts of `package.json` that run decorated classes by Node.js alone (SW9017): it removes types, and does not
 * know decorators.
 */
function plainNodeScripts({ root, loader, decorated, inputs }: PlainNodeOptions): Diagnostic[] {
  inputs?.see(PACKAGE_FILE);
  const text = textIn(path.join(root, PACKAGE_FILE));
  if (text === undefined) return [];
  const document = parseJsonDocument(PACKAGE_FILE, text);
  const scripts = isJsonObject(document.value) ? document.value.scripts : undefined;
  if (document.faults.length > 0 || !isJsonObject(scripts)) return [];
  const isDecorated = (file: string): boolean => decorated.has(relativePath(root, file));
  const isFile = (file: string): boolean => isDecorated(file) || statsOf(file)?.isFile() === true;
  return Object.entries(scripts).flatMap(([script, command]) => {
    if (typeof command !== 'string') return [];
    const results = filesOfPlainNode(command).find((file) => {
      const absolute = path.resolve(root, file);
      if (!existsSync(absolute)) return false;
      const files = new Set([absolute]);
      // Iteration includes files that are added meanwhile.
      for (const each of files) {
        inputs?.see(each);
        for (const loaded of loadedFiles(each, loader, isFile)) files.add(loaded);
      }
      return [...files].some(isDecorated);
    });
    if (results === undefined) return [];
    const place = document.placeOf(pointerOf(['scripts', script]));
    return [diagnostic('SW9017', place, { script, file: results })];
  });
}

/** The modules that a module of the project loads by relative paths and aliases. */
function loadedFiles(
  file: string,
  loader: LoaderSettings,
  isFile: (file: string) => boolean,
): readonly string[] {
  if (!existsSync(file)) return [];
  return loadedSpecifiers(readFileSync(file, 'utf8')).flatMap((specifier) => {
    const isRelative = /^\.{1,2}(?:\/|$)/.test(specifier);
    const paths = isRelative
      ? [path.resolve(path.dirname(file), specifier)]
      : aliasedPaths(specifier, loader);
    return paths.flatMap((each) => [...moduleCandidates(each), each]).find(isFile) ?? [];
  });
}

/** The TypeScript files that a command line has Node.js run without a loader. */
export function filesOfPlainNode(commandLine: string): readonly string[] {
  return commandLine.split(/&&|\|\|?|[;&\n]/).flatMap((command) => {
    const words = command.trim().split(/\s+/);
    const start = words.findIndex((word) => !/^(?:\w+=.*|cross-env|env|exec)$/.test(word));
    if (!/^(?:.*\/)?node$/.test(words[start] ?? '')) return [];
    const args = words.slice(start + 1).map((word) => word.replaceAll(/^['"]|['"]$/g, ''));
    const at = args.findIndex((word) => !word.startsWith('-') && /\.[cm]?ts$/.test(word));
    const file = args[at];
    const options = args.slice(0, at);
    if (
      file === undefined ||
      options.some((word) => /^(?:--(?:import|require|(?:experimental-)?loader)|-r)(?:=|$)/.test(word))
    )
      return [];
    return [file];
  });
}
