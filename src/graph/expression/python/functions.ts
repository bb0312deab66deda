import { expressionError } from '../error.js';
import { charged, define, intIn, itemsIn, listOf, type PythonFunction, valueError } from './define.js';
import { attributeOf, memberOf } from './operators.js';
import { asValue, DateTime, float, isTruthy, numberOf, strOf } from './values.js';

/** The longest list that `range` makes. */
const MAX_RANGE = 100_000;

/** What templates call by a bare name, and what the lowering of templates needs. */
export const pythonFunctions: readonly PythonFunction[] = [
  define('function', 'range', 'start stop? step?', 'any', (call, start, stop, step) => {
    const [from, to] =
      stop === undefined
        ? [0, intIn(start, 'range', call)]
        : [intIn(start, 'range', call), intIn(stop, 'range', call)];
    const by = intIn(step, 'range', call, 1);
    const size = by === 0 ? Number.POSITIVE_INFINITY : Math.max(0, Math.ceil((to - from) / by));
    if (size > MAX_RANGE)
      throw valueError('range', `it has more than ${MAX_RANGE} items, or a step of 0`, call);
    call.budget.charge(size, call.at);
    return listOf(
      Array.from({ length: size }, (_, index) => from + by * index),
      call,
    );
  }),
  /** The time of the attempt, in ms since the epoch, as a time. */
  define('function', 'now', 'ms', 'any', (_, ms) => asValue(new DateTime(numberOf(ms) ?? 0))),
  /** A float that is written as such. */
  define('function', 'float', 'value', 'number', (_, value) => float(numberOf(value) ?? 0)),
  /** What is read of a value by a key or an index. */
  define('function', 'item', 'of~ key~', 'any', (call, of, key) => {
    call.budget.charge(1, call.at);
    return memberOf(of, key);
  }),
  define(
    'function',
    'attribute',
    'of~ path default?',
    'any',
    (_, of, path, other) => attributeOf(of, path) ?? other,
  ),
  /** What a loop goes through. */
  define('function', 'iterable', 'value~', 'any', (call, value) => {
    const items = itemsIn(value, 'for', call);
    return items === value ? value : listOf(items, call);
  }),
  /** The texts of a loop, one behind the other. */
  define('function', 'concat', 'parts', 'text', (call, parts) => {
    const texts = itemsIn(parts, 'for', call).map((part) => String(part ?? ''));
    return charged(texts.join(''), call);
  }),
  /** A value in a text. */
  define('function', 'text', 'value', 'text', (call, value) => strOf(value, call.budget, call.at)),
  /** The same for a reader: the empty text for a missing value. */
  define('function', 'textOrNothing', 'value~', 'text', (call, value) =>
    value === undefined ? '' : strOf(value, call.budget, call.at),
  ),
  /** A value that must be there. */
  define('function', 'value', 'value', 'any', (_, value) => value),
  define('function', 'truth', 'value~', 'boolean', (_, value) => isTruthy(value)),
  /** A state field by a computed name. @throws ExpressionError `E_ACCESS` for one that the step does not declare */
  define('function', 'stateField', 'fields names key~', 'any', (call, fields, names, key) => {
    if (!itemsIn(names, 'state', call).includes(key))
      throw expressionError('E_ACCESS', { field: String(key) }, call.at);
    return memberOf(fields, key);
  }),
];
