import { type CheckEnvironment, checkGraph } from '../../check/check-graph.js';
import { withoutPlaces } from '../../graph/canonical.js';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { DictExpr, Expr, ListExpr } from '../../graph/expression/tree.js';
import type { Node } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import { parseGraph } from '../../graph/schema/parse-graph.js';
import { shapeErrors, type WorkflowDefinition } from './definition.js';
import { findingsOf } from './diagnostic-errors.js';
import type { FunctionEntry, Registered } from './environment.js';
import { type WorkflowError, within } from './errors.js';
import { type Lowered, lower } from './lower.js';
import { resolveTool, signatureOf, UNKNOWN } from './tools-and-resources.js';

/** The graph of a workflow without errors. */
export interface Compiled {
  readonly graph: Graph;
  /** The functions that the graph refers to, by name. */
  readonly functions: ReadonlyMap<string, FunctionEntry>;
  readonly warnings: readonly WorkflowError[];
}

/** The graph of a workflow, or all its errors in the order of the calls of the builder. */
export type CompileResult =
  | ({ readonly ok: true } & Compiled)
  | { readonly ok: false; readonly problems: readonly WorkflowError[] };

/**
 * Makes the graph of a workflow, and checks it.
 *
 * @param registered what the workflow may use. Without it every tool and resource is assumed to exist.
 */
export function compile(definition: WorkflowDefinition, registered?: Registered): CompileResult {
  const result = compiled(definition, registered);
  for (const error of result.ok ? result.warnings : result.problems) within(String(definition.name), error);
  return result;
}

function compiled(definition: WorkflowDefinition, registered?: Registered): CompileResult {
  const misshapen = shapeErrors(definition);
  if (misshapen.length > 0) return { ok: false, problems: misshapen };
  const lowered = lower(definition, registered);
  const environment = withUnresolved(registered ?? assumed(definition, lowered.graph), lowered);
  const parsed = parseGraph(lowered.hasForeignParts ? lowered.graph : withoutExpressions(lowered.graph));
  const { errors, warnings } = findingsOf(lowered, environment, [
    ...(parsed.ok ? [] : parsed.diagnostics),
    ...checkGraph(lowered.graph, environment),
    ...checkTransforms(lowered, environment),
  ]);
  if (errors.length > 0) return { ok: false, problems: errors };
  // The places serve only to translate diagnostics.
  const graph = withoutPlaces(lowered.graph);
  return { ok: true, graph, functions: lowered.functions, warnings };
}

const NO_VALUE: Expr = { kind: 'literal' };
const NO_INPUT: DictExpr = { kind: 'dict', entries: [] };
const NO_ITEMS: ListExpr = { kind: 'list', items: [] };

/**
 * The graph with trivial expressions. Those of the builder are well-formed, and to parse them takes most of the time.
 */
function withoutExpressions(graph: Graph): Graph {
  const bare = (node: Node): Node => {
    const { guidance: _guidance, summary: _summary, ...rest } = node;
    switch (rest.kind) {
      case 'call':
        return { ...rest, input: NO_INPUT };
      case 'resource':
        return { ...rest, uri: NO_VALUE };
      case 'compute':
        return { ...rest, value: NO_ITEMS };
      case 'return':
        return { ...rest, value: NO_VALUE };
      default:
        return node;
    }
  };
  return { ...graph, nodes: graph.nodes.map(bare) };
}

/** An environment in which every tool and resource exists, with the signatures that the classes of tools have. */
function assumed({ name, steps }: WorkflowDefinition, { nodes, instructions }: Graph): CheckEnvironment {
  const tools = nodes.flatMap((node) => (node.kind === 'call' ? [[node.tool, UNKNOWN] as const] : []));
  const known = steps.map(({ tool }) => [resolveTool(tool, name).name, signatureOf(tool)] as const);
  const reads = nodes.flatMap((node) =>
    node.kind === 'resource'
      ? [{ resource: node.resource, uri: node.uri.kind === 'literal' ? String(node.uri.value) : '' }]
      : [],
  );
  return {
    // A handle of a tool does not hide the signature of its class.
    tools: new Map([...tools, ...known.filter(([, signature]) => signature !== UNKNOWN)]),
    resources: new Map([...instructions, ...reads].map(({ resource, uri }) => [resource, { uri }])),
  };
}

/** Adds the tools whose errors have been reported, so that the checker does not report them again. */
function withUnresolved(environment: CheckEnvironment, { unresolvedTools }: Lowered): CheckEnvironment {
  if (unresolvedTools.length === 0) return environment;
  const unresolved = unresolvedTools.map((name) => [name, UNKNOWN] as const);
  return { ...environment, tools: new Map([...unresolved, ...environment.tools]) };
}

/** Checks the transforms as if they were the result, since otherwise only those that a step reads are checked. */
function checkTransforms(
  { graph, transforms, origins }: Lowered,
  environment: CheckEnvironment,
): readonly Diagnostic[] {
  if (transforms.length === 0) return [];
  const returns: Expr = { kind: 'list', items: transforms.map((value) => ({ value })) };
  return checkGraph({ ...graph, returns }, environment).filter(
    ({ place }) => origins.at(place).kind === 'transform',
  );
}
