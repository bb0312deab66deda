import { canonicalGraph, canonicalJson } from '../graph/canonical.js';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { childrenOf, textsOf } from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import { type Json, type JsonSchema, unreachable } from '../graph/json.js';
import { between, type Range, wholeNumber } from '../graph/kinds/descriptor.js';
import { kindOf } from '../graph/kinds/kinds.js';
import { defaultCapMs, type Node, type Retry } from '../graph/kinds/node.js';
import { MAX_ATTEMPTS, MAX_DURATION_MS, MAX_EXPRESSION_DEPTH, MAX_RETRY_DELAY_MS } from '../graph/limits.js';
import type { AskNode, BranchNode, ForeachNode } from '../graph/model.js';
import { nearestName } from '../graph/names.js';
import { locationOfExpr, locationOfNode, type SourceLocation } from '../graph/source-location.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { usesIn } from '../plan/visibility.js';
import type { ValueFault } from './environment.js';
import { constantFaults, faultOf } from './inputs.js';
import { viewOf } from './schema-view.js';
import { describeTypes, type Names, schemaMismatch, typeMismatch, typeOf } from './type-of.js';
import { itemOf, typesOf, type ValueType } from './value-type.js';
import type { NamesIn } from './values.js';

/**
 * The faults that the descriptors of nodes find: SW4015 numbers out of range, SW4034 invalid times, SW4036 reserved
 * failure codes. Of the inferred types: SW4029 loops over a value that is not a list, SW4030 options of questions.
 */
export function checkConstructs({ graph, nodes }: WorkflowPlan, namesIn: NamesIn): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const { node, scope } of nodes) {
    const location = locationOfNode(node, graph);
    for (const { code, params, at } of kindOf(node).faults(node))
      diagnostics.push(diagnostic(code, locationOfExpr(at, location), params));
    if (node.kind === 'foreach') {
      const actual = nonListType(node, namesIn(scope));
      if (actual !== undefined)
        diagnostics.push(
          diagnostic('SW4029', locationOfExpr(node.items, location), { step: node.id, actual }),
        );
    }
    if (node.kind === 'ask') {
      const problem = problemOfOptions(node, namesIn(scope));
      if (problem !== undefined)
        diagnostics.push(
          diagnostic('SW4030', locationOfExpr(node.options, location), { step: node.id, problem }),
        );
    }
  }
  return diagnostics;
}

function nonListType({ items }: ForeachNode, names: Names): string | undefined {
  const types = typesOf(typeOf(items, names));
  return types === undefined || types.size === 0 || types.has('array') ? undefined : describeTypes(types);
}

function problemOfOptions({ options }: AskNode, names: Names): string | undefined {
  if (options === undefined) return undefined;
  const texts = textsOf(options);
  if (texts !== undefined) {
    if (texts.length === 0) return 'are none';
    const twice = texts.find((text, index) => texts.indexOf(text) < index);
    return twice === undefined ? undefined : `hold \`${twice}\` twice`;
  }
  const optionsType = typeOf(options, names);
  const types = typesOf(optionsType);
  if (types === undefined || types.size === 0) return undefined;
  if (!types.has('array')) return `are no list, but ${describeTypes(types)}`;
  const items = typesOf(itemOf(optionsType));
  if (items === undefined || items.size === 0 || items.has('string')) return undefined;
  return `are no texts, but each is ${describeTypes(items)}`;
}

const DELAY: Range = {
  ...between(0, MAX_RETRY_DELAY_MS),
  text: `from 0 to ${MAX_RETRY_DELAY_MS} (milliseconds)`,
};

const TIMEOUT: Range = {
  ...between(0, MAX_DURATION_MS),
  text: `above 0, and at most ${MAX_DURATION_MS} (milliseconds, ten years)`,
};

