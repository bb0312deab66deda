import { ownProperty, type Value } from '../../json.js';
import { expressionError } from '../error.js';
import type { FunctionCall } from '../function.js';
import { PythonValue } from '../value.js';
import { isObject } from './values.js';

/** What an attribute of a value is: a path of keys and indexes with dots between. What is not there stays absent. */
export function attributeOf(value: Value, path: Value): Value {
  let at = value;
  for (const key of typeof path === 'number' ? [path] : String(path).split('.')) at = memberOf(at, key);
  return at;
}

/** An item or own key of a value, negative indexes from the end. Nothing inherited is reached. */
export function memberOf(of: Value, key: Value): Value {
  if (PythonValue.is(of)) return undefined;
  if (isObject(of)) return typeof key === 'string' ? ownProperty(of, key) : undefined;
  const index = typeof key === 'string' && /^-?\d+$/.test(key) ? Number(key) : key;
  if (typeof index !== 'number' || !Number.isInteger(index)) return undefined;
  const items = typeof of === 'string' ? [...of] : of;
  return Array.isArray(items) ? (items as readonly Value[]).at(index) : undefined;
}

/** A part of a text, by code points, or of a list, as Python's slices have it. */
export function sliceOf(
  of: string | readonly Value[],
  bounds: {
    readonly start: number | undefined;
    readonly end: number | undefined;
    readonly step: number | undefined;
  },
  { allocations, budget, at }: FunctionCall,
): Value {
  const items: readonly Value[] = typeof of === 'string' ? [...of] : of;
  const { step = 1 } = bounds;
  if (step === 0 || ![step, bounds.start ?? 0, bounds.end ?? 0].every(Number.isInteger))
    throw expressionError(
      'E_VALUE',
      { fn: 'slice', problem: 'bounds are whole numbers, and the step is not 0' },
      at,
    );
  const { length } = items;
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
  const bound = (value: number | undefined, other: number): number => {
    if (value === undefined) return other;
    return Math.min(most, Math.max(least, value < 0 ? value + length : value));
  };
  const [start, end] = [
    bound(bounds.start, step > 0 ? least : most),
    bound(bounds.end, step > 0 ? most : least),
  ];
  const part: Value[] = [];
  for (let index = start; step > 0 ? index < end : index > end; index += step) part.push(items[index]);
  budget.charge(part.length, at);
  return typeof of === 'string' ? part.join('') : allocations.list(part, at);
}
