import { realpathSync } from 'node:fs';
import path from 'node:path';
import { type CheckEnvironment, checkGraph, type ToolSignature } from '../check/check-graph.js';
import { mayHaveCompositeConditions } from '../check/values.js';
import { sourceNames } from '../formats/source-record.js';
import { defined } from '../graph/defined.js';
import {
  applySeverity,
  type Diagnostic,
  diagnostic,
  hasErrors,
  sortDiagnostics,
} from '../graph/diagnostics/diagnostic.js';
import type { JsonSchema } from '../graph/json.js';
import type { Graph, Input } from '../graph/model.js';
import { type Domain, mergedDomains } from '../graph/model.js';
import { formatLocation } from '../graph/source-location.js';
import { assemble } from './assemble.js';
import { checkHints } from './check-hints.js';
import { type CodegenPlan, planCodegen, type RegistryPlan } from './config.js';
import type { Declarations, LinkedWorkflow, Phase, ToolDeclaration } from './declarations.js';
import { applyIgnores, InternalError, internalFault, readSourceIn, workingOn } from './diagnostics.js';
import { emitRegistry, type RegistryContent } from './emit/registry.js';
import { extract } from './extract/extract.js';
import {
  type ConfiguredHints,
  type LinkedHints,
  unusedSettings,
  withConfiguredHints,
} from './hints-and-domains.js';
import { Inputs } from './inputs.js';
import { keepSources } from './keep-sources.js';
import { withFedSchemas } from './link/fed-values.js';
import { linkHints } from './link/handles.js';
import { linkPrompts } from './link/inputs-and-state.js';
import { link } from './link/link.js';
import { oncePerPackage, withPackages } from './packages/classes.js';
import { manifestOf } from './packages/exports.js';
import { plainNodeScripts } from './plain-node.js';
import { keepRun, ownKey } from './run-record.js';
import { cacheFolder } from './schemas/cache/cache-file.js';
import type { ModuleLimits } from './schemas/module-loader.js';
import {
  type ImportedSchemas,
  importSchemas,
  packageRootOf,
  type ReadSchemasOptions,
  readSchemas,
  type ToolSchemas,
} from './schemas/read-schemas.js';
import type { ToolReading } from './schemas/tool-reading.js';
import type { CodegenSession } from './session.js';
import { type MemoryFile, memoryOf, type SessionMemory } from './session-memory.js';
import { openSourceHost, type SourceHost } from './source/source-host.js';
import type { LinkedSpecs, SpecFiles } from './spec-workflows.js';
import type { IgnoreSyntax } from './syntax.js';
import { type CheckedWorkflow, MarkedEnvironment, type WorkflowMemory } from './workflow-memory.js';
import { foreignFile, type OutputFile, outputState, removeRemains, writeOutput } from './writer.js';

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
  /** What earlier runs of this process have read of the same project. Default: nothing; without `cache` it is not used. */
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

/**
 * Reads the project's workflows, checks them, and writes its registries. With any error nothing is written.
 *
 * The author's faults come back as diagnostics, and so do faults of codegen itself in a known source (SW9014). It
 * rejects for other faults of codegen, and for a root that is not there.
 */
export async function runCodegen(options: CodegenOptions = {}): Promise<CodegenResult> {
  return runNoting(options);
}

/** @param seen - takes note of what the run looks at. Default: only a run with a cache does. */
export async function runNoting(options: CodegenOptions, seen?: Inputs): Promise<CodegenResult> {
  const session = memoryOf(options.session);
  session.begin();
  try {
    return await runIn(session, options, seen);
  } finally {
    session.end();
  }
}

