import { isSelectedOnly, type RoutersOf, routersIn, routesOf } from '../check/routes.js';
import { type Placed, type PlacedScope, type Subject, sightOf, subjectOf } from '../check/subject.js';
import { type WaitsOf, waitsIn } from '../check/waits.js';
import { references } from '../graph/expression/references.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Graph, Node } from '../graph/model.js';
import { unreachable } from '../graph/unreachable.js';
import {
  describeAttempts,
  describeFallback,
  describeJoin,
  describeNode,
  describeUndoing,
  describeValue,
  times,
} from './describe.js';
import { printExpr } from './expression.js';
import { label } from './mermaid-label.js';
import { sourcesOf } from './order.js';
import { armsOf, attemptOf, soleBody } from './shapes.js';

/**
 * A workflow as a Mermaid flowchart. Steps are named `n0`, `n1` … in declaration order, whatever their ids are.
 * Containers are subgraphs. A plain arrow is order; a thick one leads to what runs only when it is selected; a dotted
 * one to what undoes. A step with a condition has a rhombus before it, whose `no` leads past the step, or to a round
 * `skipped` where nothing comes after it. Nothing follows what ends the run. Ends with a line break.
 */
export function printMermaid(graph: Graph): string {
  const subject = subjectOf(graph);
  const chart: Chart = {
    subject,
    names: new Map(subject.placed.map((placed, index) => [placed, `n${index}`])),
    waitsOf: waitsIn(subject),
    routersOf: routersIn(subject),
    resultSources: graph.returns === undefined ? [] : resultSources(graph.returns, subject),
  };
  const result = graph.returns === undefined ? [] : printResult(graph.returns, chart);
  const lines = [...printScope(subject.root, chart), ...result].map((line) => `  ${line}`);
  return ['flowchart TD', ...lines, ''].join('\n');
}

interface Chart {
  readonly subject: Subject;
  readonly names: ReadonlyMap<Placed, string>;
  readonly waitsOf: WaitsOf;
  readonly routersOf: RoutersOf;
  /** The steps at the top whose values the result reads, in declaration order. */
  readonly resultSources: readonly Placed[];
}

function nameOf(placed: Placed, { names }: Chart): string {
  return names.get(placed) ?? '';
}

function printScope(scope: PlacedScope, chart: Chart): string[] {
  return [
    ...scope.nodes.flatMap((placed) => printNode(placed, chart)),
    ...scope.nodes.flatMap((placed) => printOrder(placed, chart)),
    ...scope.nodes.flatMap((placed) => printRoutes(placed, chart)),
    ...printSkips(scope, chart),
  ];
}

/** Where the `no` of a condition leads when no step comes after it. */
function printSkips({ nodes }: PlacedScope, chart: Chart): string[] {
  const passed = new Set([
    ...chart.resultSources,
    ...nodes.flatMap((placed) =>
      sourcesInOrder(placed, chart).filter((source) => passesSkip(placed, source, chart)),
    ),
  ]);
  return nodes
    .filter((placed) => !passed.has(placed))
    .flatMap((placed) =>
      waysPast(placed, chart).map((way) => `${way} ${nameOf(placed, chart)}skip([${label(['skipped'])}])`),
    );
}

function printNode(placed: Placed, chart: Chart): string[] {
  const { node, bodies } = placed;
  const name = nameOf(placed, chart);
  const own = [node.title ?? node.id, describeNode(node), ...describeUnusual(placed, chart)];
  const condition = printCondition(placed, chart);
  if (bodies.length === 0)
    return [...condition, name + shaped(node, label(own)), ...printUndoing(placed, chart)];
  const sole = soleBody(node);
  const given = sole && describeValue(sole.value, attemptOf(node));
  if (given !== undefined) own.push(`gives ${given}`);
  // Without anything in it a subgraph is none.
  if (sole?.nodes.length === 0)
    return [...condition, `${name}[${label(own)}]`, ...printUndoing(placed, chart)];
  const inner = node.kind === 'branch' ? printArms(placed, chart) : printBodies(placed, chart);
  return [
    ...condition,
    `subgraph ${name}[${label(own)}]`,
    ...inner.map((line) => `  ${line}`),
    'end',
    ...printUndoing(placed, chart),
  ];
}

