import { defined } from '../../../graph/defined.js';
import { type Reference, references } from '../../../graph/expression/traversal.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { Arm, BranchCase } from '../../../graph/kinds/containers.js';
import { wholeNumber } from '../../../graph/kinds/descriptor.js';
import {
  type Compensation,
  JOIN_RULES,
  type Node,
  type NodeBase,
  type Scope,
} from '../../../graph/kinds/node.js';
import { DEFAULT_LOOP_MAX, MAX_JUMPS } from '../../../graph/limits.js';
import type { BranchNode } from '../../../graph/model.js';
import { failureCodeFault } from '../../../graph/names.js';
import { bodiesOf, expressionsOf, whenApproved } from '../../../graph/nodes.js';
import { routesOf } from '../../../plan/edges.js';
import { lowerCondition } from '../../references/expression.js';
import { asBoolean } from '../../references/functions.js';
import { ReferenceLowering } from '../../references/lower-references.js';
import { entryOf, type Located, type LocatedMap, type LocatedText } from '../../text/located.js';
import { durationOf, expectMap, Fields, timeLimitOf } from '../fields.js';
import { checkLiteral, checkName, unknownNode } from './names.js';
import { indexNameOf, itemNameOf } from './namespace.js';
import {
  argumentsOf,
  type LoweringContext,
  literalName,
  type NodeContext,
  targetOf,
} from './node-context.js';
import { HANDLERS, hasResult, type ScopeSpec } from './node-specs.js';
import { errorAsData, lowerOnError } from './on-error.js';
import { lowerWait, lowerYield } from './waiting.js';

/** The nodes of a list. */
export interface LoweredScope {
  /** In an order that the checker accepts. */
  readonly nodes: readonly Node[];
  /** In the order of writing, with how they depend on each other. */
  readonly inWritingOrder: readonly Node[];
  readonly dependencies: Dependencies;
}

/** Lowers a list of nodes, those in them included. */
export function lowerScope(scope: ScopeSpec, context: LoweringContext): LoweredScope {
  const siblings = scope.nodes.map(({ id }) => id);
  const references = new ReferenceLowering(context.reports, context.names.scopeOf(scope));
  const inWritingOrder = whenApproved(
    scope.nodes.flatMap((spec) => lowerNode({ ...context, spec, references, siblings }) ?? []),
  );
  const dependencies = dependenciesOf(inWritingOrder);
  for (const { reference, reader } of implicitEdges(dependencies)) {
    const { at, path } = reference.ref;
    if (at !== undefined)
      context.reports.reportAt('SW5030', at, { node: reader.id, source: String(path[0]) });
  }
  return { nodes: inOrder(inWritingOrder, dependencies), inWritingOrder, dependencies };
}

