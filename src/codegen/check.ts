import { type CheckEnvironment, checkGraph, type ToolSignature } from '../check/check-graph.js';
import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Graph, Input } from '../graph/model.js';
import type { Declarations, LinkedWorkflow, ToolDeclaration } from './declarations.js';
import { workingOn } from './internal-error.js';
import type { ToolSchemas } from './schemas/read-schemas.js';
import type { ToolReading } from './schemas/tool-reading.js';

/** A tool whose schema could not be read has been reported; nothing that is said of its calls would be certain. */
const UNKNOWN: ToolSignature = { inputSchema: {} };

/** Checks every workflow against the tools, resources and workflows that are declared beside it. */
export function checkWorkflows(
  workflows: readonly LinkedWorkflow[],
  declarations: Declarations,
  schemas: ToolSchemas,
): readonly Diagnostic[] {
  const environment: CheckEnvironment = {
    tools: new Map(declarations.tools.map((tool) => [tool.name, signatureOf(tool, schemas.tools.get(tool))])),
    resources: new Map(declarations.resources.map(({ name, uri }) => [name, { uri }])),
    workflows: new Map(workflows.map((workflow) => [workflow.graph.name, withFaulty(workflow)])),
  };
  const found = workflows.flatMap(({ graph, isWhole, declaration }) =>
    workingOn(declaration, () => checkGraph(graph, environment, { isWhole })),
  );
  return found.filter((fault) => !isSettledByTypes(fault));
}

/** An argument that was left out since it is at fault may be given all the same: that it is none is no further fault. */
function withFaulty({ graph, declaration, isWhole }: LinkedWorkflow): Graph {
  if (isWhole) return graph;
  const known = new Set(graph.inputs.map(({ name }) => name));
  const faulty = [...declaration.args.map(({ argument }) => argument), ...declaration.faultyFields];
  const inputs = faulty
    .filter((name) => !known.has(name))
    .map((name): Input => ({ name, description: '', schema: {}, required: false }));
  return { ...graph, inputs: [...graph.inputs, ...inputs] };
}

/** Only `match` makes a branch that may find no case, and that it has one for each value is checked with its types. */
function isSettledByTypes({ code, params }: Diagnostic): boolean {
  return code === 'SW4022' && params?.values === undefined;
}

function signatureOf(
  { annotations, retrySafety }: ToolDeclaration,
  reading: ToolReading | undefined,
): ToolSignature {
  const { inputSchema, outputSchema } = reading ?? UNKNOWN;
  return {
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations,
    retrySafety,
  };
}
