import { defined } from '../graph/defined.js';
import {
  childrenOf,
  type DataPath,
  dataPath,
  dataPaths,
  type PathSegment,
  references,
} from '../graph/expression/traversal.js';
import type { Expr, LiteralExpr, RefExpr } from '../graph/expression/tree.js';
import { isJsonObject, type Json } from '../graph/json.js';
import { kinds } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/kinds/node.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../plan/plan.js';
import { typeOfJson } from './schema-view.js';
import { ABSENT, alternativesOf, read, typesOf, UNKNOWN, unionOf, type ValueType } from './value-type.js';

/** A condition, and whether it holds at a read. */
export interface Fact {
  readonly test: Expr;
  readonly holds: boolean;
}

/** The conditions that narrow the value at the root of a path. */
export interface Narrowing {
  readonly facts: readonly Fact[];
  /** Whether a condition tests the value in a way that the analysis does not understand. */
  readonly isUncertain: boolean;
}

const NO_NARROWING: Narrowing = { facts: [], isUncertain: false };
const UNCERTAIN: Narrowing = { facts: [], isUncertain: true };

/** The conditions that test the value at the root of a path. */
export function narrowingOf(facts: readonly Fact[], { ref }: DataPath, isAskedElsewhere: boolean): Narrowing {
  if (facts.length === 0) return isAskedElsewhere ? UNCERTAIN : NO_NARROWING;
  const own = facts.filter(({ test }) => names(test, ref));
  const isState = ref.root === 'state' && own.length > 0;
  return {
    facts: own,
    isUncertain: isAskedElsewhere || isState || !own.every(({ test }) => isFollowed(test)),
  };
}

/** The first key of a path that not every form of the value has. */
export interface MissingKey {
  readonly segment: PathSegment;
  readonly index: number;
  /** False if no form has it, with or without the conditions. */
  readonly isSometimes: boolean;
}

/**
 * Infers the type at the end of a path under the conditions around it. It is unknown if a condition is not understood.
 */
export function followPath(
  { ref, segments }: DataPath,
  start: ValueType,
  narrowing: Narrowing,
): {
  readonly valueType: ValueType;
  readonly missingKey?: MissingKey;
  /** How many keys lead to the first one that an object of the value may be without, although it has it in its schema. */
  readonly optionalAt?: number;
} {
  let valueType = start;
  let missingKey: MissingKey | undefined;
  let optionalAt: number | undefined;
  const keys: (string | number)[] = [];
  for (let index = 0; ; index++) {
    const all = valueType;
    const forms = formsAt(valueType, { ref, keys }, narrowing);
    if (forms === undefined) return { valueType: UNKNOWN };
    valueType = forms;
    const segment = segments[index];
    if (segment === undefined) {
      // The conditions may have tested the content of a list as well.
      const valueType = narrowing.isUncertain && !isScalar(forms) ? UNKNOWN : forms;
      return { valueType, ...defined({ missingKey, optionalAt }) };
    }
    if (missingKey === undefined && hasPartialKey(valueType, segment.key)) {
      const isSometimes = read(all, segment.key).kind === 'found';
      missingKey = { segment, index, isSometimes };
    }
    if (optionalAt === undefined && mayLack(valueType, segment.key)) optionalAt = index + 1;
    const next = read(valueType, segment.key);
    valueType = next.kind === 'found' ? next.valueType : ABSENT;
    keys.push(segment.key);
  }
}

/** The forms of an item that match the predicate of `.filter` or `.find`. */
export function formsMatching(item: ValueType, name: string, question: Expr): ValueType {
  const ref = { kind: 'ref', root: 'local', path: [name] } as const;
  const facts = [{ test: question, holds: true }].filter(({ test }) => names(test, ref));
  const narrowing = { facts, isUncertain: !facts.every(({ test }) => isFollowed(test)) };
  return formsAt(item, { ref, keys: [] }, narrowing) ?? UNKNOWN;
}

interface Position {
  readonly ref: DataPath['ref'];
  readonly keys: readonly (string | number)[];
}

function formsAt(
  valueType: ValueType,
  at: Position,
  { facts, isUncertain }: Narrowing,
): ValueType | undefined {
  if (facts.length === 0 && !isUncertain) return valueType;
  const forms = alternativesOf(valueType);
  if (forms === undefined || forms.length < 2) return valueType;
  if (isUncertain) return undefined;
  const possible = forms.filter((form) => facts.every(({ test, holds }) => mayBe(test, holds, at, form)));
  if (possible.length === forms.length) return valueType;
  // Unreachable code is not reported.
  return possible.length === 0 ? undefined : joinForms(valueType, possible);
}

