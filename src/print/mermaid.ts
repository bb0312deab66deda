import type { Expr } from '../graph/expression/tree.js';
import type { AnyDescriptor } from '../graph/kinds/descriptor.js';
import { kindOf } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/kinds/node.js';
import type { Graph } from '../graph/model.js';
import { inlineText } from '../graph/printable-text.js';
import { planOf } from '../plan/compile.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../plan/plan.js';
import { runsAfterSkip } from '../plan/reachability.js';
import {
  describeJoin,
  describeNode,
  describeOwnResources,
  describePolicy,
  describeUndoing,
  describeValue,
  follows,
  resultSources,
  routeArrows,
  sourcesInOrder,
} from './describe.js';
import { printExpr } from './expression.js';
import { attemptOf, soleBody } from './shapes.js';

/**
 * A workflow as a Mermaid flowchart. Steps are named `n0`, `n1` … in declaration order, not by their ids.
 * Containers are subgraphs. A plain arrow is order, a thick arrow a selection, a dotted arrow a compensation. A step with
 * a condition has a rhombus before it, whose `no` leads past the step, or to a round `skipped` if no step comes after it.
 * No arrow leaves a node that ends the run. The text ends with a line break.
 */
export function printMermaid(graph: Graph): string {
  const plan = planOf(graph).main;
  const chart: Chart = {
    plan,
    names: new Map(plan.nodes.map((planned, index) => [planned, `n${index}`])),
    resultSources: graph.returns === undefined ? [] : resultSources(graph.returns, plan),
  };
  const result = graph.returns === undefined ? [] : printResult(graph.returns, chart);
  const lines = [...printScope(plan.root, chart), ...result].map((line) => `  ${line}`);
  return ['flowchart TD', ...lines, ''].join('\n');
}

interface Chart {
  readonly plan: WorkflowPlan;
  readonly names: ReadonlyMap<PlannedNode, string>;
  /** The steps at the top whose values the result reads, in declaration order. */
  readonly resultSources: readonly PlannedNode[];
}

function nameOf(planned: PlannedNode, { names }: Chart): string {
  return names.get(planned) ?? '';
}

function printScope(scope: ScopePlan, chart: Chart): string[] {
  return [
    ...scope.nodes.flatMap((planned) => printNode(planned, chart)),
    ...scope.nodes.flatMap((planned) => printOrder(planned, chart)),
    ...scope.nodes.flatMap((planned) => printRoutes(planned, chart)),
    ...printSkips(scope, chart),
  ];
}

/** The target of the `no` of a condition if no step comes after it. */
function printSkips({ nodes }: ScopePlan, chart: Chart): string[] {
  const passed = new Set([
    ...chart.resultSources,
    ...nodes.flatMap((planned) => sourcesInOrder(planned).filter((source) => runsAfterSkip(planned, source))),
  ]);
  return nodes
    .filter((planned) => !passed.has(planned))
    .flatMap((planned) =>
      waysPast(planned, chart).map((way) => `${way} ${nameOf(planned, chart)}skip([${label(['skipped'])}])`),
    );
}

function printNode(planned: PlannedNode, chart: Chart): string[] {
  const { node, parts } = planned;
  const name = nameOf(planned, chart);
  const own = [node.title ?? node.id, describeNode(node), ...describeUnusual(planned)];
  const condition = printCondition(planned, chart);
  if (parts.length === 0)
    return [...condition, name + SHAPES[kindOf(node).shape](label(own)), ...printUndoing(planned, chart)];
  const sole = soleBody(node);
  const result = sole && describeValue(sole.value, attemptOf(node));
  if (result !== undefined) own.push(`gives ${result}`);
  // Mermaid does not draw an empty subgraph.
  if (sole?.nodes.length === 0)
    return [...condition, `${name}[${label(own)}]`, ...printUndoing(planned, chart)];
  const inner = node.kind === 'branch' ? printArms(planned, chart) : printBodies(planned, chart);
  return [
    ...condition,
    `subgraph ${name}[${label(own)}]`,
    ...inner.map((line) => `  ${line}`),
    'end',
    ...printUndoing(planned, chart),
  ];
}

/** The rhombus that decides whether the node runs. */
function printCondition(planned: PlannedNode, chart: Chart): string[] {
  const { when } = planned.node;
  if (when === undefined) return [];
  const decision = entryOf(planned, chart);
  return [
    `${decision}{${label([`if ${printExpr(when)}`])}}`,
    `${decision} -->|${label(['yes'])}| ${nameOf(planned, chart)}`,
  ];
}

/** The target of arrows to a node: its condition, if it has one. */
function entryOf(planned: PlannedNode, chart: Chart): string {
  const name = nameOf(planned, chart);
  return planned.node.when === undefined ? name : `${name}when`;
}

/** The join, the attempts and the fallback of a node, if they are not the defaults. */
function describeUnusual(planned: PlannedNode): string[] {
  const join = describeJoin(planned);
  return [
    ...(join === undefined ? [] : [`after: ${join}`]),
    ...describeOwnResources(planned.node),
    ...describePolicy(planned.node),
  ];
}