/** SW4015: numbers of retries and timeouts out of range. The descriptor of a kind checks its own numbers. */
export function checkAttemptRanges({ graph, nodes }: WorkflowPlan): Diagnostic[] {
  const strategy = graph.errorStrategy?.kind === 'retry' ? graph.errorStrategy.retry : undefined;
  const ofGraph = strategy === undefined ? [] : checkRetry(strategy, 'the error strategy', graph.source);
  const ofNodes = nodes.flatMap(({ node }) => {
    const what = `step \`${node.id}\``;
    const location = locationOfNode(node, graph);
    const { retry, timeoutMs } = node;
    return [
      ...(retry === undefined ? [] : checkRetry(retry, what, location)),
      ...(timeoutMs === undefined ? [] : checkRange('timeoutMs', timeoutMs, TIMEOUT, what, location)),
    ];
  });
  return [...ofGraph, ...ofNodes];
}

/** A cap does not cut the first delay of an exponential backoff, and has no effect on another one. */
function capRange({ delayMs, backoff }: Pick<Retry, 'delayMs' | 'backoff'>): Range {
  if (backoff !== 'exponential')
    return {
      text: "left out unless `backoff` is `'exponential'`",
      holds: (capMs) => [defaultCapMs(0), defaultCapMs(delayMs)].includes(capMs),
    };
  if (!DELAY.holds(delayMs)) return DELAY;
  const text = `from ${delayMs} to ${MAX_RETRY_DELAY_MS} (milliseconds)`;
  return { ...between(delayMs, MAX_RETRY_DELAY_MS), text };
}

function checkRetry(
  { extra, delayMs, backoff, capMs, jitter }: Retry,
  what: string,
  location: SourceLocation | undefined,
): Diagnostic[] {
  const check = (option: string, value: number, range: Range): Diagnostic[] =>
    checkRange(option, value, range, what, location);
  return [
    ...check('attempts', extra + 1, wholeNumber(1, MAX_ATTEMPTS)),
    ...check('delayMs', delayMs, DELAY),
    ...check('capMs', capMs, capRange({ delayMs, backoff })),
    ...check('jitter', jitter, between(0, 1)),
  ];
}

function checkRange(
  option: string,
  value: number,
  { text, holds }: Range,
  what: string,
  location: SourceLocation | undefined,
): Diagnostic[] {
  return holds(value) ? [] : [diagnostic('SW4015', location, { what, option, range: text, value })];
}

/** SW9016: expressions that are too deep for the evaluator, each once. */
export function checkDepth(plan: WorkflowPlan): Diagnostic[] {
  return usesIn(plan).flatMap(({ expr, source }) => {
    const deep = firstTooDeep(expr, 0);
    if (deep === undefined) return [];
    return diagnostic('SW9016', locationOfExpr(deep, source), { limit: MAX_EXPRESSION_DEPTH });
  });
}

/** The outermost part below the depth limit of the evaluator, which bounds this recursion as well. */
function firstTooDeep(expr: Expr, depth: number): Expr | undefined {
  if (depth >= MAX_EXPRESSION_DEPTH) return expr;
  for (const child of childrenOf(expr)) {
    const deep = firstTooDeep(child.expr, depth + 1);
    if (deep !== undefined) return deep;
  }
  return undefined;
}

/** The largest number of values in a message. */
const MAX_LISTED = 5;

/** SW4022 branches that may match no case, SW4023 cases that are never taken. */
export function checkBranches({ graph, nodes }: WorkflowPlan, namesIn: NamesIn): Diagnostic[] {
  return nodes.flatMap(({ node, scope }) => {
    if (node.kind !== 'branch') return [];
    const location = locationOfNode(node, graph);
    const names = namesIn(scope);
    const never = [...shadowedCases(node), ...impossibleCases(node, names)].map(({ when, ...params }) =>
      diagnostic('SW4023', locationOfExpr(when, location), { step: node.id, ...params }),
    );
    const uncovered = node.else === undefined ? uncoveredValues(node, names) : undefined;
    if (uncovered === undefined) return never;
    const values = uncovered.length === 0 ? undefined : listed(uncovered);
    return [...never, diagnostic('SW4022', location, { step: node.id, values })];
  });
}