function lowerNode(context: NodeContext): Node | undefined {
  const { spec, reports } = context;
  const { fields } = spec;
  const base = baseOf(context);
  switch (spec.kind) {
    case 'call': {
      const tool = literalName(context, 'call');
      const compensate = fields.object('compensate');
      const undo =
        compensate &&
        lowerCompensation(context, compensate, `\`compensate\` of ${fields.where}`, ['call', 'args']);
      if (tool === undefined) return undefined;
      const input = argumentsOf(context, fields);
      const handled = {
        ...errorAsData(context, lowerOnError(context)),
        ...defined({ compensate: undo }),
      };
      return { ...base, kind: 'call', tool: tool.value, input, ...handled };
    }
    case 'workflow': {
      const workflow = literalName(context, 'workflow');
      if (workflow === undefined) return undefined;
      const slash = workflow.value.lastIndexOf('/');
      const name = workflow.value.slice(slash + 1);
      if (slash >= 0) {
        const domain = workflow.value.slice(0, slash);
        const source = reports.source.placeOf(workflow);
        context.qualifiedNames.push({ domain, name, caller: context.workflow, source });
      }
      const input = argumentsOf(context, fields);
      return { ...base, kind: 'workflow', workflow: name, input, ...lowerOnError(context) };
    }
    case 'branch':
      return lowerBranch(context, base);
    case 'parallel':
      return lowerParallel(context, base);
    case 'foreach':
      return lowerForeach(context, base);
    case 'repeat':
      return lowerRepeat(context, base);
    case 'yield':
      return lowerYield(context, base);
    case 'wait':
      return lowerWait(context, base);
    case 'compensate': {
      const steps = fields.list('steps');
      if (steps === undefined || steps.items.length === 0) {
        if (steps === undefined) fields.require('steps');
        else fields.mismatch('steps', steps, 'a list of one or more calls');
        return undefined;
      }
      const undone = steps.items.flatMap((item, index) => {
        const what = `step ${index + 1} of ${fields.where}`;
        const map = expectMap(reports, item, what);
        return (map && lowerCompensation(context, map, what, ['call', 'args', 'ignore_error'])) ?? [];
      });
      return { ...base, kind: 'compensate', steps: undone };
    }
    case 'error': {
      const message = fields.text('message');
      if (message === undefined) fields.require('message');
      if (message === undefined) return undefined;
      const code =
        fields.text('code')?.value ?? (failureCodeFault(spec.id) === undefined ? spec.id : undefined);
      const isConditional = fields.has('when') || fields.has('condition');
      const when = base.when ?? (isConditional ? undefined : whenSelected(context));
      const options = defined({ when, code });
      return { ...base, kind: 'error', message: context.references.text(message), ...options };
    }
    default:
      return spec.kind satisfies never;
  }
}

/** The condition of an `error` node that has none: one that no node selects never runs, which is reported. */
function whenSelected({ spec, reports, routesOf }: NodeContext): Expr | undefined {
  if (routesOf(spec.scope).isRouted(spec)) return undefined;
  const hint = `name \`${spec.id}\` in a \`goto\` or a \`fallback\`, or remove it`;
  reports.report('SW4021', spec.at, { step: spec.id }, { hint });
  return { kind: 'literal', value: false };
}

type Base = Omit<NodeBase, 'onError'>;

function baseOf(context: NodeContext): Base {
  const { spec, reports } = context;
  const { fields, id, at, kind } = spec;
  const title = fields.text('title')?.value;
  const timeout = HANDLERS.has(kind) || kind === 'branch' ? undefined : fields.value('timeout');
  const timeoutMs =
    timeout === undefined ? undefined : timeLimitOf(reports, timeout, `\`timeout\` of ${fields.where}`);
  const when = conditionOf(context);
  return {
    id,
    ...defined({ title }),
    after: afterOf(context),
    join: fields.oneOf('join', JOIN_RULES) ?? 'none_failed_min_one_success',
    ...defined({ when, timeoutMs }),
    executor: 'server',
    source: reports.source.placeOf(at),
  };
}

function conditionOf(context: NodeContext): Expr | undefined {
  const { spec, reports, references } = context;
  const { fields } = spec;
  if (fields.has('when') && fields.has('condition')) {
    const problem = 'has `when` and `condition`, which are one thing: remove one of them';
    reports.report('SW5011', spec.at, { node: spec.id, problem });
  }
  const text = fields.text('when') ?? fields.text('condition');
  return text === undefined ? undefined : lowerCondition(text, references, reports);
}

function afterOf(context: NodeContext): readonly string[] {
  const { spec, reports, siblings, nodes } = context;
  const { scope, id } = spec;
  if (spec.dependsOn.length === 0) return sequenceBefore(context);
  return spec.dependsOn.flatMap((name) => {
    if (!checkLiteral(reports, name, 'depends_on')) return [];
    const target = scope.byId.get(name.value);
    if (target !== undefined && !HANDLERS.has(target.kind)) return [name.value];
    const elsewhere = nodes.find((node) => node.id === name.value)?.scope.container;
    const why =
      target !== undefined
        ? `a node of type \`${target.kind}\`, which runs only when it is selected`
        : elsewhere === undefined
          ? undefined
          : `which is in \`${elsewhere.id}\`: name \`${elsewhere.id}\``;
    const candidates = why === undefined ? siblings.filter((each) => each !== id) : [];
    unknownNode(reports, name, { key: 'depends_on', node: id, candidates }, why);
    return [];
  });
}

