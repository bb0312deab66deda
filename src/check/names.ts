import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { eachReference, unboundLocals } from '../graph/expression/traversal.js';
import type { RefExpr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import type { ForeachNode, Input } from '../graph/model.js';
import { ERROR_FIELDS, isValidName, NAME_RULES, type NamedKind, nearestName } from '../graph/names.js';
import { expressionsOf, fallbackValue, isServerCall } from '../graph/nodes.js';
import type { SourceLocation } from '../graph/source-location.js';
import { locationOfExpr, locationOfNode, relatedLocation } from '../graph/source-location.js';
import { toolSafetyOf } from '../graph/tool-safety.js';
import { armIdsOf, type PlannedNode, type WorkflowPlan } from '../plan/plan.js';
import { type Reader, readersOf, type Use, usesIn, visibilityOf } from '../plan/visibility.js';
import { type CheckEnvironment, oncePerGraph } from './environment.js';

/** What most steps have. */
const NONE: readonly Diagnostic[] = [];

/**
 * SW1002 bad names, SW1008 and SW4009 duplicates, SW4008 empty names and descriptions, SW4016 arms of the same name,
 * SW4032 nested loops that bind the same name.
 */
export function checkNames(plan: WorkflowPlan): Diagnostic[] {
  const { name, domain, description, source } = plan.graph;
  return [
    ...(isBlank(name) ? [empty('the name of a workflow', source)] : nameFault('workflow', name, source)),
    ...(domain === undefined ? NONE : nameFault('domain', domain, source)),
    ...(isBlank(description) ? [empty(`the description of workflow \`${name}\``, source)] : []),
    ...checkArguments(plan),
    ...checkFields(plan),
    ...plan.nodes.flatMap((each) => [
      ...checkId(each, plan),
      ...checkArms(each, plan),
      ...checkLoop(each, plan),
    ]),
  ];
}

function checkArguments({ graph }: WorkflowPlan): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const locations = new Map<string, SourceLocation | undefined>();
  for (const { name, description, source } of graph.inputs) {
    const location = source ?? graph.source;
    if (locations.has(name)) {
      const related = relatedLocation('first bound here', locations.get(name));
      diagnostics.push(diagnostic('SW1008', location, { field: name }, { related }));
      continue;
    }
    locations.set(name, location);
    if (isBlank(name))
      diagnostics.push(empty(`the name of an argument of workflow \`${graph.name}\``, location));
    else diagnostics.push(...nameFault('argument', name, location));
    if (isBlank(description)) diagnostics.push(empty(`the description of argument \`${name}\``, location));
  }
  return diagnostics;
}

function checkFields({ graph }: WorkflowPlan): Diagnostic[] {
  const locations = new Map<string, SourceLocation | undefined>();
  return (graph.state ?? []).flatMap(({ name, source }) => {
    const location = source ?? graph.source;
    if (locations.has(name)) {
      const related = relatedLocation('first bound here', locations.get(name));
      return [diagnostic('SW1008', location, { field: name }, { related })];
    }
    locations.set(name, location);
    return nameFault('step', name, location, 'state field');
  });
}

function checkId(planned: PlannedNode, { graph, byId }: WorkflowPlan): readonly Diagnostic[] {
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

function checkArms({ node }: PlannedNode, { graph }: WorkflowPlan): readonly Diagnostic[] {
  const arms = armIdsOf(node);
  if (arms.length < 2) return NONE;
  const twice = new Set(arms.filter((arm, index) => arms.indexOf(arm) < index));
  return [...twice].map((arm) => diagnostic('SW4016', locationOfNode(node, graph), { step: node.id, arm }));
}

function checkLoop({ node, scope }: PlannedNode, { graph }: WorkflowPlan): readonly Diagnostic[] {
  if (node.kind !== 'foreach') return NONE;
  const location = locationOfNode(node, graph);
  const names = namesOfLoop(node);
  const bad = names.flatMap((name) => nameFault('step', name, location, 'item'));
  const shadows = [...scope.loops].reverse().flatMap(({ node: outer }) => {
    const outerNames = outer.kind === 'foreach' ? namesOfLoop(outer) : [];
    const name = names.find((each) => outerNames.includes(each));
    return name === undefined
      ? []
      : [diagnostic('SW4032', location, { step: node.id, name, outer: outer.id })];
  });
  return [...bad, ...shadows];
}

function namesOfLoop({ as, indexAs, resultsAs }: ForeachNode): string[] {
  return [as, indexAs, resultsAs].filter((name) => name !== undefined);
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
): readonly Diagnostic[] {
  if (isValidName(kind, name)) return NONE;
  return [diagnostic('SW1002', location, { kind: called, name, rule: NAME_RULES[kind].source })];
}

/**
 * SW3001 unknown bindings, items and local names, SW3002 undeclared arguments, SW3004 steps that are used before they are
 * bound, SW3012 `error` outside a failure handler, SW4018 steps that are not visible to their reader, SW4031 unknown state
 * fields, SW4033 state fields that a step does not list in `reads`.
 */
export function checkReferences(plan: WorkflowPlan): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const use of usesIn(plan)) checkExpression(plan, use, diagnostics);
  return diagnostics;
}

