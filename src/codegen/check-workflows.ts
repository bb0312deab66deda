import { type CheckEnvironment, checkGraph, type ToolSignature } from '../check/check-graph.js';
import { mayHaveCompositeConditions } from '../check/values.js';
import { valueFault } from '../formats/json-schema/schema-compiler.js';
import { defined } from '../graph/defined.js';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Graph, Input } from '../graph/model.js';
import type { SourceLocation } from '../graph/source-location.js';
import { contradictedHints } from '../infer/derived-hints.js';
import { readHints } from '../infer/hints.js';
import type { PlanningHints } from '../infer/tool.js';
import { CATEGORIES } from '../infer/words.js';
import type { Declarations, LinkedWorkflow, ToolDeclaration } from './declarations.js';
import { workingOn } from './diagnostics.js';
import type { HintPlaces, LinkedHints } from './hints-and-domains.js';
import type { MarkedEnvironment, WorkflowPhases } from './incremental/workflows.js';
import type { ToolSchemas } from './schemas/read-schemas.js';
import type { ToolReading } from './schemas/tool-reading.js';

/** For a tool whose schema could not be read, which has been reported. Its calls are not checked. */
const UNKNOWN: ToolSignature = { inputSchema: {} };

/** What every workflow is checked against: the tools, resources and workflows that are declared beside it. */
export function environmentOf(
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

export interface CheckedWorkflows {
  readonly faults: readonly Diagnostic[];
  /** The workflows whose conditions may be lists or objects. */
  readonly composite: ReadonlySet<LinkedWorkflow>;
}

interface CheckedWorkflow {
  readonly faults: readonly Diagnostic[];
  /** See `mayHaveCompositeConditions`; false where types were read. */
  readonly isComposite: boolean;
}

/** @param untyped - the files whose types were left alone as far as possible. */
export function checkWorkflows(
  workflows: readonly LinkedWorkflow[],
  untyped: ReadonlySet<string>,
  marked: MarkedEnvironment,
  phases: WorkflowPhases,
): CheckedWorkflows {
  const checked = workflows.map((workflow) => {
    const recalled = phases.checked(workflow, marked);
    if (recalled !== undefined) return { workflow, faults: [], isComposite: recalled };
    const { environment, uses } = marked.observed();
    const { faults, isComposite } = checkWorkflow(workflow, untyped, environment);
    const used = uses();
    if (used !== undefined && faults.length === 0) phases.keepChecked(workflow, isComposite, used);
    return { workflow, faults, isComposite };
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
  const result = workingOn(declaration, () => checkGraph(graph, environment, { isWhole, valueFault }));
  // One with faults is typed whatever its conditions are.
  const isAsked = isWhole && untyped.has(declaration.file);
  return {
    faults: result.filter((fault) => !isSettledByTypes(fault)),
    isComposite: isAsked && workingOn(declaration, () => mayHaveCompositeConditions(graph, environment)),
  };
}

/** Adds faulty arguments, which the graph lacks: passing one must not be reported as an unknown argument. */
function withFaulty({ graph, declaration, isWhole }: LinkedWorkflow): Graph {
  if (isWhole) return graph;
  const existing = new Set(graph.inputs.map(({ name }) => name));
  const faulty = [...declaration.args.map(({ argument }) => argument), ...declaration.faultyFields];
  const inputs = faulty
    .filter((name) => !existing.has(name))
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

/** Compares the hints of tools with each other, and with the workflows that could be read as a whole. */
export function checkHints(
  { hints, places }: LinkedHints,
  declared: readonly Pick<ToolDeclaration, 'name'>[],
  workflows: readonly Pick<LinkedWorkflow, 'graph' | 'isWhole'>[],
): Diagnostic[] {
  if (hints.size === 0) return [];
  const byName = new Map(
    [...hints].map(([tool, linked]) => [tool.name, { tool, linked, places: places.get(tool) }]),
  );
  const names = new Set(declared.map(({ name }) => name));
  const tools = [...names].map((name) => ({ name, ...defined({ hints: byName.get(name)?.linked }) }));
  const faults = readHints(tools).faults.flatMap((fault) => {
    if (fault.kind === 'cycle') {
      const [name = ''] = fault.tools;
      const place = placeOf(byName.get(name), 'requires', fault.tools);
      return [diagnostic('SW4041', place, { tools: fault.tools })];
    }
    if (fault.kind === 'unknown-tool') return [];
    const { tool, places: configured } = byName.get(fault.tool) ?? {};
    const params = { tool: fault.tool, category: fault.category, candidates: CATEGORIES };
    return [diagnostic('SW4042', configured?.category ?? tool?.hints?.categoryPlace ?? tool?.place, params)];
  });
  const graphs = workflows.flatMap(({ graph, isWhole }) => (isWhole ? [graph] : []));
  const hintsByTool = new Map([...byName].map(([name, { linked }]) => [name, linked]));
  const contradictions = contradictedHints(graphs, hintsByTool).map((result) =>
    diagnostic('SW4040', placeOf(byName.get(result.tool), result.hint, [result.named]), { ...result }),
  );
  return [...faults, ...contradictions];
}

interface Declared {
  readonly tool: ToolDeclaration;
  readonly linked: PlanningHints;
  /** Missing if no configuration has hints of the tool. */
  readonly places: HintPlaces | undefined;
}

/** Where a tool names one of others in a hint, or else the tool itself. */
function placeOf(
  declared: Declared | undefined,
  hint: 'next' | 'requires',
  named: readonly string[],
): SourceLocation | undefined {
  const written = declared?.tool.hints?.[hint] ?? [];
  const linked = declared?.linked[hint] ?? [];
  const index = linked.findIndex((name) => named.includes(name));
  const configured = declared?.places?.[hint][index] ?? declared?.places?.tool;
  if (configured !== undefined) return configured;
  // A class that could not be resolved has no name among the linked ones.
  const match = written.length === linked.length ? written[index] : undefined;
  return match?.place ?? declared?.tool.place;
}
