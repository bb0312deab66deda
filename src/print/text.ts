import type { JsonSchema } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import { isFailFast } from '../graph/limits.js';
import type { Arm, Graph, Input, StateField } from '../graph/model.js';
import { compensationsOf } from '../graph/nodes.js';
import { inlineText } from '../graph/printable-text.js';
import { planOf } from '../plan/compile.js';
import type { PlannedNode, ScopePlan } from '../plan/plan.js';
import {
  describeJoin,
  describeNode,
  describeOwnResources,
  describePolicy,
  describeRetry,
  describeUndoing,
  describeValue,
} from './describe.js';
import { printExpr } from './expression.js';
import { type Attempt, attemptOf, fallbackOf, soleBody, sourcesOf } from './shapes.js';

/**
 * A workflow as an outline: one line for each step, its content indented, and below it what differs from the default. The
 * default is: after the step before, in order, without a condition, once. The text ends with a line break.
 */
export function printText(graph: Graph): string {
  return `${graph.name}: ${inlineText(graph.description)}\n${printOutline(graph)}`;
}

/** The outline without its first line, which names the workflow. */
export function printOutline(graph: Graph): string {
  const plan = planOf(graph).main;
  const lines = [
    ...section('arguments', graph.inputs.map(describeInput)),
    ...section('state', (graph.state ?? []).map(describeField)),
    ...section(
      'instructions',
      graph.instructions.map(({ resource }) => resource),
    ),
    ...section('behaviour', describeBehaviour(graph)),
    'steps:',
    ...printNodes(plan.root.nodes),
    ...(graph.returns === undefined ? [] : [`returns: ${printExpr(graph.returns)}`]),
  ];
  return `${lines.map((line) => indented(line)).join('\n')}\n`;
}

/** Writes a line of the outline without the line breaks of its texts. */
function indented(line: string): string {
  const [indent = ''] = /^ */.exec(line) ?? [];
  return indent + inlineText(line.slice(indent.length));
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `- ${line}`)];
}

function describeInput({ name, schema, required, default: preset, secret }: Input): string {
  return [
    `${name}: ${describeSchema(schema)}`,
    ...(required || preset !== undefined ? [] : ['optional']),
    ...(preset === undefined || secret === true ? [] : [`${JSON.stringify(preset)} by default`]),
    ...(secret ? ['secret'] : []),
  ].join(', ');
}

function describeField({ name, schema, initial, secret }: StateField): string {
  return [
    `${name}: ${describeSchema(schema)}`,
    ...(initial === undefined || secret === true ? [] : [`${JSON.stringify(initial)} at first`]),
    ...(secret ? ['secret'] : []),
  ].join(', ');
}

function describeSchema(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.join(' | ');
  return typeof schema.type === 'string' ? schema.type : 'any';
}

function describeBehaviour(graph: Graph): string[] {
  const { errorStrategy, onFailure, task, maxConcurrency } = graph;
  const isCollected = errorStrategy?.kind === 'collect';
  return [
    ...(isCollected ? ['failures are collected: what does not depend on them goes on'] : []),
    ...(errorStrategy?.kind === 'retry'
      ? [`failures of calls and reads: ${describeRetry(errorStrategy.retry)}`]
      : []),
    ...(!isCollected && !isFailFast(graph) ? ['failures do not stop what does not depend on them'] : []),
    ...(onFailure === undefined ? [] : ['when it fails, what it did is undone']),
    ...(task === undefined
      ? []
      : ['a step that would fail the run waits for its result, or for another attempt']),
    ...(maxConcurrency === undefined ? [] : [`at most ${maxConcurrency} calls run at once`]),
  ];
}

/** @param attempt the attempt that the nodes are a part of, whose routes are then omitted. */
function printNodes(nodes: readonly PlannedNode[], attempt?: Attempt): string[] {
  return nodes.flatMap((planned) => {
    const { node } = planned;
    const inner = [
      ...describeOrder(planned, attempt?.otherwise[0] === node),
      ...describeDetails(planned, attempt?.risky === node),
      ...printBodies(planned),
    ];
    return [`- ${node.id}: ${describeNode(node)}`, ...inner.map((line) => `  ${line}`)];
  });
}

