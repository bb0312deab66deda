import type { Value } from '../../json.js';
import { describeSource, expressionError } from '../error.js';
import type { EagerFunction, FunctionCall, ResultKind } from '../function.js';
import type { Expr } from '../tree.js';
import { describeKind } from '../value.js';
import { isFloat, isObject, numberOf, present, typeName } from './values.js';

/** A filter, test, method or function of Jinja. The reference of the language is charged of these entries. */
export interface PythonFunction extends EagerFunction {
  /** What authors write: `upper`. */
  readonly written: string;
  /** Names of its arguments, which may be given by name. The first one of a filter, test or method is its subject. */
  readonly parameters: readonly string[];
}

type Kind = 'filter' | 'test' | 'method' | 'function';

/**
 * Defines one.
 *
 * @param parameters separate by spaces: `?` behind a name for one that may be left out, `~` for one that may be given a
 * value that is not there, `*` for any number.
 */
export function define(
  kind: Kind,
  written: string,
  parameters: string,
  result: ResultKind,
  apply: (call: FunctionCall, ...args: Value[]) => Value,
): PythonFunction {
  const parts = parameters === '' ? [] : parameters.split(' ');
  const names = parts.map((part) => part.replace(/[?~*]/g, ''));
  const isOpen = parts.at(-1)?.endsWith('*') === true;
  const required = parts.filter((part) => !/[?*]/.test(part)).length;
  const name = `${kind}.${written}.py`;
  const strict = parts.map((part) => !/[?~*]/.test(part));
  const describeArgument = (argument: Expr | undefined, index: number): string => {
    const other = describe(kind, written, names[index] ?? '', index);
    return argument === undefined ? other : describeSource(argument, other);
  };
  return {
    ...{ name, written, parameters: names, result },
    arity: { min: required, ...(isOpen ? {} : { max: parts.length }) },
    lazy: false,
    takes: [],
    apply: (args, call) => {
      for (let index = 0; index < strict.length; index += 1)
        if (strict[index] === true && args[index] === undefined)
          present(undefined, describeArgument(call.written?.[index], index), call.at);
      return apply(call, ...args);
    },
  };
}

function describe(kind: Kind, written: string, name: string, index: number): string {
  return index === 0 && kind !== 'function'
    ? `the subject of \`${written}\``
    : `\`${name}\` of \`${written}\``;
}

/** @throws ExpressionError `E_ARGUMENT_TYPE` */
export function wrongType(fn: string, takes: string, value: Value, { at }: FunctionCall): Error {
  return expressionError('E_ARGUMENT_TYPE', { fn, takes, actual: typeName(value) }, at);
}

export function textIn(value: Value, fn: string, call: FunctionCall): string {
  if (typeof value !== 'string') throw wrongType(fn, 'text', value, call);
  call.budget.charge(1 + value.length, call.at);
  return value;
}

/** A whole number; the default for one that was left out. */
export function intIn(value: Value, fn: string, call: FunctionCall, other = 0): number {
  if (value === undefined) return other;
  const number = numberOf(value);
  if (number === undefined || isFloat(value)) throw wrongType(fn, 'a whole number', value, call);
  return number;
}

/** The items of a list, the characters of a text, or the keys of an object. A missing value has no items. */
export function itemsIn(value: Value, fn: string, call: FunctionCall): readonly Value[] {
  if (value === undefined) return [];
  const items = typeof value === 'string' ? [...value] : isObject(value) ? Object.keys(value) : value;
  if (!Array.isArray(items)) throw wrongType(fn, `a list, not ${describeKind(value)}`, value, call);
  call.budget.charge(1 + items.length, call.at);
  return items as readonly Value[];
}

/** Charges for a text, and returns it. */
export function charged(text: string, { budget, at }: FunctionCall): string {
  budget.charge(1 + text.length, at);
  return text;
}

export function listOf(items: readonly Value[], { allocations, at }: FunctionCall): Value {
  return allocations.list([...items], at);
}

/** A value of the right kind with a content that a function cannot work with. */
export function valueError(fn: string, problem: string, { at }: Pick<FunctionCall, 'at'>): Error {
  return expressionError('E_VALUE', { fn, problem }, at);
}
