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
import type { CallExpr, Expr, GetExpr, RefExpr } from '../graph/expression/tree.js';
import { CONTENT } from '../graph/kinds/calls.js';
import { nearestName } from '../graph/names.js';
import { locationOfExpr, type SourceLocation } from '../graph/source-location.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { usesIn } from '../plan/visibility.js';
import { besidePath, isOptionalChain, isThere } from './narrowing.js';
import type { JsonType } from './schema-view.js';
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
import { itemOf, keysOf, read, typesOf, UNKNOWN, type ValueType } from './value-type.js';
import type { NamesIn } from './values.js';

/**
 * SW3021 and SW3022: values in texts that a text cannot have. SW3016: fields that only some forms of a value have, without a condition on the form. SW4005 and SW3013: paths that no
 * output of the step, or no value of the argument, can have. Items of loops and fields of the state are SW4005 as well.
 */
export function checkOutputPaths(plan: WorkflowPlan, namesIn: NamesIn): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const { expr, reader, source } of usesIn(plan)) {
    const { scope, node: planned } = reader;
    const node = planned?.node;
    const isCondition = expr === node?.when;
    // The node's own condition holds for its other expressions.
    const names = namesIn(scope, isCondition ? undefined : planned);
    const isQuestion =
      isCondition || (node?.kind === 'branch' && node.cases.some(({ when }) => when === expr));
    checkPaths(expr, source, names, diagnostics);
    const isShown = expr === node?.guidance || expr === node?.summary;
    formFaults(expr, { source, names, isQuestion, isShown }, diagnostics);
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
      const { args } = expr;
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

/** A value that a text cannot have, and the part of an expression that gives it. */
interface Unfit {
  readonly actual: 'absent' | 'null' | 'a list' | 'an object';
  readonly expr: Expr;
  /** Whether it is this in every run. */
  readonly isCertain: boolean;
  /** The fields of the object. */
  readonly fields?: readonly string[];
}

/**
 * The parts of one text that are, SW3021, or may be, SW3022, absent, null, a list or an object.
 *
 * @param isShown whether the text is only shown: a fault of it fails no step.
 */
function textFaults(
  expr: Expr,
  names: Names,
  locals: Locals,
  { source, isShown }: { readonly source: SourceLocation | undefined; readonly isShown: boolean },
): Diagnostic[] {
  return partsOf(expr, names, locals).flatMap((part) => {
    const unfit = unfitIn(part, names, locals);
    if (unfit === undefined) return [];
    const { actual, fields = [], isCertain } = unfit;
    const path = dataPath(unfit.expr);
    const isLocal = path === undefined || path.ref.root === 'local' || path.ref.root === 'item';
    const params = { name: path && nameOf(path), isLocal, actual, field: fields[0] };
    const code = isCertain && !isShown ? 'SW3021' : 'SW3022';
    return [diagnostic(code, locationOfExpr(unfit.expr, source), params)];
  });
}

/** What becomes text: the values of a text, and the sides of a `+` that joins one. */
function partsOf(expr: Expr, names: Names, locals: Locals): readonly Expr[] {
  if (expr.kind === 'text') return expr.parts.filter((part) => typeof part !== 'string');
  if (expr.kind !== 'arithmetic' || expr.op !== 'add.js') return [];
  const sides = [expr.left, expr.right];
  return sides.some((side) => isText(typeOf(side, names, locals))) ? sides : [];
}

function isText(valueType: ValueType): boolean {
  const types = typesOf(valueType);
  return types?.size === 1 && types.has('string');
}

function nameOf({ ref, segments }: DataPath): string {
  const path = formatPath(segments);
  const [start = ''] = ref.path;
  return path === '' || path.startsWith('[') ? `${start}${path}` : `${start}.${path}`;
}

/** What an expression may give that a text cannot have. Values of an unknown type are not reported. */
function unfitIn(expr: Expr, names: Names, locals: Locals): Unfit | undefined {
  const inside = (part: Expr): Unfit | undefined => unfitIn(part, names, locals);
  switch (expr.kind) {
    case 'literal':
      // It replaces a part with a fault of its own.
      return expr.value === undefined ? undefined : unfitOf(expr, names, locals);
    case 'ref':
    case 'get': {
      const path = dataPath(expr);
      return path?.complete === true ? unfitAt(path, expr, names, locals) : unfitOf(expr, names, locals);
    }
    case 'conditional': {
      const unfit =
        unfitIn(expr.then, where(names, expr.test, true), locals) ??
        (expr.else === undefined
          ? { actual: 'absent' as const, expr }
          : unfitIn(expr.else, where(names, expr.test, false), locals));
      return unfit && { ...unfit, isCertain: false };
    }
    case 'and':
    case 'or': {
      // An operand before the last one is the value where it counts as false, in `or` where it counts as true.
      const isAnd = expr.kind === 'and';
      const unfit = inTurn(expr.items, names, testOf, isAnd, (item, innerNames, index) => {
        const each = unfitIn(item, innerNames, locals);
        const isLast = index === expr.items.length - 1;
        return each !== undefined && (isLast || isMissing(each) === isAnd) ? each : undefined;
      });
      return firstOf(unfit);
    }
    case 'call':
      return unfitResult(expr, names, locals);
    case 'each':
      if (expr.mode === 'find') return { actual: 'absent', expr, isCertain: false };
      return expr.mode === 'map' || expr.mode === 'filter'
        ? { actual: 'a list', expr, isCertain: true }
        : undefined;
    case 'let': {
      const value = typeOf(expr.value, names, locals);
      return unfitIn(expr.body, without(names, [expr.name]), new Map([...locals, [expr.name, value]]));
    }
    case 'slice':
      return inside(expr.of) ?? unfitOf(expr, names, locals);
    default:
      return unfitOf(expr, names, locals);
  }
}

function isMissing({ actual }: Unfit): boolean {
  return actual === 'absent' || actual === 'null';
}

function unfitResult(expr: CallExpr, names: Names, locals: Locals): Unfit | undefined {
  if (expr.fn !== 'coalesce') return unfitOf(expr, names, locals);
  const unfit = inTurn(expr.args, names, isNullish, true, (arg, innerNames, index) => {
    const each = unfitIn(arg, innerNames, locals);
    const isLast = index === expr.args.length - 1;
    return each !== undefined && (isLast || !isMissing(each)) ? each : undefined;
  });
  return firstOf(unfit);
}

/** The first of several values of which one is taken. */
function firstOf(unfit: readonly (Unfit | undefined)[]): Unfit | undefined {
  const first = unfit.find((each) => each !== undefined);
  return first && { ...first, isCertain: first.isCertain && unfit.length === 1 };
}

/** The value at a path: whether it may be absent, and its type. A condition that excludes its absence is a guard. */
function unfitAt(path: DataPath, expr: Expr, names: Names, locals: Locals): Unfit | undefined {
  const { ref } = path;
  const { valueType, optionalAt } = followed(path, names, locals);
  // A path that no value has is reported as such.
  if (typesOf(valueType)?.size === 0) return undefined;
  const isLeftOut = ref.root === 'inputs' && names.optionalInputs?.has(String(ref.path[0])) === true;
  const isOptional = ref.find === 'optional' || isLeftOut;
  // How another step settled is asked for in many ways: by joins, by routes, by fallbacks.
  const isElsewhere = ref.root === 'nodes' || isContent(ref, names);
  const absentAt = isOptional ? 0 : isElsewhere ? undefined : optionalAt;
  const isGuarded =
    absentAt === undefined ||
    names.isAskedElsewhere?.(ref) === true ||
    isThere(names.facts ?? [], path, absentAt);
  return isGuarded ? unfitType(valueType, expr) : { actual: 'absent', expr, isCertain: false };
}

/** What was read of a resource: its author knows whether it is text. */
function isContent({ root, path }: RefExpr, names: Names): boolean {
  const value = root === 'steps' ? names.steps(String(path[0])) : undefined;
  return value?.kind === 'schema' && value.view.root === CONTENT;
}

const COMPOSITE: ReadonlySet<JsonType> = new Set(['object', 'array', 'null']);

function unfitOf(expr: Expr, names: Names, locals: Locals): Unfit | undefined {
  return unfitType(typeOf(expr, names, locals), expr);
}

function unfitType(valueType: ValueType, expr: Expr): Unfit | undefined {
  const types = typesOf(valueType);
  const isCertain = types !== undefined && [...types].every((type) => COMPOSITE.has(type));
  if (types?.has('object') === true)
    return { actual: 'an object', expr, isCertain, fields: keysOf(valueType) };
  if (types?.has('array') === true) return { actual: 'a list', expr, isCertain };
  return types?.has('null') === true ? { actual: 'null', expr, isCertain } : undefined;
}
