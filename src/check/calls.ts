import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { DictExpr, Expr } from '../graph/expression/tree.js';
import type { JsonSchema } from '../graph/json.js';
import type { Graph, Node } from '../graph/model.js';
import { compensationsOf } from '../graph/node-expressions.js';
import type { Place } from '../graph/place.js';
import { nearestName } from '../graph/suggest.js';
import { uriFault } from '../graph/uri.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import type { CheckEnvironment } from './environment.js';
import { locationOfExpr, locationOfNode } from './locations.js';
import { requiredKeys, type SchemaView, stepInto, viewOf } from './schema-view.js';
import { typeMismatch } from './type-compatibility.js';
import { type Names, typeOf } from './type-of.js';
import { keysOf } from './value-type.js';
import type { NamesIn } from './values.js';

/** Whom a step gives its input to. */
type Taker = { readonly tool: string } | { readonly workflow: string };

/**
 * SW4001 unknown tools, SW4026 unknown workflows, SW4003 missing and SW4004 unknown inputs, SW4012 inputs of a type that
 * cannot fit; of calls, of the calls that undo them, and of the workflows that steps run.
 */
export function checkCalls(
  plan: WorkflowPlan,
  environment: CheckEnvironment,
  namesIn: NamesIn,
): Diagnostic[] {
  const { graph } = plan;
  return plan.nodes.flatMap((planned) => {
    const { node } = planned;
    const ofTool = (tool: string, input: DictExpr): Diagnostic[] => {
      const signature = environment.tools.get(tool);
      if (signature !== undefined)
        return checkInput(planned, { tool }, input, signature.inputSchema, plan, namesIn);
      const suggestion = nearestName(tool, environment.tools.keys());
      return [diagnostic('SW4001', locationOfNode(node, graph), { workflow: graph.name, tool, suggestion })];
    };
    const undoing = compensationsOf(node).flatMap(({ tool, input }) => ofTool(tool, input));
    return [...ofCallee(planned, ofTool, plan, environment, namesIn), ...undoing];
  });
}

function ofCallee(
  planned: PlannedNode,
  ofTool: (tool: string, input: DictExpr) => Diagnostic[],
  plan: WorkflowPlan,
  { workflows }: CheckEnvironment,
  namesIn: NamesIn,
): Diagnostic[] {
  const { node } = planned;
  if (node.kind === 'call') return ofTool(node.tool, node.input);
  if (node.kind !== 'workflow' || workflows === undefined) return [];
  const { graph } = plan;
  const { workflow: target } = node;
  const callee = workflows.get(target);
  if (callee !== undefined)
    return checkInput(planned, { workflow: target }, node.input, inputSchemaOf(callee), plan, namesIn);
  const suggestion = nearestName(target, workflows.keys());
  return [diagnostic('SW4026', locationOfNode(node, graph), { workflow: graph.name, target, suggestion })];
}

function checkInput(
  { node, scope }: PlannedNode,
  taker: Taker,
  given: DictExpr,
  schema: JsonSchema,
  { graph }: WorkflowPlan,
  namesIn: NamesIn,
): Diagnostic[] {
  const source = locationOfNode(node, graph);
  const about = { step: node.id, ...taker };
  const view = viewOf(schema);
  const surplusOf =
    (spread: Expr) =>
    (input: string): Diagnostic =>
      diagnostic('SW4004', locationOfExpr(spread, source), { ...about, input }, { hint: texts.pouredIn });
  const found: Diagnostic[] = [];
  for (const entry of given.entries) {
    if (!('key' in entry)) {
      found.push(...surplusKeys(entry.spread, view, namesIn(scope)).map(surplusOf(entry.spread)));
      continue;
    }
    const place = locationOfExpr(entry.value, source);
    const step = stepInto(view, entry.key);
    if (step.kind === 'missing') {
      const suggestion = nearestName(entry.key, step.known);
      found.push(diagnostic('SW4004', place, { ...about, input: entry.key, suggestion }));
      continue;
    }
    const mismatch = typeMismatch(entry.value, step.view, namesIn(scope));
    if (mismatch !== undefined)
      found.push(diagnostic('SW4012', place, { ...about, input: entry.key, ...mismatch }));
  }
  const place = locationOfExpr(given, source);
  const missing = missingInputs(given, schema);
  return [...found, ...missing.map((input) => diagnostic('SW4003', place, { ...about, input }))];
}

const texts = {
  pouredIn: 'what is spread here brings it: name the inputs one by one, as in `{ name: this.step.name }`',
} as const;

/** What a spread value may bring along although nothing takes it. */
function surplusKeys(spread: Expr, view: SchemaView, names: Names): readonly string[] {
  return keysOf(typeOf(spread, names)).filter((key) => stepInto(view, key).kind === 'missing');
}

/** What is required and certainly not given. */
function missingInputs({ entries }: DictExpr, schema: JsonSchema): string[] {
  const given = new Set<string>();
  for (const entry of entries) {
    // What is poured in may hold anything.
    if (!('key' in entry)) return [];
    // Plainly absent entries never reach the other side.
    if (entry.value.kind !== 'literal' || entry.value.value !== undefined) given.add(entry.key);
  }
  return requiredKeys(viewOf(schema)).filter((input) => !given.has(input));
}

/** What a caller of a workflow must and may give. */
function inputSchemaOf({ inputs }: Graph): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(inputs.map(({ name, schema }) => [name, schema])),
    required: inputs.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** The schema of what a node is given by name, where it is known. */
export function takenSchema(node: Node, { tools, workflows }: CheckEnvironment): JsonSchema | undefined {
  if (node.kind === 'call') return tools.get(node.tool)?.inputSchema;
  if (node.kind !== 'workflow') return undefined;
  const callee = workflows?.get(node.workflow);
  return callee === undefined ? undefined : inputSchemaOf(callee);
}

/** SW4002 unknown resources, SW4007 URIs that are none. A resource's own URI is reported where it is declared. */
export function checkResources({ graph, nodes }: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const found: Diagnostic[] = [];
  const check = (
    resource: string,
    uri: unknown,
    place: Place | undefined,
    uriPlace: Place | undefined,
  ): void => {
    const registered = environment.resources.get(resource);
    if (registered === undefined) {
      const suggestion = nearestName(resource, environment.resources.keys());
      found.push(diagnostic('SW4002', place, { workflow: graph.name, resource, suggestion }));
    }
    if (uri === undefined || uri === registered?.uri) return;
    const why = typeof uri === 'string' ? uriFault(uri) : 'it is not text';
    if (why !== undefined) found.push(diagnostic('SW4007', uriPlace, { uri: String(uri), why }));
  };
  for (const { resource, uri, source } of graph.instructions) {
    const place = source ?? graph.source;
    check(resource, uri, place, place);
  }
  for (const { node } of nodes) {
    if (node.kind !== 'resource') continue;
    const place = locationOfNode(node, graph);
    const uri = node.uri.kind === 'literal' ? node.uri.value : undefined;
    check(node.resource, uri, place, locationOfExpr(node.uri, place));
  }
  return found;
}
