import { ts } from 'ts-morph';
import { workingOn } from '../internal-error.js';
import type { BaseSyntax, ClassSyntax, DecoratorSyntax, FieldSyntax, MemberSyntax } from '../syntax.js';
import { type HostContext, placeBetween, placeOf, relativeFile } from './context.js';
import { exportNames } from './exports.js';
import { propertyName, readWholeExpression } from './expressions.js';
import { readMethods } from './methods.js';
import { childrenOf, eachNode } from './nesting.js';
import { classPlace, resolveIdentifier, resolveMember } from './symbols.js';
import { typeOfDeclaration } from './types.js';

/** Every class of a file, nested ones included, in written order. */
export function readClasses(context: HostContext, source: ts.SourceFile): ClassSyntax[] {
  const exported = exportNames(context, source);
  const found: ts.ClassLikeDeclaration[] = [];
  eachNode(source, (node) => {
    if (ts.isClassLike(node)) found.push(node);
    return childrenOf(node);
  });
  return found
    .sort((a, b) => a.pos - b.pos)
    .map((node) =>
      workingOn({ file: relativeFile(context, source.fileName), className: node.name?.text ?? '' }, () =>
        readClass(context, node, exported.get(node)),
      ),
    );
}

function readClass(
  context: HostContext,
  node: ts.ClassLikeDeclaration,
  exportName: string | undefined,
): ClassSyntax {
  const isDecorated =
    ts.canHaveDecorators(node) &&
    (hasDecorators(node) ||
      node.members.some((member) => ts.canHaveDecorators(member) && hasDecorators(member)));
  const base = node.heritageClauses?.find((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword)
    ?.types[0];
  const decorators = readDecorators(context, node);
  const isState = decorators.some(({ callee }) => callee.kind === 'stepwright' && callee.name === 'State');
  return {
    name: node.name?.text ?? '',
    place: classPlace(context, node),
    exported: exportName !== undefined,
    ...(exportName === undefined ? {} : { exportName }),
    ...(base === undefined ? {} : { base: readBase(context, base) }),
    ...readShape(context, node),
    decorators,
    fields: isDecorated
      ? node.members
          .filter(ts.isPropertyDeclaration)
          .filter((field) => !isDecoratedAccessor(field))
          .map((field) => readField(context, field, isState))
      : [],
    methods: isDecorated ? readMethods(context, node) : [],
    others: node.members.flatMap((member) => readOthers(context, member)),
  };
}

/** What keeps a class from being made as it is. */
function readShape(
  context: HostContext,
  { modifiers, typeParameters }: ts.ClassLikeDeclaration,
): Pick<ClassSyntax, 'abstract' | 'typeParameters'> {
  const abstract = modifiers?.find(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword);
  const [first, last] = [typeParameters?.at(0), typeParameters?.at(-1)];
  const source = first?.getSourceFile();
  return {
    ...(abstract === undefined ? {} : { abstract: placeOf(context, abstract) }),
    ...(first === undefined || last === undefined || source === undefined
      ? {}
      : { typeParameters: placeBetween(context, source, first.getStart(source), last.getEnd()) }),
  };
}

/** The class that is extended, and what it has of arguments and steps, its own bases included. */
function readBase(context: HostContext, base: ts.ExpressionWithTypeArguments): BaseSyntax {
  const properties = context.checker.getPropertiesOfType(context.checker.getTypeAtLocation(base));
  const fields = properties.flatMap(({ name, declarations = [] }) => {
    const field = declarations.find(
      (each) => ts.isPropertyDeclaration(each) && hasFieldDecorator(context, each),
    );
    return field === undefined
      ? []
      : { name, place: placeOf(context, ts.getNameOfDeclaration(field) ?? field) };
  });
  return { name: base.expression.getText(), place: placeOf(context, base), fields };
}

function hasFieldDecorator(context: HostContext, field: ts.PropertyDeclaration): boolean {
  return readDecorators(context, field).some(
    ({ callee }) => callee.kind === 'stepwright' && (callee.name === 'Arg' || callee.name === 'Step'),
  );
}

/** The member itself where it is no field, and its parameters where they carry a decorator. */
function readOthers(context: HostContext, member: ts.ClassElement): MemberSyntax[] {
  const what = kindOf(member);
  const read = (
    node: ts.ClassElement | ts.ParameterDeclaration,
    kind: MemberSyntax['what'],
  ): MemberSyntax => ({
    name: kind === 'a constructor' ? 'constructor' : (node.name?.getText() ?? ''),
    what: kind,
    place: placeOf(context, node.name ?? startOf(node)),
    decorators: readDecorators(context, node),
  });
  const parameters =
    ts.isFunctionLike(member) && !ts.isIndexSignatureDeclaration(member) ? member.parameters : [];
  return [
    ...(what === undefined ? [] : [read(member, what)]),
    ...parameters.filter(hasDecorators).map((parameter) => read(parameter, 'a parameter')),
  ];
}

function kindOf(member: ts.ClassElement): MemberSyntax['what'] | undefined {
  if (ts.isMethodDeclaration(member)) return 'a method';
  if (ts.isAccessor(member) || isDecoratedAccessor(member)) return 'an accessor';
  if (ts.isConstructorDeclaration(member)) return 'a constructor';
  if (ts.isClassStaticBlockDeclaration(member)) return 'a static block';
  return ts.isIndexSignatureDeclaration(member) ? 'an index signature' : undefined;
}

/** The word that a member without a name begins with, or else all of it. */
function startOf(node: ts.Node): ts.Node {
  const words = [ts.SyntaxKind.ConstructorKeyword, ts.SyntaxKind.StaticKeyword];
  return node.getChildren().find(({ kind }) => words.includes(kind)) ?? node;
}

/** `@Step() accessor a = …`, which is a getter and a setter. */
function isDecoratedAccessor(member: ts.ClassElement): boolean {
  if (!ts.isPropertyDeclaration(member) || !hasDecorators(member)) return false;
  return member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AccessorKeyword) ?? false;
}

