import { defined } from '../../graph/defined.js';
import type { SourceLocation } from '../../graph/source-location.js';
import {
  type ExpressionSyntax,
  PATTERN,
  type PatternName,
  type SymbolSyntax,
  type Unsupported,
} from '../syntax.js';
import { deepPartOf, type HostContext, KEYWORD_VALUES, markDeepParts, placeOf, propertyName } from './ast.js';
import { calculatedValue, constantKeyOf, constantOf, startOf } from './constants.js';
import { resolveIdentifier, resolveMember } from './symbols.js';
import { compositeTruth, hidesAbsence, isAddedTo, isClaim, typeOfExpression } from './types.js';
import { ts } from './typescript.mjs';
import { clientCall, responseSchema, taggedCall } from './written-schemas.js';

type ArrowParameter = Extract<ExpressionSyntax, { kind: 'arrow' }>['parameters'][number];

type ObjectEntry = Extract<ExpressionSyntax, { kind: 'object' }>['entries'][number];

/** Reads a whole expression with {@link readExpression}. Parts that are too deep become `unsupported`. */
export function readWholeExpression(context: HostContext, node: ts.Expression): ExpressionSyntax {
  markDeepParts(node);
  return readExpression(context, node);
}

/** Turns a compiler node into neutral syntax. Syntax without a neutral form becomes `unsupported`. */
export function readExpression(context: HostContext, node: ts.Expression): ExpressionSyntax {
  const read = (inner: ts.Expression): ExpressionSyntax => readExpression(context, inner);
  const place = placeOf(context, node);
  const deep = deepPartOf(node);
  if (deep !== undefined)
    return { kind: 'unsupported', place, unsupported: 'this expression', tooDeep: placeOf(context, deep) };
  const optional = 'questionDotToken' in node && node.questionDotToken !== undefined;

  if (
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isTypeAssertionExpression(node)
  ) {
    const inner = read(node.expression);
    const isNarrowing = isClaim(context, node);
    const isHiding = context.isOption !== true && hidesAbsence(context, node);
    if (!isNarrowing && !isHiding) return inner;
    const marks = {
      ...(isNarrowing ? { isClaim: true as const } : {}),
      ...(isHiding ? { hidesAbsence: place } : {}),
    };
    return { kind: 'parenthesized', place: inner.place, inner, ...marks };
  }
  if (ts.isStringLiteralLike(node)) {
    const text = node.getText();
    const verbatim = text.slice(1, -1).replaceAll('\r\n', '\n') === node.text;
    return { kind: 'literal', place, value: node.text, ...(verbatim ? { verbatim } : {}) };
  }
  if (ts.isNumericLiteral(node)) {
    const value = Number(node.text);
    if (!Number.isFinite(value))
      return { kind: 'unsupported', place, unsupported: 'a number beyond the largest one' };
    return { kind: 'literal', place, value };
  }
  if (ts.isIdentifier(node)) {
    if (node.text === 'undefined') return { kind: 'undefined', place };
    return identifierSyntax(context, node, place);
  }
  if (ts.isPropertyAccessExpression(node)) {
    const symbol = resolveMember(context, node);
    const constant =
      symbol === undefined || symbol.kind === 'other' ? constantSyntax(context, node, place) : undefined;
    if (constant !== undefined) return constant;
    return {
      kind: 'property',
      place,
      object: objectSyntax(context, node),
      name: node.name.text,
      namePlace: placeOf(context, node.name),
      optional,
      ...defined({ symbol }),
    };
  }
  if (ts.isElementAccessExpression(node)) {
    const constant = constantSyntax(context, node, place);
    if (constant !== undefined) return constant;
    return {
      kind: 'element',
      place,
      object: read(node.expression),
      index: read(node.argumentExpression),
      optional,
    };
  }
  if (ts.isCallExpression(node)) {
    return callSyntax(context, node, place, optional);
  }
  if (ts.isTemplateExpression(node)) {
    const parts = templateParts(context, node);
    return { kind: 'template', place, parts, ...calculatedValue(context, node) };
  }
  if (ts.isTaggedTemplateExpression(node)) {
    const { template } = node;
    const parts = ts.isTemplateExpression(template) ? templateParts(context, template) : [template.text];
    const tagged = { kind: 'tagged', place, tag: read(node.tag), parts } as const;
    return taggedCall(tagged) ?? tagged;
  }
  if (ts.isObjectLiteralExpression(node)) {
    return {
      kind: 'object',
      place,
      entries: node.properties.map((property) => readEntry(context, property)),
    };
  }
  if (ts.isArrayLiteralExpression(node)) {
    const items = node.elements.map((element) =>
      ts.isSpreadElement(element)
        ? { value: read(element.expression), spread: true }
        : { value: read(element), spread: false },
    );
    return { kind: 'array', place, items };
  }
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText();
    const asks = operator === '&&' || operator === '||';
    const left = asks ? readCondition(context, node.left) : read(node.left);
    const value = calculatedValue(context, node);
    return { kind: 'binary', place, operator, left, right: read(node.right), ...value };
  }
  if (ts.isPrefixUnaryExpression(node)) return prefixSyntax(context, node, place);
  if (ts.isConditionalExpression(node)) {
    return {
      kind: 'conditional',
      place,
      test: readCondition(context, node.condition),
      // biome-ignore lint/suspicious/noThenProperty: the name is the syntax's, and no such object is awaited
      then: read(node.whenTrue),
      else: read(node.whenFalse),
    };
  }
  if (ts.isParenthesizedExpression(node))
    return { kind: 'parenthesized', place, inner: read(node.expression) };
  if (ts.isArrowFunction(node)) return arrowSyntax(context, node, place);
  const value = KEYWORD_VALUES.get(node.kind);
  if (value !== undefined) return { kind: 'literal', place, value };
  if (node.kind === ts.SyntaxKind.ThisKeyword) return { kind: 'this', place };
  return {
    kind: 'unsupported',
    place,
    ...shortText(node),
    ...(unsupported.get(node.kind) ?? { unsupported: 'this expression' }),
  };
}