function describeOrder(planned: PlannedNode, takesOver: boolean): string[] {
  const { node, scope, index } = planned;
  const routers = planned.selectors;
  const after = sourcesOf(planned).filter((source) => !routers.includes(source));
  const isUsual =
    index === 0 ? after.length === 0 : after.length === 1 && after[0] === scope.nodes[index - 1];
  const rule = describeJoin(planned);
  const join = rule === undefined ? '' : ` (${rule})`;
  const names = after.map((source) => source.node.id).join(', ');
  const isSelected = planned.needsSelection && after.length === 0;
  return [
    ...((isUsual || isSelected) && join === '' ? [] : [`after: ${names === '' ? 'nothing' : names}${join}`]),
    ...(routers.length === 0 || takesOver
      ? []
      : [`selected by: ${routers.map((router) => router.node.id).join(', ')}`]),
    ...(node.when === undefined ? [] : [`if: ${printExpr(node.when)}`]),
  ];
}

function describeDetails({ node }: PlannedNode, isTried: boolean): string[] {
  const fallback = isTried ? undefined : fallbackOf(node);
  const undoing = compensationsOf(node).map((each) => `undone by: ${describeUndoing(each)}`);
  return [
    ...describeOwnResources(node),
    ...('input' in node && node.input.entries.length > 0 ? [`with: ${printExpr(node.input)}`] : []),
    ...(node.reads === undefined || node.reads.length === 0 ? [] : [`reads: ${node.reads.join(', ')}`]),
    ...(node.writes === undefined ? [] : [`writes: ${node.writes}`]),
    ...describePolicy(node),
    ...(fallback === undefined ? [] : [`on failure: go to ${fallback}`]),
    ...(node.kind === 'parallel' && node.compensateNode !== undefined
      ? [`undone by: ${node.compensateNode}`]
      : []),
    ...(node.kind === 'compensate' ? node.steps.map((each) => `- call ${describeUndoing(each)}`) : undoing),
  ];
}

/** Bodies are in the order of the arms that have one. */
function printBodies({ node, parts }: PlannedNode): string[] {
  const [first] = parts;
  const attempt = attemptOf(node);
  if (attempt !== undefined && first !== undefined) return printAttempt(attempt, first);
  if (soleBody(node) !== undefined) return printBody('steps:', first);
  const remaining = [...parts];
  const next = (title: string): string[] => printBody(title, remaining.shift());
  const armLines = (title: string, arm: Arm): string[] =>
    'goto' in arm ? [`${title}: go to ${arm.goto}`] : next(`${title}:`);
  switch (node.kind) {
    case 'branch':
      return [
        ...node.cases.flatMap((arm) => armLines(`case ${arm.id}, if ${printExpr(arm.when)}`, arm)),
        ...(node.else === undefined
          ? []
          : armLines(node.else.id === 'else' ? node.else.id : `else ${node.else.id}`, node.else)),
      ];
    case 'parallel':
      return node.branches.flatMap(({ id }) => next(`branch ${id}:`));
    case 'foreach':
      return next('each:');
    default:
      return [];
  }
}

function printAttempt(attempt: Attempt, { nodes, value }: ScopePlan): string[] {
  const part = (title: string, members: readonly Node[]): string[] => {
    const inside = nodes.filter(({ node }) => members.includes(node));
    return [title, ...printNodes(inside, attempt).map((line) => `  ${line}`)];
  };
  const result = describeValue(value, attempt);
  return [
    ...part('try:', attempt.tried),
    ...part('otherwise:', attempt.otherwise),
    ...(result === undefined ? [] : [`gives: ${result}`]),
  ];
}

function printBody(title: string, body: ScopePlan | undefined): string[] {
  if (body === undefined) return [];
  const value = body.value === undefined ? [] : [`gives: ${printExpr(body.value)}`];
  const lines = [...printNodes(body.nodes), ...value];
  return lines.length === 0 ? [`${title} nothing`] : [title, ...lines.map((line) => `  ${line}`)];
}