/** Joins forms of a value. Those of one schema stay one schema. */
function joinForms(valueType: ValueType, forms: readonly ValueType[]): ValueType {
  if (valueType.kind !== 'schema') return unionOf(...forms);
  const shapes = forms.flatMap((form) =>
    form.kind === 'schema' && form.view.shapes !== 'unknown' ? form.view.shapes : [],
  );
  return { kind: 'schema', view: { root: valueType.view.root, shapes } };
}

/**
 * Whether some non-null forms of a schema lack a key. Unions that a condition or a fallback of the workflow makes do not
 * count: the author knows both alternatives.
 */
function hasPartialKey(valueType: ValueType, key: string | number): boolean {
  if (valueType.kind !== 'schema') return false;
  const { shapes } = valueType.view;
  // The usual schema has one form, which the read below finds again.
  if (shapes.length === 1 && shapes !== 'unknown' && typeof shapes[0]?.type === 'string')
    return shapes[0].type !== 'null' && read(valueType, key).kind === 'missing';
  const forms = (alternativesOf(valueType) ?? []).filter((form) => !isNull(form));
  const without = forms.filter((form) => read(form, key).kind === 'missing');
  return without.length > 0;
}

/** Whether objects of a schema may be without a property that it has. */
function mayLack(valueType: ValueType, key: string | number): boolean {
  if (valueType.kind === 'union') return [...valueType.of].some((each) => mayLack(each, key));
  if (valueType.kind !== 'schema' || valueType.view.shapes === 'unknown') return false;
  return valueType.view.shapes.some(
    ({ properties, required }) =>
      isJsonObject(properties) &&
      Object.hasOwn(properties, key) &&
      !(Array.isArray(required) && required.includes(String(key))),
  );
}

/** Whether a condition excludes that the value at a place of a path is absent. One that is not understood does so. */
export function isThere(facts: readonly Fact[], { ref, segments }: DataPath, length: number): boolean {
  const keys = segments.slice(0, length).map(({ key }) => key);
  const isAsked = (test: Expr): boolean =>
    dataPaths(test).some(
      (path) =>
        rootKey(path.ref) === rootKey(ref) &&
        keys.every((key, at) => String(key) === String(path.segments[at]?.key)),
    );
  return facts.some(
    ({ test, holds }) => isAsked(test) && !(isFollowed(test) && mayBe(test, holds, { ref, keys }, ABSENT)),
  );
}

function isScalar(valueType: ValueType): boolean {
  const types = typesOf(valueType);
  return types !== undefined && !types.has('array') && !types.has('object');
}

function isNull(valueType: ValueType): boolean {
  const types = typesOf(valueType);
  return types !== undefined && [...types].every((type) => type === 'null');
}

function names(test: Expr, ref: DataPath['ref']): boolean {
  return rootsIn(test).has(rootKey(ref));
}

/** Whether the analysis understands a condition: comparisons with literals, and tests for presence. */
function isFollowed(test: Expr): boolean {
  switch (test.kind) {
    case 'and':
    case 'or':
      return test.items.every(isFollowed);
    case 'not':
      return isFollowed(test.of);
    case 'compare':
      return sidesOf(test) !== undefined;
    case 'call':
      return test.fn === 'isNullish' && isPath(test.args[0]);
    case 'literal':
      return true;
    default:
      return isPath(test);
  }
}

function isPath(expr: Expr | undefined): boolean {
  return expr !== undefined && dataPath(expr)?.complete === true;
}

/** The path, the literal and the operator of a comparison. */
function sidesOf(
  test: Extract<Expr, { kind: 'compare' }>,
): { readonly path: Expr; readonly literal: LiteralExpr; readonly op: string } | undefined {
  const [only, more] = test.ops;
  if (only === undefined || more !== undefined) return undefined;
  const { left: subject } = test;
  const { op, right } = only;
  if (right.kind === 'literal' && isPath(subject)) return { path: subject, literal: right, op };
  return subject.kind === 'literal' && isPath(right) ? { path: right, literal: subject, op } : undefined;
}

/** Comparisons that fail where a side is absent. */
const ORDERS = /^(?:lt|le|gt|ge)\b/;