/** In a sequence a node waits for the one before it, and behind nodes that are selected for each of these. */
function sequenceBefore({ spec, routesOf }: NodeContext): readonly string[] {
  const { scope, index } = spec;
  const routes = routesOf(scope);
  if (!scope.isSequence || HANDLERS.has(spec.kind) || routes.isRouted(spec)) return [];
  const before: string[] = [];
  for (let at = index - 1; at >= 0; at -= 1) {
    const node = scope.nodes[at];
    if (node === undefined || HANDLERS.has(node.kind)) continue;
    before.push(node.id);
    if (!routes.isRouted(node)) break;
  }
  return before.reverse();
}

function lowerCompensation(
  context: NodeContext,
  map: LocatedMap,
  what: string,
  keys: readonly string[],
): Compensation | undefined {
  const fields = new Fields(context.reports, map, what, keys);
  const tool = fields.text('call');
  if (tool === undefined) fields.require('call');
  const input = argumentsOf(context, fields);
  const ignoreError = keys.includes('ignore_error') ? fields.boolean('ignore_error') : undefined;
  if (tool === undefined || !checkLiteral(context.reports, tool, 'call')) return undefined;
  return { tool: tool.value, input, ...(ignoreError === true ? { ignoreError } : {}) };
}

function lowerParallel(context: NodeContext, base: Base): Node {
  const { spec, reports, siblings } = context;
  const { fields } = spec;
  const branches = spec.bodies.map((body) => ({ id: body.arm ?? '', body: lowerBody(body, context) }));
  const concurrency = fields.number('concurrency');
  const limit = defined({ concurrency });
  const node = { ...base, kind: 'parallel', branches, ...limit } as const;
  const policy = fields.text('on_partial_failure');
  const undoing = spec.scope.nodes.find(({ id, kind }) => id === policy?.value && kind === 'compensate');
  if (undoing !== undefined) return { ...node, onPartialFailure: 'rollback', compensateNode: undoing.id };
  switch (policy?.value) {
    case undefined:
    case 'abort':
      return { ...node, onPartialFailure: 'abort' };
    case 'continue':
      return { ...node, onPartialFailure: 'continue' };
    case 'rollback_all':
      return { ...node, onPartialFailure: 'rollback' };
    default: {
      const handlers = siblings.filter((_, index) => spec.scope.nodes[index]?.kind === 'compensate');
      const choices = ['abort', 'continue', 'rollback_all', ...handlers];
      const why = 'which is neither `abort`, `continue` or `rollback_all` nor a node of type `compensate`';
      if (policy !== undefined)
        unknownNode(reports, policy, { key: 'on_partial_failure', node: spec.id, candidates: choices }, why);
      return { ...node, onPartialFailure: 'abort' };
    }
  }
}

function lowerForeach(context: NodeContext, base: Base): Node | undefined {
  const { spec, reports, references, names } = context;
  const { fields } = spec;
  const as = fields.text('as');
  if (as !== undefined) checkName(reports, as, 'an item');
  const items = fields.value('items');
  if (items === undefined) fields.require('items');
  const [body] = spec.bodies;
  if (items === undefined || body === undefined) return undefined;
  const lowered = lowerBody(body, context);
  const item = itemNameOf(spec);
  const index = indexNameOf(item);
  return {
    ...base,
    kind: 'foreach',
    items: itemsOf(references, items, fields),
    as: item,
    ...(names.usesIndex(index) ? { indexAs: index } : {}),
    body: lowered,
    concurrency: fields.number('concurrency') ?? 1,
    max: fields.number('max_iterations') ?? DEFAULT_LOOP_MAX,
    onItemError: fields.oneOf('on_item_error', ['fail', 'continue']) ?? 'fail',
    ...lowerOnError(context),
  };
}

