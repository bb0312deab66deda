import { defined } from '../../graph/defined.js';
import type { Json, Value } from '../../graph/json.js';
import type { Failure } from './events.js';
import { failures } from './failures.js';
import type { NodeRecord } from './records.js';
import { fieldKey, type RunState } from './state.js';
import type { Transition } from './transition.js';

/**
 * Writes all these fields of the state or leaves all as they are. Returns the failure of a state that would be too large. [S7, L10]
 */
export function writeFields(
  transition: Transition,
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
export function deleteFields({ state, plan }: Transition, { key, planned: { node } }: NodeRecord): void {
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