/** Whether a condition may hold, or not hold, if the value at a position has a form. */
function mayBe(test: Expr, holds: boolean, at: Position, form: ValueType): boolean {
  switch (test.kind) {
    case 'not':
      return mayBe(test.of, !holds, at, form);
    case 'and':
    case 'or': {
      const all = (test.kind === 'and') === holds;
      const each = (item: Expr): boolean => mayBe(item, holds, at, form);
      return all ? test.items.every(each) : test.items.some(each);
    }
    case 'literal':
      return Boolean(test.value) === holds;
    case 'compare': {
      const sides = sidesOf(test);
      const value = sides && valueAt(sides.path, at, form);
      if (sides === undefined || value === undefined) return true;
      const { op, literal } = sides;
      const isEqual = op === 'eq.strict' || op === 'eq.py' || op === 'eq.deep';
      const isUnequal = op === 'ne.strict' || op === 'ne.py' || op === 'ne.deep';
      if (!isEqual && !isUnequal) return !(value.isMissing && (holds || ORDERS.test(op)));
      return isEqual === holds ? mayEqual(value, literal.value) : !mustEqual(value, literal.value);
    }
    case 'call': {
      const [of] = test.args;
      const value = test.fn === 'isNullish' && of !== undefined ? valueAt(of, at, form) : undefined;
      if (value === undefined) return true;
      return holds
        ? !value.isThere || mayBeType(value, 'null')
        : !(value.isMissing || isNull(value.valueType));
    }
    default: {
      const value = valueAt(test, at, form);
      return value === undefined || (holds ? mayBeTrue(value) : mayBeFalse(value));
    }
  }
}

interface Value {
  readonly valueType: ValueType;
  /** Whether the form always has the value, and whether it never has. */
  readonly isThere: boolean;
  readonly isMissing: boolean;
}

/** The value of a path in a form; `undefined` for paths that do not lead through it. */
function valueAt(expr: Expr, { ref, keys }: Position, form: ValueType): Value | undefined {
  const path = dataPath(expr);
  if (path?.complete !== true || path.ref.root !== ref.root || path.ref.path[0] !== ref.path[0])
    return undefined;
  const own = path.segments.map(({ key }) => key);
  if (own.length < keys.length || keys.some((key, index) => String(own[index]) !== String(key)))
    return undefined;
  let value: Value = { valueType: form, isThere: form !== ABSENT, isMissing: form === ABSENT };
  for (const key of own.slice(keys.length)) {
    const next = read(value.valueType, key);
    if (next.kind === 'missing') return { valueType: ABSENT, isThere: false, isMissing: true };
    value = {
      valueType: next.valueType,
      isThere: value.isThere && isRequired(value.valueType, key),
      isMissing: false,
    };
  }
  return value;
}

function isRequired(valueType: ValueType, key: string | number): boolean {
  if (valueType.kind !== 'schema' || valueType.view.shapes === 'unknown') return false;
  return valueType.view.shapes.every(
    ({ required }) => Array.isArray(required) && required.some((each) => each === String(key)),
  );
}

function mayEqual({ valueType, isThere, isMissing }: Value, literal: Json | undefined): boolean {
  if (literal === undefined) return !isThere;
  if (isMissing) return false;
  const values = constantsOf(valueType);
  if (values !== undefined) return values.some((value) => isSame(value, literal));
  const type = typeOfJson(literal);
  return mayBeType({ valueType }, type) || (type === 'integer' && mayBeType({ valueType }, 'number'));
}

function mustEqual({ valueType, isThere, isMissing }: Value, literal: Json | undefined): boolean {
  if (literal === undefined) return isMissing;
  const values = isThere ? constantsOf(valueType) : undefined;
  return values?.every((value) => isSame(value, literal)) ?? false;
}

function mayBeTrue({ valueType, isMissing }: Value): boolean {
  return !isMissing && !isNull(valueType) && (constantsOf(valueType)?.some(Boolean) ?? true);
}

function mayBeFalse({ valueType, isThere }: Value): boolean {
  if (!isThere) return true;
  const values = constantsOf(valueType);
  if (values !== undefined) return !values.every(Boolean);
  const types = typesOf(valueType);
  return types === undefined || [...types].some((type) => type !== 'object' && type !== 'array');
}

function mayBeType({ valueType }: Pick<Value, 'valueType'>, type: ReturnType<typeof typeOfJson>): boolean {
  return typesOf(valueType)?.has(type) ?? true;
}

function isSame(value: Json, literal: Json): boolean {
  return value === literal || isJsonObject(literal) || Array.isArray(literal);
}

