import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { type InputSchemas, schemaFed } from '../check/schema-view.js';
import type { ListedOptions } from '../decorators/decorate.js';
import { fingerprint } from '../decorators/metadata.js';
import { canonicalGraph } from '../graph/canonical.js';
import { defined } from '../graph/defined.js';
import { type Diagnostic, diagnostic, hasErrors } from '../graph/diagnostics/diagnostic.js';
import type { JsonSchema } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import type { FedInput } from '../graph/kinds/waits.js';
import { type Domain, type Graph, type Input, mergedDomains } from '../graph/model.js';
import { nodesOf, withBodies } from '../graph/nodes.js';
import type { PlanningHints } from '../infer/tool.js';
import { checkHints, checkWorkflows, environmentOf } from './check-workflows.js';
import type { CodegenPlan, RegistryPlan } from './config.js';
import type {
  ArgDeclaration,
  ClassHandle,
  Declarations,
  FunctionHandle,
  LinkedPrompt,
  LinkedWorkflow,
  Phase,
  ResourceDeclaration,
  ToolDeclaration,
} from './declarations.js';
import { type ClassName, withRenames } from './diagnostics.js';
import {
  type EntryContent,
  emitRegistry,
  type RegistryContent,
  type RegistryParts,
  registryParts,
  type WorkflowEntry,
  workflowText,
} from './emit/registry.js';
import { extract } from './extract/extract.js';
import { type ConfiguredHints, type LinkedHints, withConfiguredHints } from './hints-and-domains.js';
import { Inputs, type States } from './incremental/inputs.js';
import { type Memo, sha256 } from './incremental/memo.js';
import { MarkedEnvironment, WorkflowPhases } from './incremental/workflows.js';
import { linkHints } from './link/handles.js';
import { linkPrompts } from './link/inputs-and-state.js';
import { link } from './link/link.js';
import type { ResourceData, ToolData } from './manifest.js';
import { oncePerPackage, withPackages } from './packages/classes.js';
import { manifestOf } from './packages/exports.js';
import { WrittenSchemaReader } from './schemas/literal-classes.js';
import type { ModuleLimits } from './schemas/module-loader.js';
import {
  type ImportedSchemas,
  importSchemas,
  packageRootOf,
  type ReadSchemasOptions,
  type ResourceReading,
  readSchemas,
  type ToolSchemas,
} from './schemas/read-schemas.js';
import type { ToolReading } from './schemas/tool-reading.js';
import { SourceHost } from './source/source-host.js';
import type { LinkedSpecs, SpecFiles } from './spec-workflows.js';
import type { IgnoreSyntax } from './syntax.js';
import type { OutputFile } from './writer.js';

export interface CompiledRegistry {
  readonly declarations: Declarations;
  readonly diagnostics: readonly Diagnostic[];
  readonly ignores: readonly IgnoreSyntax[];
  readonly graphs: readonly Graph[];
  /** Empty where there are errors. */
  readonly tools: readonly CompiledTool[];
  /** The registry and its manifest; none where there are errors. */
  readonly outputs: readonly OutputFile[];
  /** Missing where there are errors. */
  readonly parts?: () => RegistryParts;
}

interface CompiledTool {
  readonly name: string;
  readonly description: string;
  readonly outputSchema?: JsonSchema;
}

/** The project of a run, and how its sources and modules are read. */
export interface RunContext {
  /** Absolute, links resolved. */
  readonly root: string;
  readonly limits: Partial<ModuleLimits>;
  readonly overlay: ReadonlyMap<string, string> | undefined;
  readonly memo: Memo;
  readonly states: States;
  /** Whether outputs of earlier runs are used. */
  readonly isCached: boolean;
  /** Takes the reads of the run; missing if nothing compares them. */
  readonly inputs: Inputs | undefined;
  /** `sourceNames` of the modules, when the run began. */
  readonly names: string;
  /** The texts of the sources that the run has read. */
  readonly texts: Map<string, string>;
}