function shortText(node: ts.Expression): { readonly text?: string } {
  const text = node.getText();
  return text.length <= 40 && !/[\r\n`]/.test(text) ? { text } : {};
}

/** An expression of which only the truthiness is used. */
function readCondition(context: HostContext, node: ts.Expression): ExpressionSyntax {
  if (ts.isParenthesizedExpression(node)) {
    return {
      kind: 'parenthesized',
      place: placeOf(context, node),
      inner: readCondition(context, node.expression),
    };
  }
  const syntax = readExpression(context, node);
  if (syntax.kind === 'binary' && ts.isBinaryExpression(node) && ['&&', '||'].includes(syntax.operator))
    return { ...syntax, right: readCondition(context, node.right) };
  const truth = compositeTruth(context, node);
  return truth === undefined ? syntax : { ...syntax, truth };
}

function objectSyntax(context: HostContext, node: ts.PropertyAccessExpression): ExpressionSyntax {
  const object = readExpression(context, node.expression);
  const isInChain = (node.flags & ts.NodeFlags.OptionalChain) !== 0;
  if (isInChain || !isAddedTo(context, node.expression, node.name.text)) return object;
  return { kind: 'parenthesized', place: object.place, inner: object, isClaim: true };
}

function identifierSyntax(
  context: HostContext,
  node: ts.Identifier,
  place: SourceLocation,
): ExpressionSyntax {
  const symbol = resolveIdentifier(context, node);
  const constant = symbol.kind === 'other' ? constantOf(context, node) : undefined;
  if (constant?.kind === 'value')
    return { kind: 'literal', place, value: constant.value, constant: node.text, ...fileOf(context, symbol) };
  const instead = defined({ instead: constant?.instead });
  return { kind: 'identifier', place, name: node.text, symbol: { ...symbol, ...instead } };
}

/** An access to a constant: the member of an enum, a part of an `as const` object. */
function constantSyntax(
  context: HostContext,
  node: ts.PropertyAccessExpression | ts.ElementAccessExpression,
  place: SourceLocation,
): ExpressionSyntax | undefined {
  const constant = constantOf(context, node);
  if (constant === undefined) return undefined;
  const name = node.getText();
  if (constant.kind === 'value') {
    const start = startOf(node);
    const symbol = ts.isIdentifier(start) && context.isOption ? resolveIdentifier(context, start) : undefined;
    return { kind: 'literal', place, value: constant.value, constant: name, ...fileOf(context, symbol) };
  }
  const { instead } = constant;
  return { kind: 'unsupported', place, ...shortText(node), unsupported: `the name \`${name}\``, instead };
}

