import { canonicalExpr } from '../graph/canonical.js';
import type { Expr } from '../graph/expression/tree.js';
import { namedSteps } from './needs.js';
import type { RoutersOf } from './routes.js';
import type { Placed, PlacedScope, Reader, Subject } from './subject.js';
import type { WaitsOf } from './waits.js';

/** What is asked before something runs, as far as it tells of steps that may have been skipped. */
export interface Guards {
  /** Whether a condition on the way to a reader names a step; `given` are those within its expression. */
  asks(reader: Reader, given: readonly Expr[], step: Placed): boolean;
  /** Whether what holds where a reader reads is enough for a step to run. */
  implies(reader: Reader, given: readonly Expr[], step: Placed): boolean;
}

/**
 * A condition guards what it leads to: that of the node itself, of what it stands in, of the case it is taken by, and
 * of a `return`, `error` or `goto` before it. Which way round it asks is not looked at.
 */
export function guardsIn(subject: Subject, waitsOf: WaitsOf, routersOf: RoutersOf): Guards {
  const names = new Map<Placed, ReadonlySet<string>>();
  const namesFor = (placed: Placed): ReadonlySet<string> => {
    const known = names.get(placed);
    if (known !== undefined) return known;
    // Steps that select each other are a fault of their own.
    names.set(placed, new Set());
    const found = new Set(conditionsAround(placed, routersOf).flatMap((when) => [...namedSteps(when)]));
    names.set(placed, found);
    return found;
  };
  const gates = gatesIn(subject, namesFor);
  const behind = new Map<Placed, ReadonlySet<Placed>>();
  const isBehind = (placed: Placed, gate: Placed): boolean => {
    const known = behind.get(gate) ?? nodesBehind(gate, waitsOf);
    behind.set(gate, known);
    return known.has(placed);
  };

  return {
    asks(reader, given, { node: { id } }) {
      if (given.some((condition) => namedSteps(condition).has(id))) return true;
      const line = lineOf(reader);
      if (line.some((placed) => namesFor(placed).has(id))) return true;
      const ofStep = gates.get(id) ?? [];
      // What a workflow returns in the end is behind everything.
      if (line.length === 0) return ofStep.length > 0;
      return ofStep.some((gate) => line.some((placed) => placed !== gate && isBehind(placed, gate)));
    },
    implies(reader, given, { node: { when } }) {
      const holding = [...given, ...lineOf(reader).flatMap(({ node }) => node.when ?? [])];
      const parts = new Set(holding.flatMap(partsOf));
      return when !== undefined && partsOf(when).every((part) => parts.has(part));
    },
  };
}

/** A reader's node and all it stands in, the innermost first. */
function lineOf({ node, scope }: Reader): Placed[] {
  const line = node === undefined ? [] : [node];
  for (let { owner }: PlacedScope = scope; owner !== undefined; { owner } = owner.scope) line.push(owner);
  return line;
}

function conditionsAround(placed: Placed, routersOf: RoutersOf): Expr[] {
  const own = placed.node.when === undefined ? [] : [placed.node.when];
  const { owner } = placed.scope;
  const taken = [...routersOf(placed), ...(owner === undefined ? [] : [owner])].flatMap(({ node }) =>
    node.kind === 'branch' ? node.cases.map(({ when }) => when) : [],
  );
  return [...own, ...taken];
}

/** By the step they ask for: the nodes that end or repeat a part of the run, and what those stand in. */
function gatesIn(
  { placed }: Subject,
  namesFor: (placed: Placed) => ReadonlySet<string>,
): ReadonlyMap<string, readonly Placed[]> {
  const gates = new Map<string, Placed[]>();
  for (const end of placed) {
    if (!['return', 'error', 'goto'].includes(end.node.kind)) continue;
    const line = lineOf({ scope: end.scope, node: end });
    for (const name of new Set(line.flatMap((each) => [...namesFor(each)]))) {
      const known = gates.get(name);
      if (known === undefined) gates.set(name, [...line]);
      else known.push(...line);
    }
  }
  return gates;
}

/** The nodes of its scope that wait for a node, directly or not, as far as they are declared behind it. */
function nodesBehind(gate: Placed, waitsOf: WaitsOf): ReadonlySet<Placed> {
  const behind = new Set([gate]);
  for (const each of gate.scope.nodes.slice(gate.index + 1)) {
    for (const before of waitsOf(each).all) {
      if (!behind.has(before)) continue;
      behind.add(each);
      break;
    }
  }
  return behind;
}

/** The conditions that all have to hold. */
function partsOf(when: Expr): string[] {
  return when.kind === 'and' ? when.items.flatMap(partsOf) : [canonicalExpr(when)];
}
