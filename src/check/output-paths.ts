import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import {
  childrenOf,
  type DataPath,
  dataPath,
  dataPaths,
  formatPath,
  type PathSegment,
} from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import { nearestName } from '../graph/names.js';
import { expressionsOf } from '../graph/nodes.js';
import type { SourceLocation } from '../graph/source-location.js';
import { locationOfExpr, locationOfNode } from '../graph/source-location.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { besidePath, isOptionalChain } from './narrowing.js';
import {
  followed,
  inTurn,
  isNullish,
  type Locals,
  type Names,
  SETTLED,
  testOf,
  typeOf,
  where,
  without,
} from './type-of.js';
import { itemOf, read, type ValueType } from './value-type.js';
import type { NamesIn } from './values.js';

/**
 * SW3016: fields that only some forms of a value have, without a condition on the form. SW4005 and SW3013: paths that no
 * output of the step, or no value of the argument, can have. Items of loops and fields of the state are SW4005 as well.
 */
export function checkOutputPaths(plan: WorkflowPlan, namesIn: NamesIn): Diagnostic[] {
  const { graph } = plan;
  const ofNodes = plan.nodes.flatMap((planned) => {
    const { node, scope } = planned;
    const source = locationOfNode(node, graph);
    return expressionsOf(node).flatMap((expr) => {
      // The node's own condition holds for its other expressions.
      const names = namesIn(scope, expr === node.when ? undefined : planned);
      const isQuestion = expr === node.when || isCase(node, expr);
      return [...checkPaths(expr, source, names), ...formFaults(expr, { source, names, isQuestion })];
    });
  });
  const ofScopes = plan.scopes.flatMap((scope) => {
    if (scope.value === undefined) return [];
    const source = scope.container === undefined ? graph.source : locationOfNode(scope.container.node, graph);
    const names = namesIn(scope);
    return [
      ...checkPaths(scope.value, source, names),
      ...formFaults(scope.value, { source, names, isQuestion: false }),
    ];
  });
  return [...ofNodes, ...ofScopes];
}

function checkPaths(expr: Expr, source: SourceLocation | undefined, names: Names): Diagnostic[] {
  return dataPaths(expr).flatMap(({ ref: { root, path: start }, segments }) => {
    if (root === 'error' || root === 'index' || root === 'local' || root === 'run') return [];
    const step = String(start[0]);
    const missing = missingIn(segments, root === 'nodes' ? SETTLED : names[root](step));
    if (missing === undefined) return [];
    const location = locationOfExpr(missing.segment, source);
    const { path, suggestion } = missing;
    switch (root) {
      case 'inputs':
        return diagnostic('SW3013', location, { argument: step, path, suggestion });
      case 'steps':
        return diagnostic('SW4005', location, { step, path, suggestion });
      case 'nodes':
        return diagnostic('SW4005', location, { step, of: 'the outcome of', path, suggestion });
      case 'item':
        return diagnostic('SW4005', location, { step, of: 'item', path, suggestion });
      case 'state':
        return diagnostic('SW4005', location, { step, of: 'state field', path, suggestion });
      default:
        return root satisfies never;
    }
  });
}

/** The first key of a path that no value has. */
function missingIn(
  segments: readonly PathSegment[],
  value: ValueType,
):
  | { readonly segment: PathSegment; readonly path: string; readonly suggestion: string | undefined }
  | undefined {
  let known = value;
  for (const [index, segment] of segments.entries()) {
    const next = read(known, segment.key);
    if (next.kind === 'missing') {
      const suggestion = nearestName(String(segment.key), next.keys);
      return { segment, path: formatPath(segments.slice(0, index + 1)), suggestion };
    }
    known = next.known;
  }
  return undefined;
}

function isCase(node: Node, expr: Expr): boolean {
  return node.kind === 'branch' && node.cases.some(({ when }) => when === expr);
}

interface Reading {
  readonly source: SourceLocation | undefined;
  readonly names: Names;
  readonly locals?: Locals;
  /** Whether the expression only tests for a value. */
  readonly isQuestion: boolean;
}