function fileOf({ isOption }: HostContext, symbol: SymbolSyntax | undefined): { readonly file?: string } {
  return isOption && symbol?.kind === 'other' ? defined({ file: symbol.file }) : {};
}

function callSyntax(
  context: HostContext,
  node: ts.CallExpression,
  place: SourceLocation,
  optional: boolean,
): ExpressionSyntax {
  if (node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return { kind: 'unsupported', place, unsupported: 'an `import(…)`' };
  }
  const args = node.arguments.map(
    (arg): ExpressionSyntax =>
      ts.isSpreadElement(arg)
        ? { kind: 'unsupported', place: placeOf(context, arg), ...argumentFaults.spread }
        : readExpression(context, arg),
  );
  const called = { kind: 'call', place, callee: readExpression(context, node.expression), args } as const;
  const type = isTypedAsk(node) ? { type: typeOfExpression(context, node) } : {};
  const schema = responseSchema(context, node);
  return clientCall({ ...called, optional, ...type, ...defined({ schema }) });
}

/** Whether a call may be one whose value has the type that is asked for. */
function isTypedAsk({ expression: callee }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(callee)) return false;
  return callee.name.text === 'value' || callee.name.text === 'model';
}

function prefixSyntax(
  context: HostContext,
  node: ts.PrefixUnaryExpression,
  place: SourceLocation,
): ExpressionSyntax {
  if (node.operator === ts.SyntaxKind.MinusToken && ts.isNumericLiteral(node.operand)) {
    // JSON has one zero.
    return { kind: 'literal', place, value: 0 - Number(node.operand.text) };
  }
  const operator = ts.tokenToString(node.operator) ?? '';
  const read = operator === '!' ? readCondition : readExpression;
  const value = calculatedValue(context, node);
  return { kind: 'prefix', place, operator, operand: read(context, node.operand), ...value };
}

function arrowSyntax(context: HostContext, node: ts.ArrowFunction, place: SourceLocation): ExpressionSyntax {
  const isAsync = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ?? false;
  const base = {
    kind: 'arrow',
    place,
    parameters: node.parameters.map((parameter) => readParameter(context, parameter)),
    ...(isAsync ? { isAsync } : {}),
  } as const;
  if (ts.isBlock(node.body)) return base;
  const read = isQuestion(node.parent) ? readCondition : readExpression;
  return { ...base, body: read(context, node.body) };
}

/** The methods with a callback that returns a condition. */
const QUESTIONS: ReadonlySet<string> = new Set(['filter', 'find', 'some', 'every']);

function isQuestion(call: ts.Node): boolean {
  return (
    ts.isCallExpression(call) &&
    ts.isPropertyAccessExpression(call.expression) &&
    QUESTIONS.has(call.expression.name.text)
  );
}

function readParameter(
  context: HostContext,
  { name, initializer, dotDotDotToken }: ts.ParameterDeclaration,
): ArrowParameter {
  const base = { name: name.getText(), place: placeOf(context, name) };
  if (dotDotDotToken !== undefined) return { ...base, ...argumentFaults.rest };
  if (initializer !== undefined) return { ...base, ...argumentFaults.initializer };
  if (ts.isIdentifier(name)) return base;
  const pattern = readPattern(context, name);
  return 'unsupported' in pattern ? { ...base, ...pattern } : { ...base, name: PATTERN, pattern };
}