/** Whether an expression is evaluated after a failure, which it may name. */
function knowsError({ expr, reader: { node: planned } }: Use): boolean {
  if (planned === undefined) return false;
  const { node, selectors } = planned;
  return expr === fallbackValue(node) || selectors.some((router) => isFallbackOf(node.id, router.node));
}

function isFallbackOf(id: string, { onError }: Node): boolean {
  return onError !== undefined && 'fallbackNode' in onError && onError.fallbackNode === id;
}

function checkExpression(plan: WorkflowPlan, use: Use, diagnostics: Diagnostic[]): void {
  let hasLocals = false;
  eachReference(use.expr, (ref) => {
    if (ref.root === 'local') hasLocals = true;
    else diagnostics.push(...checkReference(plan, ref, use));
  });
  if (!hasLocals) return;
  for (const ref of unboundLocals(use.expr))
    diagnostics.push(diagnostic('SW3001', locationOfExpr(ref, use.source), { name: String(ref.path[0]) }));
}

function checkReference(plan: WorkflowPlan, ref: RefExpr, use: Use): readonly Diagnostic[] {
  const { root } = ref;
  const { reader, source } = use;
  const name = String(ref.path[0]);
  // Most references are right, and need no location.
  if (root === 'inputs' && plan.graph.inputs.some((input) => input.name === name)) return NONE;
  if (root === 'steps' && isReadable(plan, name, reader)) return NONE;
  const location = locationOfExpr(ref, source);
  switch (root) {
    case 'inputs': {
      const inputNames = plan.graph.inputs.map((input) => input.name);
      return [diagnostic('SW3002', location, { name, suggestion: nearestName(name, inputNames) })];
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
      const loopNames = reader.scope.loops.flatMap(({ node }) => {
        if (node.kind !== 'foreach') return [];
        const { as, indexAs, resultsAs } = node;
        return (root === 'index' ? [indexAs] : [as, resultsAs]).filter((each) => each !== undefined);
      });
      if (loopNames.includes(name)) return [];
      return [diagnostic('SW3001', location, { name, suggestion: nearestName(name, loopNames) })];
    }
    case 'error': {
      const step = (reader.node ?? reader.scope.container)?.node.id ?? 'output';
      if (!knowsError(use)) return [diagnostic('SW3012', location, { step })];
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

/** Whether a name is that of an earlier step of the reader's own list. */
function isReadable({ byId, duplicates }: WorkflowPlan, name: string, { scope, node }: Reader): boolean {
  const target = byId.get(name);
  if (target === undefined || duplicates.has(name) || target.scope !== scope) return false;
  return node === undefined || target.index < node.index;
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

/** They are looked up for each reference to the state. */
const fieldsOf = oncePerGraph(
  ({ state = [] }): ReadonlySet<string> => new Set(state.map(({ name }) => name)),
);

function checkFieldReference(
  { graph }: WorkflowPlan,
  field: string,
  reader: Reader,
  location: SourceLocation | undefined,
): Diagnostic[] {
  const fieldNames = fieldsOf(graph);
  if (!fieldNames.has(field)) {
    return [
      diagnostic('SW4031', location, {
        workflow: graph.name,
        field,
        suggestion: nearestName(field, fieldNames),
      }),
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
  const { graph, nodes, byId } = plan;
  if (nodes.length === 0) return [];
  const returns = graph.returns !== undefined || nodes.some(({ node }) => node.kind === 'return');
  const idle: Diagnostic[] = [];
  for (const { node } of nodes) {
    const what = purposeOf(node, returns, environment);
    if (what === undefined || hasReaders(byId.get(node.id))) continue;
    idle.push(diagnostic('SW3010', locationOfNode(node, graph), { step: node.id, what }));
  }
  const unread = unreadInputs(plan).map(({ name, source }) =>
    diagnostic('SW3011', source ?? graph.source, { name, workflow: graph.name }),
  );
  return [...unread, ...idle];
}

function unreadInputs({ graph, nodes, scopes }: WorkflowPlan): readonly Input[] {
  const unread = new Map(graph.inputs.map((input) => [input.name, input]));
  const read = (ref: RefExpr): void => {
    if (ref.root === 'inputs') unread.delete(String(ref.path[0]));
  };
  for (const { value } of scopes) if (value !== undefined) eachReference(value, read);
  for (const { node } of nodes) {
    // Most workflows read all of them soon.
    if (unread.size === 0) return [];
    for (const expr of expressionsOf(node)) eachReference(expr, read);
  }
  return graph.inputs.filter(({ name }) => unread.has(name));
}

/** The first of two steps with one id counts. Duplicates are SW4009. */
function hasReaders(planned: PlannedNode | undefined): boolean {
  const readers = planned && readersOf(planned);
  return readers !== undefined && (readers.isHandedOut || readers.nodes.size > 0);
}

/** A description of a step that only produces a value; `undefined` for other steps. */
function purposeOf(node: Node, returns: boolean, { tools }: CheckEnvironment): string | undefined {
  if (node.kind === 'compute') return 'computes a value';
  if (!returns || node.guidance !== undefined) return undefined;
  if (node.kind === 'resource') return `reads \`${node.resource}\``;
  const tool = isServerCall(node) ? tools.get(node.tool) : undefined;
  if (tool === undefined || node.kind !== 'call' || toolSafetyOf(tool) !== 'readOnly') return undefined;
  return `calls \`${node.tool}\`, which changes nothing`;
}
