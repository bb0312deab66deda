import type { Expr, RefExpr } from '../../graph/expression/tree.js';
import type { CallNode, Graph, Input, Node, WorkflowNode } from '../../graph/model.js';
import { bodiesOf, compensationsOf, nodesOf } from '../../graph/node-expressions.js';

/** What is secret in a graph before it runs. */
export interface DeclaredSecrets {
  /** Whether an input of a workflow is a secret: it is declared so, or handed on to where one is wanted. */
  readonly has: (workflow: string, input: string) => boolean;
  /** What of an answer, or of the result of a call, is handed on to where a secret is wanted, by its paths. */
  readonly pathsOf: (workflow: string, node: string) => readonly RefExpr['path'][];
  /** What calls and workflows give to secret inputs. */
  readonly given: ReadonlySet<Expr>;
  /** The declarations of secret inputs. */
  readonly inputs: readonly Input[];
  /** Whether a run can have a secret at all, as far as the graph shows. */
  readonly any: boolean;
}

type InputsOf = (tool: string) => readonly string[];

const known = new WeakMap<InputsOf, WeakMap<Graph, DeclaredSecrets>>();

/**
 * Finds every secret input of a graph and of the workflows it runs. An input that is handed on to a tool's or another
 * workflow's secret input, or whose items are, is secret as well; and so is what an answer or a result has there.
 *
 * They are found once for each graph and `inputsOf`: neither may change.
 *
 * @param inputsOf the names of a tool's secret inputs.
 */
export function declaredSecrets(graph: Graph, inputsOf: InputsOf): DeclaredSecrets {
  const byGraph = known.get(inputsOf) ?? new WeakMap<Graph, DeclaredSecrets>();
  known.set(inputsOf, byGraph);
  const declared = byGraph.get(graph) ?? findSecrets(graph, inputsOf);
  byGraph.set(graph, declared);
  return declared;
}

function findSecrets(graph: Graph, inputsOf: InputsOf): DeclaredSecrets {
  const workflows = [graph, ...(graph.tasks ?? [])];
  const found = new Set<string>();
  const paths = new Map<string, RefExpr['path'][]>();
  const given = new Set<Expr>();
  const keyOf = (workflow: Graph | string, name: string): string =>
    JSON.stringify([typeof workflow === 'string' ? workflow : workflow.name, name]);
  for (const workflow of workflows) {
    for (const { name, secret } of workflow.inputs) if (secret === true) found.add(keyOf(workflow, name));
  }
  const wanted = (node: CallNode | WorkflowNode): readonly string[] => {
    if (node.kind === 'call') return inputsOf(node.tool);
    const task = workflows.find(({ name }) => name === node.workflow);
    return (task?.inputs ?? []).flatMap(({ name }) => (found.has(keyOf(node.workflow, name)) ? [name] : []));
  };
  const views = workflows.map((workflow) => ({
    workflow,
    nodes: loopsByNode(workflow),
    givers: new Set(nodesOf(workflow).flatMap((node) => (givesText(node) ? [node.id] : []))),
  }));
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const { workflow, nodes, givers } of views) {
      for (const [node, loops] of nodes) {
        for (const name of wanted(node)) {
          const expr = entryOf(node.input, name);
          if (expr === undefined) continue;
          const source = inputName(expr, loops);
          if (source !== undefined) found.add(keyOf(workflow, source));
          const [step, ...path] = given.has(expr) ? [] : stepPath(expr);
          given.add(expr);
          if (step === undefined || !givers.has(String(step))) continue;
          const key = keyOf(workflow, String(step));
          paths.set(key, [...(paths.get(key) ?? []), path]);
        }
      }
    }
  }
  const undoesWithSecrets = workflows
    .flatMap(nodesOf)
    .some((node) => compensationsOf(node).some(({ tool }) => inputsOf(tool).length > 0));
  return {
    any: found.size > 0 || given.size > 0 || undoesWithSecrets,
    has: (workflow, input) => found.size > 0 && found.has(keyOf(workflow, input)),
    pathsOf: (workflow, node) => paths.get(keyOf(workflow, node)) ?? [],
    given,
    inputs: workflows.flatMap((workflow) =>
      workflow.inputs.filter(({ name }) => found.has(keyOf(workflow, name))),
    ),
  };
}

/** What an item of a loop is called, and what its items are. */
type Loops = ReadonlyMap<string, Expr>;

/** The calls and workflow nodes of a workflow, with the loops around each. */
function loopsByNode(workflow: Graph): ReadonlyMap<CallNode | WorkflowNode, Loops> {
  const found = new Map<CallNode | WorkflowNode, Loops>();
  const visit = (nodes: Graph['nodes'], loops: Loops): void => {
    for (const node of nodes) {
      if (node.kind === 'call' || node.kind === 'workflow') found.set(node, loops);
      const inside = node.kind === 'foreach' ? new Map([...loops, [node.as, node.items]]) : loops;
      for (const { scope } of bodiesOf(node)) visit(scope.nodes, inside);
    }
  };
  visit(workflow.nodes, new Map());
  return found;
}

/** The input of the workflow an expression refers to, as a whole or in part, if it does no more than that. */
export function inputName(expr: Expr | undefined, loops: Loops = new Map()): string | undefined {
  if (expr?.kind === 'get') return inputName(expr.of, loops);
  if (expr?.kind !== 'ref') return undefined;
  const name = String(expr.path[0]);
  if (expr.root === 'inputs') return name;
  return expr.root === 'item'
    ? inputName(loops.get(name), new Map([...loops].filter(([as]) => as !== name)))
    : undefined;
}

/** Whether what a node gives can be a secret, and comes from outside: no yes or no. */
function givesText(node: Node): boolean {
  return node.kind === 'call' || (node.kind === 'ask' && node.mode !== 'info' && node.mode !== 'confirm');
}

/** The step that an expression refers to and the path in its value, as far as it is written out. */
function stepPath(expr: Expr): RefExpr['path'] | readonly [] {
  if (expr.kind === 'ref') return expr.root === 'steps' ? expr.path : [];
  if (expr.kind !== 'get') return [];
  const base = stepPath(expr.of);
  const key = expr.key.kind === 'literal' ? expr.key.value : undefined;
  const isWritten = typeof key === 'string' || typeof key === 'number';
  return base.length > 0 && isWritten && isWhole(expr.of) ? [...base, key] : base;
}

function isWhole(expr: Expr): boolean {
  return expr.kind === 'ref' || (expr.kind === 'get' && expr.key.kind === 'literal' && isWhole(expr.of));
}

/** The path into the inputs of its workflow that an expression is, if it is no more than that: `card.number`. */
export function inputPath(expr: Expr): RefExpr['path'] | undefined {
  if (expr.kind === 'ref') return expr.root === 'inputs' ? expr.path : undefined;
  if (expr.kind !== 'get' || expr.key.kind !== 'literal') return undefined;
  const { value: key } = expr.key;
  const base = inputPath(expr.of);
  return base === undefined || (typeof key !== 'string' && typeof key !== 'number')
    ? undefined
    : [...base, key];
}

/** What a literal object has under a key. */
export function entryOf(expr: Expr, key: string): Expr | undefined {
  if (expr.kind !== 'dict') return undefined;
  for (const entry of expr.entries.toReversed()) if ('key' in entry && entry.key === key) return entry.value;
  return undefined;
}