/**
 * Makes a branch with one body, which goes back to its first node until the condition holds: `repeat`, `until`, and `delay`
 * between two repetitions.
 */
function lowerRepeat(context: NodeContext, base: Base): Node | undefined {
  const { spec, reports, names } = context;
  const { fields, id } = spec;
  const [body] = spec.bodies;
  const text = fields.text('until');
  if (text === undefined) fields.require('until');
  const most = repetitionsOf(fields);
  const delay = fields.value('delay');
  const durationMs = delay && durationOf(reports, delay, `\`delay\` of ${fields.where}`);
  const onLimit = fields.oneOf('on_limit', ['fail', 'continue']) ?? 'fail';
  const handled = lowerOnError(context);
  if (body === undefined) return undefined;
  const { nodes, value } = lowerBody(body, context);
  const references = new ReferenceLowering(reports, names.scopeOf(body));
  const until = text && lowerCondition(text, references, reports);
  const [first] = nodes;
  if (first === undefined || until === undefined || most === undefined) return undefined;
  const again = {
    after: body.nodes.flatMap((each) => (HANDLERS.has(each.kind) ? [] : [each.id])),
    join: 'all_done',
    when: { kind: 'not', truth: 'boolean', of: asBoolean(until) },
    executor: 'server',
    source: reports.source.placeOf(spec.at),
  } as const;
  const wait: Node[] =
    durationMs === undefined
      ? []
      : [{ ...again, kind: 'wait', id: `${id}.delay`, durationMs: { kind: 'literal', value: durationMs } }];
  const back: Node = { ...again, kind: 'goto', id: `${id}.again`, target: first.id, max: most - 1, onLimit };
  const when: Expr = { kind: 'literal', value: true };
  const scope = { nodes: [...nodes, ...wait, back], ...defined({ value }) };
  return { ...base, kind: 'branch', cases: [{ id: 'repeat', when, body: scope }], ...handled };
}

/** How often the body of a `repeat` runs at most. */
function repetitionsOf(fields: Fields): number | undefined {
  if (!fields.require('max_iterations')) return undefined;
  return fields.numberIn('max_iterations', wholeNumber(2, MAX_JUMPS + 1));
}

function itemsOf(references: ReferenceLowering, items: Located, fields: Fields): Expr {
  if (items.kind !== 'list' && items.kind !== 'text')
    fields.mismatch('items', items, 'a reference to a list, or a list');
  return references.value(items);
}

/** A body has the result of its last node. */
function lowerBody(body: ScopeSpec, context: LoweringContext): Scope {
  const last = body.nodes.at(-1);
  const { nodes } = lowerScope(body, context);
  if (last === undefined || !hasResult(last.kind)) return { nodes };
  return { nodes, value: { kind: 'ref', root: 'steps', path: [last.id] } };
}

/** A case, or the default. */
type WrittenArm =
  | { readonly kind: 'case'; readonly arm: BranchCase }
  | { readonly kind: 'default'; readonly arm: Arm; readonly at: Located };

/**
 * Makes a branch of the list `on` and `default`. There are four spellings of a default: `{ default: null, goto: x }`,
 * `{ default: { goto: x } }`, `{ default: x }`, and the key `default` of the node.
 */