async function runIn(
  session: SessionMemory,
  options: CodegenOptions,
  seen: Inputs | undefined,
): Promise<CodegenResult> {
  // Node names modules by their real paths.
  const root = realpathSync(options.root ?? '.');
  const { configFile, cache = true, overlay } = options;
  const check = options.check === true || overlay !== undefined;
  const inputs = seen ?? (cache ? new Inputs(root, session.states) : undefined);
  const noted = defined({ inputs });
  const plan = await planCodegen({ root, ...noted, ...defined({ configFile }) });
  const registries = plan.value?.registries ?? [];
  const outs = registries.map(({ out }) => out);
  const outputFiles = registries.flatMap(outputsOf);
  const specs = registries.flatMap((registry) => registry.specs?.patterns ?? []);
  const modules = inputs === undefined ? '' : sourceNames(root, outputFiles);
  const names = specs.length === 0 || inputs === undefined ? modules : sourceNames(root, outputFiles, specs);
  const limits = { ...plan.value?.moduleLimits, ...options.moduleLimits };
  const reading = { cache, ...noted, limits, ...defined({ overlay }) };
  const folder = cache && inputs !== undefined ? cacheFolder(root) : undefined;
  const key = folder === undefined ? '' : ownKey(root);
  const fileOf = (out: string): MemoryFile | undefined =>
    folder === undefined ? undefined : { folder, name: `memory ${out}`, key };
  const memory = { session, names: modules, fileOf };
  const diagnostics: Diagnostic[] = [...plan.diagnostics];
  const outputs: OutputFile[] = [];
  const found = { tools: 0, resources: 0, workflows: 0 };
  const workflows: CodegenResult['workflows'][number][] = [];
  const toolsFound: CodegenResult['tools'][number][] = [];
  const ignores = new Map<string, IgnoreSyntax>();
  const internalErrors: InternalError[] = [];
  const decorated = new Set<string>(outs);
  const servers = new Set<string>();
  for (const registry of registries) {
    if (!check) for (const file of outputsOf(registry)) removeRemains(root, file);
    const compiled = await compileRegistry(root, plan.value as CodegenPlan, registry, reading, memory).catch(
      (error: unknown) => {
        if (error instanceof InternalError) return error;
        throw error;
      },
    );
    if (compiled instanceof InternalError) {
      internalErrors.push(compiled);
      diagnostics.push(internalFault(compiled));
      continue;
    }
    diagnostics.push(...compiled.diagnostics);
    // One file may be a source of several registries.
    for (const each of compiled.ignores) ignores.set(formatLocation(each.place), each);
    outputs.push(...compiled.outputs);
    found.tools += compiled.declarations.tools.length;
    for (const { upstream } of compiled.declarations.tools)
      if (upstream !== undefined) servers.add(upstream.server);
    found.resources += compiled.declarations.resources.length;
    found.workflows += compiled.graphs.length;
    const { tools, resources, prompts } = compiled.declarations;
    for (const each of [...tools, ...resources, ...prompts, ...compiled.declarations.workflows])
      if (each.package === undefined) decorated.add(each.file);
    workflows.push(...compiled.graphs.map((graph) => ({ registry: registry.out, graph })));
    toolsFound.push(...compiled.tools.map((tool) => ({ registry: registry.out, ...tool })));
  }
  if (plan.value !== undefined) {
    diagnostics.push(...plainNodeScripts({ root, loader: plan.value.loader, decorated, ...noted }));
  }
  // Where something could not be read, it is not known what is there.
  if (plan.value !== undefined && !hasErrors(diagnostics)) {
    const graphs = workflows.map(({ graph }) => graph);
    diagnostics.push(...unusedSettings(plan.value, graphs, servers));
  }
  const kept = applyIgnores(diagnostics, [...ignores.values()]);
  const judged = applySeverity(kept, plan.value?.severity ?? {});
  const settled = hasErrors(judged)
    ? { diagnostics: [], written: [], current: [] }
    : settleOutputs(root, outputs, check);
  const isClean = internalErrors.length === 0 && !hasErrors([...judged, ...settled.diagnostics]);
  // What was read of texts that are not saved is worth nothing to others.
  const isKept = cache && inputs !== undefined && overlay === undefined;
  if (isKept && isClean && plan.value !== undefined) {
    const files = outputs.map(({ file }) => file);
    const clean = { diagnostics: sortDiagnostics(judged), files, loader: plan.value.loader, specs };
    const registries = outputs.filter(({ file }) => outs.includes(file));
    session.write(() => {
      const isCurrent = inputs.areCurrent(files.map((file) => path.join(root, file)));
      const reads = { inputs, names, key, isCurrent };
      // What others have made of a registry since is nothing that the run came to.
      const isUntouched = outputs.every((output) => outputState(root, output) === 'current');
      if (isUntouched) keepRun({ root, configFile }, reads, clean);
      keepSources({ root, configFile }, reads, registries, specs);
    });
    for (const out of outs) {
      const file = fileOf(out);
      if (file !== undefined) session.of(out).save(file);
    }
  }
  return {
    diagnostics: sortDiagnostics([...judged, ...settled.diagnostics]),
    written: settled.written,
    current: settled.current,
    found,
    workflows,
    tools: toolsFound,
    internalErrors,
    readSource: readSourceIn(root, overlay),
  };
}

