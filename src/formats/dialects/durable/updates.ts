import { eachReference } from '../../../graph/expression/traversal.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { StepContext, StepPart } from './context.js';

/**
 * The updates of `set_state`. Each may use the names of those before it, which are bound around its value; `state` has the
 * values before all of them. [S7]
 */
export function lowerUpdates({ spec, templates }: StepContext): StepPart | undefined {
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
