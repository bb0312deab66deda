import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import {
  childrenOf,
  type DataPath,
  dataPath,
  dataPaths,
  formatPath,
  type PathSegment,
  pathKey,
} from '../graph/expression/traversal.js';
import type { Expr, GetExpr } from '../graph/expression/tree.js';
import { nearestName } from '../graph/names.js';
import { expressionsOf } from '../graph/nodes.js';
import type { SourceLocation } from '../graph/source-location.js';
import { locationOfExpr, locationOfNode } from '../graph/source-location.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { besidePath, isOptionalChain } from './narrowing.js';
import { textFaults } from './texts.js';
import {
  followed,
  inTurn,
  isNullish,
  type Locals,
  type Names,
  NO_LOCALS,
  SETTLED,
  testOf,
  typeOf,
  where,
  without,
} from './type-of.js';
import { itemOf, read, typesOf, UNKNOWN, type ValueType } from './value-type.js';
import type { NamesIn } from './values.js';

/**
 * SW3021 and SW3022: values in texts that a text cannot have. SW3016: fields that only some forms of a value have, without a condition on the form. SW4005 and SW3013: paths that no
 * output of the step, or no value of the argument, can have. Items of loops and fields of the state are SW4005 as well.
 */
export function checkOutputPaths(plan: WorkflowPlan, namesIn: NamesIn): Diagnostic[] {
  const { graph } = plan;
  const diagnostics: Diagnostic[] = [];
  for (const planned of plan.nodes) {
    const { node, scope } = planned;
    const source = locationOfNode(node, graph);
    for (const expr of expressionsOf(node)) {
      // The node's own condition holds for its other expressions.
      const names = namesIn(scope, expr === node.when ? undefined : planned);
      const isQuestion =
        expr === node.when || (node.kind === 'branch' && node.cases.some(({ when }) => when === expr));
      checkPaths(expr, source, names, diagnostics);
      const isShown = expr === node.guidance || expr === node.summary;
      formFaults(expr, { source, names, isQuestion, isShown }, diagnostics);
    }
  }
  for (const scope of plan.scopes) {
    if (scope.value === undefined) continue;
    const source = scope.container === undefined ? graph.source : locationOfNode(scope.container.node, graph);
    const names = namesIn(scope);
    checkPaths(scope.value, source, names, diagnostics);
    formFaults(scope.value, { source, names, isQuestion: false, isShown: false }, diagnostics);
  }
  return diagnostics;
}

function checkPaths(
  expr: Expr,
  source: SourceLocation | undefined,
  names: Names,
  diagnostics: Diagnostic[],
): void {
  for (const { ref, segments } of dataPaths(expr)) {
    const { root } = ref;
    if (root === 'error' || root === 'index' || root === 'local' || root === 'run') continue;
    const step = String(ref.path[0]);
    const missing = missingIn(
      segments,
      root === 'nodes' ? SETTLED : names[root](step),
      ref.find !== undefined,
    );
    if (missing === undefined) continue;
    const location = locationOfExpr(missing.segment, source);
    const { path, suggestion } = missing;
    if (root === 'inputs')
      diagnostics.push(diagnostic('SW3013', location, { argument: step, path, suggestion }));
    else diagnostics.push(diagnostic('SW4005', location, { step, ...PARTS[root], path, suggestion }));
  }
}

/** What a path leads into, for messages, where it is not the result of a step. */
const PARTS = {
  steps: {},
  nodes: { of: 'the outcome of' },
  item: { of: 'item' },
  state: { of: 'state field' },
} as const;

/**
 * The first key of a path that no value has.
 *
 * @param isOfData the reference names what data has: a list has no `length` there.
 */
function missingIn(
  segments: readonly PathSegment[],
  value: ValueType,
  isOfData: boolean,
):
  | { readonly segment: PathSegment; readonly path: string; readonly suggestion: string | undefined }
  | undefined {
  let valueType = value;
  let length = 0;
  for (const segment of segments) {
    length += 1;
    const isLength = isOfData && segment.key === 'length' && hasLength(valueType);
    const next = isLength ? ({ kind: 'missing', keys: [] } as const) : read(valueType, segment.key);
    if (next.kind === 'missing') {
      const suggestion = nearestName(String(segment.key), next.keys);
      return { segment, path: formatPath(segments.slice(0, length)), suggestion };
    }
    valueType = next.valueType;
  }
  return undefined;
}

/** Whether a value is a list or a text. */
function hasLength(valueType: ValueType): boolean {
  const types = typesOf(valueType);
  return (
    types !== undefined && types.size > 0 && [...types].every((type) => type === 'array' || type === 'string')
  );
}

interface Reading {
  readonly source: SourceLocation | undefined;
  readonly names: Names;
  readonly locals?: Locals;
  /** Whether the expression only tests for a value. */
  readonly isQuestion: boolean;
  /** Whether the expression is only shown. */
  readonly isShown: boolean;
}