/** The rhombus that decides whether the node runs. */
function printCondition(placed: Placed, chart: Chart): string[] {
  const { when } = placed.node;
  if (when === undefined) return [];
  const decision = entryOf(placed, chart);
  return [
    `${decision}{${label([`if ${printExpr(when)}`])}}`,
    `${decision} -->|${label(['yes'])}| ${nameOf(placed, chart)}`,
  ];
}

/** Where arrows to a node end: at its condition, if it has one. */
function entryOf(placed: Placed, chart: Chart): string {
  const name = nameOf(placed, chart);
  return placed.node.when === undefined ? name : `${name}when`;
}

/** How its join, its attempts and its fallback are not as usual. */
function describeUnusual(placed: Placed, { waitsOf }: Chart): string[] {
  const join = describeJoin(placed, waitsOf(placed).joined);
  return [
    ...(join === undefined ? [] : [`after: ${join}`]),
    ...describeAttempts(placed.node).map((line) => `tried: ${line}`),
    ...describeFallback(placed.node),
  ];
}

/** The shape of a node says what it is: a call is a box, a decision a rhombus, an end is round. */
function shaped({ kind }: Node, text: string): string {
  switch (kind) {
    case 'branch':
      return `{${text}}`;
    case 'workflow':
      return `[[${text}]]`;
    case 'ask':
      return `[/${text}/]`;
    case 'wait':
    case 'goto':
      return `{{${text}}}`;
    case 'set':
      return `[(${text})]`;
    case 'return':
    case 'error':
      return `([${text}])`;
    case 'compensate':
      return `[\\${text}\\]`;
    default:
      return `[${text}]`;
  }
}

/** A branch decides first; its arrows say when. Arms that lead elsewhere start from the same decision. */
function printArms(placed: Placed, chart: Chart): string[] {
  const { node, bodies } = placed;
  if (node.kind !== 'branch') return [];
  const [only] = bodies;
  if (only !== undefined && soleBody(node) !== undefined) return printScope(only, chart);
  const decision = `${nameOf(placed, chart)}if`;
  const conditions = new Map(node.cases.map(({ id, when }) => [id, printExpr(when)]));
  const ways = bodies.map((body, index) => {
    const arm = body.arm ?? '';
    return `${decision} -->|${label([conditions.get(arm) ?? 'else'])}| ${bodyName(placed, index, chart)}`;
  });
  return [`${decision}{${label(['?'])}}`, ...printBodies(placed, chart), ...ways];
}

function printBodies(placed: Placed, chart: Chart): string[] {
  return placed.bodies.flatMap((body, index) => {
    const name = bodyName(placed, index, chart);
    const value = body.value === undefined ? [] : [`gives ${printExpr(body.value)}`];
    const title = label([...(body.arm === undefined ? ['each'] : [body.arm]), ...value]);
    // Without anything in it a subgraph is none.
    if (body.nodes.length === 0) return [`${name}[${title}]`];
    return [`subgraph ${name}[${title}]`, ...printScope(body, chart).map((line) => `  ${line}`), 'end'];
  });
}

function bodyName(placed: Placed, index: number, chart: Chart): string {
  return `${nameOf(placed, chart)}b${index}`;
}

