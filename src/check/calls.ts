import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { DictExpr, Expr } from '../graph/expression/tree.js';
import type { JsonSchema } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import { nearestName } from '../graph/names.js';
import { compensationsOf, ownResources } from '../graph/nodes.js';
import { inputsSchema } from '../graph/part-schema.js';
import type { SourceLocation } from '../graph/source-location.js';
import { locationOfExpr, locationOfNode } from '../graph/source-location.js';
import { uriFault } from '../graph/uri.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { constantFaults } from './constants.js';
import type { CheckEnvironment, ValueFault } from './environment.js';
import { requiredKeys, type SchemaView, schemaAt, stepInto, unnamedBeside, viewOf } from './schema-view.js';
import { type Names, typeMismatch, typeOf } from './type-of.js';
import { keysOf } from './value-type.js';
import type { NamesIn } from './values.js';

/** The tool or workflow that a step calls. */
type Callee = { readonly tool: string } | { readonly workflow: string };

/**
 * SW4001 unknown tools, SW4026 unknown workflows, SW4003 missing and SW4004 unknown inputs, SW9030 inputs that a schema
 * takes without naming them, SW4012 inputs of an incompatible type, SW4048 constants that a schema refuses; of calls, of compensations, and of the workflows
 * that steps run.
 */
export function checkCalls(
  plan: WorkflowPlan,
  environment: CheckEnvironment,
  namesIn: NamesIn,
  valueFault: ValueFault,
): Diagnostic[] {
  const { graph } = plan;
  const diagnostics: Diagnostic[] = [];
  const inputFaults = (planned: PlannedNode, callee: Callee, input: DictExpr, schema: JsonSchema) => [
    ...checkInput(planned, callee, input, schema, plan, namesIn),
    ...checkConstants(planned, callee, input, schema, plan, valueFault),
  ];
  for (const planned of plan.nodes) {
    const { node } = planned;
    const ofTool = (tool: string, input: DictExpr): Diagnostic[] => {
      const signature = environment.tools.get(tool);
      if (signature !== undefined) return inputFaults(planned, { tool }, input, signature.inputSchema);
      const suggestion = nearestName(tool, environment.tools.keys());
      return [diagnostic('SW4001', locationOfNode(node, graph), { workflow: graph.name, tool, suggestion })];
    };
    diagnostics.push(...ofCallee(planned, ofTool, plan, environment, inputFaults));
    for (const { tool, input } of compensationsOf(node)) diagnostics.push(...ofTool(tool, input));
  }
  return diagnostics;
}

function ofCallee(
  planned: PlannedNode,
  ofTool: (tool: string, input: DictExpr) => Diagnostic[],
  plan: WorkflowPlan,
  { workflows }: CheckEnvironment,
  inputFaults: (planned: PlannedNode, callee: Callee, input: DictExpr, schema: JsonSchema) => Diagnostic[],
): Diagnostic[] {
  const { node } = planned;
  // The tools of a client are its own.
  if (node.kind === 'call') return node.executor === 'client' ? [] : ofTool(node.tool, node.input);
  if (node.kind !== 'workflow' || workflows === undefined) return [];
  const { graph } = plan;
  const { workflow: target } = node;
  const callee = workflows.get(target);
  if (callee !== undefined)
    return inputFaults(planned, { workflow: target }, node.input, inputsSchema(callee));
  const suggestion = nearestName(target, workflows.keys());
  return [diagnostic('SW4026', locationOfNode(node, graph), { workflow: graph.name, target, suggestion })];
}

function checkInput(
  { node, scope }: PlannedNode,
  callee: Callee,
  input: DictExpr,
  schema: JsonSchema,
  { graph }: WorkflowPlan,
  namesIn: NamesIn,
): Diagnostic[] {
  const source = locationOfNode(node, graph);
  const about = { step: node.id, ...callee };
  const view = viewOf(schema);
  const names = namesIn(scope);
  const diagnostics: Diagnostic[] = [];
  for (const entry of input.entries) {
    if (!('key' in entry)) {
      const location = locationOfExpr(entry.spread, source);
      for (const input of surplusKeys(entry.spread, view, names))
        diagnostics.push(diagnostic('SW4004', location, { ...about, input }, { hint: SPREAD_HINT }));
      continue;
    }
    const step = stepInto(view, entry.key);
    if (step.kind === 'missing') {
      const suggestion = nearestName(entry.key, step.keys);
      const location = locationOfExpr(entry.value, source);
      diagnostics.push(diagnostic('SW4004', location, { ...about, input: entry.key, suggestion }));
      continue;
    }
    const named = unnamedBeside(view, entry.key);
    if ('tool' in callee && named !== undefined) {
      const suggestion = nearestName(entry.key, named);
      const argument = { step: node.id, tool: callee.tool, input: entry.key };
      const location = locationOfExpr(entry.value, source);
      diagnostics.push(diagnostic('SW9030', location, { ...argument, candidates: named, suggestion }));
    }
    const mismatch = typeMismatch(entry.value, step.view, names);
    if (mismatch === undefined) continue;
    const location = locationOfExpr(entry.value, source);
    diagnostics.push(diagnostic('SW4012', location, { ...about, input: entry.key, ...mismatch }));
  }
  for (const missing of missingInputs(input, view))
    diagnostics.push(diagnostic('SW4003', locationOfExpr(input, source), { ...about, input: missing }));
  return diagnostics;
}