/** A case that is never taken, and why. */
interface DeadCase {
  readonly arm: string;
  /** The earlier case that is taken instead. */
  readonly first?: string;
  /** The impossible values that it compares with. */
  readonly values?: string;
  readonly when: Expr;
}

/** Cases whose condition, or every value of it, belongs to an earlier case. */
function shadowedCases({ cases }: BranchNode): DeadCase[] {
  const conditions = new Map<string, string>();
  const values = new Map<string, string>();
  const shadowed: DeadCase[] = [];
  for (const { id, when } of cases) {
    const condition = canonicalGraph(when);
    const question = questionOf(when);
    const asked = question?.values.map((value) => `${question.plan} ${canonicalJson(value)}`) ?? [];
    const isAsked = asked.length > 0 && asked.every((each) => values.has(each));
    const first = conditions.get(condition) ?? (isAsked ? values.get(asked[0] ?? '') : undefined);
    if (first !== undefined) shadowed.push({ arm: id, first, when });
    if (!conditions.has(condition)) conditions.set(condition, id);
    for (const each of asked) if (!values.has(each)) values.set(each, id);
  }
  return shadowed;
}

/** Cases that compare with impossible values only. */
function impossibleCases({ cases }: BranchNode, names: Names): DeadCase[] {
  return cases.flatMap(({ id, when }) => {
    const question = questionOf(when);
    const possible = question && valuesIn(typeOf(question.of, names));
    if (question === undefined || possible === undefined) return [];
    const possibleTexts = new Set(possible.map(canonicalJson));
    if (question.values.some((value) => possibleTexts.has(canonicalJson(value)))) return [];
    return [{ arm: id, values: question.values.map(quoted).join(' or '), when }];
  });
}

/**
 * The values without a case; empty if they are unknown. `undefined` if the cases are exhaustive: one of them always holds,
 * or each possible value has a case.
 */
function uncoveredValues({ cases }: BranchNode, names: Names): readonly Json[] | undefined {
  if (cases.some(({ when }) => when.kind === 'literal' && when.value === true)) return undefined;
  const questions = cases.map(({ when }) => questionOf(when));
  const [first] = questions;
  if (first === undefined || questions.some((each) => each?.plan !== first.plan)) return [];
  const possible = valuesIn(typeOf(first.of, names));
  if (possible === undefined) return [];
  const casesTexts = new Set(questions.flatMap((each) => each?.values ?? []).map(canonicalJson));
  const uncovered = possible.filter((value) => !casesTexts.has(canonicalJson(value)));
  return uncovered.length === 0 ? undefined : uncovered;
}

/** A condition that compares an expression with literals. */
interface Question {
  readonly of: Expr;
  /** The canonical JSON of `of`. */
  readonly plan: string;
  readonly values: readonly Json[];
}

function questionOf(when: Expr): Question | undefined {
  if (when.kind === 'or') {
    const parts = when.items.map(questionOf);
    const [first] = parts;
    if (first === undefined || parts.some((part) => part?.plan !== first.plan)) return undefined;
    return { ...first, values: parts.flatMap((part) => part?.values ?? []) };
  }
  if (when.kind !== 'compare' || when.ops.length !== 1) return undefined;
  const [link] = when.ops;
  if (link === undefined || !['eq.strict', 'eq.deep'].includes(link.op)) return undefined;
  const [of, literal] = when.left.kind === 'literal' ? [link.right, when.left] : [when.left, link.right];
  if (literal.kind !== 'literal' || literal.value === undefined) return undefined;
  return { of, plan: canonicalGraph(of), values: [literal.value] };
}

/** Every possible value, if the type is finite. */
function valuesIn(valueType: ValueType): readonly Json[] | undefined {
  switch (valueType.kind) {
    case 'schema':
      return valueType.view.shapes === 'unknown'
        ? undefined
        : allOf(valueType.view.shapes.map(valuesOfShape));
    case 'types':
      return allOf([...valueType.types].map((type) => valuesOfShape({ type })));
    case 'union':
      return allOf([...valueType.of].map(valuesIn));
    case 'unknown':
    case 'list':
    case 'dict':
      return undefined;
    default:
      return unreachable(valueType);
  }
}