/** The reads in an expression that not every form of a value supports, under the conditions around each read. */
function formFaults(expr: Expr, reading: Reading): Diagnostic[] {
  if (expr.kind === 'literal') return [];
  const { names, locals = new Map(), isQuestion } = reading;
  const inside = (part: Expr | undefined, more: Partial<Reading> = {}): Diagnostic[] =>
    part === undefined ? [] : formFaults(part, { ...reading, ...more });
  const all = (parts: readonly Expr[], more: Partial<Reading> = {}): Diagnostic[] =>
    parts.flatMap((part) => inside(part, more));
  switch (expr.kind) {
    case 'ref':
    case 'get': {
      const path = dataPath(expr);
      if (path === undefined) return all(childrenOf(expr).map((child) => child.expr));
      return [
        ...(isOptionalChain(expr) ? [] : formFault(path, reading)),
        ...all(besidePath(expr), { isQuestion: false }),
      ];
    }
    case 'conditional':
      return [
        ...inside(expr.test, { isQuestion: true }),
        ...inside(expr.then, { names: where(names, expr.test, true) }),
        ...inside(expr.else, { names: where(names, expr.test, false) }),
      ];
    case 'and':
    case 'or':
      return inTurn(expr.items, names, testOf, expr.kind === 'and', (item, known, index) =>
        inside(item, { names: known, isQuestion: isQuestion || index < expr.items.length - 1 }),
      ).flat();
    case 'not':
    case 'compare':
      return all(
        childrenOf(expr).map((child) => child.expr),
        { isQuestion: true },
      );
    case 'call': {
      const args = [...expr.args, ...(expr.named ?? []).map((arg) => arg.value)];
      if (expr.fn !== 'coalesce') return all(args, { isQuestion: expr.fn === 'isNullish' });
      return inTurn(args, names, isNullish, true, (arg, known, index) =>
        inside(arg, { names: known, isQuestion: index < args.length - 1 }),
      ).flat();
    }
    case 'each': {
      const item = itemOf(typeOf(expr.in, names, locals));
      const hidden = [expr.as, expr.indexAs ?? expr.as];
      const inner = { names: without(names, hidden), locals: new Map([...locals, [expr.as, item]]) };
      return [
        ...inside(expr.in, { isQuestion: false }),
        ...inside(expr.body, { ...inner, isQuestion: expr.mode !== 'map' }),
      ];
    }
    case 'let': {
      const value = typeOf(expr.value, names, locals);
      const inner = { names: without(names, [expr.name]), locals: new Map([...locals, [expr.name, value]]) };
      return [...inside(expr.value), ...inside(expr.body, inner)];
    }
    case 'dict': {
      const part = { ...reading, isQuestion: false };
      return expr.entries.flatMap((entry) => formFaults('key' in entry ? entry.value : entry.spread, part));
    }
    default:
      return childrenOf(expr).flatMap((child) => inside(child.expr, { isQuestion: child.guarded }));
  }
}

function formFault(path: DataPath, { source, names, locals = new Map(), isQuestion }: Reading): Diagnostic[] {
  const { missingKey } = followed(path, names, locals);
  // A test for the field itself is allowed; a read below it is not.
  if (missingKey === undefined || (isQuestion && missingKey.index === path.segments.length - 1)) return [];
  const { root, path: start } = path.ref;
  const of = OWNERS[root];
  if (of === undefined) return [];
  const location = locationOfExpr(missingKey.segment, source);
  const read = formatPath(path.segments.slice(0, missingKey.index + 1));
  // `checkPaths` reports the other paths that no form has.
  if (!missingKey.isSometimes)
    return root === 'local'
      ? [diagnostic('SW4005', location, { step: String(start[0]), of: 'item', path: read })]
      : [];
  return [diagnostic('SW3016', location, { of, name: String(start[0]), path: read })];
}

/** The names of the roots of paths, for messages. */
const OWNERS: Readonly<Partial<Record<DataPath['ref']['root'], string>>> = {
  inputs: 'argument',
  steps: 'step',
  item: 'item',
  local: 'item',
  state: 'state field',
};
