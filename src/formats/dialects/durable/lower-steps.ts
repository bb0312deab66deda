import { defined } from '../../../graph/defined.js';
import { eachReference } from '../../../graph/expression/traversal.js';
import type { DictEntry, Expr } from '../../../graph/expression/tree.js';
import { type OwnPart, wholeNumber } from '../../../graph/kinds/descriptor.js';
import type { Node, NodeBase, Scope } from '../../../graph/kinds/node.js';
import { DEFAULT_LOOP_MAX, MAX_LOOP_CONCURRENCY, MAX_STARTED_NODES } from '../../../graph/limits.js';
import { whenApproved } from '../../../graph/nodes.js';
import type { LocatedMap } from '../../text/located.js';
import { lowerDelegate, lowerMcpCall, lowerPrompt, lowerShell, lowerWait } from './actions.js';
import {
  type LoopName,
  loopInput,
  type StepContext,
  type StepPart,
  type StepsContext,
  type Task,
} from './context.js';
import { type Jump, jumpCondition, markerOf } from './jumps.js';
import { STEPS, type StepType } from './keys.js';
import { agentOf, literalOf, nearby, type StepList, type StepSpec } from './steps.js';
import { Templates } from './templates.js';

/** How many items run at once by default. [Q16] */
const DEFAULT_CONCURRENCY = 10;

const AT_ONCE = wholeNumber(1, MAX_LOOP_CONCURRENCY);
const ITEMS = wholeNumber(1, MAX_STARTED_NODES);

const ITEM: Expr = { kind: 'ref', root: 'item', path: ['item'] };
const RESULTS: Expr = { kind: 'ref', root: 'item', path: ['results'] };
const INDEX: Expr = { kind: 'ref', root: 'index', path: ['index'] };

/** A loop runs its task as a workflow of its own for each item: state is not shared. [Q9, Q10] */
function lowerForeach(context: StepContext): StepPart | undefined {
  const { reports, spec, templates } = context;
  const { fields, id } = spec;
  const located = fields.value('items');
  if (located !== undefined && located.kind !== 'text' && located.kind !== 'list')
    fields.mismatch('items', located, 'a list, or `{{ … }}`');
  const items = located && templates.value(located);
  const task = taskOf(context);
  const agent = agentOf(reports, spec);
  const sequential = fields.boolean('sequential') ?? false;
  const concurrency = concurrencyOf(context, sequential);
  const max = fields.numberIn('max_iterations', ITEMS) ?? DEFAULT_LOOP_MAX;
  const policy = fields.oneOf('on_child_error', ['fail', 'continue']) ?? 'fail';
  if (items === undefined || (located?.kind !== 'text' && located?.kind !== 'list')) return undefined;
  const values = loopValues(items);
  const entries = task === undefined ? mappedInputs(context, values) : inputsFor(context, task, values);
  if (task === undefined || entries === undefined) return undefined;
  checkTask(context, task, sequential);
  const input = { kind: 'dict', entries, at: reports.source.span(spec.at.start, spec.at.end) } as const;
  const used = namesIn(entries);
  const runId = `${id}.item`;
  const run: Node = {
    kind: 'workflow',
    id: runId,
    workflow: task.name,
    input,
    after: [],
    join: 'none_failed',
    executor: 'server',
    source: reports.source.placeOf(spec.at),
  };
  return {
    kind: 'foreach',
    items,
    as: 'item',
    ...(used.has('index') ? { indexAs: 'index' } : {}),
    body: { nodes: [run], value: { kind: 'ref', root: 'steps', path: [runId] } },
    concurrency,
    max,
    onItemError: policy === 'continue' ? 'report' : 'settle',
    ...defined({ agent }),
    ...(used.has('results') ? { resultsAs: 'results' } : {}),
  };
}

function taskOf({ reports, spec, tasks }: StepContext): Task | undefined {
  const text = literalOf(reports, spec.fields, 'task');
  const task = text && tasks.get(text.value);
  if (text === undefined || task !== undefined) return task;
  const { suggestion, edit } = nearby(reports, text, [...tasks.keys()]);
  const why = 'which is not one of the `tasks` of the file';
  const params = { key: 'task', node: spec.id, name: text.value, why, suggestion };
  reports.report('SW5016', text, params, { edit });
  return undefined;
}