/** The shape of a node by kind: a call is a box, a decision a rhombus, an end is round. */
const SHAPES: Readonly<Record<AnyDescriptor<Node>['shape'], (text: string) => string>> = {
  step: (text) => `[${text}]`,
  decision: (text) => `{${text}}`,
  workflow: (text) => `[[${text}]]`,
  question: (text) => `[/${text}/]`,
  control: (text) => `{{${text}}}`,
  state: (text) => `[(${text})]`,
  end: (text) => `([${text}])`,
  undoing: (text) => `[\\${text}\\]`,
};

/** A branch starts with its decision, whose arrows have the conditions. Arms with a `goto` start there as well. */
function printArms(planned: PlannedNode, chart: Chart): string[] {
  const { node, parts } = planned;
  if (node.kind !== 'branch') return [];
  const [only] = parts;
  if (only !== undefined && soleBody(node) !== undefined) return printScope(only, chart);
  const decision = `${nameOf(planned, chart)}if`;
  const conditions = new Map(node.cases.map(({ id, when }) => [id, printExpr(when)]));
  const ways = parts.map((body, index) => {
    const arm = body.arm ?? '';
    return `${decision} -->|${label([conditions.get(arm) ?? 'else'])}| ${bodyName(planned, index, chart)}`;
  });
  return [`${decision}{${label(['?'])}}`, ...printBodies(planned, chart), ...ways];
}

function printBodies(planned: PlannedNode, chart: Chart): string[] {
  return planned.parts.flatMap((body, index) => {
    const name = bodyName(planned, index, chart);
    const value = body.value === undefined ? [] : [`gives ${printExpr(body.value)}`];
    const title = label([...(body.arm === undefined ? ['each'] : [body.arm]), ...value]);
    // Mermaid does not draw an empty subgraph.
    if (body.nodes.length === 0) return [`${name}[${title}]`];
    return [`subgraph ${name}[${title}]`, ...printScope(body, chart).map((line) => `  ${line}`), 'end'];
  });
}

function bodyName(planned: PlannedNode, index: number, chart: Chart): string {
  return `${nameOf(planned, chart)}b${index}`;
}

function printUndoing(planned: PlannedNode, chart: Chart): string[] {
  const { node } = planned;
  const name = nameOf(planned, chart);
  if (node.kind === 'compensate')
    return node.steps.map((step, index) => undoingLine(name, `${name}u${index}`, describeUndoing(step)));
  return node.compensate === undefined
    ? []
    : [undoingLine(name, `${name}u`, describeUndoing(node.compensate), 'undone by')];
}

function undoingLine(from: string, to: string, what: string, said?: string): string {
  const arrow = said === undefined ? '-.->' : `-.->|${label([said])}|`;
  return `${from} ${arrow} ${to}[${label([what])}]`;
}

function printOrder(planned: PlannedNode, chart: Chart): string[] {
  return sourcesInOrder(planned).flatMap((source) => {
    const ways = follows(planned, source) ? [`${nameOf(source, chart)} -->`] : [];
    if (runsAfterSkip(planned, source)) ways.push(...waysPast(source, chart));
    return ways.map((way) => `${way} ${entryOf(planned, chart)}`);
  });
}

/** The arrow past a node whose condition does not hold. */
function waysPast(source: PlannedNode, chart: Chart): string[] {
  return source.node.when === undefined ? [] : [`${entryOf(source, chart)} -->|${label(['no'])}|`];
}

function printRoutes(planned: PlannedNode, chart: Chart): string[] {
  const name = nameOf(planned, chart);
  return routeArrows(planned).map(({ kind, text, target }) => {
    const from = kind === 'arm' && planned.parts.length > 0 ? `${name}if` : name;
    return `${from} ${kind === 'undo' ? '-.->' : '==>'}|${label([text])}| ${entryOf(target, chart)}`;
  });
}

function printResult(value: Expr, chart: Chart): string[] {
  return [
    `result([${label(['result', printExpr(value)])}])`,
    ...chart.resultSources.flatMap((source) =>
      [`${nameOf(source, chart)} -->`, ...waysPast(source, chart)].map((way) => `${way} result`),
    ),
  ];
}

/** The largest readable length of a line. */
const MAX_LENGTH = 80;

/** Characters with a meaning in a label, written as entities. `#` begins an entity, a backtick a text in Markdown. */
const SPECIAL = /[#"<>&`\\]/g;

/** A prefix that Mermaid would read as a list. */
const LIST = /^(\d*)([-+*.])(?=\s)/;

/** Lines as a quoted label of Mermaid, none of them longer than 80 characters. */
export function label(lines: readonly string[]): string {
  return `"${lines.map((line) => escaped(cut(inlineText(line)))).join('<br/>')}"`;
}

function escaped(text: string): string {
  return text
    .replaceAll(SPECIAL, entity)
    .replace(LIST, (_, digits: string, mark: string) => digits + entity(mark));
}

function entity(char: string): string {
  return `#${char.charCodeAt(0)};`;
}

function cut(text: string): string {
  const characters = [...text];
  return characters.length > MAX_LENGTH ? `${characters.slice(0, MAX_LENGTH - 1).join('')}…` : text;
}
