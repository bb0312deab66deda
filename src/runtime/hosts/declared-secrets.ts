import type { Expr, RefExpr } from '../../graph/expression/tree.js';
import type { CallNode, Graph, Input, Node, WorkflowNode } from '../../graph/model.js';
import { bodiesOf, compensationsOf, nodesOf } from '../../graph/node-expressions.js';

/** What is secret in a graph before it runs. */
export interface DeclaredSecrets {
  /** Whether an input of a workflow is a secret: it is declared so, or handed on to where one is wanted. */
  readonly has: (workflow: string, input: string) => boolean;
  /** Whether what somebody answers to a question of a workflow is handed on to where a secret is wanted. */
  readonly isAnswer: (workflow: string, node: string) => boolean;
  /** What calls and workflows give to secret inputs. */
  readonly given: ReadonlySet<Expr>;
  /** The declarations of secret inputs. */
  readonly inputs: readonly Input[];
  /** Whether a run can have a secret at all, as far as the graph shows. */
  readonly any: boolean;
}

/**
 * Finds every secret input of a graph and of the workflows it runs. An input that is handed on to a tool's or another
 * workflow's secret input, or whose items are, is secret as well; and so is an answer.
 *
 * @param inputsOf the names of a tool's secret inputs.
 */
export function declaredSecrets(
  graph: Graph,
  inputsOf: (tool: string) => readonly string[],
): DeclaredSecrets {
  const workflows = [graph, ...(graph.tasks ?? [])];
  const found = new Set<string>();
  const answers = new Set<string>();
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
    questions: new Set(nodesOf(workflow).flatMap((node) => (holdsText(node) ? [node.id] : []))),
  }));
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const { workflow, nodes, questions } of views) {
      for (const [node, loops] of nodes) {
        for (const name of wanted(node)) {
          const expr = entryOf(node.input, name);
          if (expr === undefined) continue;
          given.add(expr);
          const source = inputName(expr, loops);
          if (source !== undefined) found.add(keyOf(workflow, source));
          const step = stepName(expr);
          if (step !== undefined && questions.has(step)) answers.add(keyOf(workflow, step));
        }
      }
    }
  }
  const undoesWithSecrets = workflows
    .flatMap(nodesOf)
    .some((node) => compensationsOf(node).some(({ tool }) => inputsOf(tool).length > 0));
  return {
    any: found.size > 0 || given.size > 0 || undoesWithSecrets,
    has: (workflow, input) => found.has(keyOf(workflow, input)),
    isAnswer: (workflow, node) => answers.has(keyOf(workflow, node)),
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

/** Whether a node asks for something that can be a secret: no yes or no. */
function holdsText(node: Node): boolean {
  return node.kind === 'ask' && node.mode !== 'info' && node.mode !== 'confirm';
}

/** The step that an expression refers to, as a whole or in part, if it does no more than that. */
function stepName(expr: Expr): string | undefined {
  if (expr.kind === 'get') return stepName(expr.of);
  return expr.kind === 'ref' && expr.root === 'steps' ? String(expr.path[0]) : undefined;
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