function outputsOf({ out, manifest, specs }: RegistryPlan): readonly string[] {
  const others = [manifest?.file, specs?.schema];
  return [out, ...others.filter((file) => file !== undefined)];
}

interface CompiledRegistry {
  readonly declarations: Declarations;
  readonly diagnostics: readonly Diagnostic[];
  readonly ignores: readonly IgnoreSyntax[];
  readonly graphs: readonly Graph[];
  /** Empty where there are errors. */
  readonly tools: readonly Omit<CodegenResult['tools'][number], 'registry'>[];
  /** The registry and its manifest; none where there are errors. */
  readonly outputs: readonly OutputFile[];
}

/** How sources and modules are read. */
type Reading = Pick<ReadSchemasOptions, 'cache' | 'limits' | 'inputs'> & Pick<CodegenOptions, 'overlay'>;

/** What a run knows of earlier ones. */
interface RunMemory {
  readonly session: SessionMemory;
  /** Of the modules, as they were when the run began. */
  readonly names: string;
  /** Where the memory of a registry is kept; nothing without a cache. */
  fileOf(out: string): MemoryFile | undefined;
}

async function compileRegistry(
  root: string,
  { tsconfig, loader, compiled, hints: configured = [], domains = [] }: CodegenPlan,
  { files, out, includePlace, manifest: planned, specs: plannedSpecs }: RegistryPlan,
  { overlay, ...reading }: Reading,
  { session, names, fileOf }: RunMemory,
): Promise<CompiledRegistry> {
  const memory = session.of(out);
  const file = fileOf(out);
  if (file !== undefined) memory.load(file);
  const looked = reading.inputs && new Inputs(root, session.states);
  if (looked !== undefined) memory.refresh(names, looked);
  const host = openSourceHost({
    ...{ root, files },
    ...defined({ tsconfig }),
    ...(looked === undefined ? {} : { inputs: looked, memory: memory.files }),
    ...defined({ overlay }),
  });
  const options = { root, packageRoot: packageRootOf(root, out), loader, ...reading, looked, configured };
  const specFiles = await openSpecFiles(plannedSpecs, {
    ...{ root, overlay, inputs: reading.inputs, memory: memory.specs, states: session.states },
  });
  const compile = (typed: ReadonlySet<string>, before?: Compilation) =>
    compileSources(host, typed, { ...options, specFiles }, memory.workflows, before);
  const first = await compile(new Set());
  const typed = filesToType(first);
  const found = typed.size === 0 ? first : await compile(typed, first);
  const { declared, linked, prompts, hints, schemas, faults, specs } = found;
  const manifest = manifestOf(planned, declared.value, {
    ...{ host, files, compiled, readings: schemas.value.resources },
  });
  if (looked !== undefined) {
    memory.keep(names, looked, host.seen(), linked.value);
    for (const [path, state] of looked.paths)
      if (!reading.inputs?.paths.has(path)) reading.inputs?.paths.set(path, state);
  }
  const declarations = declared.value;
  const empty = isEmpty(declarations)
    ? [diagnostic('SW9006', includePlace, { file: out, count: files.length })]
    : [];
  const phases = [
    declared,
    linked,
    prompts,
    hints,
    manifest,
    { diagnostics: withoutEchoes(schemas, declared) },
  ];
  const diagnostics = [
    ...oncePerPackage(phases.flatMap((phase) => phase.diagnostics)),
    ...[...faults, ...(specs?.diagnostics ?? []), ...empty],
  ];
  const ignores = host.ignores();
  const graphs = [...linked.value.map(({ graph }) => graph), ...(specs?.graphs ?? [])];
  if (hasErrors(diagnostics)) return { declarations, diagnostics, ignores, graphs, tools: [], outputs: [] };
  const parts = { workflows: linked.value, prompts: prompts.value, hints: hints.value.hints };
  const content = {
    ...assemble(declarations, schemas.value, parts, memory.workflows),
    specs: specs?.entries() ?? [],
    domains: mergedDomains([...domains, ...(specs?.domains ?? [])]).filter(saysSomething),
  };
  return {
    declarations,
    diagnostics,
    ignores,
    graphs,
    tools: content.tools.map(toolOf),
    outputs: [
      { file: out, text: emitRegistry(content, out, host.importEnding()) },
      ...manifest.value(content),
      ...(specs === undefined ? [] : [specs.schema()]),
    ],
  };
}

