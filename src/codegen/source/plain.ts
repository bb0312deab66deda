import { type HostContext, KEYWORD_VALUES } from './ast.js';
import { ts } from './typescript.mjs';

/**
 * Whether a value is sure to be plain data, as its text says: text, numbers, truth values, and lists and objects of
 * them. It has only the methods of the language, and is not a promise. False where the text does not say it.
 */
export function isPlain(context: HostContext, node: ts.Node): boolean {
  if (context.names === undefined) return false;
  return new Plainness(context).of(node, 0);
}

/** Whether a type is one of plain data, as {@link isPlain} says. */
export function isPlainType(context: HostContext, node: ts.TypeNode): boolean {
  return context.names !== undefined && new Plainness(context).type(node, 0);
}

/** Whether a type is written as the language's `Promise<…>`. */
export function isPromiseType({ names }: HostContext, node: ts.TypeNode): boolean {
  if (!ts.isTypeReferenceNode(node) || !ts.isIdentifier(node.typeName)) return false;
  return node.typeName.text === 'Promise' && names?.find(node.typeName, 'type')?.kind === 'global';
}

const MAX_DEPTH = 40;

const KEYWORDS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.StringKeyword,
  ts.SyntaxKind.NumberKeyword,
  ts.SyntaxKind.BooleanKeyword,
  ts.SyntaxKind.UndefinedKeyword,
  ts.SyntaxKind.VoidKeyword,
]);

/** Functions and namespaces of the language whose results are plain whatever they are given. */
const PLAIN_GLOBALS: ReadonlySet<string> = new Set([
  ...['Boolean', 'Math', 'Number', 'String', 'isFinite', 'isNaN', 'parseFloat', 'parseInt'],
  ...['decodeURIComponent', 'encodeURIComponent', 'Infinity', 'NaN'],
]);

const LISTS: ReadonlySet<string> = new Set(['Array', 'ReadonlyArray']);

/** Methods whose result is what the function they are given returns. */
const BY_FUNCTION: ReadonlySet<string> = new Set(['map', 'flatMap', 'reduce', 'reduceRight', 'then']);

class Plainness {
  readonly #context: HostContext;
  readonly #open = new Set<ts.Node>();

  constructor(context: HostContext) {
    this.#context = context;
  }

