import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Node } from '../graph/model.js';
import { fallbackValue, valueExpressions } from '../graph/node-expressions.js';
import type { Place } from '../graph/place.js';
import { takenSchema } from './calls.js';
import type { CheckEnvironment } from './environment.js';
import { type Guards, guardsIn } from './guards.js';
import { type Need, neededSteps } from './needs.js';
import { placeOfExpr, placeOfNode } from './places.js';
import { isSelectedOnly, type RoutersOf } from './routes.js';
import { requiredKeys, viewOf } from './schema-view.js';
import { type Placed, type Reader, type Subject, sightOf } from './subject.js';
import type { WaitsOf } from './waits.js';

/**
 * SW4024: steps that are read from where they may have been skipped, and nothing provides for that. A guess in favour
 * of the author: whatever asks for the step before, in whichever way, is taken to have asked the right thing.
 */
export function checkSkipped(
  subject: Subject,
  environment: CheckEnvironment,
  waitsOf: WaitsOf,
  routersOf: RoutersOf,
): Diagnostic[] {
  const { graph, placed, scopes, nodes, twice } = subject;
  const chances: Chances = { waitsOf, routersOf, skippable: skippableIn(subject, waitsOf, routersOf) };
  let guards: Guards | undefined;
  const followers = new Map<Placed, ReadonlySet<Placed>>();

  const check = (needs: readonly Need[], reader: Reader, source: Place | undefined): Diagnostic[] => {
    const found = new Map<string, Diagnostic>();
    for (const { ref, given } of needs) {
      const name = String(ref.path[0]);
      const target = twice.has(name) ? undefined : nodes.get(name);
      const sight = target === undefined || found.has(name) ? undefined : sightOf(target, reader);
      if (target === undefined || sight?.kind !== 'seen' || sight.source === sight.user) continue;
      const doubts = doubtsAbout(target, sight.source, chances);
      if (doubts === 'none') continue;
      guards ??= guardsIn(subject, waitsOf, routersOf);
      if (guards.asks(reader, given, target)) continue;
      if (doubts === 'condition' && guards.implies(reader, given, target)) continue;
      if (target === sight.source && sight.user !== undefined) {
        const sure = followers.get(target) ?? followersOf(target, chances);
        followers.set(target, sure);
        if (sure.has(sight.user)) continue;
      }
      const step = reader.node?.node.id ?? reader.scope.owner?.node.id ?? graph.name;
      found.set(name, diagnostic('SW4024', placeOfExpr(ref, source), { name, step }));
    }
    return [...found.values()];
  };

  const ofNodes = placed.flatMap((each) => {
    const needs = neededBy(each.node, environment);
    return check(needs, { scope: each.scope, node: each }, placeOfNode(each.node, graph));
  });
  const ofScopes = scopes.flatMap((scope) => {
    const source = scope.owner === undefined ? graph.source : placeOfNode(scope.owner.node, graph);
    return scope.value === undefined ? [] : check(neededSteps(scope.value, false), { scope }, source);
  });
  return [...ofNodes, ...ofScopes];
}

/**
 * A condition asks for what it names, whatever it then makes of it. What a compensation refers to need not be there:
 * then there is nothing to undo.
 */
function neededBy(node: Node, environment: CheckEnvironment): Need[] {
  const fallback = fallbackValue(node);
  return [...valueExpressions(node), ...(fallback === undefined ? [] : [fallback])].flatMap((expr) => {
    const schema = takenSchema(node, environment);
    if (schema === undefined || !('input' in node) || expr !== node.input) return neededSteps(expr, false);
    const required = requiredKeys(viewOf(schema));
    return node.input.entries.flatMap((entry) =>
      'key' in entry
        ? neededSteps(entry.value, required.includes(entry.key))
        : neededSteps(entry.spread, false),
    );
  });
}

interface Chances {
  readonly waitsOf: WaitsOf;
  readonly routersOf: RoutersOf;
  /** The nodes that may end without a value although the run goes on. */
  readonly skippable: ReadonlySet<Placed>;
}

/** Whether a step may be without a value when what it stands in is done: on its own condition alone, or otherwise. */
function doubtsAbout(target: Placed, source: Placed, chances: Chances): 'none' | 'condition' | 'other' {
  for (let each = target; each !== source; ) {
    const { owner } = each.scope;
    if (owner === undefined || leavesOut(owner.node)) return 'other';
    if (each !== target && chances.skippable.has(each)) return 'other';
    each = owner;
  }
  if (target !== source && chances.skippable.has(source)) return 'other';
  if (!chances.skippable.has(target)) return 'none';
  const { when, ...unconditional } = target.node;
  const own = { ...target, node: unconditional as Node };
  return when !== undefined && target === source && !maySkip(own, chances) ? 'condition' : 'other';
}

/** Whether a container may be done although one of its bodies is not. */
function leavesOut(node: Node): boolean {
  if (fallbackValue(node) !== undefined) return true;
  if (node.kind === 'parallel') return node.onPartialFailure === 'continue';
  return node.kind === 'branch' && node.cases.length + (node.else === undefined ? 0 : 1) > 1;
}

/** In declaration order, so that what a node waits for is known before it. */
function skippableIn({ placed }: Subject, waitsOf: WaitsOf, routersOf: RoutersOf): ReadonlySet<Placed> {
  const skippable = new Set<Placed>();
  for (const each of placed) if (maySkip(each, { waitsOf, routersOf, skippable })) skippable.add(each);
  return skippable;
}

function maySkip(placed: Placed, { waitsOf, routersOf, skippable }: Chances): boolean {
  const { node } = placed;
  if (node.when !== undefined || isSelectedOnly(placed, routersOf)) return true;
  if (node.onError !== undefined && 'fallbackNode' in node.onError) {
    if (!endsScope(placed, node.onError.fallbackNode)) return true;
  }
  const joined = [...waitsOf(placed).joined];
  switch (node.join) {
    case 'all_success':
      return joined.some((each) => skippable.has(each));
    case 'none_failed_min_one_success':
    case 'one_success':
      return joined.length > 0 && joined.every((each) => skippable.has(each));
    case 'none_failed':
    case 'all_done':
      return false;
    default:
      return node.join satisfies never;
  }
}

/** Whether what takes over for a node lets nothing after it run. */
function endsScope({ scope }: Placed, fallback: string): boolean {
  return scope.nodes.some(
    ({ node: { id, kind, when } }) =>
      id === fallback && when === undefined && (kind === 'error' || kind === 'return'),
  );
}

/** The nodes of its scope that only run when a node has succeeded. */
function followersOf(target: Placed, { waitsOf, routersOf }: Chances): ReadonlySet<Placed> {
  const sure = new Set([target]);
  for (const each of target.scope.nodes.slice(target.index + 1)) {
    const joined = [...waitsOf(each).joined];
    const { join } = each.node;
    const needsOne = join === 'none_failed_min_one_success' || join === 'one_success';
    const routers = isSelectedOnly(each, routersOf) ? routersOf(each) : [];
    if (
      (join === 'all_success' && joined.some((before) => sure.has(before))) ||
      (needsOne && joined.length > 0 && joined.every((before) => sure.has(before))) ||
      (routers.length > 0 && routers.every((router) => sure.has(router)))
    )
      sure.add(each);
  }
  return sure;
}