/** All values of a schema with `const` or `enum`. */
function constantsOf(valueType: ValueType): readonly Json[] | undefined {
  if (valueType.kind !== 'schema' || valueType.view.shapes === 'unknown') return undefined;
  const values: Json[] = [];
  for (const { const: only, enum: some } of valueType.view.shapes) {
    if (only !== undefined) values.push(only);
    else if (Array.isArray(some)) values.push(...some);
    else return undefined;
  }
  return values;
}

/** Known conditions: one is asked about at every read below it. */
const ROOTS = new WeakMap<Expr, ReadonlySet<string>>();

/** The keys of the roots that a condition reads. */
function rootsIn(test: Expr): ReadonlySet<string> {
  const roots = ROOTS.get(test) ?? new Set(references(test).map(({ ref }) => rootKey(ref)));
  ROOTS.set(test, roots);
  return roots;
}

function rootKey({ root, path }: DataPath['ref']): string {
  return `${root} ${String(path[0])}`;
}

export function isOptionalChain(expr: Expr): boolean {
  if (expr.kind !== 'get') return false;
  return expr.optional === true || isOptionalChain(expr.of);
}

/** The parts of an expression beside its path: computed keys. */
export function besidePath(expr: Expr): readonly Expr[] {
  if (expr.kind !== 'get') return expr.kind === 'ref' ? [] : childrenOf(expr).map((child) => child.expr);
  return [...besidePath(expr.of), expr.key];
}

/** The conditions around a scope, with their results when its nodes run. */
export function factsInScope({ container, arm }: ScopePlan): readonly Fact[] {
  if (container === undefined) return [];
  const { node, scope } = container;
  const own: Fact[] = node.when === undefined ? [] : [{ test: node.when, holds: true }];
  return [...factsInScope(scope), ...own, ...(node.kind === 'branch' ? casesBefore(node, arm) : [])];
}

/** The facts in an arm: the earlier cases do not hold, and its own does. */
function casesBefore({ cases }: Extract<Node, { kind: 'branch' }>, arm: string | undefined): Fact[] {
  const armIndex = cases.findIndex(({ id }) => id === arm);
  const before = armIndex === -1 ? cases : cases.slice(0, armIndex);
  const facts = before.map(({ when }): Fact => ({ test: when, holds: false }));
  const own = cases[armIndex];
  return own === undefined ? facts : [...facts, { test: own.when, holds: true }];
}

/** Whether a condition before a node, and outside the scopes around it, affects the node. */
export type AskedElsewhere = (ref: RefExpr, scope: ScopePlan, at?: PlannedNode) => boolean;

/**
 * Finds the roots in conditions that affect nodes outside them: conditions of nodes that end the run or jump, and of
 * nodes whose skipping propagates.
 */
export function askedElsewhere({ nodes }: WorkflowPlan): AskedElsewhere {
  const isShared = nodes.some(({ node: { join } }) => join !== 'none_failed' && join !== 'all_done');
  const askers = new Map<string, { readonly ordinal: number; readonly inside?: ScopePlan }[]>();
  const add = (test: Expr, { ordinal }: PlannedNode, inside?: ScopePlan): void => {
    for (const root of rootsIn(test))
      askers.set(root, [...(askers.get(root) ?? []), { ordinal, ...defined({ inside }) }]);
  };
  for (const each of nodes) {
    const isEnd = kinds[each.node.kind].exit !== 'none';
    if (isEnd) for (const { test } of factsInScope(each.scope)) add(test, each, each.scope);
    if (each.node.when !== undefined && (isEnd || isShared)) add(each.node.when, each);
    for (const { test } of casesWithoutBody(each)) add(test, each);
  }
  return (ref, scope, at) => {
    const around = scopesAround(scope);
    return (askers.get(rootKey(ref)) ?? []).some(
      ({ ordinal, inside }) =>
        (at === undefined || ordinal < at.ordinal) && (inside === undefined || !around.includes(inside)),
    );
  };
}

function scopesAround(scope: ScopePlan): readonly ScopePlan[] {
  return scope.container === undefined ? [scope] : [scope, ...scopesAround(scope.container.scope)];
}

/** Cases that select nodes of the branch's own scope. */
function casesWithoutBody({ node }: PlannedNode): readonly Pick<Fact, 'test'>[] {
  if (node.kind !== 'branch') return [];
  return node.cases.flatMap((each) =>
    'body' in each && each.body !== undefined ? [] : [{ test: each.when }],
  );
}
