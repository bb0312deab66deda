import { childrenOf } from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import { type DerivedKind, hasDerivedValue, kindOf } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/kinds/node.js';
import { MAX_WORKFLOW_DEPTH } from '../graph/limits.js';
import type { Graph } from '../graph/model.js';
import { fallbackValue, isServerCall } from '../graph/nodes.js';
import { boundSchema } from '../graph/part-schema.js';
import { planOf } from '../plan/compile.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../plan/plan.js';
import { usesIn } from '../plan/visibility.js';
import { type CheckEnvironment, withTasks } from './environment.js';
import { askedElsewhere, factsInScope } from './narrowing.js';
import { type Locals, type Names, typeOf, where, without } from './type-of.js';
import {
  ABSENT,
  itemOf,
  ofJson,
  ofSchema,
  ofTypes,
  typesOf,
  UNKNOWN,
  unionOf,
  type ValueType,
} from './value-type.js';

/** The names in the expressions of a scope, with the facts at a node of it. */
export type NamesIn = (scope: ScopePlan, node?: PlannedNode) => Names;

/** The result types of workflows, computed on demand. */
interface Results {
  readonly byGraph: Map<Graph, ValueType>;
  /** How many workflows are computed inside each other now. */
  depth: number;
}

function noResults(): Results {
  return { byGraph: new Map(), depth: 0 };
}

/** Infers the types of the values in a workflow. A step sees the values of earlier steps only. */
export function namesOf(plan: WorkflowPlan, environment: CheckEnvironment): NamesIn {
  return valuesOf(plan, environment, noResults());
}

function valuesOf(plan: WorkflowPlan, environment: CheckEnvironment, results: Results): NamesIn {
  const { graph } = plan;
  const inputs = new Map(graph.inputs.map(({ name, schema }) => [name, ofSchema(schema)]));
  const optionalInputs = new Set(
    graph.inputs.flatMap(({ name, schema, required, default: value }) =>
      // An input without a type is unknown.
      required || value !== undefined || Object.keys(schema).length === 0 ? [] : [name],
    ),
  );
  const state = new Map(graph.state?.map(({ name, schema }) => [name, ofSchema(schema)]));
  const steps = new Map<string, ValueType>();
  const byScope = new Map<ScopePlan, Names>();

  const isAsked = askedElsewhere(plan);

  const namesIn = (scope: ScopePlan, planned?: PlannedNode): Names => {
    if (planned !== undefined) {
      const names: Names = { ...namesIn(scope), isAskedElsewhere: (ref) => isAsked(ref, scope, planned) };
      const { when } = planned.node;
      return when === undefined ? names : where(names, when, true);
    }
    const cached = byScope.get(scope);
    if (cached !== undefined) return cached;
    const items = itemsAround(scope, namesIn);
    const names: Names = {
      isAskedElsewhere: (ref) => isAsked(ref, scope),
      facts: factsInScope(scope),
      inputs: (name) => inputs.get(name) ?? UNKNOWN,
      optionalInputs,
      state: (name) => state.get(name) ?? UNKNOWN,
      steps: (name) => steps.get(name) ?? UNKNOWN,
      item: (name) => items.get(name) ?? UNKNOWN,
    };
    byScope.set(scope, names);
    return names;
  };

  const visit = (scope: ScopePlan): void => {
    for (const planned of scope.nodes) {
      // The content comes first: it reads only earlier steps, and later steps may read it.
      planned.parts.forEach(visit);
      if (plan.duplicates.has(planned.node.id)) continue;
      const value = valueTypeOf(planned, namesIn, environment, results);
      const fallback = fallbackValue(planned.node);
      const valueType =
        fallback === undefined ? value : unionOf(value, typeOf(fallback, namesIn(scope, planned)));
      steps.set(planned.node.id, valueType);
    }
  };
  visit(plan.root);
  return namesIn;
}

function itemsAround(scope: ScopePlan, namesIn: NamesIn): Map<string, ValueType> {
  const items = new Map<string, ValueType>();
  for (const loop of [...scope.loops].reverse()) {
    if (loop.node.kind !== 'foreach' || items.has(loop.node.as)) continue;
    items.set(loop.node.as, itemOf(typeOf(loop.node.items, namesIn(loop.scope, loop))));
    if (loop.node.resultsAs !== undefined) items.set(loop.node.resultsAs, { kind: 'list', item: UNKNOWN });
  }
  return items;
}

function valueTypeOf(
  planned: PlannedNode,
  namesIn: NamesIn,
  environment: CheckEnvironment,
  results: Results,
): ValueType {
  const { node } = planned;
  if (!hasDerivedValue(node)) {
    const { value } = kindOf(node);
    return typeof value === 'function' ? ofSchema(value(node)) : UNKNOWN;
  }
  const derive = DERIVED_VALUES[node.kind] as DeriveValue<Node>;
  return derive(node, {
    parts: planned.parts,
    names: namesIn(planned.scope, planned),
    bodyValue: (body) => (body.value === undefined ? ABSENT : typeOf(body.value, namesIn(body))),
    environment,
    results,
  });
}

/** The inputs of the type inference of a node. */
interface ValueContext {
  readonly parts: readonly ScopePlan[];
  readonly names: Names;
  readonly bodyValue: (body: ScopePlan) => ValueType;
  readonly environment: CheckEnvironment;
  readonly results: Results;
}

