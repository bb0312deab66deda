import { posix } from 'node:path';
import type { ListedOptions } from '../decorators/decorate.js';
import { fingerprint } from '../decorators/metadata.js';
import { canonicalGraph } from '../graph/canonical.js';
import type { Graph, Input } from '../graph/model.js';
import type { PlanningHints } from '../infer/tool.js';
import type {
  ArgDeclaration,
  ClassHandle,
  Declarations,
  FunctionHandle,
  LinkedPrompt,
  LinkedWorkflow,
  ResourceDeclaration,
  ToolDeclaration,
} from './declarations.js';
import {
  type EntryContent,
  type RegistryContent,
  type WorkflowEntry,
  workflowText,
} from './emit/registry.js';
import { sha256 } from './incremental/memo.js';
import type { WorkflowPhases } from './incremental/workflows.js';
import type { ResourceData, ToolData } from './manifest.js';
import type { ResourceReading, ToolSchemas } from './schemas/read-schemas.js';
import type { ToolReading } from './schemas/tool-reading.js';

/** What `link` made of the declarations. */
export interface LinkedParts {
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
      return phases === undefined ? make() : phases.entryOf(workflow, make);
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
