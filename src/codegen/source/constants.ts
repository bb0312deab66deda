import type { Json } from '../../graph/json.js';
import { type HostContext, isOfProject, KEYWORD_VALUES, propertyName } from './ast.js';
import { followAliases } from './imports.js';
import {
  hasMeaning,
  isJson,
  isOfOtherPackage,
  missingImport,
  type Names,
  originOf,
  type Target,
} from './names.js';
import { ts } from './typescript.mjs';

/** The value of an expression at build time, or why it has none. */
export type Constant =
  | { readonly kind: 'value'; readonly value: Json }
  /** A name of a module that is not a constant; `instead` is the repair. */
  | { readonly kind: 'refused'; readonly instead: string };

/** Chains of constants longer than this, or nested deeper, are not followed. */
const MAX_DEPTH = 200;

/**
 * The value of a name or an access that is known when the workflow is built: a `const` with a literal, a part of an
 * `as const` list or object, a member of an enum. Undefined for names that are not declared in a module.
 */
export function constantOf(
  context: HostContext,
  node: ts.Identifier | ts.PropertyAccessExpression | ts.ElementAccessExpression,
): Constant | undefined {
  if (context.isOption === true && isLeftAlone(context, node)) return undefined;
  const whole = withPackages(context);
  return startsInModule(whole, node) ? new Evaluation(whole).name(node, 0) : undefined;
}

/** The value of a template or a calculation of constants alone. */
export function calculatedValue(
  context: HostContext,
  node: ts.TemplateExpression | ts.BinaryExpression | ts.PrefixUnaryExpression,
): { readonly constantValue?: Json } {
  const isSchema = context.isOption === true && isLeftAlone(context, node);
  const constant = new Evaluation(isSchema ? context : withPackages(context)).value(node, 0);
  return constant?.kind === 'value' ? { constantValue: constant.value } : {};
}

/** Whether an expression of an option is a part of a schema, or may be a class of a package: neither is a constant. */
function isLeftAlone({ modules }: HostContext, node: ts.Expression): boolean {
  const { parent } = node;
  const start = startOf(node);
  const mayBeClass = ts.isArrowFunction(parent) || ts.isArrayLiteralExpression(parent);
  if (mayBeClass && ts.isIdentifier(start) && isOfOtherPackage(modules, start)) return true;
  const schema = ts.findAncestor(parent, (each) => {
    if (ts.isDecorator(each)) return 'quit';
    return ts.isPropertyAssignment(each) && /^(?:in|out)put$/.test(propertyName(each.name) ?? '');
  });
  return schema !== undefined;
}

/** Constants of other packages are asked for as well. */
function withPackages({ isOption: _, ...context }: HostContext): HostContext {
  return context;
}

/** The key of a computed name. */
export function constantKeyOf(context: HostContext, node: ts.Expression): string | undefined {
  return keyIn(new Evaluation(context).value(node, 0));
}

