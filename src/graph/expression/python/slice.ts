import type { Value } from '../../json.js';
import { expressionError } from '../error.js';
import type { FunctionCall } from '../function.js';

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
