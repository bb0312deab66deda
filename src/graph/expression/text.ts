import type { Value } from '../json.js';
import type { Span } from '../place.js';
import { unreachable } from '../unreachable.js';
import type { Budget } from './budget.js';
import { expressionError } from './error.js';
import type { TextExpr } from './tree.js';
import { isUnknown } from './unknown.js';
import { chargeWhole, isNullish, MAX_DATA_DEPTH } from './value.js';

/** Turns a value into text in the given style. @throws ExpressionError `E_BUDGET`, `E_DEPTH` */
export function toText(value: Value, style: TextExpr['style'], budget: Budget, at?: Span): string {
  switch (style) {
    case 'js':
      return templateText(value, budget, at, 0);
    case 'display':
      return displayText(value, budget, at);
    default:
      return unreachable(style);
  }
}

function displayText(value: Value, budget: Budget, at?: Span): string {
  chargeWhole(value, budget, at);
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What `${value}` gives, without calling a method that the data could have replaced. */
function templateText(value: Value, budget: Budget, at: Span | undefined, depth: number): string {
  if (typeof value === 'string') {
    budget.charge(1 + value.length, at);
    return value;
  }
  budget.charge(1, at);
  if (isUnknown(value)) return value.toJSON();
  if (!Array.isArray(value))
    return typeof value === 'object' && value !== null ? '[object Object]' : String(value);
  if (depth >= MAX_DATA_DEPTH) {
    throw expressionError('E_DEPTH', { what: 'the data', limit: MAX_DATA_DEPTH }, at);
  }
  return value
    .map((item: Value) => {
      budget.charge(1, at);
      return isNullish(item) ? '' : templateText(item, budget, at, depth + 1);
    })
    .join(',');
}