function keyIn(constant: Constant | undefined): string | undefined {
  const value = constant?.kind === 'value' ? constant.value : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

class Evaluation {
  readonly #context: HostContext;
  /** The declarations that are being evaluated: cycles are refused. */
  readonly #open = new Set<ts.Declaration>();

  constructor(context: HostContext) {
    this.#context = context;
  }

  name(node: ts.Expression, depth: number): Constant | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const declared = this.#declared(node, depth);
    if (declared !== undefined) return declared;
    if (!ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) return undefined;
    const packaged = this.#ofPackage(node);
    if (packaged !== undefined) return packaged;
    const object = isAccess(node.expression) ? this.name(node.expression, depth + 1) : undefined;
    if (object?.kind !== 'value') return undefined;
    const key = ts.isPropertyAccessExpression(node)
      ? node.name.text
      : keyIn(this.value(node.argumentExpression, depth + 1));
    return key === undefined ? undefined : memberOf(object.value, key);
  }

  /** A part of a constant of another package, by its declared type. */
  #ofPackage(node: ts.Expression): Constant | undefined {
    const { compiler, modules } = this.#context;
    const start = startOf(node);
    if (!ts.isIdentifier(start) || !isOfOtherPackage(modules, start)) return undefined;
    const value = literalOf(compiler.checker.getTypeAtLocation(node));
    return value === undefined ? undefined : found(value);
  }

  /** The value of an expression of literals and of names of constants. */
  value(node: ts.Expression, depth: number): Constant | undefined {
    if (depth > MAX_DEPTH) return undefined;
    if (isTyped(node)) return this.value(node.expression, depth + 1);
    if (ts.isStringLiteralLike(node)) return found(node.text);
    if (ts.isNumericLiteral(node)) return numberOf(Number(node.text));
    const keyword = KEYWORD_VALUES.get(node.kind);
    if (keyword !== undefined) return found(keyword);
    if (isAccess(node)) return ts.isIdentifier(startOf(node)) ? this.name(node, depth + 1) : undefined;
    const frozen = frozenBy(node);
    if (frozen !== undefined) return this.value(frozen, depth + 1);
    if (ts.isTemplateExpression(node)) return this.#template(node, depth);
    if (ts.isPrefixUnaryExpression(node)) return this.#prefix(node, depth);
    if (ts.isBinaryExpression(node)) return this.#binary(node, depth);
    if (ts.isArrayLiteralExpression(node)) return this.#list(node, depth);
    return ts.isObjectLiteralExpression(node) ? this.#object(node, depth) : undefined;
  }

  #declared(node: ts.Expression, depth: number): Constant | undefined {
    const declaration = declarationOf(this.#context, node);
    if (declaration === undefined) return undefined;
    if (ts.isEnumMember(declaration)) {
      const value = enumValue(this.#context, declaration);
      return value === undefined ? refused('give the member of the enum a literal value') : found(value);
    }
    if (ts.isEnumDeclaration(declaration))
      return refused(`name one of its members: \`${declaration.name.text}.…\``);
    const part = jsonValueOf(declaration);
    if (part !== undefined) return this.value(part, depth + 1);
    if (!ts.isVariableDeclaration(declaration) || !isOfModule(declaration)) return undefined;
    return this.#variable(declaration, depth);
  }

  #variable(declaration: ts.VariableDeclaration, depth: number): Constant | undefined {
    const { checker } = this.#context.compiler;
    if (!isOfProject(this.#context, declaration.getSourceFile())) {
      const value = literalOf(checker.getTypeAtLocation(declaration));
      return value === undefined ? undefined : found(value);
    }
    if (!(ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const))
      return refused('declare it with `const`: what may change is not known when the workflow is built');
    if (this.#open.has(declaration)) return refused('its value follows from itself: write a literal');
    const { initializer, type } = declaration;
    if (initializer === undefined) return refused(NOT_KNOWN);
    if (mayChange(initializer, type)) return refused(`${constancy(type)}: ${MAY_CHANGE}`);
    this.#open.add(declaration);
    const value = this.value(initializer, depth + 1);
    this.#open.delete(declaration);
    return value ?? refused(NOT_KNOWN);
  }

  #template({ head, templateSpans }: ts.TemplateExpression, depth: number): Constant | undefined {
    let text = head.text;
    for (const { expression, literal } of templateSpans) {
      const part = this.value(expression, depth + 1);
      if (part?.kind !== 'value') return part;
      if (typeof part.value === 'object' && part.value !== null) return undefined;
      text += `${String(part.value)}${literal.text}`;
    }
    return found(text);
  }

  #prefix({ operator, operand }: ts.PrefixUnaryExpression, depth: number): Constant | undefined {
    const of = this.value(operand, depth + 1);
    if (of?.kind !== 'value') return of;
    if (operator === ts.SyntaxKind.ExclamationToken) return found(!of.value);
    if (typeof of.value !== 'number') return undefined;
    if (operator === ts.SyntaxKind.MinusToken) return numberOf(0 - of.value);
    return operator === ts.SyntaxKind.PlusToken ? of : undefined;
  }

  #binary({ left, operatorToken, right }: ts.BinaryExpression, depth: number): Constant | undefined {
    const first = this.value(left, depth + 1);
    if (first?.kind !== 'value') return first;
    const second = this.value(right, depth + 1);
    if (second?.kind !== 'value') return second;
    return calculate(operatorToken.kind, first.value, second.value);
  }

  #list({ elements }: ts.ArrayLiteralExpression, depth: number): Constant | undefined {
    const items: Json[] = [];
    for (const element of elements) {
      const isSpread = ts.isSpreadElement(element);
      const item = this.value(isSpread ? element.expression : element, depth + 1);
      if (item?.kind !== 'value') return item;
      if (!isSpread) items.push(item.value);
      else if (Array.isArray(item.value)) items.push(...item.value);
      else return undefined;
    }
    return found(items);
  }

  #object({ properties }: ts.ObjectLiteralExpression, depth: number): Constant | undefined {
    const entries = new Map<string, Json>();
    for (const property of properties) {
      if (ts.isSpreadAssignment(property)) {
        const poured = this.value(property.expression, depth + 1);
        if (poured?.kind !== 'value') return poured;
        if (typeof poured.value !== 'object' || poured.value === null || Array.isArray(poured.value))
          return undefined;
        for (const [key, value] of Object.entries(poured.value)) entries.set(key, value);
        continue;
      }
      const key = property.name === undefined ? undefined : this.#propertyName(property.name, depth);
      const contained = ts.isPropertyAssignment(property)
        ? this.value(property.initializer, depth + 1)
        : ts.isShorthandPropertyAssignment(property)
          ? this.name(property.name, depth + 1)
          : undefined;
      if (key === undefined || key === '__proto__' || contained?.kind !== 'value')
        return contained?.kind === 'value' ? undefined : contained;
      entries.set(key, contained.value);
    }
    return found(Object.fromEntries(entries));
  }

  #propertyName(name: ts.PropertyName, depth: number): string | undefined {
    if (!ts.isComputedPropertyName(name)) return propertyName(name);
    return keyIn(this.value(name.expression, depth + 1));
  }
}