function templateParts(context: HostContext, node: ts.TemplateExpression): (string | ExpressionSyntax)[] {
  const parts: (string | ExpressionSyntax)[] = [node.head.text];
  for (const span of node.templateSpans)
    parts.push(readExpression(context, span.expression), span.literal.text);
  return parts.filter((part) => part !== '');
}

function readEntry(context: HostContext, property: ts.ObjectLiteralElementLike): ObjectEntry {
  if (ts.isSpreadAssignment(property)) return { spread: readExpression(context, property.expression) };
  if (ts.isShorthandPropertyAssignment(property)) {
    const value = readExpression(context, property.name);
    return { key: property.name.text, keyPlace: value.place, value };
  }
  const place = placeOf(context, property);
  if (!ts.isPropertyAssignment(property)) {
    if (!ts.isMethodDeclaration(property)) return { unsupported: 'a getter or setter', place };
    const name = propertyName(property.name);
    return { unsupported: 'a method', place, ...defined({ key: name }) };
  }
  const { name } = property;
  const key =
    propertyName(name) ??
    (ts.isComputedPropertyName(name) ? constantKeyOf(context, name.expression) : undefined);
  if (key === undefined) {
    const instead = 'write the key itself, or the name of a `const` with a literal';
    return { unsupported: 'a computed key', place: placeOf(context, name), instead };
  }
  return {
    key,
    keyPlace: placeOf(context, property.name),
    value: readExpression(context, property.initializer),
  };
}

/** How an author would name what cannot be read. */
const unsupported: ReadonlyMap<ts.SyntaxKind, Unsupported> = new Map([
  [ts.SyntaxKind.NewExpression, { unsupported: 'a `new` expression' }],
  [
    ts.SyntaxKind.AwaitExpression,
    { unsupported: '`await`', instead: 'leave it out: a step waits by itself' },
  ],
  [ts.SyntaxKind.YieldExpression, { unsupported: '`yield`' }],
  [ts.SyntaxKind.ClassExpression, { unsupported: 'a class expression' }],
  [
    ts.SyntaxKind.FunctionExpression,
    { unsupported: 'a function', instead: 'write an arrow with an expression: `(item) => item.name`' },
  ],
  [
    ts.SyntaxKind.RegularExpressionLiteral,
    {
      unsupported: 'a regular expression',
      instead:
        'use `.includes`, `.startsWith` or `.endsWith` with text, or an exported function as a step of its own',
    },
  ],
  [ts.SyntaxKind.BigIntLiteral, { unsupported: 'a bigint', instead: 'write a number, or text' }],
  [
    ts.SyntaxKind.TypeOfExpression,
    {
      unsupported: '`typeof`',
      instead: 'ask whether the value is there with `!== undefined`, or let the tool say which kind it gives',
    },
  ],
  [ts.SyntaxKind.DeleteExpression, { unsupported: '`delete`' }],
  [ts.SyntaxKind.VoidExpression, { unsupported: '`void`', instead: 'write `undefined`' }],
  [ts.SyntaxKind.PostfixUnaryExpression, { unsupported: 'an assignment' }],
  [ts.SyntaxKind.SuperKeyword, { unsupported: '`super`' }],
  [ts.SyntaxKind.MetaProperty, { unsupported: '`import.meta`' }],
  [ts.SyntaxKind.OmittedExpression, { unsupported: 'a hole in an array', instead: 'write `null`' }],
  [ts.SyntaxKind.JsxElement, { unsupported: 'JSX' }],
  [ts.SyntaxKind.JsxSelfClosingElement, { unsupported: 'JSX' }],
  [ts.SyntaxKind.JsxFragment, { unsupported: 'JSX' }],
]);