function printUndoing(placed: Placed, chart: Chart): string[] {
  const { node } = placed;
  const name = nameOf(placed, chart);
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

function printOrder(placed: Placed, chart: Chart): string[] {
  return sourcesInOrder(placed, chart).flatMap((source) => {
    const ways = follows(placed, source, chart) ? [`${nameOf(source, chart)} -->`] : [];
    if (passesSkip(placed, source, chart)) ways.push(...waysPast(source, chart));
    return ways.map((way) => `${way} ${entryOf(placed, chart)}`);
  });
}

/** What a node comes after. A node that selects it has an arrow of its own to it. */
function sourcesInOrder(placed: Placed, { routersOf, waitsOf }: Chart): readonly Placed[] {
  const routers = routersOf(placed);
  return sourcesOf(placed, waitsOf).filter((source) => !routers.includes(source));
}

/** The arrow of a node that is left out because of its condition. */
function waysPast(source: Placed, chart: Chart): string[] {
  return source.node.when === undefined ? [] : [`${entryOf(source, chart)} -->|${label(['no'])}|`];
}

/** Whether a node may run although what it waits for was skipped. */
function passesSkip(placed: Placed, source: Placed, { waitsOf }: Chart): boolean {
  const { joined } = waitsOf(placed);
  if (!joined.has(source)) return true;
  const { join } = placed.node;
  switch (join) {
    case 'none_failed':
    case 'all_done':
      return true;
    case 'none_failed_min_one_success':
    case 'one_success':
      return joined.size > 1;
    case 'all_success':
      return false;
    default:
      return unreachable(join);
  }
}

/** Whether a node can run after another one has run. */
function follows(placed: Placed, source: Placed, chart: Chart): boolean {
  const end = endOf(source, chart);
  return end === undefined || (end === 'failure' && placed.node.join === 'all_done');
}

/** What always becomes of the scope of a node that has run, where nothing handles it. */
type End = 'failure' | 'return';

function endOf({ node, bodies }: Placed, chart: Chart): End | undefined {
  if (node.onError !== undefined) return undefined;
  switch (node.kind) {
    case 'return':
      return 'return';
    case 'error':
      return 'failure';
    case 'goto':
      return node.onLimit === 'continue' ? undefined : 'failure';
    case 'branch': {
      if (armsOf(node).some((arm) => 'goto' in arm)) return undefined;
      const ends = bodies.map((body) => endOfScope(body, chart));
      if (ends.includes(undefined)) return undefined;
      return ends.includes('failure') ? 'failure' : 'return';
    }
    default:
      return undefined;
  }
}

function endOfScope({ nodes }: PlacedScope, chart: Chart): End | undefined {
  const last = nodes.at(-1);
  const isSure = last !== undefined && last.node.when === undefined && !isSelectedOnly(last, chart.routersOf);
  return isSure ? endOf(last, chart) : undefined;
}

function printRoutes(placed: Placed, chart: Chart): string[] {
  const { node, scope, bodies } = placed;
  const name = nameOf(placed, chart);
  const beside = (id: string): string | undefined => {
    const target = chart.subject.nodes.get(id);
    return target?.scope === scope ? entryOf(target, chart) : undefined;
  };
  const line = (from: string, arrow: string, said: string, target: string): string[] => {
    const to = beside(target);
    return to === undefined ? [] : [`${from} ${arrow}|${label([said])}| ${to}`];
  };
  const routes = routesOf(node).flatMap(({ kind, target, arm }) => {
    if (kind === 'fallbackNode') return line(name, '==>', 'on failure', target);
    if (kind === 'compensateNode') return line(name, '-.->', 'undone by', target);
    const taken = node.kind === 'branch' ? node.cases.find(({ id }) => id === arm) : undefined;
    const decision = bodies.length === 0 ? name : `${name}if`;
    return line(decision, '==>', taken === undefined ? 'else' : printExpr(taken.when), target);
  });
  const back =
    node.kind === 'goto' ? line(name, '==>', `again, at most ${times(node.max)}`, node.target) : [];
  return [...routes, ...back];
}

function printResult(value: Expr, chart: Chart): string[] {
  return [
    `result([${label(['result', printExpr(value)])}])`,
    ...chart.resultSources.flatMap((source) =>
      [`${nameOf(source, chart)} -->`, ...waysPast(source, chart)].map((way) => `${way} result`),
    ),
  ];
}

function resultSources(value: Expr, { nodes, root }: Subject): readonly Placed[] {
  const sources = new Set<Placed>();
  for (const { ref } of references(value)) {
    const target = ref.root === 'steps' ? nodes.get(String(ref.path[0])) : undefined;
    const sight = target === undefined ? undefined : sightOf(target, { scope: root });
    if (sight?.kind === 'seen') sources.add(sight.source);
  }
  return root.nodes.filter((placed) => sources.has(placed));
}
