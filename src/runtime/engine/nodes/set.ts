import type { Value } from '../../../graph/json.js';
import type { SetNode } from '../../../graph/model.js';
import { fail } from '../ending.js';
import type { NodeInstance } from '../instances.js';
import { succeed } from '../settle.js';
import { readerOf, type Turn } from '../turn.js';

/** Writes fields of the run's state: every value is read before any field is written. */
export function beginSet(turn: Turn, node: NodeInstance, { updates }: SetNode): void {
  const { recorder } = turn;
  const reader = readerOf(turn, node);
  const written = new Map<string, Value>();
  for (const { field, value } of updates) {
    const evaluated = reader.value(value);
    if (!evaluated.ok) {
      fail(turn, node, { failure: evaluated.failure, reached: 0, final: true });
      return;
    }
    written.set(field, evaluated.value);
  }
  const given = [...written].flatMap(([field, value]) =>
    value === undefined ? [] : [[field, value] as const],
  );
  for (const [field, value] of written) {
    const row = value === undefined ? {} : { value };
    recorder.tables.fields.put(field, row);
    recorder.report({ kind: 'stateSet', node: node.key, field, ...row });
  }
  succeed(turn, node, Object.fromEntries(given));
}