function hasDecorators(node: ts.HasDecorators): boolean {
  return (ts.getDecorators(node)?.length ?? 0) > 0;
}

function readDecorators(context: HostContext, node: ts.Node): DecoratorSyntax[] {
  const decorators = ts.canHaveDecorators(node) ? (ts.getDecorators(node) ?? []) : [];
  return decorators.map(({ expression }) => {
    const call = ts.isCallExpression(expression) ? expression : undefined;
    const callee = call?.expression ?? expression;
    return {
      callee: calleeSymbol(context, callee),
      place: placeOf(context, callee),
      called: call !== undefined,
      args: call?.arguments.map((arg) => readWholeExpression({ ...context, keepsNames: true }, arg)) ?? [],
    };
  });
}

function calleeSymbol(context: HostContext, callee: ts.Expression): DecoratorSyntax['callee'] {
  if (ts.isIdentifier(callee)) return resolveIdentifier(context, callee);
  const member = ts.isPropertyAccessExpression(callee) ? resolveMember(context, callee) : undefined;
  return member ?? { kind: 'other', name: callee.getText() };
}

function readField(context: HostContext, node: ts.PropertyDeclaration, isOfState: boolean): FieldSyntax {
  const decorators = readDecorators(context, node);
  const { initializer } = node;
  // Arguments are asked for their type, and so are the fields of state.
  const isArgument = decorators.some(({ callee }) => callee.kind === 'stepwright' && callee.name === 'Arg');
  const isAsked = isOfState || isArgument || (decorators.length > 0 && initializer === undefined);
  return {
    name: propertyName(node.name) ?? node.name.getText(),
    place: placeOf(context, node.name),
    isStatic: node.modifiers?.some((m) => m.kind === ts.SyntaxKind.StaticKeyword) ?? false,
    optional: node.questionToken !== undefined,
    decorators,
    ...(isAsked ? { type: typeOfDeclaration(context, node) } : {}),
    ...(node.type === undefined ? {} : { isAnnotated: true }),
    ...(initializer === undefined ? {} : { initializer: readWholeExpression(context, initializer) }),
  };
}
