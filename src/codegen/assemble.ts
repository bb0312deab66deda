import { posix } from 'node:path';
import { fingerprint } from '../decorators/fingerprint.js';
import type { ToolAnnotations } from '../decorators/tool.js';
import { hashGraph } from '../graph/canonical.js';
import type { JsonSchema } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import type {
  ClassHandle,
  Declarations,
  LinkedWorkflow,
  ResourceDeclaration,
  ToolDeclaration,
} from './declarations.js';
import type { EntryContent, RegistryContent } from './emit/registry.js';
import type { ResourceReading, ToolReading, ToolSchemas } from './schemas/read-schemas.js';

/**
 * Brings together what the phases found out about each class.
 *
 * @throws Error when something was not read: codegen has then reported an error, and must not come here.
 */
export function assemble(
  declarations: Declarations,
  schemas: ToolSchemas,
  workflows: readonly LinkedWorkflow[],
): RegistryContent {
  return {
    tools: declarations.tools.map((tool) => ({
      name: tool.name,
      handle: tool,
      data: toolData(tool, readingOf(schemas.tools, tool)),
    })),
    resources: declarations.resources.map((resource) => ({
      name: resource.name,
      handle: resource,
      data: resourceData(resource, readingOf(schemas.resources, resource)),
    })),
    workflows: workflows.map(workflowEntry),
  };
}

function readingOf<H extends ClassHandle, R>(readings: ReadonlyMap<H, R>, handle: H): R {
  const reading = readings.get(handle);
  if (reading === undefined)
    throw new Error(`${handle.className} of ${handle.file} was neither read nor reported`);
  return reading;
}

interface ToolData {
  readonly title?: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly fingerprint: string;
}

function toolData(tool: ToolDeclaration, reading: ToolReading): ToolData {
  return {
    title: tool.title,
    description: tool.description,
    inputSchema: reading.inputSchema,
    outputSchema: reading.outputSchema,
    annotations: tool.annotations,
    fingerprint: reading.fingerprint,
  };
}

interface ResourceData {
  readonly uri: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly text?: string | undefined;
  readonly fingerprint: string;
}

function resourceData(resource: ResourceDeclaration, reading: ResourceReading): ResourceData {
  return {
    uri: resource.uri,
    title: resource.title,
    description: resource.description,
    mimeType: resource.mimeType ?? mimeTypeOf(resource.contentFile),
    text: reading.text,
    fingerprint: reading.fingerprint,
  };
}

const MIME_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.css': 'text/css',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.svg': 'image/svg+xml',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
};

/** By the file's extension; text of any other kind is plain. */
function mimeTypeOf(contentFile: string | undefined): string {
  const extension = posix.extname(contentFile ?? '').toLowerCase();
  return MIME_TYPES[extension] ?? 'text/plain';
}

function workflowEntry({ declaration, graph }: LinkedWorkflow): EntryContent<WorkflowData> {
  const { options, args, steps } = declaration;
  // What the decorators record: a bare `done(…)` field carries none.
  const decorated = steps.filter((step) => step.decorated);
  return {
    name: declaration.name,
    handle: declaration,
    data: {
      graph,
      hash: hashGraph(graph),
      fingerprint: fingerprint({ kind: 'workflow', options, args, steps: decorated }),
    },
  };
}

interface WorkflowData {
  readonly graph: Graph;
  readonly hash: string;
  readonly fingerprint: string;
}
