import { defined } from '../../../graph/defined.js';
import { eachReference } from '../../../graph/expression/traversal.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { OwnPart } from '../../../graph/kinds/descriptor.js';
import type { Node, NodeBase, Scope } from '../../../graph/kinds/node.js';
import { lowerDelegate, lowerMcpCall, lowerPrompt, lowerShell, lowerWait } from './actions.js';
import type { StepContext, StepPart, StepsContext } from './context.js';
import { type Jump, jumpCondition, markerOf } from './jumps.js';
import { STEPS, type StepType } from './keys.js';
import { lowerForeach } from './loops.js';
import { literalOf, type StepList, type StepSpec } from './steps.js';
import { Templates } from './templates.js';

/** Lowers steps: each waits for the one before, and runs unless that one failed. */
export function lowerSteps(list: StepList, context: StepsContext, chain = new Chain()): readonly Node[] {
  for (const spec of list.steps) lowerStep(spec, context, chain);
  return chain.nodes;
}

/** Nodes in a row. */
export class Chain {
  readonly nodes: Node[] = [];

  add(node: OwnPart<Node> & Partial<Omit<NodeBase, 'after' | 'join'>> & Pick<NodeBase, 'id'>): void {
    const before = this.nodes.at(-1);
    const after = before === undefined ? [] : [before.id];
    this.nodes.push({ after, join: 'none_failed', executor: 'server', ...node } as Node);
  }
}

function lowerStep(spec: StepSpec, context: StepsContext, chain: Chain): void {
  const { reports, state, jumps } = context;
  const { fields, id } = spec;
  const declared = state.declaredBy(spec);
  const templates = new Templates(reports, {
    inputs: context.inputs,
    state: declared.names,
    names: context.names,
  });
  const inner = { ...context, spec, templates, declared };
  const when = conditionOf(inner);
  const own = lowerOwn(inner);
  const reads = state.access(spec, declared, templates.stateReferences);
  const source = reports.source.placeOf(spec.at);
  const title = fields.text('description')?.value;
  const output = outputOf(inner);
  const base = { id, ...defined({ title, when, reads }), source };
  if (own !== undefined && own.kind === 'wait' && output !== undefined) {
    chain.add({ ...base, ...own });
    chain.add({ ...waitResult(spec, output, own.durationMs), ...defined({ reads }), source });
  } else if (own !== undefined) chain.add({ ...base, ...defined({ writes: output }), ...own });
  for (const jump of jumps.behind(spec))
    chain.add({ ...jumpBack(jump), source: reports.source.placeOf(jump.spec.at) });
}

function conditionOf({ spec, templates, jumps }: StepContext): Expr | undefined {
  const located = spec.fields.value('when');
  const own = located === undefined ? [] : [templates.condition(located)];
  const [only, ...others] = [...jumps.guardsOf(spec), ...own];
  if (only === undefined || others.length === 0) return only;
  return { kind: 'and', truth: 'truthy.py', items: [only, ...others] };
}

function outputOf({ spec, reports }: StepContext): string | undefined {
  return 'output_to' in STEPS[spec.type] ? literalOf(reports, spec.fields, 'output_to')?.value : undefined;
}

const LOWERING: { readonly [K in StepType]: (context: StepContext) => StepPart | undefined } = {
  condition: lowerCondition,
  set_state: lowerUpdates,
  foreach: lowerForeach,
  return: ({ spec, templates }) => {
    const value = spec.fields.value('value');
    return value && { kind: 'return', value: templates.value(value) };
  },
  goto: lowerGoto,
  shell: lowerShell,
  mcp_call: lowerMcpCall,
  prompt: lowerPrompt,
  wait: lowerWait,
  delegate: lowerDelegate,
};

function lowerOwn(context: StepContext): StepPart | undefined {
  return LOWERING[context.spec.type](context);
}

/** A condition is a branch with two arms. Its own result is `{branch, last}`. [Q2] */
function lowerCondition(context: StepContext): StepPart | undefined {
  const { spec, templates } = context;
  const located = spec.fields.value('if');
  const when = located === undefined ? undefined : templates.condition(located);
  const hasOutput = spec.fields.has('output_to');
  const armOf = (name: 'then' | 'else'): Scope => {
    const list = spec.arms.find(({ arm }) => arm === name);
    const nodes = list === undefined ? [] : lowerSteps(list, context);
    return { nodes, ...(hasOutput ? { value: armResult(list && name, nodes) } : {}) };
  };
  const [body, otherwise] = [armOf('then'), armOf('else')];
  if (when === undefined) return undefined;
  return { kind: 'branch', cases: [{ id: 'then', when, body }], else: { id: 'else', body: otherwise } };
}

