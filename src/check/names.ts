import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { references, unboundLocals } from '../graph/expression/traversal.js';
import type { Expr, RefExpr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import type { ForeachNode } from '../graph/model.js';
import { ERROR_FIELDS, isValidName, NAME_RULES, type NamedKind, nearestName } from '../graph/names.js';
import { expressionsOf, fallbackValue } from '../graph/nodes.js';
import type { SourceLocation } from '../graph/source-location.js';
import { locationOfExpr, locationOfNode, relatedLocation } from '../graph/source-location.js';
import { toolSafetyOf } from '../graph/tool-safety.js';
import { armIdsOf } from '../plan/faults.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { type Reader, readersOf, visibilityOf } from '../plan/visibility.js';
import type { CheckEnvironment } from './environment.js';

/**
 * SW1002 bad names, SW1008 and SW4009 duplicates, SW4008 empty names and descriptions, SW4016 arms of the same name,
 * SW4032 nested loops that bind the same name.
 */
export function checkNames(plan: WorkflowPlan): Diagnostic[] {
  const { graph } = plan;
  const found: Diagnostic[] = [];
  const named = `workflow \`${graph.name}\``;
  if (isBlank(graph.name)) found.push(empty('the name of a workflow', graph.source));
  else found.push(...nameFault('workflow', graph.name, graph.source));
  if (isBlank(graph.description)) found.push(empty(`the description of ${named}`, graph.source));
  return [...found, ...checkArguments(plan), ...checkFields(plan), ...checkSteps(plan)];
}

function checkArguments({ graph }: WorkflowPlan): Diagnostic[] {
  const found: Diagnostic[] = [];
  const seen = new Map<string, SourceLocation | undefined>();
  for (const { name, description, source } of graph.inputs) {
    const location = source ?? graph.source;
    if (seen.has(name)) {
      const related = relatedLocation('first bound here', seen.get(name));
      found.push(diagnostic('SW1008', location, { field: name }, { related }));
      continue;
    }
    seen.set(name, location);
    if (isBlank(name)) found.push(empty(`the name of an argument of workflow \`${graph.name}\``, location));
    else found.push(...nameFault('argument', name, location));
    if (isBlank(description)) found.push(empty(`the description of argument \`${name}\``, location));
  }
  return found;
}

function checkFields({ graph }: WorkflowPlan): Diagnostic[] {
  const seen = new Map<string, SourceLocation | undefined>();
  return (graph.state ?? []).flatMap(({ name, source }) => {
    const location = source ?? graph.source;
    if (seen.has(name)) {
      const related = relatedLocation('first bound here', seen.get(name));
      return [diagnostic('SW1008', location, { field: name }, { related })];
    }
    seen.set(name, location);
    return nameFault('step', name, location, 'state field');
  });
}

function checkSteps(plan: WorkflowPlan): Diagnostic[] {
  return plan.nodes.flatMap((planned) => [
    ...checkId(planned, plan),
    ...checkArms(planned, plan),
    ...checkLoop(planned, plan),
  ]);
}

function checkId(planned: PlannedNode, { graph, byId }: WorkflowPlan): Diagnostic[] {
  const { node } = planned;
  const location = locationOfNode(node, graph);
  const first = byId.get(node.id);
  if (first !== undefined && first !== planned) {
    const related = relatedLocation('first used here', first.node.source);
    return [diagnostic('SW4009', location, { id: node.id }, { related })];
  }
  if (isBlank(node.id)) return [empty(`the id of a step of workflow \`${graph.name}\``, location)];
  return nameFault('step', node.id, location);
}

function checkArms({ node }: PlannedNode, { graph }: WorkflowPlan): Diagnostic[] {
  const arms = armIdsOf(node);
  const twice = new Set(arms.filter((arm, index) => arms.indexOf(arm) < index));
  return [...twice].map((arm) => diagnostic('SW4016', locationOfNode(node, graph), { step: node.id, arm }));
}

function checkLoop({ node, scope }: PlannedNode, { graph }: WorkflowPlan): Diagnostic[] {
  if (node.kind !== 'foreach') return [];
  const location = locationOfNode(node, graph);
  const names = namesOfLoop(node);
  const bad = names.flatMap((name) => nameFault('step', name, location, 'item'));
  const taken = [...scope.loops].reverse().flatMap(({ node: outer }) => {
    const outerNames = outer.kind === 'foreach' ? namesOfLoop(outer) : [];
    const name = names.find((each) => outerNames.includes(each));
    return name === undefined
      ? []
      : [diagnostic('SW4032', location, { step: node.id, name, outer: outer.id })];
  });
  return [...bad, ...taken];
}

function namesOfLoop({ as, indexAs }: ForeachNode): string[] {
  return indexAs === undefined ? [as] : [as, indexAs];
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function empty(what: string, location: SourceLocation | undefined): Diagnostic {
  return diagnostic('SW4008', location, { what });
}

/** @param called the named thing, in the message. Default: its kind. */
function nameFault(
  kind: NamedKind,
  name: string,
  location: SourceLocation | undefined,
  called: string = kind,
): Diagnostic[] {
  if (isValidName(kind, name)) return [];
  return [diagnostic('SW1002', location, { kind: called, name, rule: NAME_RULES[kind].source })];
}

/**
 * SW3001 unknown bindings, items and local names, SW3002 undeclared arguments, SW3004 steps that are used before they are
 * bound, SW3012 `error` outside a failure handler, SW4018 steps that are not visible to their reader, SW4031 unknown state
 * fields, SW4033 state fields that a step does not list in `reads`.
 */
export function checkReferences(plan: WorkflowPlan): Diagnostic[] {
  const { graph } = plan;
  const ofNodes = plan.nodes.flatMap((planned) => {
    const { node, scope } = planned;
    const source = locationOfNode(node, graph);
    const fallback = fallbackValue(node);
    const takesOver = planned.selectors.some((router) => isFallbackOf(node.id, router.node));
    return expressionsOf(node).flatMap((expr) =>
      checkExpression(plan, expr, { scope, node: planned }, source, takesOver || expr === fallback),
    );
  });
  const ofScopes = plan.scopes.flatMap((scope) => {
    if (scope.value === undefined) return [];
    const source = scope.container === undefined ? graph.source : locationOfNode(scope.container.node, graph);
    return checkExpression(plan, scope.value, { scope }, source, false);
  });
  return [...ofNodes, ...ofScopes];
}

function isFallbackOf(id: string, { onError }: Node): boolean {
  return onError !== undefined && 'fallbackNode' in onError && onError.fallbackNode === id;
}

function checkExpression(
  plan: WorkflowPlan,
  expr: Expr,
  reader: Reader,
  source: SourceLocation | undefined,
  knowsError: boolean,
): Diagnostic[] {
  const refs = references(expr).map(({ ref }) => ref);
  if (refs.length === 0) return [];
  const unbound = unboundLocals(expr).map((ref) =>
    diagnostic('SW3001', locationOfExpr(ref, source), { name: String(ref.path[0]) }),
  );
  return [
    ...refs.flatMap((ref) => checkReference(plan, ref, reader, locationOfExpr(ref, source), knowsError)),
    ...unbound,
  ];
}

function checkReference(
  plan: WorkflowPlan,
  { root, path }: RefExpr,
  reader: Reader,
  location: SourceLocation | undefined,
  knowsError: boolean,
): Diagnostic[] {
  const name = String(path[0]);
  switch (root) {
    case 'inputs': {
      const known = plan.graph.inputs.map((input) => input.name);
      if (known.includes(name)) return [];
      return [diagnostic('SW3002', location, { name, suggestion: nearestName(name, known) })];
    }
    case 'steps':
      return checkStepReference(plan, name, reader, location);
    case 'nodes': {
      const tooEarly = settlesLater(plan, name, reader);
      if (tooEarly === undefined) return checkStepReference(plan, name, reader, location);
      return [diagnostic('SW3004', location, { name, step: tooEarly, isOutcome: true })];
    }
    case 'state':
      return checkFieldReference(plan, name, reader, location);
    case 'item':
    case 'index': {
      const known = reader.scope.loops.flatMap(({ node }) => {
        if (node.kind !== 'foreach') return [];
        return (root === 'item' ? node.as : node.indexAs) ?? [];
      });
      if (known.includes(name)) return [];
      return [diagnostic('SW3001', location, { name, suggestion: nearestName(name, known) })];
    }
    case 'error': {
      const step = (reader.node ?? reader.scope.container)?.node.id ?? 'output';
      if (!knowsError) return [diagnostic('SW3012', location, { step })];
      if (ERROR_FIELDS.includes(name)) return [];
      const suggestion = nearestName(name, ERROR_FIELDS);
      return [diagnostic('SW3001', location, { name: `error.${name}`, suggestion })];
    }
    case 'local':
    case 'run':
      return [];
    default:
      return root satisfies never;
  }
}

function checkStepReference(
  plan: WorkflowPlan,
  name: string,
  reader: Reader,
  location: SourceLocation | undefined,
): Diagnostic[] {
  const target = plan.byId.get(name);
  if (target === undefined) {
    return [diagnostic('SW3001', location, { name, suggestion: nearestName(name, plan.byId.keys()) })];
  }
  if (plan.duplicates.has(name)) return [];
  const visible = visibilityOf(target, reader);
  const related = relatedLocation('bound here', target.node.source);
  switch (visible.kind) {
    case 'visible': {
      const { source, user } = visible;
      if (user === undefined || source.index <= user.index) return [];
      const step = reader.node?.node.id ?? user.node.id;
      return [diagnostic('SW3004', location, { name, step }, { related: name === step ? [] : related })];
    }
    case 'inLoop': {
      const loop = visible.loop.node.id;
      const hint = `let the loop hand it out, and read it from \`${loop}\``;
      return [diagnostic('SW4018', location, { name, where: `loop \`${loop}\`` }, { related, hint })];
    }
    case 'inOtherArm': {
      const where = `arm \`${visible.arm}\` of step \`${visible.of.node.id}\``;
      const hint = `read it behind \`${visible.of.node.id}\``;
      return [diagnostic('SW4018', location, { name, where }, { related, hint })];
    }
    default:
      return visible satisfies never;
  }
}

/** The reader of how a step settles, if that is not known when it reads: it is in the step, or undoes it, or comes earlier. */
function settlesLater(plan: WorkflowPlan, name: string, reader: Reader): string | undefined {
  const target = plan.duplicates.has(name) ? undefined : plan.byId.get(name);
  const visible = target && visibilityOf(target, reader);
  if (target === undefined || visible?.kind !== 'visible' || visible.user === undefined) return undefined;
  const { user } = visible;
  const undoes = target.node.kind === 'parallel' && target.node.compensateNode === user.node.id;
  const isLater = visible.source.index >= user.index;
  return undoes || isLater ? (reader.node ?? user).node.id : undefined;
}

function checkFieldReference(
  { graph }: WorkflowPlan,
  field: string,
  reader: Reader,
  location: SourceLocation | undefined,
): Diagnostic[] {
  const known = (graph.state ?? []).map(({ name }) => name);
  if (!known.includes(field)) {
    return [
      diagnostic('SW4031', location, { workflow: graph.name, field, suggestion: nearestName(field, known) }),
    ];
  }
  const node = reader.node?.node;
  if (node?.reads === undefined || node.reads.includes(field)) return [];
  return [diagnostic('SW4033', location, { step: node.id, field })];
}

/**
 * SW3010 steps whose only purpose is an unused value, SW3011 unused arguments. A call that may have a side effect is never
 * unused. Nor is a read if the workflow declares no result or the step has guidance: then the conversation shows the value.
 */
export function checkUnused(plan: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const { graph, nodes, scopes, byId } = plan;
  if (nodes.length === 0) return [];
  const returns = graph.returns !== undefined || nodes.some(({ node }) => node.kind === 'return');
  const idle = nodes.flatMap(({ node }) => {
    const what = isRead(byId.get(node.id)) ? undefined : purposeOf(node, returns, environment);
    if (what === undefined) return [];
    return [diagnostic('SW3010', locationOfNode(node, graph), { step: node.id, what })];
  });
  const inputs = new Set<string>();
  const read = (expr: Expr): void => {
    for (const { ref } of references(expr)) if (ref.root === 'inputs') inputs.add(String(ref.path[0]));
  };
  for (const { node } of nodes) expressionsOf(node).forEach(read);
  for (const { value } of scopes) if (value !== undefined) read(value);
  const unread = graph.inputs
    .filter(({ name }) => !inputs.has(name))
    .map(({ name, source }) => diagnostic('SW3011', source ?? graph.source, { name, workflow: graph.name }));
  return [...unread, ...idle];
}

/** The first of two steps with one id counts. Duplicates are SW4009. */
function isRead(planned: PlannedNode | undefined): boolean {
  const readers = planned && readersOf(planned);
  return readers !== undefined && (readers.isHandedOut || readers.nodes.size > 0);
}

/** A description of a step that only produces a value; `undefined` for other steps. */
function purposeOf(node: Node, returns: boolean, { tools }: CheckEnvironment): string | undefined {
  if (node.kind === 'compute') return 'computes a value';
  if (!returns || node.guidance !== undefined) return undefined;
  if (node.kind === 'resource') return `reads \`${node.resource}\``;
  const tool = node.kind === 'call' ? tools.get(node.tool) : undefined;
  if (tool === undefined || node.kind !== 'call' || toolSafetyOf(tool) !== 'readOnly') return undefined;
  return `calls \`${node.tool}\`, which changes nothing`;
}