/** Compiles the sources of one registry: reads, extracts, links, imports, checks and prints them. */
export async function compileRegistry(
  run: RunContext,
  { tsconfig, loader, compiled, hints: configured = [], domains = [] }: CodegenPlan,
  { files, out, includePlace, manifest: planned, specs: plannedSpecs }: RegistryPlan,
): Promise<CompiledRegistry> {
  const { root, overlay, memo, inputs, limits, states } = run;
  const registryInputs = inputs && new Inputs(root, states);
  const resolution = registryInputs === undefined ? '' : resolutionOf(run, out, registryInputs);
  const host = new SourceHost({
    ...{ root, files, texts: run.texts },
    ...defined({ tsconfig, overlay, inputs: registryInputs }),
    ...(registryInputs === undefined ? {} : { memory: { memo, scope: out, resolution } }),
  });
  const specFiles = await openSpecFiles(plannedSpecs, { root, overlay, inputs, memo, states });
  const options = {
    ...{ root, packageRoot: packageRootOf(root, out), loader, limits, registryInputs, configured },
    ...{ memo, scope: out, specFiles },
    ...defined({ inputs }),
    ...(run.isCached && inputs !== undefined ? { memory: { memo, inputs, states } } : {}),
  };
  const compile = (typed: ReadonlySet<string>, before?: Compilation) =>
    compileSources(host, typed, options, before);
  const first = await compile(new Set());
  const typed = filesToType(first);
  const compilation = typed.size === 0 ? first : await compile(typed, first);
  const { declared, linked, prompts, hints, schemas, faults, specs, phases } = compilation;
  const declarations = declared.value;
  const manifest = manifestOf(planned, declarations, {
    ...{ host, files, compiled, readings: schemas.value.resources },
  });
  if (inputs !== undefined && registryInputs !== undefined) {
    keepResolution(run, out, { resolution, reads: registryInputs.paths, sources: host.seen() });
    inputs.add(registryInputs.paths);
  }
  const empty = isEmpty(declarations)
    ? [diagnostic('SW9006', includePlace, { file: out, count: files.length })]
    : [];
  const parts = [
    declared,
    linked,
    prompts,
    hints,
    manifest,
    { diagnostics: withoutEchoes(schemas, declared) },
  ];
  const classes = classNamesOf(declarations);
  const former = memo.last<readonly ClassName[]>('classes', out) ?? [];
  const diagnostics = [
    ...withRenames(oncePerPackage(parts.flatMap((part) => part.diagnostics)), former, classes),
    ...[...faults, ...(specs?.diagnostics ?? []), ...empty],
  ];
  const ignores = host.ignores();
  const graphs = [...linked.value.map(({ graph }) => graph), ...(specs?.graphs ?? [])];
  if (hasErrors(diagnostics)) return { declarations, diagnostics, ignores, graphs, tools: [], outputs: [] };
  memo.keep('classes', out, '', classes);
  const linkedParts = { workflows: linked.value, prompts: prompts.value, hints: hints.value.hints };
  const content = {
    ...assemble(declarations, schemas.value, linkedParts, phases),
    specs: specs?.entries() ?? [],
    domains: mergedDomains([...domains, ...(specs?.domains ?? [])]).filter(saysSomething),
  };
  return {
    ...{ declarations, diagnostics, ignores, graphs },
    tools: content.tools.map(toolOf),
    parts: () => registryParts(content, out, host.importEnding()),
    outputs: [
      { file: out, text: emitRegistry(content, out, host.importEnding(), host.isIsolated) },
      ...manifest.value(content),
      ...(specs === undefined ? [] : [specs.schema()]),
    ],
  };
}

/** The classes that later runs may find under other names. */
function classNamesOf({ tools, resources, workflows }: Declarations): readonly ClassName[] {
  const of = (kind: string, all: readonly (ClassHandle & { readonly name: string })[]) =>
    all.map(({ className, file, name }) => ({ className, kind, file, name }));
  const addressed = resources.map((each) => ({ ...each, name: each.uri }));
  return [...of('tool', tools), ...of('workflow', workflows), ...of('resource', addressed)];
}

