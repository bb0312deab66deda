import { type CheckEnvironment, checkGraph, type ToolSignature } from '../graph/check/check-graph.js';
import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Declarations, LinkedWorkflow, ToolDeclaration } from './declarations.js';
import type { ToolSchemas } from './schemas/read-schemas.js';
import type { ToolReading } from './schemas/tool-reading.js';

/** A tool whose schema could not be read has been reported; nothing that is said of its calls would be certain. */
const UNKNOWN: ToolSignature = { inputSchema: {} };

/** Checks every workflow against the tools and resources that are declared beside it. */
export function checkWorkflows(
  workflows: readonly LinkedWorkflow[],
  declarations: Declarations,
  schemas: ToolSchemas,
): readonly Diagnostic[] {
  const environment: CheckEnvironment = {
    tools: new Map(declarations.tools.map((tool) => [tool.name, signatureOf(tool, schemas.tools.get(tool))])),
    resources: new Map(declarations.resources.map(({ name, uri }) => [name, { uri }])),
  };
  return workflows.flatMap(({ graph, isWhole }) => checkGraph(graph, environment, { isWhole }));
}

function signatureOf({ annotations }: ToolDeclaration, reading: ToolReading | undefined): ToolSignature {
  const { inputSchema, outputSchema } = reading ?? UNKNOWN;
  return {
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}
