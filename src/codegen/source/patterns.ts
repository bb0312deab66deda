import { ts } from 'ts-morph';
import { type ExpressionSyntax, PATTERN, type PatternName, type Unsupported } from '../syntax.js';
import { constantKeyOf } from './constants.js';
import { type HostContext, placeOf } from './context.js';
import { isAddedTo } from './truth.js';

type Read = (node: ts.Expression) => ExpressionSyntax;

/** The names that a parameter is taken apart into, in written order, or why it cannot be. */
export function readPattern(
  context: HostContext,
  pattern: ts.BindingPattern,
  read: Read,
): readonly PatternName[] | Unsupported {
  const names: PatternName[] = [];
  const symbol = { kind: 'other', name: PATTERN } as const;
  const place = placeOf(context, pattern);
  const fault = readNames(
    context,
    pattern,
    { kind: 'identifier', place, name: PATTERN, symbol },
    names,
    read,
  );
  return fault ?? names;
}

/** @param of what is taken apart. */
function readNames(
  context: HostContext,
  pattern: ts.BindingPattern,
  of: ExpressionSyntax,
  names: PatternName[],
  read: Read,
): Unsupported | undefined {
  if (ts.isArrayBindingPattern(pattern)) return faults.list;
  for (const element of pattern.elements) {
    if (element.dotDotDotToken !== undefined) return faults.rest;
    const key = keyOf(context, element);
    if (key === undefined) return faults.key;
    const value = withDefault(element, read, {
      kind: 'property',
      place: placeOf(context, element),
      object: isAddedTo(context, pattern, key)
        ? { kind: 'parenthesized', place: of.place, inner: of, isClaim: true }
        : of,
      name: key,
      namePlace: placeOf(context, element.propertyName ?? element.name),
      optional: false,
    });
    if (ts.isIdentifier(element.name))
      names.push({ name: element.name.text, place: placeOf(context, element.name), value });
    else {
      const fault = readNames(context, element.name, value, names, read);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function keyOf(context: HostContext, { propertyName, name }: ts.BindingElement): string | undefined {
  const key = propertyName ?? name;
  if (ts.isIdentifier(key) || ts.isStringLiteralLike(key) || ts.isNumericLiteral(key)) return key.text;
  return ts.isComputedPropertyName(key) ? constantKeyOf(context, key.expression) : undefined;
}

/** `{ size = 10 }`: the default stands for what is absent, and not for null. */
function withDefault(
  { initializer }: ts.BindingElement,
  read: Read,
  value: ExpressionSyntax,
): ExpressionSyntax {
  if (initializer === undefined) return value;
  const { place } = value;
  const test: ExpressionSyntax = {
    kind: 'binary',
    place,
    operator: '===',
    left: value,
    right: { kind: 'undefined', place },
  };
  const fallback = read(initializer);
  // biome-ignore lint/suspicious/noThenProperty: the name is the syntax's, and no such object is awaited
  return { kind: 'conditional', place, test, then: fallback, else: value };
}

const faults = {
  list: {
    unsupported: 'a list that is taken apart',
    instead: 'name the parameter, and read from it: `(item) => item[0]`',
  },
  rest: {
    unsupported: 'the rest of an object that is taken apart',
    instead: 'name the parameter, and read from it: `(item) => item.name`',
  },
  key: {
    unsupported: 'a computed key in a parameter that is taken apart',
    instead: 'write the key itself, or the name of a `const` with a literal',
  },
} as const satisfies Record<string, Unsupported>;