function armResult(branch: string | undefined, nodes: readonly Node[]): Expr {
  const entries = [
    { key: 'branch', value: { kind: 'literal', value: branch ?? null } },
    { key: 'last', value: lastResult(nodes) },
  ] as const;
  return { kind: 'dict', entries };
}

/** The result of the last node that ran. */
function lastResult(nodes: readonly Node[]): Expr {
  let last: Expr = { kind: 'literal', value: null };
  const from = nodes.findLastIndex((node) => node.when === undefined && hasResult(node));
  for (const node of nodes.slice(Math.max(from, 0))) {
    if (!hasResult(node)) continue;
    const value: Expr = { kind: 'ref', root: 'steps', path: [node.id], find: 'optional' };
    if (node.when === undefined) last = value;
    else {
      const status: Expr = { kind: 'ref', root: 'nodes', path: [node.id, 'status'] };
      const right: Expr = { kind: 'literal', value: 'succeeded' };
      const test: Expr = { kind: 'compare', left: status, ops: [{ op: 'eq.strict', right }] };
      // biome-ignore lint/suspicious/noThenProperty: a part of the tree
      last = { kind: 'conditional', truth: 'boolean', test, then: value, else: last };
    }
  }
  return last;
}

function hasResult({ kind }: Node): boolean {
  return kind !== 'goto' && kind !== 'return' && kind !== 'compute' && kind !== 'wait';
}

/** A jump back in its own list is a `goto`; all others note that they are taken. */
function lowerGoto({ spec, jumps }: StepContext): StepPart | undefined {
  const jump = jumps.of(spec);
  if (jump === undefined) return undefined;
  if (jump.isBack && jump.from === spec) return gotoOf(jump);
  if (jump.from === spec && jump.target.index === spec.index + 1) return undefined;
  return { kind: 'compute', value: { kind: 'literal', value: true }, id: markerOf(jump) };
}

function gotoOf(jump: Jump): StepPart {
  const onLimit = jump.spec.fields.oneOf('on_limit', ['fail', 'continue']) ?? 'fail';
  return { kind: 'goto', target: jump.target.id, max: jump.max, onLimit };
}

/** The jump out of a step, behind it. */
function jumpBack(jump: Jump) {
  return { ...gotoOf(jump), id: jump.spec.id, when: jumpCondition(markerOf(jump)) };
}

/** The result of a wait, which its node does not have. */
function waitResult({ id }: StepSpec, field: string, durationMs: Expr | undefined) {
  const status: Expr = { kind: 'ref', root: 'nodes', path: [id, 'status'] };
  const right: Expr = { kind: 'literal', value: 'succeeded' };
  const when: Expr = { kind: 'compare', left: status, ops: [{ op: 'eq.strict', right }] };
  const entries = [
    { key: 'resumed', value: { kind: 'literal', value: true } },
    { key: 'duration', value: inSeconds(durationMs) },
  ] as const;
  const value: Expr = { kind: 'dict', entries };
  return { kind: 'set', id: `${id}.result`, when, updates: [{ field, value }] } as const;
}

function inSeconds(durationMs: Expr | undefined): Expr {
  if (durationMs?.kind === 'let') return durationMs.value;
  const ms = durationMs?.kind === 'literal' ? Number(durationMs.value) : 0;
  return { kind: 'literal', value: ms / 1_000 };
}

/**
 * The updates of `set_state`. Each may use the names of those before it, which are bound around its value; `state` has the
 * values before all of them. [S7]
 */
function lowerUpdates({ spec, templates }: StepContext): StepPart | undefined {
  const map = spec.fields.object('updates');
  if (map === undefined) return undefined;
  if (map.entries.length === 0) {
    spec.fields.mismatch('updates', map, 'an object with one or more fields');
    return undefined;
  }
  const values = new Map<string, Expr>();
  const names = new Map<string, Expr>();
  const updates = map.entries.map(({ key, value: located }) => {
    const field = key.value;
    const value = templates.with(names).value(located);
    const update = { field, value: withBindings(value, values) };
    values.set(localOf(field), value);
    names.set(field, { kind: 'ref', root: 'local', path: [localOf(field)] });
    return update;
  });
  return { kind: 'set', updates };
}

/** Names that templates make are `_1`, `_2` and so on. */
function localOf(field: string): string {
  return field.startsWith('_') ? `_${field}` : field;
}

/** A value with the earlier values around it that it needs. */
function withBindings(value: Expr, values: ReadonlyMap<string, Expr>): Expr {
  const used = new Set<string>();
  const use = (expr: Expr): void =>
    eachReference(expr, ({ root, path: [name] }) => {
      if (root === 'local') used.add(String(name));
    });
  use(value);
  // Later values need earlier ones.
  return [...values].reverse().reduce<Expr>((body, [name, bound]) => {
    if (!used.has(name)) return body;
    use(bound);
    return { kind: 'let', name, value: bound, body };
  }, value);
}
