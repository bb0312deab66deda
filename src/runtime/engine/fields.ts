import type { Json, JsonObject, Value } from '../../graph/json.js';
import { initialOf } from '../../plan/visibility.js';
import type { WorkflowRecord } from './records.js';

// Fields of the state: one set for the run, and one for each execution of a workflow that declares fields of its own.

/** The state of a run, as its fields are read. */
interface FieldState {
  readonly fields: { get(key: string): { readonly value?: Json } | undefined };
}

/** Key of a field in its table: its name, after the key of the workflow's scope where it is the workflow's own. */
export function fieldKey({ plan, prefix }: Pick<WorkflowRecord, 'plan' | 'prefix'>, name: string): string {
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

type Place = Pick<WorkflowRecord, 'plan' | 'prefix'>;

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
