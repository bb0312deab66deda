import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { type DataPath, dataPath, formatPath } from '../graph/expression/traversal.js';
import type { CallExpr, Expr, RefExpr } from '../graph/expression/tree.js';
import { CONTENT } from '../graph/kinds/calls.js';
import { locationOfExpr, type SourceLocation } from '../graph/source-location.js';
import { isThere } from './narrowing.js';
import type { JsonType } from './schema-view.js';
import {
  followed,
  inTurn,
  isNullish,
  type Locals,
  type Names,
  testOf,
  typeOf,
  where,
  without,
} from './type-of.js';
import { keysOf, typesOf, type ValueType } from './value-type.js';

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
export function textFaults(
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
