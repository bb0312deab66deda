import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { DictExpr } from '../graph/expression/tree.js';
import type { JsonSchema } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import { nearestName } from '../graph/names.js';
import { compensationsOf, isServerCall, ownResources } from '../graph/nodes.js';
import { inputsSchema } from '../graph/part-schema.js';
import type { SourceLocation } from '../graph/source-location.js';
import { locationOfExpr, locationOfNode } from '../graph/source-location.js';
import { uriFault } from '../graph/uri.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import type { CheckEnvironment, ValueFault } from './environment.js';
import { inputFaults } from './inputs.js';
import type { NamesIn } from './values.js';

/** The tool or workflow that a step calls. */
type Callee = { readonly tool: string } | { readonly workflow: string };

/**
 * SW4001 unknown tools, SW4026 unknown workflows, SW4003 missing and SW4004 unknown inputs, SW9030 inputs that a schema
 * takes without naming them, SW4012 inputs of an incompatible type, SW4048 constants that a schema refuses; of calls, of
 * compensations, and of the workflows that steps run.
 */
export function checkCalls(
  plan: WorkflowPlan,
  environment: CheckEnvironment,
  namesIn: NamesIn,
  valueFault: ValueFault,
): Diagnostic[] {
  const { graph } = plan;
  const diagnostics: Diagnostic[] = [];
  const check = (planned: PlannedNode, callee: Callee, input: DictExpr, schema: JsonSchema) =>
    checkInput(planned, callee, input, schema, plan, namesIn, valueFault);
  for (const planned of plan.nodes) {
    const { node } = planned;
    const ofTool = (tool: string, input: DictExpr): Diagnostic[] => {
      const signature = environment.tools.get(tool);
      if (signature !== undefined) return check(planned, { tool }, input, signature.inputSchema);
      const suggestion = nearestName(tool, toolNames(tool, environment));
      return [diagnostic('SW4001', locationOfNode(node, graph), { workflow: graph.name, tool, suggestion })];
    };
    diagnostics.push(...ofCallee(planned, ofTool, plan, environment, check));
    for (const { tool, input } of compensationsOf(node)) diagnostics.push(...ofTool(tool, input));
  }
  return diagnostics;
}

/** The names of tools in the form in which one is written: those of upstream servers as `server/tool`. */
function toolNames(written: string, { tools }: CheckEnvironment): readonly string[] {
  return [...tools].map(([name, { upstream }]) =>
    upstream !== undefined && written.includes('/') ? `${upstream.server}/${upstream.tool}` : name,
  );
}

function ofCallee(
  planned: PlannedNode,
  ofTool: (tool: string, input: DictExpr) => Diagnostic[],
  plan: WorkflowPlan,
  { workflows }: CheckEnvironment,
  check: (planned: PlannedNode, callee: Callee, input: DictExpr, schema: JsonSchema) => Diagnostic[],
): Diagnostic[] {
  const { node } = planned;
  if (isServerCall(node)) return ofTool(node.tool, node.input);
  if (node.kind !== 'workflow' || workflows === undefined) return [];
  const { graph } = plan;
  const { workflow: target } = node;
  const callee = workflows.get(target);
  if (callee !== undefined) return check(planned, { workflow: target }, node.input, inputsSchema(callee));
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
  valueFault: ValueFault,
): Diagnostic[] {
  const source = locationOfNode(node, graph);
  const about = { step: node.id, ...callee };
  return inputFaults(input, schema, namesIn(scope), valueFault).flatMap((fault) => {
    const { key, at } = fault;
    const location = locationOfExpr(at, source);
    const params = { ...about, input: key };
    switch (fault.kind) {
      case 'unknown':
        return fault.isSpread === true
          ? diagnostic('SW4004', location, params, { hint: SPREAD_HINT })
          : diagnostic('SW4004', location, { ...params, suggestion: nearestName(key, fault.candidates) });
      case 'unnamed': {
        if (!('tool' in callee)) return [];
        const { candidates } = fault;
        const suggestion = nearestName(key, candidates);
        const argument = { step: node.id, tool: callee.tool, input: key };
        return diagnostic('SW9030', location, { ...argument, candidates, suggestion });
      }
      case 'mismatch':
        return diagnostic('SW4012', location, { ...params, expected: fault.expected, actual: fault.actual });
      case 'missing':
        return diagnostic('SW4003', location, params);
      case 'refused':
        return diagnostic('SW4048', location, { ...params, value: fault.value, problem: fault.problem });
      default:
        return fault satisfies never;
    }
  });
}

/** The hint for an input that a spread value brings. */
const SPREAD_HINT =
  'what is spread here brings it: name the inputs one by one, as in `{ name: this.step.name }`';

/** The schema of a node's input, if it is known. */
export function argumentsSchema(node: Node, { tools, workflows }: CheckEnvironment): JsonSchema | undefined {
  if (isServerCall(node)) return tools.get(node.tool)?.inputSchema;
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
