import type { Expr } from '../../src/graph/expression/tree.js';
import type { Json } from '../../src/graph/json.js';
import { coalesce, equals, get, isNullish, lit, not, ref, step } from './build.js';
import type { Tape } from './tape.js';

/** The names that an expression may use at its position. */
export interface Names {
  readonly steps: readonly string[];
  readonly items: readonly string[];
  readonly indices: readonly string[];
  readonly inputs: readonly string[];
}

export const FIELDS = ['count', 'note', 'own'] as const;

const CONSTANTS: readonly Json[] = [1, true, 'x', null, { ok: true }, [1, 2], false];

/** Mostly with a value, and now and then without one. */
export function anyValue(tape: Tape, names: Names): Expr {
  const step_ = (): string => tape.of(names.steps);
  const kind = tape.weighted({
    constant: 5,
    input: 3,
    step: 6,
    guarded: 4,
    item: 4,
    state: 2,
    deep: 1,
    broken: 1,
  });
  switch (kind) {
    case 'input':
      return names.inputs.length > 0 ? ref('inputs', tape.of(names.inputs)) : lit('none');
    case 'step':
      if (names.steps.length > 0) return step(step_());
      break;
    case 'guarded':
      if (names.steps.length > 0) {
        return guarded(tape, step_());
      }
      break;
    case 'item':
      if (names.items.length > 0 && tape.chance(60)) return ref('item', tape.of(names.items));
      if (names.indices.length > 0) return ref('index', tape.of(names.indices));
      break;
    case 'state':
      return ref('state', tape.of(FIELDS));
    case 'deep':
      if (names.steps.length > 0) return get(step(step_()), 'ok');
      break;
    case 'broken':
      return tape.chance(30) ? get(lit(null), 'x') : lit();
    case 'constant':
      break;
  }
  return lit(tape.of(CONSTANTS));
}

/** The value of a step, with something for its absence, or how it settled. */
function guarded(tape: Tape, id: string): Expr {
  switch (tape.weighted({ coalesce: 4, get: 4, status: 1, error: 1 })) {
    case 'coalesce':
      return coalesce(step(id), lit('none'));
    case 'get':
      return get(step(id), 'ok', true);
    case 'status':
      return ref('nodes', id, 'status');
    case 'error':
      return get(ref('nodes', id, 'error'), 'attempts', true);
  }
}

/** Mostly true or false. */
export function anyCondition(tape: Tape, names: Names): Expr {
  switch (tape.weighted({ yes: 3, no: 1, ok: 4, absent: 2, not: 3, state: 1, raw: 1 })) {
    case 'yes':
      return lit(true);
    case 'no':
      return lit(tape.of([false, null]));
    case 'ok':
      return equals(get(anyValue(tape, names), 'ok', true), true);
    case 'absent':
      return isNullish(anyValue(tape, names));
    case 'not':
      return not(anyValue(tape, names));
    case 'state':
      return equals(ref('state', tape.of(FIELDS)), tape.of([0, 1, 'x']));
    case 'raw':
      return anyValue(tape, names);
  }
}

/** Mostly a list. */
export function anyItems(tape: Tape, names: Names): Expr {
  switch (tape.weighted({ short: 5, empty: 1, long: 1, input: 2, step: 2, wrong: 1 })) {
    case 'short':
      return lit(tape.of<Json>([['a', 'b'], [1], [{ ok: true }, { ok: false }, null]]));
    case 'empty':
      return lit([]);
    case 'long':
      return lit([1, 2, 3, 4, 5]);
    case 'input':
      return names.inputs.includes('list') ? ref('inputs', 'list') : lit([1]);
    case 'step':
      return names.steps.length > 0 ? coalesce(step(tape.of(names.steps)), lit([0])) : lit([0, 1]);
    case 'wrong':
      return lit(tape.of<Json>(['text', null, { length: 2 }]));
  }
}
