import { defined } from '../../../graph/defined.js';
import { eachReference } from '../../../graph/expression/traversal.js';
import type { DictEntry, Expr } from '../../../graph/expression/tree.js';
import { wholeNumber } from '../../../graph/kinds/descriptor.js';
import type { Node } from '../../../graph/kinds/node.js';
import { DEFAULT_LOOP_MAX, MAX_LOOP_CONCURRENCY, MAX_STARTED_NODES } from '../../../graph/limits.js';
import type { LocatedMap } from '../../text/located.js';
import type { StepContext, StepPart } from './context.js';
import { agentOf, literalOf, nearby } from './steps.js';
import { type LoopName, loopInput, type Task } from './tasks.js';

/** How many items run at once by default. [Q16] */
const DEFAULT_CONCURRENCY = 10;

const AT_ONCE = wholeNumber(1, MAX_LOOP_CONCURRENCY);
const ITEMS = wholeNumber(1, MAX_STARTED_NODES);

const ITEM: Expr = { kind: 'ref', root: 'item', path: ['item'] };
const RESULTS: Expr = { kind: 'ref', root: 'item', path: ['results'] };
const INDEX: Expr = { kind: 'ref', root: 'index', path: ['index'] };

/** A loop runs its task as a workflow of its own for each item: state is not shared. [Q9, Q10] */
export function lowerForeach(context: StepContext): StepPart | undefined {
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

/** What a loop has for each item. */
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