/** The value of a JSON document that is imported, or of a member of it. */
function jsonValueOf(declaration: ts.Declaration): ts.Expression | undefined {
  if (!isJson(declaration.getSourceFile())) return undefined;
  if (ts.isPropertyAssignment(declaration)) return declaration.initializer;
  return ts.isSourceFile(declaration) ? jsonOf(declaration) : undefined;
}

function jsonOf({ statements: [statement] }: ts.SourceFile): ts.Expression | undefined {
  return statement !== undefined && ts.isExpressionStatement(statement) ? statement.expression : undefined;
}

const NOT_KNOWN =
  'its value is not known without running code: write a literal, or let an exported function compute it in a step';

function found(value: Json): Constant {
  return { kind: 'value', value };
}

function refused(instead: string): Constant {
  return { kind: 'refused', instead };
}

function numberOf(value: number): Constant | undefined {
  // JSON has one zero.
  return Number.isFinite(value) ? found(value === 0 ? 0 : value) : undefined;
}

function calculate(operator: ts.SyntaxKind, left: Json, right: Json): Constant | undefined {
  if (operator === ts.SyntaxKind.PlusToken && (typeof left === 'string' || typeof right === 'string')) {
    const areScalars = [left, right].every((each) => typeof each !== 'object' || each === null);
    return areScalars ? found(`${String(left)}${String(right)}`) : undefined;
  }
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  switch (operator) {
    case ts.SyntaxKind.PlusToken:
      return numberOf(left + right);
    case ts.SyntaxKind.MinusToken:
      return numberOf(left - right);
    case ts.SyntaxKind.AsteriskToken:
      return numberOf(left * right);
    case ts.SyntaxKind.SlashToken:
      return numberOf(left / right);
    case ts.SyntaxKind.PercentToken:
      return numberOf(left % right);
    case ts.SyntaxKind.AsteriskAsteriskToken:
      return numberOf(left ** right);
    default:
      return undefined;
  }
}