/** The reads in an expression that not every form of a value supports, under the conditions around each read. */
function formFaults(expr: Expr, reading: Reading, diagnostics: Diagnostic[]): void {
  switch (expr.kind) {
    case 'literal':
      return;
    case 'ref':
    case 'get': {
      const path = dataPath(expr);
      if (path !== undefined && !isOptionalChain(expr)) formFault(path, reading, diagnostics);
      if (expr.kind === 'ref') return;
      if (path === undefined) diagnostics.push(...constantFaults(expr, reading));
      const parts = path === undefined ? childrenOf(expr).map((child) => child.expr) : besidePath(expr);
      const inner = path === undefined ? reading : { ...reading, isQuestion: false };
      for (const part of parts) formFaults(part, inner, diagnostics);
      return;
    }
    case 'dict': {
      const part = { ...reading, isQuestion: false };
      for (const entry of expr.entries)
        formFaults('key' in entry ? entry.value : entry.spread, part, diagnostics);
      return;
    }
    default:
      formFaultsOfParts(expr, reading, diagnostics);
  }
}

/** A key that a constant does not have: an assertion can hide it from the compiler. */
function constantFaults(expr: GetExpr, { source, names, isQuestion }: Reading): Diagnostic[] {
  const segment = pathKey(expr.key);
  if (expr.of.kind !== 'literal' || segment === undefined || expr.optional === true || isQuestion) return [];
  const next = read(typeOf(expr.of, names), segment);
  if (next.kind !== 'missing') return [];
  const suggestion = nearestName(String(segment), next.keys);
  const constant = { step: '(constant)', of: 'the constant', path: String(segment), suggestion } as const;
  return [diagnostic('SW4005', locationOfExpr(expr, source), constant)];
}

function formFaultsOfParts(
  expr: Exclude<Expr, { kind: 'literal' | 'ref' | 'get' | 'dict' }>,
  reading: Reading,
  diagnostics: Diagnostic[],
): void {
  const { names, locals = NO_LOCALS, isQuestion } = reading;
  const inside = (part: Expr | undefined, more: Partial<Reading> = {}): void => {
    if (part !== undefined) formFaults(part, { ...reading, ...more }, diagnostics);
  };
  diagnostics.push(...textFaults(expr, names, locals, reading));
  switch (expr.kind) {
    case 'conditional':
      inside(expr.test, { isQuestion: true });
      inside(expr.then, { names: where(names, expr.test, true) });
      inside(expr.else, { names: where(names, expr.test, false) });
      return;
    case 'and':
    case 'or':
      inTurn(expr.items, names, testOf, expr.kind === 'and', (item, innerNames, index) =>
        inside(item, { names: innerNames, isQuestion: isQuestion || index < expr.items.length - 1 }),
      );
      return;
    case 'not':
    case 'compare':
      for (const child of childrenOf(expr)) inside(child.expr, { isQuestion: true });
      return;
    case 'call': {
      const args = [...expr.args, ...(expr.named ?? []).map(({ value }) => value)];
      if (expr.fn === 'coalesce')
        inTurn(args, names, isNullish, true, (arg, innerNames, index) =>
          inside(arg, { names: innerNames, isQuestion: index < args.length - 1 }),
        );
      else for (const arg of args) inside(arg, { isQuestion: expr.fn === 'isNullish' });
      return;
    }
    case 'each': {
      const item = itemOf(typeOf(expr.in, names, locals));
      const hidden = [expr.as, expr.indexAs ?? expr.as];
      const inner = { names: without(names, hidden), locals: new Map([...locals, [expr.as, item]]) };
      inside(expr.in, { isQuestion: false });
      inside(expr.body, { ...inner, isQuestion: expr.mode !== 'map' });
      return;
    }
    case 'let': {
      const value = typeOf(expr.value, names, locals);
      const inner = { names: without(names, [expr.name]), locals: new Map([...locals, [expr.name, value]]) };
      inside(expr.value);
      inside(expr.body, inner);
      return;
    }
    default:
      for (const child of childrenOf(expr)) inside(child.expr, { isQuestion: child.guarded });
  }
}

function formFault(
  path: DataPath,
  { source, names, locals = NO_LOCALS, isQuestion }: Reading,
  diagnostics: Diagnostic[],
): void {
  const { missingKey } = followed(path, names, locals);
  // A test for the field itself is allowed; a read below it is not.
  if (missingKey === undefined || (isQuestion && missingKey.index === path.segments.length - 1)) return;
  const { root, path: start } = path.ref;
  const of = OWNERS[root];
  if (of === undefined) return;
  const location = locationOfExpr(missingKey.segment, source);
  const pathText = formatPath(path.segments.slice(0, missingKey.index + 1));
  if (missingKey.isSometimes)
    diagnostics.push(diagnostic('SW3016', location, { of, name: String(start[0]), path: pathText }));
  // `checkPaths` reports the other paths that no form has.
  else if (root === 'local') {
    const step = String(start[0]);
    const suggestion = missingIn(path.segments, locals.get(step) ?? UNKNOWN, false)?.suggestion;
    diagnostics.push(diagnostic('SW4005', location, { step, of: 'item', path: pathText, suggestion }));
  }
}

/** The names of the roots of paths, for messages. */
const OWNERS: Readonly<Partial<Record<DataPath['ref']['root'], string>>> = {
  inputs: 'argument',
  steps: 'step',
  item: 'item',
  local: 'item',
  state: 'state field',
};