  of(node: ts.Node, depth: number): boolean {
    if (depth > MAX_DEPTH) return false;
    const inside = (part: ts.Node): boolean => this.of(part, depth + 1);
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node) || ts.isTemplateExpression(node))
      return true;
    if (KEYWORD_VALUES.has(node.kind) || ts.isTypeOfExpression(node) || ts.isPrefixUnaryExpression(node))
      return true;
    if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isSatisfiesExpression(node))
      return inside(node.expression);
    if (ts.isAsExpression(node)) {
      return ts.isConstTypeReference(node.type) ? inside(node.expression) : this.type(node.type, depth + 1);
    }
    if (ts.isConditionalExpression(node)) return inside(node.whenTrue) && inside(node.whenFalse);
    if (ts.isBinaryExpression(node)) return this.#binary(node, depth);
    if (ts.isArrayLiteralExpression(node))
      return node.elements.every((each) => inside(ts.isSpreadElement(each) ? each.expression : each));
    if (ts.isObjectLiteralExpression(node))
      return node.properties.every((each) => this.#property(each, depth));
    if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node))
      return inside(node.expression);
    if (ts.isCallExpression(node)) return this.#call(node, depth);
    if (ts.isIdentifier(node)) return this.#name(node, depth);
    return this.#declaration(node, depth);
  }

  type(node: ts.TypeNode, depth: number): boolean {
    if (depth > MAX_DEPTH) return false;
    const inside = (part: ts.TypeNode): boolean => this.type(part, depth + 1);
    if (KEYWORDS.has(node.kind) || ts.isLiteralTypeNode(node)) return true;
    if (ts.isParenthesizedTypeNode(node) || ts.isTypeOperatorNode(node)) return inside(node.type);
    if (ts.isArrayTypeNode(node)) return inside(node.elementType);
    if (ts.isUnionTypeNode(node)) return node.types.every(inside);
    if (ts.isTypeLiteralNode(node)) return this.#members(node.members, depth);
    if (!ts.isTypeReferenceNode(node) || !ts.isIdentifier(node.typeName)) return false;
    const target = this.#context.names?.find(node.typeName, 'type');
    const argument = node.typeArguments ?? [];
    if (target?.kind === 'global') return LISTS.has(node.typeName.text) && argument.every(inside);
    if (target?.kind !== 'declared' || argument.length > 0) return false;
    return target.declarations.every((each) => this.#typeDeclaration(each, depth));
  }

  #typeDeclaration(node: ts.Declaration, depth: number): boolean {
    // What contains itself is plain if the rest of it is.
    if (this.#open.has(node)) return true;
    this.#open.add(node);
    const isPlain = ts.isInterfaceDeclaration(node)
      ? node.heritageClauses === undefined && this.#members(node.members, depth)
      : ts.isTypeAliasDeclaration(node) && this.type(node.type, depth + 1);
    this.#open.delete(node);
    return isPlain;
  }

  #members(members: readonly ts.TypeElement[], depth: number): boolean {
    return members.every(
      (member) =>
        ts.isPropertySignature(member) && member.type !== undefined && this.type(member.type, depth + 1),
    );
  }

  #binary({ left, operatorToken: { kind }, right }: ts.BinaryExpression, depth: number): boolean {
    const isChoice =
      kind === ts.SyntaxKind.AmpersandAmpersandToken ||
      kind === ts.SyntaxKind.BarBarToken ||
      kind === ts.SyntaxKind.QuestionQuestionToken;
    if (isChoice) return this.of(left, depth + 1) && this.of(right, depth + 1);
    return (
      kind !== ts.SyntaxKind.CommaToken &&
      (kind < ts.SyntaxKind.FirstAssignment || kind > ts.SyntaxKind.LastAssignment)
    );
  }

  #property(property: ts.ObjectLiteralElementLike, depth: number): boolean {
    if (ts.isPropertyAssignment(property)) return this.of(property.initializer, depth + 1);
    if (ts.isSpreadAssignment(property)) return this.of(property.expression, depth + 1);
    return ts.isShorthandPropertyAssignment(property) && this.#name(property.name, depth);
  }

  #call({ expression: callee, arguments: argument }: ts.CallExpression, depth: number): boolean {
    if (ts.isIdentifier(callee)) return this.#isGlobal(callee);
    if (!ts.isPropertyAccessExpression(callee)) return false;
    const { expression: object, name } = callee;
    if (ts.isIdentifier(object) && this.#isGlobal(object)) return true;
    if (!this.of(object, depth + 1)) return false;
    if (!BY_FUNCTION.has(name.text)) return true;
    return argument.every(
      (each) => ts.isArrowFunction(each) && each.modifiers === undefined && this.of(each.body, depth + 1),
    );
  }

  #isGlobal(name: ts.Identifier): boolean {
    return PLAIN_GLOBALS.has(name.text) && this.#context.names?.find(name, 'value')?.kind === 'global';
  }

  #name(name: ts.Identifier, depth: number): boolean {
    if (name.text === 'undefined') return true;
    const target = this.#context.names?.find(name, 'value');
    if (target?.kind === 'global') return PLAIN_GLOBALS.has(name.text);
    if (target?.kind !== 'declared' || target.declarations.length > 1) return false;
    return target.declarations.every((each) => this.#declaration(each, depth));
  }

  #declaration(node: ts.Node, depth: number): boolean {
    if (this.#open.has(node)) return false;
    this.#open.add(node);
    const isPlain = this.#isDeclaredPlain(node, depth);
    this.#open.delete(node);
    return isPlain;
  }

  #isDeclaredPlain(node: ts.Node, depth: number): boolean {
    if (ts.isExportAssignment(node)) return this.of(node.expression, depth + 1);
    if (ts.isBindingElement(node)) {
      const whole = node.parent.parent;
      const isOwn = node.initializer === undefined || this.of(node.initializer, depth + 1);
      return isOwn && this.#declaration(whole, depth + 1);
    }
    if (!ts.isVariableDeclaration(node) && !ts.isParameter(node)) return false;
    if (node.type !== undefined) return this.type(node.type, depth + 1);
    if (ts.isVariableDeclaration(node)) {
      const isConst = (ts.getCombinedNodeFlags(node) & ts.NodeFlags.Const) !== 0;
      return isConst && node.initializer !== undefined && this.of(node.initializer, depth + 1);
    }
    return this.#isGivenPlain(node, depth);
  }

  /** Whether a parameter is of a function that a method of something plain calls: with its items. */
  #isGivenPlain({ parent: written, initializer }: ts.ParameterDeclaration, depth: number): boolean {
    const call = written.parent;
    if (initializer !== undefined || !ts.isArrowFunction(written) || !ts.isCallExpression(call)) return false;
    if (!ts.isPropertyAccessExpression(call.expression) || call.expression.name.text.startsWith('reduce'))
      return false;
    return this.of(call.expression.expression, depth + 1);
  }
}