function lowerBranch(
  context: NodeContext,
  base: Omit<BranchNode, 'kind' | 'cases' | 'else'>,
): Node | undefined {
  const { spec, reports } = context;
  const { fields } = spec;
  const list = fields.list('on');
  if (list === undefined) fields.require('on');
  const arms = (list?.items ?? []).flatMap((item, index) => lowerArm(context, item, index) ?? []);
  const last = fields.entry('default');
  if (last !== undefined) {
    const goto = gotoOf(context, targetOf(last.value), last.value);
    if (goto !== undefined) arms.push({ kind: 'default', arm: { id: 'default', goto }, at: last.key });
  }
  const defaults = arms.flatMap((arm) => (arm.kind === 'default' ? [arm] : []));
  const [first, second] = defaults;
  if (second !== undefined)
    reports.report('SW5017', second.at, { node: spec.id, problem: 'has two defaults: remove one of them' });
  else if (first !== undefined && arms.at(-1) !== first)
    reports.report('SW5017', first.at, {
      node: spec.id,
      problem: 'has a case behind its default, which is never taken: write the default last',
    });
  const cases = arms.flatMap((arm) => (arm.kind === 'case' ? [arm.arm] : []));
  if (cases.length === 0) {
    // A case with a fault of its own is one.
    if (list?.items.every((item) => !isCase(item)) === true)
      reports.report('SW5017', spec.at, { node: spec.id, problem: 'has no case: write `when` and `goto`' });
    return undefined;
  }
  // A default with a fault of its own is one.
  const hasDefault =
    last !== undefined ||
    list?.items.some((item) => item.kind === 'map' && entryOf(item, 'default') !== undefined);
  return {
    ...base,
    kind: 'branch',
    cases,
    ...defined({ else: first?.arm ?? (hasDefault ? { id: 'default', body: { nodes: [] } } : undefined) }),
  };
}

function isCase(item: Located): boolean {
  return item.kind !== 'map' || ['when', 'condition'].some((key) => entryOf(item, key) !== undefined);
}

function lowerArm(context: NodeContext, item: Located, index: number): WrittenArm | undefined {
  const { reports, references, spec } = context;
  const where = `case ${index + 1} of branch \`${spec.id}\``;
  const map = expectMap(reports, item, where);
  if (map === undefined) return undefined;
  const fields = new Fields(reports, map, where, ['when', 'condition', 'goto', 'default']);
  const fallback = fields.entry('default');
  const [condition, other] = ['when', 'condition'].flatMap((name) => fields.entry(name) ?? []);
  const extra = other ?? (fallback === undefined ? undefined : condition);
  if (extra !== undefined) {
    const problem =
      other === undefined
        ? 'has a condition beside a default: remove one of them'
        : 'has `when` and `condition` in one case: remove one of them';
    reports.report('SW5017', extra.key, { node: spec.id, problem });
    return undefined;
  }
  if (fallback !== undefined) {
    const goto = gotoOf(context, fields.text('goto') ?? targetOf(fallback.value), map);
    return goto === undefined
      ? undefined
      : { kind: 'default', arm: { id: 'default', goto }, at: fallback.key };
  }
  const text = fields.text('when') ?? fields.text('condition');
  if (text === undefined) fields.require('when');
  const when = text === undefined ? undefined : lowerCondition(text, references, reports);
  const goto = gotoOf(context, fields.text('goto'), map);
  if (when === undefined || goto === undefined) return undefined;
  return { kind: 'case', arm: { id: `case-${index + 1}`, when, goto } };
}

function gotoOf(
  { spec, reports, siblings }: NodeContext,
  target: LocatedText | undefined,
  at: Located,
): string | undefined {
  if (target === undefined) {
    reports.report('SW5007', at, { what: `a case of branch \`${spec.id}\``, key: 'goto' });
    return undefined;
  }
  if (!checkLiteral(reports, target, 'goto')) return undefined;
  const targets = siblings.filter((id) => id !== spec.id);
  if (targets.includes(target.value)) return target.value;
  unknownNode(reports, target, { key: 'goto', node: spec.id, candidates: targets });
  return undefined;
}

/** A reference to the result of another node of the same list, or of a node inside it. */
interface DataEdge {
  /** The index of the node of the list that has the result, or contains the node that has. */
  readonly source: number;
  readonly reference: Reference;
  /** The node that reads: the one of the list, or one inside it. */
  readonly reader: Node;
}

/** How the nodes of one list depend on each other. Lists are indexes of nodes. */
interface Dependencies {
  /** The nodes that a node names in `after`, and the nodes with a route to it. */
  readonly explicit: readonly (readonly number[])[];
  readonly data: readonly (readonly DataEdge[])[];
}