/**
 * Identifies how the modules of a registry are found: the same as in the last run, if the names of the sources and the
 * places that were searched then are unchanged.
 */
function resolutionOf({ memo, names, states }: RunContext, out: string, inputs: Inputs): string {
  const last = memo.entry<string>('resolution', out, names, (path) => states.of(path));
  if (last === undefined) return randomUUID();
  inputs.add(last.reads);
  return last.output;
}

/** Keeps where modules were searched. Sources count by their content alone. */
function keepResolution(
  { memo, names }: RunContext,
  out: string,
  {
    resolution,
    reads,
    sources,
  }: {
    readonly resolution: string;
    readonly reads: ReadonlyMap<string, string>;
    readonly sources: ReadonlySet<string>;
  },
): void {
  const searched = [...reads].filter(([path]) => !sources.has(path));
  memo.keep('resolution', out, names, resolution, searched);
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

function toolOf({ name, data }: RegistryContent['tools'][number]): CompiledTool {
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
  readonly phases: WorkflowPhases;
}

interface CompileOptions {
  /** Takes the reads of the registry. */
  readonly registryInputs: Inputs | undefined;
  readonly memo: Memo;
  readonly scope: string;
  /** Missing without spec files. */
  readonly specFiles: SpecFiles | undefined;
  readonly configured: readonly ConfiguredHints[];
}

/** @param before - what was made of the same sources, before the compiler was asked for more of their types. */
async function compileSources(
  host: SourceHost,
  typed: ReadonlySet<string>,
  { specFiles, memo, scope, ...reading }: ReadSchemasOptions & CompileOptions,
  before?: Compilation,
): Promise<Compilation> {
  const syntax = host.sourceFiles(typed);
  const declared = withPackages(extract(syntax), { root: reading.root, inputs: reading.registryInputs });
  const declarations = declared.value;
  const options = { ...reading, broken: declarations.brokenFiles };
  // The modules load in a process of their own while the workflows are linked here.
  const loading = before === undefined ? importSchemas(declarations, options) : before.imported;
  // A phase below may throw before anything waits for it.
  if (loading instanceof Promise) loading.catch(() => {});
  const phases = new WorkflowPhases(memo, scope, declarations.tools, (file) => host.readingOf(file));
  // A name that two declarations have is changed for one of them, wherever it is used.
  const schemasOf = new WrittenSchemaReader({ root: reading.root, memo, inputs: reading.registryInputs });
  const bare = link(declarations, hasErrors(declared.diagnostics) ? undefined : phases, (file, schema) =>
    schemasOf.response(file, schema),
  );
  const prompts = linkPrompts(declarations);
  const hints = withConfiguredHints(linkHints(declarations), reading.configured, declarations);
  const imported = await loading;
  const schemas = await readSchemas(declarations, { ...options, imported });
  const toolsByName = new Map([...schemas.value.tools].map(([{ name }, reading]) => [name, reading]));
  const value = withFedSchemas(bare.value, (name) => toolsByName.get(name)?.inputSchema);
  for (const [index, workflow] of value.entries())
    phases.keepFilled(bare.value[index] as LinkedWorkflow, workflow);
  const linked = { ...bare, value };
  const environment = new MarkedEnvironment(environmentOf(value, declarations, schemas.value));
  const untyped = new Set(syntax.filter(({ isUntyped }) => isUntyped).map(({ file }) => file));
  const checked = checkWorkflows(value, untyped, environment, phases);
  const specs = specFiles?.check(declared, environment.environment);
  const whole = specs === undefined || hasErrors(specs.diagnostics) ? [] : specs.graphs;
  const graphs = [...value, ...whole.map((graph) => ({ graph, isWhole: true }))];
  const faults = [...checked.faults, ...checkHints(hints.value, declarations.tools, graphs)];
  return {
    ...{ untyped, declared, imported, linked, prompts, hints, schemas, specs },
    ...{ composite: checked.composite, faults, phases },
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

/**
 * Gives every value that a model supplies for an input the schema of that input. The schemas of tools are read while the
 * workflows are linked.
 */
export function withFedSchemas(
  workflows: readonly LinkedWorkflow[],
  tool: InputSchemas['tool'],
): readonly LinkedWorkflow[] {
  const byName = new Map(workflows.map(({ graph }) => [graph.name, graph]));
  const schemas = { tool, workflow: (name: string) => byName.get(name) };
  return workflows.map((workflow) => {
    const { graph } = workflow;
    const all = nodesOf(graph);
    if (!all.some((node) => feedsOf(node) !== undefined)) return workflow;
    const byId = new Map(all.map((node) => [node.id, node]));
    const fill = (node: Node): Node => {
      const inner = withBodies(node, (scope) => ({ ...scope, nodes: scope.nodes.map(fill) }));
      const feeds = feedsOf(inner);
      const target = feeds && byId.get(feeds.node);
      const expects = feeds && target && schemaFed(target, feeds.path, schemas);
      return expects === undefined ? inner : ({ ...inner, expects } as Node);
    };
    return { ...workflow, graph: { ...graph, nodes: graph.nodes.map(fill) } };
  });
}

function feedsOf(node: Node): FedInput | undefined {
  return node.kind === 'ask' ? node.feeds : undefined;
}

/** What `link` made of the declarations. */
interface LinkedParts {
  readonly workflows: readonly LinkedWorkflow[];
  readonly prompts: readonly LinkedPrompt[];
  /** By tool; missing for a tool that gives none. */
  readonly hints: ReadonlyMap<ToolDeclaration, PlanningHints>;
}

/**
 * Brings together what the phases found out about each class.
 *
 * @param phases - have the entries of workflows that an earlier run has assembled.
 * @throws Error when something was not read: codegen has then reported an error, and does not call this.
 */
export function assemble(
  declarations: Declarations,
  schemas: ToolSchemas,
  { workflows, prompts, hints }: LinkedParts,
  phases?: WorkflowPhases,
): RegistryContent {
  return {
    tools: declarations.tools.map((tool) => ({
      name: tool.name,
      handle: tool,
      data:
        toolOfPackage(tool, declarations) ?? toolData(tool, readingOf(schemas.tools, tool), hints.get(tool)),
    })),
    resources: declarations.resources.map((resource) => ({
      name: resource.name,
      handle: resource,
      data:
        resource.listed === undefined
          ? resourceData(resource, readingOf(schemas.resources, resource))
          : { ...resource.listed, package: resource.package?.name },
    })),
    workflows: workflows.map((workflow) => {
      const make = () => workflowEntry(workflow);
      const completes = workflow.declaration.args.some(({ options }) => options.complete !== undefined);
      return { ...(phases === undefined ? make() : phases.entryOf(workflow, make)), completes };
    }),
    prompts: prompts.map(promptEntry),
    functions: distinct(workflows.flatMap(({ functions }) => functions)),
  };
}

/** As its manifest has it; nothing for a tool of the project. Hints name no tools that the registry does not have. */
function toolOfPackage(
  { listed, package: from }: ToolDeclaration,
  { tools }: Declarations,
): object | undefined {
  if (listed === undefined) return undefined;
  const names = new Set(tools.map(({ name }) => name));
  const cached = (all: readonly string[] | undefined) => all?.filter((name) => names.has(name));
  const { hints } = listed;
  return {
    ...listed,
    ...(hints && { hints: { ...hints, next: cached(hints.next), requires: cached(hints.requires) } }),
    package: from?.name,
  };
}

/** Two workflows may name one function. */
function distinct(functions: readonly FunctionHandle[]): readonly FunctionHandle[] {
  return [...new Map(functions.map((each) => [each.name, each])).values()];
}

function readingOf<H extends ClassHandle, R>(readings: ReadonlyMap<H, R>, handle: H): R {
  const reading = readings.get(handle);
  if (reading === undefined)
    throw new Error(`${handle.className} of ${handle.file} was neither read nor reported`);
  return reading;
}

/** What lists of clients show of an entry. */
function listedData({ icons, meta }: ListedOptions): Pick<ToolData, 'icons' | 'meta'> {
  return { icons, meta };
}

function toolData(tool: ToolDeclaration, reading: ToolReading, hints: PlanningHints | undefined): ToolData {
  return {
    title: tool.title,
    description: tool.description,
    inputSchema: reading.inputSchema,
    outputSchema: reading.outputSchema,
    listedSchema: tool.listedSchema,
    annotations: tool.annotations,
    retrySafety: tool.retrySafety,
    visibility: tool.visibility,
    scopes: tool.scopes,
    task: tool.task,
    ...listedData(tool),
    hints,
    upstream: tool.upstream,
    secret: tool.secret,
    fingerprint: reading.fingerprint,
  };
}

function resourceData(resource: ResourceDeclaration, reading: ResourceReading): ResourceData {
  return {
    uri: resource.uri,
    title: resource.title,
    description: resource.description,
    mimeType: resource.mimeType ?? mimeTypeOf(resource, reading),
    ...listedData(resource),
    text: reading.text,
    file: reading.file,
    dotSegments: resource.dotSegments,
    fingerprint: reading.fingerprint,
  };
}

const MIME_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.css': 'text/css',
  '.gif': 'image/gif',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.mp3': 'audio/mpeg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wav': 'audio/wav',
  '.webp': 'image/webp',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
};

/** By the file's extension, else by what is in it. What `read()` returns is not known before, and counts as text. */
function mimeTypeOf({ contentFile }: ResourceDeclaration, { isText = true }: ResourceReading): string {
  const extension = posix.extname(contentFile ?? '').toLowerCase();
  return MIME_TYPES[extension] ?? (isText ? 'text/plain' : 'application/octet-stream');
}

function workflowEntry({ declaration, graph }: LinkedWorkflow): WorkflowEntry {
  const { options, args, steps } = declaration;
  // What the decorators record: a bare `done(…)` field carries none.
  const decorated = steps.filter((step) => step.decorated);
  const graphText = canonicalGraph(graph);
  const data: WorkflowData = {
    ...{ graph, hash: sha256(graphText), ...listedData(declaration), ...fieldsOf(args) },
    fingerprint: fingerprint({ kind: 'workflow', options, args, steps: decorated }, sha256),
  };
  return { name: declaration.name, handle: declaration, data, text: workflowText(data, graphText) };
}

function promptEntry({ declaration, arguments: inputs }: LinkedPrompt): EntryContent<PromptData> {
  const { options, args, title, description } = declaration;
  return {
    name: declaration.name,
    handle: declaration,
    data: {
      title,
      description,
      ...listedData(declaration),
      // A registry does not record where an argument is written.
      arguments: inputs.map(({ source: _source, ...input }) => input),
      ...fieldsOf(args),
      fingerprint: fingerprint({ kind: 'prompt', options, args }, sha256),
    },
  };
}

interface PromptData extends Pick<ToolData, 'icons' | 'meta'> {
  readonly title?: string | undefined;
  readonly description: string;
  readonly arguments: readonly Input[];
  readonly fields?: Readonly<Record<string, string>>;
  readonly fingerprint: string;
}

interface WorkflowData extends Pick<ToolData, 'icons' | 'meta'> {
  readonly graph: Graph;
  readonly hash: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly fingerprint: string;
}

/** The fields of arguments that callers know by another name. */
function fieldsOf(args: readonly ArgDeclaration[]): Pick<WorkflowData, 'fields'> {
  const renamed = args.filter(({ name, argument }) => name !== argument);
  if (renamed.length === 0) return {};
  return { fields: Object.fromEntries(renamed.map(({ name, argument }) => [argument, name])) };
}
