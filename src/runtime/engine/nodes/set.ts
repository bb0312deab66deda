import type { Value } from '../../../graph/json.js';
import type { SetNode } from '../../../graph/model.js';
import { fail } from '../ending.js';
import type { NodeRecord } from '../records.js';
import { succeed } from '../settle.js';
import { readerOf, type Transition } from '../transition.js';

/** Writes fields of the run's state: every value is read before any field is written. */
export function beginSet(transition: Transition, node: NodeRecord, { updates }: SetNode): void {
  const reader = readerOf(transition, node);
  const written = new Map<string, Value>();
  for (const { field, value } of updates) {
    const evaluated = reader.value(value);
    if (!evaluated.ok) {
      fail(transition, node, { failure: evaluated.failure, reached: 0, final: true });
      return;
    }
    written.set(field, evaluated.value);
  }
  const given = [...written].flatMap(([field, value]) =>
    value === undefined ? [] : [[field, value] as const],
  );
  for (const [field, value] of written) {
    const row = value === undefined ? {} : { value };
    transition.state.fields.put(field, row);
    transition.report({ kind: 'stateSet', node: node.key, field, ...row });
  }
  succeed(transition, node, Object.fromEntries(given));
}
