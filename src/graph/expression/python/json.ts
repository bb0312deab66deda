import type { Json, Value } from '../../json.js';
import { expressionError } from '../error.js';
import type { FunctionCall } from '../function.js';
import { chargeWhole, PythonValue } from '../value.js';
import { charged } from './define.js';
import { strip } from './methods.js';
import { floatText } from './text.js';
import { marginOf } from './texts.js';
import { isFloat, isObject, numberOf } from './values.js';

/** JSON as Python writes it: a space behind `:` and `,`, floats with a fraction. */
export function jsonOf(value: Value, indent: Value, call: FunctionCall): string {
  chargeWhole(value, call.budget, call.at);
  const width = marginOf(indent, 'tojson', 0, call);
  const isPretty = indent !== undefined && indent !== null;
  const write = (part: Value, margin: string): string => {
    if (part === undefined) return 'null';
    if (isFloat(part)) return floatText(numberOf(part) ?? 0);
    if (PythonValue.is(part)) return JSON.stringify(part.toJSON());
    const inner = margin + width;
    const lines = (open: string, parts: readonly string[], close: string): string => {
      if (parts.length === 0) return open + close;
      return isPretty
        ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`
        : open + parts.join(', ') + close;
    };
    if (Array.isArray(part))
      return lines(
        '[',
        part.map((item: Value) => write(item, inner)),
        ']',
      );
    if (!isObject(part)) return JSON.stringify(part);
    const entries = Object.entries(part).filter(([, item]) => item !== undefined);
    return lines(
      '{',
      entries.map(([key, item]) => `${JSON.stringify(key)}: ${write(item, inner)}`),
      '}',
    );
  };
  return charged(write(value, ''), call);
}

/** Strict JSON, without one code fence around it. @throws ExpressionError `E_PARSE_JSON` */
export function parseJson(text: string, { allocations, at, budget }: FunctionCall): Value {
  budget.charge(text.length, at);
  const trimmed = strip(text, undefined, 'both');
  const opening = /^```(?:json)?[ \t]*\n/.exec(trimmed)?.[0];
  const isFenced = opening !== undefined && trimmed.endsWith('```');
  let value: Json;
  try {
    value = JSON.parse(isFenced ? trimmed.slice(opening.length, -3) : text, reviverOf(text)) as Json;
  } catch {
    throw expressionError('E_PARSE_JSON', { text: JSON.stringify(text.slice(0, 80)) }, at);
  }
  chargeWhole(value, budget, at);
  return Array.isArray(value) ? allocations.list(value, at) : value;
}

/** Refuses numbers and keys that a value cannot have. Most texts do without it. */
function reviverOf(text: string): ((key: string, part: Json) => Json) | undefined {
  if (!/\d{16}|\d[eE]|__proto__|\\u/.test(text)) return undefined;
  return (key, part) => {
    const isUnsafe = typeof part === 'number' && Number.isInteger(part) && !Number.isSafeInteger(part);
    if (isUnsafe || key === '__proto__') throw new Error();
    return part;
  };
}
