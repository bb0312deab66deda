import { type CheckEnvironment, checkGraph } from '../../check/check-graph.js';
import { withoutPlaces } from '../../graph/canonical.js';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { DictExpr, Expr, ListExpr } from '../../graph/expression/tree.js';
import type { Graph, Node } from '../../graph/model.js';
import { parseGraph } from '../../graph/schema.js';
import { signatureOf, UNKNOWN } from './class-signature.js';
import type { WorkflowDefinition } from './definition.js';
import { type WorkflowError, within } from './errors.js';
import { type Lowered, lower } from './lower.js';
import { toProblems } from './problems.js';
import type { FunctionEntry, Registered } from './registered.js';
import { resolveTool } from './resolve.js';
import { shapeProblems } from './shape.js';

/** A workflow without faults. */
export interface Compiled {
  readonly graph: Graph;
  readonly functions: ReadonlyMap<string, FunctionEntry>;
  readonly warnings: readonly WorkflowError[];
}

/** A workflow as a graph, or everything that is wrong with it in the order of writing. */
export type CompileResult =
  | ({ readonly ok: true } & Compiled)
  | { readonly ok: false; readonly problems: readonly WorkflowError[] };

/**
 * Makes the graph of a workflow and has it checked.
 * @param registered without it every tool and resource is taken to be there.
 */
export function compile(definition: WorkflowDefinition, registered?: Registered): CompileResult {
  const result = compiled(definition, registered);
  for (const error of result.ok ? result.warnings : result.problems) within(String(definition.name), error);
  return result;
}

function compiled(definition: WorkflowDefinition, registered?: Registered): CompileResult {
  const misshapen = shapeProblems(definition);
  if (misshapen.length > 0) return { ok: false, problems: misshapen };
  const lowered = lower(definition, registered);
  const environment = withUnresolved(registered ?? assumed(definition, lowered.graph), lowered);
  const parsed = parseGraph(lowered.hasForeignParts ? lowered.graph : withoutExpressions(lowered.graph));
  const { problems, warnings } = toProblems(lowered, environment, [
    ...(parsed.ok ? [] : parsed.diagnostics),
    ...checkGraph(lowered.graph, environment),
    ...checkTransforms(lowered, environment),
  ]);
  if (problems.length > 0) return { ok: false, problems };
  // What stands for the places of a text is of no use to anyone but the checker.
  const graph = withoutPlaces(lowered.graph);
  return { ok: true, graph, functions: lowered.functions, warnings };
}

const NO_VALUE: Expr = { kind: 'literal' };
const NO_INPUT: DictExpr = { kind: 'dict', entries: [] };
const NO_ITEMS: ListExpr = { kind: 'list', items: [] };

/** What a program has said itself: the expressions in a graph of the builder are well-formed, and they are most of it. */
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

/** Every tool and resource is taken to be there. Of a tool as much is known as its class says. */
function assumed({ name, steps }: WorkflowDefinition, { nodes, instructions }: Graph): CheckEnvironment {
  const tools = nodes.flatMap((node) => (node.kind === 'call' ? [[node.tool, UNKNOWN] as const] : []));
  const known = steps.map(({ tool }) => [resolveTool(tool, name).name, signatureOf(tool)] as const);
  const reads = nodes.flatMap((node) =>
    node.kind === 'resource'
      ? [{ resource: node.resource, uri: node.uri.kind === 'literal' ? String(node.uri.value) : '' }]
      : [],
  );
  return {
    // A handle beside the class of the same tool adds nothing to what is known.
    tools: new Map([...tools, ...known.filter(([, signature]) => signature !== UNKNOWN)]),
    resources: new Map([...instructions, ...reads].map(({ resource, uri }) => [resource, { uri }])),
  };
}

/** What has been reported once is not reported again. */
function withUnresolved(environment: CheckEnvironment, { unresolvedTools }: Lowered): CheckEnvironment {
  if (unresolvedTools.length === 0) return environment;
  const unresolved = unresolvedTools.map((name) => [name, UNKNOWN] as const);
  return { ...environment, tools: new Map([...unresolved, ...environment.tools]) };
}

/** A transform is checked where a step reads the binding; as the result of the workflow, where none does as well. */
function checkTransforms(
  { graph, transforms, provenance }: Lowered,
  environment: CheckEnvironment,
): readonly Diagnostic[] {
  if (transforms.length === 0) return [];
  const returns: Expr = { kind: 'list', items: transforms.map((value) => ({ value })) };
  return checkGraph({ ...graph, returns }, environment).filter(
    ({ place }) => provenance.at(place).kind === 'transform',
  );
}