function concurrencyOf({ reports, spec: { fields } }: StepContext, sequential: boolean): number {
  const concurrency = fields.numberIn('concurrency', AT_ONCE);
  const entry = fields.entry('concurrency');
  if (!sequential) return concurrency ?? DEFAULT_CONCURRENCY;
  const instead = 'remove one of them: items of a sequential loop run one at a time';
  if (entry !== undefined)
    reports.report('SW5018', entry.key, { key: 'concurrency', kind: 'a sequential `foreach`', instead });
  return 1;
}

function loopValues(items: Expr): Readonly<Record<LoopName, Expr>> {
  const last: Expr = { kind: 'call', fn: 'filter.last.py', args: [RESULTS] };
  return {
    item: ITEM,
    index: INDEX,
    total: { kind: 'call', fn: 'filter.length.py', args: [items] },
    previous: { kind: 'call', fn: 'coalesce', args: [last, { kind: 'literal', value: null }] },
    results: RESULTS,
  };
}

/** `inputs` of the step, or else the item: as the one input of the task, or by the names of its keys. [Q9] */
function inputsFor(
  context: StepContext,
  task: Task,
  values: Readonly<Record<LoopName, Expr>>,
): DictEntry[] | undefined {
  const { inputs, loopNames } = task;
  const [only, ...others] = inputs;
  const byItem = (): DictEntry[] => {
    if (only === undefined) return [];
    return others.length > 0 ? [{ spread: ITEM }] : [{ key: only.name, value: ITEM }];
  };
  const map = context.spec.fields.object('inputs');
  if (map !== undefined && hasMisfits(context, task, map)) return undefined;
  const own = map === undefined ? byItem() : mappedInputs(context, values);
  return [...own, ...loopNames.map((name) => ({ key: loopInput(name), value: values[name] }))];
}

function mappedInputs(
  { spec, templates }: StepContext,
  values: Readonly<Record<LoopName, Expr>>,
): DictEntry[] {
  const map = spec.fields.object('inputs');
  if (map === undefined) return [];
  const { item, index, total } = values;
  const inner = templates.with(new Map(Object.entries({ item, index, total })));
  return map.entries.map(({ key, value }) => ({ key: key.value, value: inner.value(value) }));
}

/** Reports inputs that the task does not have, and those that it needs. */
function hasMisfits({ reports, spec }: StepContext, task: Task, map: LocatedMap): boolean {
  const about = { step: spec.id, workflow: task.name };
  const names = task.inputs.map(({ name }) => name);
  const keys = map.entries.map(({ key }) => key);
  const unknown = keys.filter(({ value }) => !names.includes(value));
  for (const key of unknown) {
    const { suggestion, edit } = nearby(
      reports,
      key,
      names.filter((name) => keys.every(({ value }) => value !== name)),
    );
    reports.report('SW4004', key, { ...about, input: key.value, suggestion }, { edit });
  }
  const missing = task.inputs.filter(
    ({ name, required }) => required && keys.every(({ value }) => value !== name),
  );
  const at = spec.fields.entry('inputs')?.key ?? map;
  const hint = 'add it to `inputs` of the step, or give it a default in the task';
  for (const { name } of missing) reports.report('SW4003', at, { ...about, input: name }, { hint });
  return unknown.length + missing.length > 0;
}

/** The names of the loop that its inputs read. */
function namesIn(entries: readonly DictEntry[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const entry of entries)
    eachReference('key' in entry ? entry.value : entry.spread, ({ root, path: [name] }) => {
      if (root === 'item' || root === 'index') names.add(String(name));
    });
  return names;
}

/** Results of other items are known only if items run one after the other; a result needs a field. */
function checkTask({ reports, spec }: StepContext, task: Task, sequential: boolean): void {
  const { fields, id, at } = spec;
  const name = task.loopNames.find((each) => each === 'previous' || each === 'results');
  if (name !== undefined && !sequential)
    reports.report('SW5042', fields.entry('task')?.value ?? at, { step: id, task: task.name, name });
  if (task.hasReturn && !fields.has('output_to')) reports.report('SW5038', at, { step: id, task: task.name });
}

/** Lowers steps: each waits for the one before, and runs unless that one failed. */
export function lowerSteps(list: StepList, context: StepsContext, chain = new Chain()): readonly Node[] {
  for (const spec of list.steps) lowerStep(spec, context, chain);
  return whenApproved(chain.nodes);
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
  const own = LOWERING[inner.spec.type](inner);
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
