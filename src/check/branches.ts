import { canonicalExpr, canonicalJson } from '../graph/canonical.js';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Json } from '../graph/json.js';
import type { BranchNode } from '../graph/model.js';
import { unreachable } from '../graph/unreachable.js';
import type { WorkflowPlan } from '../plan/plan.js';
import type { Known } from './known.js';
import { placeOfExpr, placeOfNode } from './places.js';
import { type Names, typeOf } from './type-of.js';
import type { NamesIn } from './values.js';

/** More values than this are not listed. */
const MAX_LISTED = 5;

/** SW4022 branches that may find no case, SW4023 cases that are never taken. */
export function checkBranches({ graph, nodes }: WorkflowPlan, namesIn: NamesIn): Diagnostic[] {
  return nodes.flatMap(({ node, scope }) => {
    if (node.kind !== 'branch') return [];
    const place = placeOfNode(node, graph);
    const names = namesIn(scope);
    const never = [...shadowedCases(node), ...impossibleCases(node, names)].map(({ when, ...params }) =>
      diagnostic('SW4023', placeOfExpr(when, place), { step: node.id, ...params }),
    );
    const left = node.else === undefined ? leftOut(node, names) : undefined;
    if (left === undefined) return never;
    const values = left.length === 0 ? undefined : listed(left);
    return [...never, diagnostic('SW4022', place, { step: node.id, values })];
  });
}

/** A case that is never taken, and why. */
interface Never {
  readonly arm: string;
  /** The case that is taken in its place. */
  readonly first?: string;
  /** The values it asks for, which never come. */
  readonly values?: string;
  readonly when: Expr;
}

/** Cases whose condition, or every value they ask for, has been asked for before. */
function shadowedCases({ cases }: BranchNode): Never[] {
  const conditions = new Map<string, string>();
  const values = new Map<string, string>();
  const shadowed: Never[] = [];
  for (const { id, when } of cases) {
    const condition = canonicalExpr(when);
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

/** Cases that ask for nothing but values there never are. */
function impossibleCases({ cases }: BranchNode, names: Names): Never[] {
  return cases.flatMap(({ id, when }) => {
    const question = questionOf(when);
    const possible = question && valuesIn(typeOf(question.of, names));
    if (question === undefined || possible === undefined) return [];
    const known = new Set(possible.map(canonicalJson));
    if (question.values.some((value) => known.has(canonicalJson(value)))) return [];
    return [{ arm: id, values: question.values.map(quoted).join(' or '), when }];
  });
}

/**
 * The values no case is for, as far as they can be told; empty where they cannot. Nothing where there are none: one of
 * the cases always holds, or each value of what they all ask about has one.
 */
function leftOut({ cases }: BranchNode, names: Names): readonly Json[] | undefined {
  if (cases.some(({ when }) => when.kind === 'literal' && when.value === true)) return undefined;
  const questions = cases.map(({ when }) => questionOf(when));
  const [first] = questions;
  if (first === undefined || questions.some((each) => each?.plan !== first.plan)) return [];
  const possible = valuesIn(typeOf(first.of, names));
  if (possible === undefined) return [];
  const taken = new Set(questions.flatMap((each) => each?.values ?? []).map(canonicalJson));
  const left = possible.filter((value) => !taken.has(canonicalJson(value)));
  return left.length === 0 ? undefined : left;
}

/** A condition that asks whether something is one of some values. */
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
  return { of, plan: canonicalExpr(of), values: [literal.value] };
}

/** Every value there may be, where they can be told. */
function valuesIn(known: Known): readonly Json[] | undefined {
  switch (known.kind) {
    case 'schema':
      return known.view.shapes === 'unknown' ? undefined : allOf(known.view.shapes.map(valuesOfShape));
    case 'types':
      return allOf([...known.types].map((type) => valuesOfShape({ type })));
    case 'either':
      return allOf([...known.of].map(valuesIn));
    case 'unknown':
    case 'list':
    case 'dict':
      return undefined;
    default:
      return unreachable(known);
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