function saysSomething({ rules, docs }: Domain): boolean {
  return rules.length > 0 || docs !== undefined;
}

/** What reads YAML, JSON and XML is loaded with the first spec file. */
async function openSpecFiles(
  plan: RegistryPlan['specs'],
  reading: Parameters<typeof import('./spec-workflows.js').openSpecs>[1],
): Promise<SpecFiles | undefined> {
  if (plan === undefined) return undefined;
  const { openSpecs } = await import('./spec-workflows.js');
  return openSpecs(plan, reading);
}

function toolOf({ name, data }: RegistryContent['tools'][number]): CompiledRegistry['tools'][number] {
  const { description = '', outputSchema } = data as {
    readonly description?: string;
    readonly outputSchema?: JsonSchema;
  };
  return { name, description, ...defined({ outputSchema }) };
}

/** What the phases make of the sources of a registry. */
interface Compilation {
  /** The files whose types were left alone as far as possible. */
  readonly untyped: ReadonlySet<string>;
  readonly declared: Phase<Declarations>;
  readonly imported: ImportedSchemas;
  readonly linked: Phase<readonly LinkedWorkflow[]>;
  readonly prompts: ReturnType<typeof linkPrompts>;
  readonly hints: Phase<LinkedHints>;
  readonly schemas: Phase<ToolSchemas>;
  /** Missing without spec files. */
  readonly specs: LinkedSpecs | undefined;
  /** The workflows whose conditions may be lists or objects. */
  readonly composite: ReadonlySet<LinkedWorkflow>;
  readonly faults: readonly Diagnostic[];
}

interface CompileOptions {
  readonly looked: Inputs | undefined;
  /** Missing without spec files. */
  readonly specFiles: SpecFiles | undefined;
  readonly configured: readonly ConfiguredHints[];
}