type DeriveValue<N> = (node: N, context: ValueContext) => ValueType;

const DERIVED_VALUES: { readonly [K in DerivedKind]: DeriveValue<Extract<Node, { kind: K }>> } = {
  call: (node, { environment }) => {
    const schema = isServerCall(node) ? environment.tools.get(node.tool)?.outputSchema : undefined;
    return schema === undefined ? UNKNOWN : ofSchema(boundSchema(schema));
  },
  compute: (node, { names }) => (node.function === undefined ? typeOf(node.value, names) : UNKNOWN),
  branch: (_node, { parts, bodyValue }) => unionOf(...parts.map(bodyValue), ABSENT),
  parallel: (node, { parts, bodyValue }) => {
    const mayFail = node.onPartialFailure === 'continue';
    const entries = parts.map((body): [string, ValueType] => {
      const value = bodyValue(body);
      return [body.arm ?? '', mayFail ? unionOf(value, FAILED_BRANCH) : value];
    });
    return { kind: 'dict', entries: new Map(entries), isOpen: false };
  },
  foreach: (node, { parts: [body], bodyValue }) => {
    const value = body === undefined ? ABSENT : bodyValue(body);
    const failed = node.onItemError === 'continue' ? [ofTypes('null')] : [];
    const reported = node.onItemError === 'report' ? [FAILED_BRANCH] : [];
    const absent = value === ABSENT ? [ofTypes('null')] : [];
    return { kind: 'list', item: unionOf(value, ...failed, ...reported, ...absent) };
  },
  workflow: (node, { environment, results }) => {
    const called = environment.workflows?.get(node.workflow);
    return called === undefined ? UNKNOWN : resultOf(called, environment, results);
  },
  set: (node, { names }) => ({
    kind: 'dict',
    entries: new Map(node.updates.map(({ field, value }) => [field, typeOf(value, names)])),
    isOpen: false,
  }),
};

export function resultTypeOf(graph: Graph, registered: CheckEnvironment): ValueType {
  return resultOf(graph, withTasks(registered, graph), noResults());
}

/** The type of a workflow's result. That of a recursive one is unknown, as is one nested too deeply to be run. */
function resultOf(graph: Graph, environment: CheckEnvironment, results: Results): ValueType {
  const cached = results.byGraph.get(graph);
  if (cached !== undefined) return cached;
  if (results.depth > MAX_WORKFLOW_DEPTH) return UNKNOWN;
  results.byGraph.set(graph, UNKNOWN);
  results.depth += 1;
  const plan = planOf(graph).main;
  const namesIn = valuesOf(plan, environment, results);
  const returned = plan.nodes.flatMap((planned) =>
    planned.node.kind === 'return' ? [typeOf(planned.node.value, namesIn(planned.scope, planned))] : [],
  );
  const value = graph.returns === undefined ? [] : [typeOf(graph.returns, namesIn(plan.root))];
  const result = unionOf(...returned, ...value);
  results.depth -= 1;
  results.byGraph.set(graph, result);
  return result;
}

const FAILED_BRANCH = ofJson({ error: { code: '', message: '' } });

/**
 * Whether a condition of a workflow may be a list or an object, which is true wherever it is there. It is, for certain,
 * only if this is true; where nothing is known of a value, this is true as well.
 */
export function mayHaveCompositeConditions(graph: Graph, registered: CheckEnvironment): boolean {
  const { main } = planOf(graph);
  const namesIn = namesOf(main, withTasks(registered, graph));
  return usesIn(main).some(({ expr, reader }) => mayTest(expr, namesIn(reader.scope), new Map()));
}

/** Whether a part of an expression is tested for its truth, and may be a list or an object. */
function mayTest(expr: Expr, names: Names, locals: Locals): boolean {
  const inside = (part: Expr): boolean => mayTest(part, names, locals);
  const isDoubtful = (part: Expr): boolean => mayBeComposite(part, names, locals) || inside(part);
  switch (expr.kind) {
    case 'conditional':
      return isDoubtful(expr.test) || inside(expr.then) || (expr.else !== undefined && inside(expr.else));
    case 'and':
    case 'or':
      return expr.items.some(isDoubtful);
    case 'not':
      return isDoubtful(expr.of);
    case 'each': {
      const inner = new Map([...locals, [expr.as, itemOf(typeOf(expr.in, names, locals))]]);
      const innerNames = without(names, [expr.as, expr.indexAs ?? expr.as]);
      const isTest = expr.mode !== 'map' && mayBeComposite(expr.body, innerNames, inner);
      return isTest || inside(expr.in) || mayTest(expr.body, innerNames, inner);
    }
    case 'let': {
      const inner = new Map([...locals, [expr.name, typeOf(expr.value, names, locals)]]);
      return inside(expr.value) || mayTest(expr.body, without(names, [expr.name]), inner);
    }
    default:
      return childrenOf(expr).some(({ expr: child }) => inside(child));
  }
}

function mayBeComposite(expr: Expr, names: Names, locals: Locals): boolean {
  const types = typesOf(typeOf(expr, names, locals));
  return types === undefined || types.has('array') || types.has('object');
}