/** Finds the dependencies between the nodes of one list. */
function dependenciesOf(nodes: readonly Node[]): Dependencies {
  const holders = new Map<string, number>();
  const hold = (node: Node, index: number): void => {
    if (!holders.has(node.id)) holders.set(node.id, index);
    for (const { scope } of bodiesOf(node)) for (const inner of scope.nodes) hold(inner, index);
  };
  for (const [index, node] of nodes.entries()) hold(node, index);
  const explicit = nodes.map(({ after }) => after.flatMap((id) => holders.get(id) ?? []));
  for (const [index, node] of nodes.entries()) {
    for (const { target } of routesOf(node)) {
      const to = holders.get(target);
      if (to !== undefined && to !== index) explicit[to]?.push(index);
    }
  }
  const data = nodes.map((node, index) => {
    const edges: DataEdge[] = [];
    const read = (reader: Node): void => {
      for (const expr of expressionsOf(reader)) {
        for (const reference of references(expr)) {
          const { root, path } = reference.ref;
          const isNamed = root === 'steps' || root === 'nodes';
          const source = isNamed ? holders.get(String(path[0])) : undefined;
          if (source !== undefined && source !== index) edges.push({ source, reference, reader });
        }
      }
      for (const { scope } of bodiesOf(reader)) scope.nodes.forEach(read);
    };
    read(node);
    return edges;
  });
  return { explicit, data };
}

/**
 * Puts nodes into an order in which each comes after what it depends on, and otherwise in the order of writing: a
 * graph's nodes name earlier ones only. The nodes of a cycle stay as they are, for the checker to report.
 */
function inOrder(nodes: readonly Node[], { explicit, data }: Dependencies): readonly Node[] {
  const before = nodes.map((_, index) => {
    const sources = [...(explicit[index] ?? []), ...(data[index] ?? []).map(({ source }) => source)];
    return [...new Set(sources)].sort((a, b) => a - b);
  });
  if (before.every((sources, index) => (sources.at(-1) ?? -1) < index)) return nodes;
  const ordered: number[] = [];
  const visited = new Set<number>();
  for (const start of nodes.keys()) {
    const open = [{ index: start, next: 0 }];
    visited.has(start) ? open.pop() : visited.add(start);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const source = before[top.index]?.[top.next];
      top.next += 1;
      if (source === undefined) {
        ordered.push(top.index);
        open.pop();
      } else if (!visited.has(source)) {
        visited.add(source);
        open.push({ index: source, next: 0 });
      }
    }
  }
  return ordered.flatMap((index) => nodes[index] ?? []);
}

/**
 * The data edges of nodes with explicit dependencies that these do not imply: plain references to values of nodes that
 * need not have run. A node without explicit dependencies waits for what it reads.
 */
function implicitEdges({ explicit, data }: Dependencies): DataEdge[] {
  return data.flatMap((edges, index) => {
    const plain = edges.filter(({ reference: { ref, guarded } }) => !guarded && ref.root === 'steps');
    const direct = explicit[index] ?? [];
    if (direct.length === 0) return [];
    const indirect = plain.filter(({ source }) => !direct.includes(source));
    if (indirect.length === 0) return [];
    const ancestors = ancestorsOf(direct, { explicit, data });
    const implied = indirect.filter(({ source }) => !ancestors.has(source));
    return implied.filter(({ source }, at) => implied.findIndex((each) => each.source === source) === at);
  });
}

/** The nodes that others wait for, and these nodes themselves. */
function ancestorsOf(nodes: readonly number[], { explicit, data }: Dependencies): ReadonlySet<number> {
  const ancestors = new Set<number>();
  const open = [...nodes];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (ancestors.has(next)) continue;
    ancestors.add(next);
    open.push(...(explicit[next] ?? []), ...(data[next] ?? []).map(({ source }) => source));
  }
  return ancestors;
}