/** @param before - what was made of the same sources, before the compiler was asked for more of their types. */
async function compileSources(
  host: SourceHost,
  typed: ReadonlySet<string>,
  { specFiles, ...reading }: ReadSchemasOptions & CompileOptions,
  memory: WorkflowMemory,
  before?: Compilation,
): Promise<Compilation> {
  const syntax = host.sourceFiles(typed);
  const declared = withPackages(extract(syntax), { root: reading.root, inputs: reading.looked });
  const declarations = declared.value;
  const options = { ...reading, broken: declarations.brokenFiles };
  // The modules load in a process of their own while the workflows are linked here.
  const loading = before === undefined ? importSchemas(declarations, options) : before.imported;
  // A phase below may throw before anything waits for it.
  if (loading instanceof Promise) loading.catch(() => {});
  memory.refresh(declarations.tools, host.readingOf);
  // A name that two declarations have is changed for one of them, wherever it is used.
  const bare = link(declarations, hasErrors(declared.diagnostics) ? undefined : memory);
  const prompts = linkPrompts(declarations);
  const hints = withConfiguredHints(linkHints(declarations), reading.configured, declarations);
  const imported = await loading;
  const schemas = await readSchemas(declarations, { ...options, imported });
  const toolsByName = new Map([...schemas.value.tools].map(([{ name }, reading]) => [name, reading]));
  const filled = withFedSchemas(bare.value, (name) => toolsByName.get(name)?.inputSchema);
  const value = filled.map((workflow, index) => memory.filled(bare.value[index] as LinkedWorkflow, workflow));
  const linked = { ...bare, value };
  const environment = new MarkedEnvironment(environmentOf(value, declarations, schemas.value));
  const untyped = new Set(syntax.filter(({ isUntyped }) => isUntyped).map(({ file }) => file));
  const checked = checkWorkflows(value, untyped, environment, memory);
  const specs = specFiles?.check(declared, environment.environment);
  const whole = specs === undefined || hasErrors(specs.diagnostics) ? [] : specs.graphs;
  const graphs = [...value, ...whole.map((graph) => ({ graph, isWhole: true }))];
  const faults = [...checked.faults, ...checkHints(hints.value, graphs)];
  return {
    ...{ untyped, declared, imported, linked, prompts, hints, schemas, specs },
    ...{ composite: checked.composite, faults },
  };
}

/**
 * The files whose types may say more than their texts and the schemas: those of conditions that may be lists or
 * objects, of reads that the compiler may allow, and of tools whose schemas leave something open.
 */
function filesToType({ untyped, linked, schemas, composite, faults }: Compilation): ReadonlySet<string> {
  const files = new Set(schemas.value.untyped.map(({ file }) => file));
  for (const { code, place } of faults) if (code === 'SW3016' && place !== undefined) files.add(place.file);
  for (const workflow of linked.value) {
    const { declaration, isWhole } = workflow;
    if (untyped.has(declaration.file) && (!isWhole || composite.has(workflow))) files.add(declaration.file);
  }
  return files;
}

/** True if the sources declare no class for the registry, not even a faulty one. */
function isEmpty(declarations: Declarations): boolean {
  const { tools, resources, workflows, prompts, faulty, brokenFiles } = declarations;
  const all = [tools, resources, workflows, prompts, faulty];
  return brokenFiles.size === 0 && all.every((each) => each.length === 0);
}

/** Faults for which a stepwright decorator throws at run time as well. */
const THROWN: readonly string[] = ['SW1013', 'SW1014', 'SW1016', 'SW1030'];

/** Drops import failures of modules with a reported decorator: the decorator throws when the module is imported. */
function withoutEchoes(
  { diagnostics }: Pick<Phase<unknown>, 'diagnostics'>,
  declared: Pick<Phase<unknown>, 'diagnostics'>,
): readonly Diagnostic[] {
  const misused = declared.diagnostics.filter(({ code }) => THROWN.includes(code));
  const files = new Set<unknown>(misused.map(({ place }) => place?.file));
  return diagnostics.filter(({ code, params }) => code !== 'SW6001' || !files.has(params?.file));
}

type Settled = Pick<CodegenResult, 'diagnostics' | 'written' | 'current'>;

/** Compares all outputs before it writes the first one, so that a run that cannot finish changes nothing. */
function settleOutputs(root: string, outputs: readonly OutputFile[], check: boolean): Settled {
  const diagnostics: Diagnostic[] = [];
  const current: string[] = [];
  const outdated: OutputFile[] = [];
  for (const output of outputs) {
    const { file } = output;
    const state = outputState(root, output);
    switch (state) {
      case 'current':
        current.push(file);
        break;
      case 'foreign':
        diagnostics.push(foreignFile(root, file));
        break;
      case 'stale':
      case 'missing':
        if (check) diagnostics.push(diagnostic('SW9001', undefined, { file, state }));
        else outdated.push(output);
        break;
      default:
        state satisfies never;
    }
  }
  const written: string[] = [];
  if (diagnostics.length > 0) return { diagnostics, written, current };
  for (const output of outdated) {
    const fault = writeOutput(root, output);
    if (fault === undefined) written.push(output.file);
    else diagnostics.push(fault);
  }
  return { diagnostics, written, current };
}