/** Arguments, and parameters that are neither a plain name nor a pattern. */
const argumentFaults = {
  spread: { unsupported: 'a spread argument', instead: 'write the arguments one by one' },
  rest: { unsupported: 'a rest parameter', instead: 'name the parameters one by one' },
  initializer: {
    unsupported: 'a default of a parameter',
    instead: 'write `item ?? …` where it is used',
  },
} as const satisfies Record<string, Unsupported>;

/** The names that a parameter is destructured into, in written order, or why it cannot be. */
function readPattern(context: HostContext, pattern: ts.BindingPattern): readonly PatternName[] | Unsupported {
  const names: PatternName[] = [];
  const symbol = { kind: 'other', name: PATTERN } as const;
  const place = placeOf(context, pattern);
  const fault = readNames(context, pattern, { kind: 'identifier', place, name: PATTERN, symbol }, names);
  return fault ?? names;
}

/** @param of - the value that is destructured. */
function readNames(
  context: HostContext,
  pattern: ts.BindingPattern,
  of: ExpressionSyntax,
  names: PatternName[],
): Unsupported | undefined {
  if (ts.isArrayBindingPattern(pattern)) return readItems(context, pattern, of, names);
  for (const element of pattern.elements) {
    if (element.dotDotDotToken !== undefined) return patternFaults.rest;
    const key = keyOf(context, element);
    if (key === undefined) return patternFaults.key;
    const value = withDefault(context, element, {
      kind: 'property',
      place: placeOf(context, element),
      object: isAddedTo(context, pattern, key)
        ? { kind: 'parenthesized', place: of.place, inner: of, isClaim: true }
        : of,
      name: key,
      namePlace: placeOf(context, element.propertyName ?? element.name),
      optional: false,
    });
    const fault = readBound(context, element, value, names);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Binds the items of a list: the rest of it is a slice. */
function readItems(
  context: HostContext,
  { elements }: ts.ArrayBindingPattern,
  of: ExpressionSyntax,
  names: PatternName[],
): Unsupported | undefined {
  for (const [position, element] of elements.entries()) {
    if (ts.isOmittedExpression(element)) continue;
    const place = placeOf(context, element);
    const index: ExpressionSyntax = { kind: 'literal', place, value: position };
    const item: ExpressionSyntax = { kind: 'element', place, object: of, index, optional: false };
    const rest = (): ExpressionSyntax => {
      const slice = {
        kind: 'property',
        object: of,
        name: 'slice',
        namePlace: place,
        optional: false,
      } as const;
      return { kind: 'call', place, callee: { ...slice, place }, args: [index], optional: false };
    };
    const value = element.dotDotDotToken === undefined ? withDefault(context, element, item) : rest();
    const fault = readBound(context, element, value, names);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function readBound(
  context: HostContext,
  { name }: ts.BindingElement,
  value: ExpressionSyntax,
  names: PatternName[],
): Unsupported | undefined {
  if (!ts.isIdentifier(name)) return readNames(context, name, value, names);
  names.push({ name: name.text, place: placeOf(context, name), value });
  return undefined;
}

function keyOf(context: HostContext, { propertyName, name }: ts.BindingElement): string | undefined {
  const key = propertyName ?? name;
  if (ts.isIdentifier(key) || ts.isStringLiteralLike(key) || ts.isNumericLiteral(key)) return key.text;
  return ts.isComputedPropertyName(key) ? constantKeyOf(context, key.expression) : undefined;
}

/** `{ size = 10 }`: the default replaces an absent value, but not null. */
function withDefault(
  context: HostContext,
  { initializer }: ts.BindingElement,
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
  const fallback = readExpression(context, initializer);
  // biome-ignore lint/suspicious/noThenProperty: the name is the syntax's, and no such object is awaited
  return { kind: 'conditional', place, test, then: fallback, else: value };
}

const patternFaults = {
  rest: {
    unsupported: 'the rest of an object that is taken apart',
    instead: 'name the parameter, and read from it: `(item) => item.name`',
  },
  key: {
    unsupported: 'a computed key in a parameter that is taken apart',
    instead: 'write the key itself, or the name of a `const` with a literal',
  },
} as const satisfies Record<string, Unsupported>;