/** SW4048: constants that the schema of their place refuses, in every run. */
function checkConstants(
  { node }: PlannedNode,
  callee: Callee,
  input: DictExpr,
  schema: JsonSchema,
  { graph }: WorkflowPlan,
  valueFault: ValueFault,
): Diagnostic[] {
  const source = locationOfNode(node, graph);
  return input.entries.flatMap((entry) => {
    const place = 'key' in entry ? schemaAt(schema, [entry.key]) : undefined;
    if (!('key' in entry) || place === undefined) return [];
    return constantFaults(entry.value, place, valueFault).map(({ at, path, value, problem }) => {
      const params = { step: node.id, ...callee, input: [entry.key, ...path].join('.'), value, problem };
      return diagnostic('SW4048', locationOfExpr(at, source), params);
    });
  });
}

/** The hint for an input that a spread value brings. */
const SPREAD_HINT =
  'what is spread here brings it: name the inputs one by one, as in `{ name: this.step.name }`';

/** The keys of a spread value that the schema does not have. */
function surplusKeys(spread: Expr, view: SchemaView, names: Names): readonly string[] {
  return keysOf(typeOf(spread, names)).filter((key) => stepInto(view, key).kind === 'missing');
}

/** The required inputs that are missing in every run. */
function missingInputs({ entries }: DictExpr, view: SchemaView): readonly string[] {
  const required = requiredKeys(view);
  if (required.length === 0) return required;
  const suppliedKeys = new Set<string>();
  for (const entry of entries) {
    // A spread value may have any key.
    if (!('key' in entry)) return [];
    // A literal absent value is not sent.
    if (entry.value.kind !== 'literal' || entry.value.value !== undefined) suppliedKeys.add(entry.key);
  }
  return required.filter((input) => !suppliedKeys.has(input));
}

/** The schema of a node's input, if it is known. */
export function argumentsSchema(node: Node, { tools, workflows }: CheckEnvironment): JsonSchema | undefined {
  if (node.kind === 'call') return tools.get(node.tool)?.inputSchema;
  if (node.kind !== 'workflow') return undefined;
  const callee = workflows?.get(node.workflow);
  return callee === undefined ? undefined : inputsSchema(callee);
}

/** SW4002 unknown resources, SW4007 invalid URIs. A resource's own URI is reported where it is declared. */
export function checkResources({ graph, nodes }: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const check = (
    resource: string,
    uri: unknown,
    location: SourceLocation | undefined,
    uriLocation: SourceLocation | undefined,
  ): void => {
    const registered = environment.resources.get(resource);
    if (registered === undefined) {
      const suggestion = nearestName(resource, environment.resources.keys());
      diagnostics.push(diagnostic('SW4002', location, { workflow: graph.name, resource, suggestion }));
    }
    if (uri === undefined || uri === registered?.uri) return;
    const why = typeof uri === 'string' ? uriFault(uri) : 'it is not text';
    if (why !== undefined) diagnostics.push(diagnostic('SW4007', uriLocation, { uri: String(uri), why }));
  };
  for (const { resource, uri, source } of graph.instructions) {
    const location = source ?? graph.source;
    check(resource, uri, location, location);
  }
  for (const { node } of nodes) {
    const location = locationOfNode(node, graph);
    for (const { resource, uri, source = location } of ownResources(node))
      check(resource, uri, source, source);
    if (node.kind !== 'resource') continue;
    const uri = node.uri.kind === 'literal' ? node.uri.value : undefined;
    check(node.resource, uri, location, locationOfExpr(node.uri, location));
  }
  return diagnostics;
}
