import { kindOf } from '../../graph/kinds/kinds.js';
import type { Node } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import { compensationsOf, ownResources } from '../../graph/nodes.js';
import { formatLocation } from '../../graph/source-location.js';
import { planOf } from '../../plan/compile.js';
import type { Plan, PlannedNode, ScopePlan, WorkflowPlan } from '../../plan/plan.js';
import { runsAfterSkip } from '../../plan/reachability.js';
import {
  describeJoin,
  describeNode,
  describePolicy,
  describeUndoing,
  describeValue,
  follows,
  resultSources,
  routeArrows,
  sourcesInOrder,
} from '../describe.js';
import { printExpr } from '../expression.js';
import { attemptOf, soleBody } from '../shapes.js';

/** An arrow between two boxes of a group, by their indexes. */
export interface ChartArrow {
  readonly from: number;
  readonly to: number;
  readonly kind: 'order' | 'select' | 'undo' | 'back';
  readonly text?: string;
}

/** Boxes in one place, with the arrows between them. */
export interface ChartGroup {
  /** Missing for the only group of a box. */
  readonly title?: string;
  readonly boxes: readonly ChartBox[];
  readonly arrows: readonly ChartArrow[];
}

/** What is known of a node, by name. */
export type ChartDetails = readonly (readonly [name: string, text: string])[];

/** A node, or the result of a workflow. */
export interface ChartBox {
  /** Unique: the id of the node, after the ids of the `workflow` nodes around it and slashes. */
  readonly key: string;
  readonly kind: Node['kind'] | 'result';
  readonly shape: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly details: ChartDetails;
  /** Its bodies, or the workflow that it runs. */
  readonly groups: readonly ChartGroup[];
}

/** A workflow as nested boxes. */
export interface Chart {
  readonly name: string;
  readonly description: string;
  readonly group: ChartGroup;
}

export interface ChartTool {
  readonly description?: string;
  readonly outputSchema?: unknown;
}

/** The most boxes of a chart. Workflows that would add more are not drawn inside the nodes that run them. */
const MAX_BOXES = 5_000;

/** A workflow as boxes in boxes: bodies of branches, loops and `parallel`, and workflows, are inside their nodes. */
export function chartOf(graph: Graph, tools: ReadonlyMap<string, ChartTool> = new Map()): Chart {
  const plan = planOf(graph);
  const drawing: Drawing = { plan, tools, prefix: '', budget: { boxes: MAX_BOXES } };
  return {
    name: graph.name,
    description: graph.description,
    group: workflowGroup(plan.main, drawing),
  };
}

interface Drawing {
  readonly plan: Plan;
  readonly tools: ReadonlyMap<string, ChartTool>;
  /** Of keys. */
  readonly prefix: string;
  readonly budget: { boxes: number };
}

function workflowGroup(workflow: WorkflowPlan, drawing: Drawing): ChartGroup {
  const { returns } = workflow.graph;
  const group = scopeGroup(workflow.root, drawing);
  if (returns === undefined) return group;
  const text = printExpr(returns);
  const result: ChartBox = {
    key: `${drawing.prefix}=`,
    kind: 'result',
    shape: 'end',
    title: 'result',
    lines: [text],
    details: [['gives', text]],
    groups: [],
  };
  const { nodes } = workflow.root;
  const arrows = resultSources(returns, workflow).map(
    (source): ChartArrow => ({ from: nodes.indexOf(source), to: nodes.length, kind: 'order' }),
  );
  return { boxes: [...group.boxes, result], arrows: [...group.arrows, ...arrows] };
}

function scopeGroup({ nodes }: ScopePlan, drawing: Drawing): ChartGroup {
  drawing.budget.boxes -= nodes.length;
  return {
    boxes: nodes.map((planned) => boxOf(planned, drawing)),
    arrows: nodes.flatMap((planned) => [...orderArrows(planned), ...selectArrows(planned)]),
  };
}

