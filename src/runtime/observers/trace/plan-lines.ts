import type { BranchNode, Graph, Node } from '../../../graph/model.js';
import { unreachable } from '../../../graph/unreachable.js';
import type { Plan, PlannedNode, ScopePlan } from '../../engine/plan.js';
import { isListed } from './outlook.js';
import { planTexts } from './plan-texts.js';
import { printExpression } from './print-expression.js';

/** Description of a tool by its name. */
export type Describe = (tool: string) => string | undefined;

/** One step of a plan: `2`, and inside of it `2a`, `2a1`. */
export interface PlanLine {
  readonly number: string;
  readonly depth: number;
  readonly text: string;
}

/** The steps of a plan, what stands inside of a step right behind it. A workflow inside itself is not opened again. */
export function planLines(plan: Plan, describe: Describe): PlanLine[] {
  const lines: PlanLine[] = [];
  const add = (
    scopes: readonly ScopePlan[],
    around: Pick<PlanLine, 'number' | 'depth'>,
    open: readonly Graph[],
  ) => {
    let place = 0;
    for (const scope of scopes) {
      const { arm } = scope.container?.node.kind === 'foreach' ? {} : scope;
      for (const planned of scope.nodes.filter(({ node }) => isListed(node))) {
        const number = `${around.number}${labelAt(place, around.depth)}`;
        place += 1;
        const text = planTexts.inside(arm, lineOf(planned, describe));
        lines.push({ number, depth: around.depth, text });
        const inside = { number, depth: around.depth + 1 };
        const task = planned.node.kind === 'workflow' ? plan.tasks.get(planned.node.workflow) : undefined;
        if (task === undefined) add(planned.parts, inside, open);
        else if (!open.includes(task.graph)) add([task.root], inside, [...open, task.graph]);
      }
    }
  };
  add([plan.main.root], { number: '', depth: 0 }, [plan.graph]);
  return lines;
}

/** Numbers and letters take turns: `2`, `2a`, `2a1`. */
function labelAt(place: number, depth: number): string {
  if (depth % 2 === 0) return String(place + 1);
  const letter = String.fromCharCode(97 + (place % 26));
  return place < 26 ? letter : `${labelAt(Math.floor(place / 26) - 1, depth)}${letter}`;
}

function lineOf(planned: PlannedNode, describe: Describe): string {
  const line = aboutNode(planned.node, describe);
  const onlyIf = conditionOf(planned);
  return onlyIf === undefined ? line : planTexts.condition(line, onlyIf);
}

function aboutNode(node: Node, describe: Describe): string {
  switch (node.kind) {
    case 'call':
      return planTexts.tool(node.tool, describe(node.tool));
    case 'resource':
      return planTexts.resource(node.id);
    default:
      return planTexts.titled(node.id, node.title ?? whatItDoes(node));
  }
}

function whatItDoes(node: Exclude<Node, { kind: 'call' | 'resource' }>): string | undefined {
  switch (node.kind) {
    case 'branch':
      return planTexts.branch(armsOf(node));
    case 'parallel':
      return planTexts.parallel[node.onPartialFailure](node.branches.map(({ id }) => id));
    case 'foreach':
      return node.items.kind === 'literal' && Array.isArray(node.items.value)
        ? planTexts.foreachOf(node.items.value.length)
        : planTexts.foreach(printExpression(node.items), node.max);
    case 'workflow':
      return planTexts.workflow(node.workflow);
    case 'ask':
      return planTexts.ask(node.mode);
    case 'wait':
      return planTexts.wait();
    case 'set':
      return planTexts.set(node.updates.map(({ field }) => field));
    case 'goto':
      return planTexts.goto(node.target, node.max);
    case 'compensate':
      return planTexts.compensate(node.steps.map(({ tool }) => tool));
    case 'compute':
    case 'return':
    case 'error':
    case 'shell':
    case 'delegate':
      return undefined;
    default:
      return unreachable(node);
  }
}

function armsOf(node: BranchNode): string[] {
  const cases = node.cases.map((arm) =>
    planTexts.arm(arm.id, printExpression(arm.when), 'goto' in arm ? arm.goto : undefined),
  );
  if (node.else === undefined) return cases;
  return [...cases, planTexts.elseArm(node.else.id, 'goto' in node.else ? node.else.goto : undefined)];
}

function conditionOf(planned: PlannedNode): string | undefined {
  if (!planned.needsSelection) return undefined;
  const { failed, chosen } = routersOf(planned);
  const parts = [
    ...(chosen.length === 0 ? [] : [planTexts.onlyIf.chosen(chosen)]),
    ...(failed.length === 0 ? [] : [planTexts.onlyIf.failed(failed)]),
  ];
  return parts.length === 0 ? planTexts.onlyIf.never() : parts.join(', or ');
}

/** Who may select a node: branches that choose it, and steps whose failure it takes over. */
export function routersOf(planned: PlannedNode): { readonly chosen: string[]; readonly failed: string[] } {
  const { id } = planned.node;
  const chosen: string[] = [];
  const failed: string[] = [];
  for (const { node } of planned.routers) {
    const { onError } = node;
    const takesOver = onError !== undefined && 'fallbackNode' in onError && onError.fallbackNode === id;
    if (takesOver || (node.kind === 'parallel' && node.compensateNode === id)) failed.push(node.id);
    else if (node.kind === 'branch' && leadsTo(node, id)) chosen.push(node.id);
  }
  return { chosen, failed };
}

function leadsTo(node: BranchNode, id: string): boolean {
  const arms = [...node.cases, ...(node.else === undefined ? [] : [node.else])];
  return arms.some((arm) => 'goto' in arm && arm.goto === id);
}
