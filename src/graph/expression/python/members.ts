import { ownProperty, type Value } from '../../json.js';
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