function orderArrows(planned: PlannedNode): ChartArrow[] {
  return sourcesInOrder(planned).flatMap((source) => {
    const isReached = follows(planned, source);
    const isAfterSkip = source.node.when !== undefined && runsAfterSkip(planned, source);
    if (!isReached && !isAfterSkip) return [];
    const arrow = { from: source.index, to: planned.index, kind: 'order' } as const;
    return [isReached ? arrow : { ...arrow, text: 'if skipped' }];
  });
}

function selectArrows(planned: PlannedNode): ChartArrow[] {
  return routeArrows(planned).map(({ kind, text, target }) => ({
    ...{ from: planned.index, to: target.index, text },
    kind: kind === 'undo' || kind === 'back' ? kind : 'select',
  }));
}

function boxOf(planned: PlannedNode, drawing: Drawing): ChartBox {
  const { node } = planned;
  const sole = soleBody(node);
  const result = sole && describeValue(sole.value, attemptOf(node));
  const join = describeJoin(planned);
  const lines = [
    describeNode(node),
    ...(node.when === undefined ? [] : [`if ${printExpr(node.when)}`]),
    ...(join === undefined ? [] : [`after: ${join}`]),
    ...describePolicy(node),
    ...(node.kind === 'compensate'
      ? node.steps.map((step) => `undoes: ${describeUndoing(step)}`)
      : compensationsOf(node).map((each) => `undone by: ${describeUndoing(each)}`)),
    ...(result === undefined ? [] : [`gives ${result}`]),
  ];
  return {
    key: `${drawing.prefix}${node.id}`,
    kind: node.kind,
    shape: kindOf(node).shape,
    title: node.title ?? node.id,
    lines,
    details: detailsOf(planned, lines, drawing),
    groups: groupsOf(planned, drawing),
  };
}

function groupsOf(planned: PlannedNode, drawing: Drawing): readonly ChartGroup[] {
  const { node, parts } = planned;
  if (node.kind === 'workflow') {
    const called = drawing.plan.tasks.get(node.workflow);
    if (called === undefined || called.nodes.length > drawing.budget.boxes) return [];
    return [workflowGroup(called, { ...drawing, prefix: `${drawing.prefix}${node.id}/` })];
  }
  const isSole = soleBody(node) !== undefined;
  const conditions = new Map(
    node.kind === 'branch' ? node.cases.map(({ id, when }) => [id, printExpr(when)]) : [],
  );
  return parts.map((body) => {
    const group = scopeGroup(body, drawing);
    if (isSole || body.arm === undefined) return group;
    const condition = node.kind === 'branch' ? (conditions.get(body.arm) ?? 'else') : undefined;
    const value = body.value === undefined ? '' : `, gives ${printExpr(body.value)}`;
    const title = condition === undefined || condition === body.arm ? body.arm : `${body.arm}: ${condition}`;
    return { title: `${title}${value}`, ...group };
  });
}

function detailsOf(planned: PlannedNode, lines: readonly string[], { tools }: Drawing): ChartDetails {
  const { node } = planned;
  const tool = node.kind === 'call' ? tools.get(node.tool) : undefined;
  const after = sourcesInOrder(planned).map((source) => source.node.id);
  const [does = '', ...rest] = lines;
  return [
    ['step', node.id],
    ['does', does],
    ...(tool?.description === undefined ? [] : [['tool', tool.description] as const]),
    ...('input' in node && node.input.entries.length > 0 ? [['input', printExpr(node.input)] as const] : []),
    ...(after.length === 0 ? [] : [['after', after.join(', ')] as const]),
    ...rest.map((line) => ['', line] as const),
    ...ownResources(node).map(({ resource, uri }) => ['shows', `${resource} (${uri})`] as const),
    ...(tool?.outputSchema === undefined
      ? []
      : [['output schema', JSON.stringify(tool.outputSchema, null, 2)] as const]),
    ...(node.source === undefined ? [] : [['source', formatLocation(node.source)] as const]),
  ];
}
