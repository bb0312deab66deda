import type { Value } from '../../json.js';
import type { FunctionCall } from '../function.js';
import type { PythonComparison } from '../tree.js';
import { define, intIn, type PythonFunction, textIn } from './define.js';
import { comparePython, isEqual } from './operators.js';
import { isFloat, isObject, numberOf } from './values.js';

type Test = (value: Value, call: FunctionCall, ...args: Value[]) => boolean;

const isNumber = (value: Value): boolean => numberOf(value) !== undefined;
const isText = (value: Value): value is string => typeof value === 'string';

function compared(op: PythonComparison): Test {
  return (value, call, other) => comparePython(op, value, other, call);
}

function parity(rest: number): Test {
  return (value, call) => Math.abs(intIn(value, rest === 0 ? 'even' : 'odd', call) % 2) === rest;
}

/** The tests of `is`, with what may follow them. */
const TESTS: Readonly<Record<string, readonly [names: string, parameters: string, test: Test]>> = {
  boolean: ['boolean', '', (value) => typeof value === 'boolean'],
  // No value of a workflow can be called.
  callable: ['callable', '', () => false],
  defined: ['defined', '', (value) => value !== undefined],
  divisibleby: [
    'divisibleby',
    'num',
    (value, call, by) => intIn(value, 'divisibleby', call) % intIn(by, 'divisibleby', call) === 0,
  ],
  eq: ['eq equalto', 'other~', compared('eq.py')],
  ne: ['ne', 'other~', compared('ne.py')],
  lt: ['lt lessthan', 'other~', compared('lt.py')],
  le: ['le', 'other~', compared('le.py')],
  gt: ['gt greaterthan', 'other~', compared('gt.py')],
  ge: ['ge', 'other~', compared('ge.py')],
  in: ['in', 'seq~', compared('in.py')],
  // No text of a workflow is marked as safe.
  escapeHtml: ['escaped', '', () => false],
  even: ['even', '', parity(0)],
  odd: ['odd', '', parity(1)],
  false: ['false', '', (value) => value === false],
  true: ['true', '', (value) => value === true],
  float: ['float', '', (value) => isFloat(value)],
  integer: ['integer', '', (value) => typeof value === 'number' && !isFloat(value)],
  number: ['number', '', isNumber],
  iterable: [
    'iterable sequence',
    '',
    (value) => isText(value) || Array.isArray(value) || isObject(value) || value === undefined,
  ],
  mapping: ['mapping', '', (value) => isObject(value)],
  string: ['string', '', isText],
  lower: [
    'lower',
    '',
    (value, call) =>
      textIn(value, 'lower', call) === String(value).toLowerCase() &&
      String(value) !== String(value).toUpperCase(),
  ],
  upper: [
    'upper',
    '',
    (value, call) =>
      textIn(value, 'upper', call) === String(value).toUpperCase() &&
      String(value) !== String(value).toLowerCase(),
  ],
  none: ['none', '', (value) => value === null],
  undefined: ['undefined', '', (value) => value === undefined],
  sameas: [
    'sameas',
    'other~',
    (value, _, other) =>
      typeof value === 'object' && value !== null
        ? value === other
        : isEqual(value, other) && typeof value === typeof other,
  ],
};

/** Tests that fail for a value that is not there. */
const STRICT = new Set(['divisibleby', 'even', 'odd', 'lower', 'upper']);

export const pythonTests: readonly PythonFunction[] = Object.entries(TESTS).flatMap(
  ([id, [names, parameters, test]]) =>
    names.split(' ').map((name) =>
      define(
        'test',
        name,
        `value${STRICT.has(id) ? '' : '~'}${parameters === '' ? '' : ` ${parameters}`}`,
        'boolean',
        (call, value, ...args) => {
          call.budget.charge(1, call.at);
          return test(value, call, ...args);
        },
      ),
    ),
);