function valuesOfShape(shape: { readonly [key: string]: Json }): readonly Json[] | undefined {
  if (shape.const !== undefined) return [shape.const];
  if (Array.isArray(shape.enum)) return shape.enum as readonly Json[];
  if (shape.type === 'boolean') return [false, true];
  return shape.type === 'null' ? [null] : undefined;
}

function allOf(parts: readonly (readonly Json[] | undefined)[]): readonly Json[] | undefined {
  return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

function listed(values: readonly Json[]): string {
  const shown = values.slice(0, MAX_LISTED).map(quoted);
  const more = values.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function quoted(value: Json): string {
  return `\`${canonicalJson(value)}\``;
}

/**
 * SW4031 undeclared state fields in `set` and `reads`, SW4012 values of an incompatible type, SW4048 constants that the
 * schema of a field refuses, SW4035 initial values that do not match their schema.
 */
export function checkState(plan: WorkflowPlan, namesIn: NamesIn, valueFault: ValueFault): Diagnostic[] {
  return [...checkInitials(plan, valueFault), ...checkUses(plan, namesIn, valueFault)];
}

function checkInitials({ graph }: WorkflowPlan, valueFault: ValueFault): Diagnostic[] {
  return (graph.state ?? []).flatMap(({ name, schema, initial, source = graph.source }) => {
    const problem =
      initial === undefined
        ? undefined
        : (schemaMismatch(initial, viewOf(schema)) ?? faultOf(schema, initial, valueFault));
    return problem === undefined ? [] : [diagnostic('SW4035', source, { field: name, problem })];
  });
}

function checkUses({ graph, nodes }: WorkflowPlan, namesIn: NamesIn, valueFault: ValueFault): Diagnostic[] {
  const fields = new Map(graph.state?.map(({ name, schema }) => [name, schema]));
  return nodes.flatMap(({ node, scope }) => {
    const source = locationOfNode(node, graph);
    const unknown = (field: string, location = source): Diagnostic =>
      diagnostic('SW4031', location, {
        workflow: graph.name,
        field,
        suggestion: nearestName(field, fields.keys()),
      });
    const named = [...(node.reads ?? []), ...(node.writes === undefined ? [] : [node.writes])];
    const listed = [
      ...named.filter((field) => !fields.has(field)).map((field) => unknown(field)),
      ...checkWritten(node, fields, namesIn(scope), source),
    ];
    if (node.kind !== 'set') return listed;
    const ofUpdates = node.updates.flatMap(({ field, value }) => {
      const location = locationOfExpr(value, source);
      const schema = fields.get(field);
      if (schema === undefined) return [unknown(field, location)];
      const mismatch = typeMismatch(value, viewOf(schema), namesIn(scope));
      if (mismatch !== undefined)
        return [diagnostic('SW4012', location, { step: node.id, input: field, ...mismatch })];
      return constantFaults(value, schema, valueFault).map(({ at, path, value: constant, problem }) => {
        const params = { step: node.id, input: [field, ...path].join('.'), value: constant, problem };
        return diagnostic('SW4048', locationOfExpr(at, source), params);
      });
    });
    return [...listed, ...ofUpdates];
  });
}

/** SW4012: the value of a node, and the field that it is written to. */
function checkWritten(
  { id, writes }: Node,
  fields: ReadonlyMap<string, JsonSchema>,
  names: ReturnType<NamesIn>,
  location: SourceLocation | undefined,
): Diagnostic[] {
  const schema = writes === undefined ? undefined : fields.get(writes);
  if (writes === undefined || schema === undefined) return [];
  const value: Expr = { kind: 'ref', root: 'steps', path: [id] };
  const mismatch = typeMismatch(value, viewOf(schema), names);
  return mismatch === undefined
    ? []
    : [diagnostic('SW4012', location, { step: id, input: writes, ...mismatch })];
}