/** An element of a list, a property of an object, or the length of a list or a text. */
function memberOf(value: Json, key: string): Constant | undefined {
  if (typeof value === 'string') return key === 'length' ? found(value.length) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value) && key === 'length') return found(value.length);
  const members = value as Readonly<Record<string, Json>>;
  const member = Object.hasOwn(members, key) ? members[key] : undefined;
  return member === undefined ? undefined : found(member);
}

const MAY_CHANGE = 'a list or an object that may change is not stored';

/** What keeps a list or an object of a type from changing. */
function constancy(type: ts.TypeNode | undefined): string {
  const text = type?.getText() ?? '';
  if (type === undefined || text.length > 60) return 'write `as const` behind its value';
  const bound = ts.isArrayTypeNode(type) || ts.isTupleTypeNode(type) ? `readonly ${text}` : text;
  return `write \`as const satisfies ${bound}\` behind its value, in place of its type`;
}

/** Whether a value is a list or an object that is neither `as const`, nor frozen, nor of a type that is read only. */
function mayChange(node: ts.Expression, type?: ts.TypeNode): boolean {
  if (ts.isAsExpression(node) && ts.isConstTypeReference(node.type)) return false;
  if (isTyped(node)) return mayChange(node.expression, type);
  const frozen = frozenBy(node) ?? (type !== undefined && isReadonly(type) ? node : undefined);
  if (frozen !== undefined) return partsOf(frozen).some((part) => mayChange(part));
  return ts.isArrayLiteralExpression(node) || ts.isObjectLiteralExpression(node);
}

function partsOf(node: ts.Expression): readonly ts.Expression[] {
  if (isTyped(node)) return partsOf(node.expression);
  if (ts.isArrayLiteralExpression(node)) return node.elements;
  if (!ts.isObjectLiteralExpression(node)) return [];
  return node.properties.flatMap((each) => (ts.isPropertyAssignment(each) ? each.initializer : []));
}

/** The argument of `Object.freeze`. */
function frozenBy(node: ts.Expression): ts.Expression | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { expression: object, name } = node.expression;
  const isFreeze = ts.isIdentifier(object) && object.text === 'Object' && name.text === 'freeze';
  return isFreeze && originOf(object).declarations.length === 0 ? node.arguments[0] : undefined;
}

function isReadonly(type: ts.TypeNode): boolean {
  if (ts.isTypeOperatorNode(type)) return type.operator === ts.SyntaxKind.ReadonlyKeyword;
  return ts.isTypeReferenceNode(type) && /^Readonly(?:Array)?$/.test(type.typeName.getText());
}

function isTyped(
  node: ts.Expression,
): node is ts.AsExpression | ts.SatisfiesExpression | ts.NonNullExpression | ts.ParenthesizedExpression {
  return (
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isParenthesizedExpression(node)
  );
}

function isAccess(
  node: ts.Expression,
): node is ts.Identifier | ts.PropertyAccessExpression | ts.ElementAccessExpression {
  return ts.isIdentifier(node) || ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node);
}

/** Whether an access starts from a name that may be a constant. Most start from parameters, and are rejected early. */
function startsInModule(context: HostContext, node: ts.Expression): boolean {
  const start = startOf(node);
  if (!ts.isIdentifier(start)) return false;
  const declaration = declarationOf(context, start);
  return declaration !== undefined && !ts.isParameter(declaration) && !ts.isBindingElement(declaration);
}

/** The name that an access begins with. */
export function startOf(access: ts.Expression): ts.Expression {
  let start = access;
  while (ts.isPropertyAccessExpression(start) || ts.isElementAccessExpression(start))
    start = start.expression;
  return start;
}