/** For a tool whose schema could not be read, which has been reported. Its calls are not checked. */
const UNKNOWN: ToolSignature = { inputSchema: {} };

/** What every workflow is checked against: the tools, resources and workflows that are declared beside it. */
function environmentOf(
  workflows: readonly LinkedWorkflow[],
  declarations: Declarations,
  schemas: ToolSchemas,
): CheckEnvironment {
  return {
    tools: new Map(declarations.tools.map((tool) => [tool.name, signatureOf(tool, schemas.tools.get(tool))])),
    resources: new Map(declarations.resources.map(({ name, uri }) => [name, { uri }])),
    workflows: new Map(workflows.map((workflow) => [workflow.graph.name, withFaulty(workflow)])),
  };
}

/** @param untyped - the files whose types were left alone as far as possible. */
function checkWorkflows(
  workflows: readonly LinkedWorkflow[],
  untyped: ReadonlySet<string>,
  marked: MarkedEnvironment,
  memory: WorkflowMemory,
): Pick<Compilation, 'faults' | 'composite'> {
  const checked = workflows.map((workflow) => {
    const known = memory.checked(workflow, marked);
    if (known !== undefined) return { workflow, ...known };
    const { environment, uses } = marked.observed();
    const found = checkWorkflow(workflow, untyped, environment);
    const used = uses();
    if (used !== undefined) memory.keepChecked(workflow, { checked: found, uses: used });
    return { workflow, ...found };
  });
  return {
    faults: checked.flatMap(({ faults }) => faults),
    composite: new Set(checked.flatMap(({ workflow, isComposite }) => (isComposite ? workflow : []))),
  };
}

function checkWorkflow(
  { graph, isWhole, declaration }: LinkedWorkflow,
  untyped: ReadonlySet<string>,
  environment: CheckEnvironment,
): CheckedWorkflow {
  const found = workingOn(declaration, () => checkGraph(graph, environment, { isWhole }));
  // One with faults is typed whatever its conditions are.
  const isAsked = isWhole && untyped.has(declaration.file);
  return {
    faults: found.filter((fault) => !isSettledByTypes(fault)),
    isComposite: isAsked && workingOn(declaration, () => mayHaveCompositeConditions(graph, environment)),
  };
}

/** Adds faulty arguments, which the graph lacks: passing one must not be reported as an unknown argument. */
function withFaulty({ graph, declaration, isWhole }: LinkedWorkflow): Graph {
  if (isWhole) return graph;
  const known = new Set(graph.inputs.map(({ name }) => name));
  const faulty = [...declaration.args.map(({ argument }) => argument), ...declaration.faultyFields];
  const inputs = faulty
    .filter((name) => !known.has(name))
    .map((name): Input => ({ name, description: '', schema: {}, required: false }));
  return { ...graph, inputs: [...graph.inputs, ...inputs] };
}

/** Only `match` makes a branch without a default, and the compiler checks that it has an arm for each value. */
function isSettledByTypes({ code, params }: Diagnostic): boolean {
  return code === 'SW4022' && params?.values === undefined;
}

function signatureOf(
  { annotations, retrySafety, secret, upstream }: ToolDeclaration,
  reading: ToolReading | undefined,
): ToolSignature {
  const { inputSchema, outputSchema } = reading ?? UNKNOWN;
  return {
    inputSchema,
    ...defined({ outputSchema }),
    annotations,
    retrySafety,
    secret,
    ...defined({ upstream }),
  };
}
