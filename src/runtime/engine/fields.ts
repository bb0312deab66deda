import { defined } from '../../graph/defined.js';
import type { Json, JsonObject, Value } from '../../graph/json.js';
import { initialOf } from '../../plan/instances.js';
import type { Plan } from '../../plan/plan.js';
import type { Fact, Failure } from './events.js';
import { failures } from './failures.js';
import type { NodeRecord, WorkflowRecord } from './records.js';
import type { RunState } from './state.js';

// Fields of the state: one set for the run, and one for each execution of a workflow that declares fields of its own.

type Place = Pick<WorkflowRecord, 'plan' | 'prefix'>;

interface FieldState {
  readonly fields: { get(key: string): { readonly value?: Json } | undefined };
}

/** Key of a field in its table: its name, after the key of the workflow's scope where it is the workflow's own. */
function fieldKey({ plan, prefix }: Place, name: string): string {
  return plan.ownFields.has(name) ? `${prefix === '' ? '/' : prefix}${name}` : name;
}

/** The value of a field as a workflow of the run sees it; absent if the field was never written and has no initial value. */
export function fieldOf(
  state: FieldState,
  workflow: Parameters<typeof initialOf>[0] & Place,
  name: string,
): Value {
  const row = state.fields.get(fieldKey(workflow, name));
  return row === undefined ? initialOf(workflow, name) : row.value;
}

/** All fields that the workflow at the top declares and that have a value. */
export function fieldsOf(
  state: FieldState & { readonly root: { readonly workflow: WorkflowRecord } },
): JsonObject {
  const { workflow } = state.root;
  const entries = (workflow.plan.graph.state ?? []).flatMap(({ name }): [string, Json][] => {
    const value = fieldOf(state, workflow, name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

interface WritingTransition {
  readonly state: RunState;
  readonly plan: Plan;
  report(fact: Fact): void;
}

/**
 * Writes all these fields of the state or leaves all as they are. Returns the failure of a state that would be too large. [S7, L10]
 */
export function writeFields(
  transition: WritingTransition,
  { key, scope }: NodeRecord,
  values: Iterable<readonly [field: string, value: Value]>,
): Failure | undefined {
  const { state, plan } = transition;
  const rows = Array.from(values, ([field, value]) => ({
    field,
    key: fieldKey(scope.workflow, field),
    row: defined({ value }),
  }));
  const limit = plan.graph.limits?.stateBytes;
  if (limit !== undefined) {
    let size = sizeOf(state);
    for (const each of rows)
      size += sizeOfField(each.key, each.row) - sizeOfField(each.key, state.fields.get(each.key));
    if (size > limit) return failures.stateSize(size, limit);
    state.fieldBytes = size;
  }
  for (const { field, key: fieldKey, row } of rows) {
    state.fields.put(fieldKey, row);
    transition.report({ kind: 'stateSet', node: key, field, ...row });
  }
  return undefined;
}

/** Deletes the own fields of a workflow when its execution ends. */
export function deleteFields(
  { state, plan }: WritingTransition,
  { key, planned: { node } }: NodeRecord,
): void {
  const called = node.kind === 'workflow' ? plan.tasks.get(node.workflow) : undefined;
  for (const name of called?.ownFields ?? []) {
    const place = `${key}/${name}`;
    if (state.fieldBytes !== undefined) state.fieldBytes -= sizeOfField(place, state.fields.get(place));
    state.fields.delete(place);
  }
}

/** The size of all written fields. It is counted once, and then follows each write. */
function sizeOf(state: RunState): number {
  if (state.fieldBytes !== undefined) return state.fieldBytes;
  let size = 1;
  for (const [key, row] of state.fields.rows()) size += sizeOfField(key, row);
  return size;
}

/** The size of a field as a member of a JSON object, in bytes of UTF-8. It is 0 for a field without a value. */
function sizeOfField(key: string, row: { readonly value?: Json } | undefined): number {
  if (row?.value === undefined) return 0;
  const name = key.slice(key.lastIndexOf('/') + 1);
  // With the colon, and the comma or the end.
  return utf8Length(JSON.stringify(name)) + utf8Length(JSON.stringify(row.value)) + 2;
}

/** A lone surrogate is escaped in JSON: all others are pairs, with 4 bytes for 2 units. */
function utf8Length(json: string): number {
  let bytes = json.length;
  for (let index = 0; index < json.length; index += 1) {
    const unit = json.charCodeAt(index);
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}