/** The value of a member of an enum; the compiler calculates what is not a literal. */
export function enumValue(context: HostContext, member: ts.EnumMember): string | number | undefined {
  const { initializer } = member;
  if (initializer !== undefined && ts.isStringLiteralLike(initializer)) return initializer.text;
  if (initializer !== undefined && ts.isNumericLiteral(initializer)) return Number(initializer.text);
  return context.compiler.checker.getConstantValue(member);
}

/** The declaration of the value that an access names; nothing for a property of a value. */
export function declarationOf(context: HostContext, node: ts.Expression): ts.Declaration | undefined {
  const { names } = context;
  const named = nameOf(node);
  const existing =
    names === undefined || named === undefined ? undefined : declarationByText(names, node, named.text);
  if (existing !== undefined) return existing.declaration;
  const start = startOf(node);
  if (names !== undefined && ts.isIdentifier(start) && missingImport(context.modules, start))
    return undefined;
  // The compiler would read the package; most of what options name are schemas.
  if (context.isOption && ts.isIdentifier(start) && isOfOtherPackage(context.modules, start))
    return undefined;
  return named && symbolOf(context, named)?.valueDeclaration;
}

/** Nothing where only the compiler knows. */
function declarationByText(
  names: Names,
  node: ts.Expression,
  name: string,
): { readonly declaration: ts.Declaration | undefined } | undefined {
  const target = ts.isIdentifier(node) ? names.find(node, 'value') : targetIn(names, node, name);
  if (target === 'value') return { declaration: undefined };
  if (target === undefined) return undefined;
  if (target.kind === 'module') return { declaration: target.source };
  const { declarations } = target.kind === 'declared' ? target : { declarations: [] };
  return { declaration: declarations.find((each) => hasMeaning(each, 'value')) };
}

/** A part of a module, or the member of an enum. */
function targetIn(names: Names, node: ts.Expression, name: string): Target | 'value' | undefined {
  if (!ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) return 'value';
  const object = names.access(node.expression);
  if (object === undefined || object === 'value') return object;
  if (object.kind === 'module')
    return isJson(object.source) ? 'value' : names.exportOf(object.source, name, 'value');
  if (object.kind !== 'declared') return 'value';
  if (object.declarations.some(ts.isModuleDeclaration)) return undefined;
  const members = object.declarations.flatMap((each) => (ts.isEnumDeclaration(each) ? each.members : []));
  const member = members.find((each) => propertyName(each.name) === name);
  return member === undefined ? 'value' : { kind: 'declared', declarations: [member], isTypeOnly: false };
}

function nameOf(node: ts.Expression): ts.Identifier | ts.StringLiteralLike | undefined {
  if (ts.isIdentifier(node)) return node;
  if (ts.isPropertyAccessExpression(node)) return ts.isIdentifier(node.name) ? node.name : undefined;
  const key = ts.isElementAccessExpression(node) ? node.argumentExpression : undefined;
  return key !== undefined && ts.isStringLiteralLike(key) ? key : undefined;
}

function symbolOf(context: HostContext, name: ts.Identifier | ts.StringLiteralLike): ts.Symbol | undefined {
  const { checker } = context.compiler;
  const { parent } = name;
  const start =
    ts.isShorthandPropertyAssignment(parent) && parent.name === name
      ? checker.getShorthandAssignmentValueSymbol(parent)
      : checker.getSymbolAtLocation(name);
  const end = start && followAliases(context, start);
  return end === undefined || 'lost' in end ? undefined : end.symbol;
}

/** Whether a variable is one of a module, and not of a function in it. */
function isOfModule(declaration: ts.VariableDeclaration): boolean {
  const statement = declaration.parent.parent;
  if (!ts.isIdentifier(declaration.name) || !ts.isVariableStatement(statement)) return false;
  return ts.isSourceFile(statement.parent) || ts.isModuleBlock(statement.parent);
}

function literalOf(type: ts.Type): Json | undefined {
  if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
  if ((type.flags & ts.TypeFlags.BooleanLiteral) === 0) return undefined;
  return 'intrinsicName' in type ? type.intrinsicName === 'true' : undefined;
}
