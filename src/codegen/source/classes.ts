import { defined } from '../../graph/defined.js';
import { workingOn } from '../diagnostics.js';
import type {
  BaseSyntax,
  ClassSyntax,
  DecoratorSyntax,
  FieldSyntax,
  HandleSyntax,
  InstanceSyntax,
  MemberSyntax,
  MethodFault,
  MethodSyntax,
  ParameterSyntax,
} from '../syntax.js';
import {
  childrenOf,
  eachNode,
  type HostContext,
  placeBetween,
  placeOf,
  propertyName,
  relativeFile,
} from './ast.js';
import { declarationOf } from './constants.js';
import { readExpression, readWholeExpression } from './expressions.js';
import { topLevelOf } from './names.js';
import { classPlace, exportNames, resolveIdentifier, resolveMember } from './symbols.js';
import { resultIfWritten, returnTypeOf, typeIfWritten, typeOfDeclaration, typeOfSignature } from './types.js';
import { ts } from './typescript.mjs';
import { writtenSchemas } from './written-schemas.js';

/** Every class of a file, nested ones included, in written order. */
export function readClasses(context: HostContext, source: ts.SourceFile): ClassSyntax[] {
  const exported = exportNames(context, source);
  const results: ts.ClassLikeDeclaration[] = [];
  eachNode(source, (node) => {
    if (ts.isClassLike(node)) results.push(node);
    return childrenOf(node);
  });
  return results
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
  const isTyped = decorators.some(
    ({ callee }) => callee.kind === 'stepwright' && ['State', 'Agent'].includes(callee.name),
  );
  return {
    name: node.name?.text ?? '',
    place: classPlace(context, node),
    exported: exportName !== undefined,
    ...(ts.isSourceFile(node.parent) ? {} : { isNested: true }),
    ...defined({ exportName }),
    ...(base === undefined ? {} : { base: readBase(context, base) }),
    ...readShape(context, node),
    decorators,
    fields: isDecorated
      ? node.members
          .filter(ts.isPropertyDeclaration)
          .filter((field) => !isDecoratedAccessor(field))
          .map((field) => readField(context, field, isTyped))
      : [],
    methods: isDecorated ? readMethods(context, node, schemasOf(decorators)) : [],
    others: node.members.flatMap((member) => readOthers(context, member)),
  };
}

/** What keeps a class from being instantiated. */
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

/** The base class, with the arguments and steps that it has or inherits. */
function readBase(context: HostContext, base: ts.ExpressionWithTypeArguments): BaseSyntax {
  const properties = context.compiler.checker.getPropertiesOfType(
    context.compiler.checker.getTypeAtLocation(base),
  );
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

/** The member itself unless it is a field, and its decorated parameters. */
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

/** The keyword of a member without a name, or else the whole member. */
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
    const written = call?.expression ?? expression;
    const callee = calleeSymbol(context, written);
    const isTool = callee.kind === 'stepwright' && callee.name === 'Tool';
    const schemas = isTool ? writtenSchemas(context, call?.arguments[0]) : {};
    return {
      callee,
      place: placeOf(context, written),
      called: call !== undefined,
      args: call?.arguments.map((arg) => readWholeExpression({ ...context, isOption: true }, arg)) ?? [],
      ...(Object.keys(schemas).length === 0 ? {} : { schemas }),
    };
  });
}

function calleeSymbol(context: HostContext, callee: ts.Expression): DecoratorSyntax['callee'] {
  if (ts.isIdentifier(callee)) return resolveIdentifier(context, callee);
  const member = ts.isPropertyAccessExpression(callee) ? resolveMember(context, callee) : undefined;
  return member ?? { kind: 'other', name: callee.getText() };
}

function readField(context: HostContext, node: ts.PropertyDeclaration, isTyped: boolean): FieldSyntax {
  const decorators = readDecorators(context, node);
  const { initializer } = node;
  // Types are read of arguments, of fields of state and of agents, and of decorated fields without an initializer.
  const isArgument = decorators.some(({ callee }) => callee.kind === 'stepwright' && callee.name === 'Arg');
  const isAsked = isTyped || isArgument || (decorators.length > 0 && initializer === undefined);
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

/** The methods that a server calls, which a class may inherit as well. */
const CALLED = ['execute', 'read', 'render'] as const;

/** The sides of a tool whose schemas it gives itself: their types are seldom needed. */
type Schemas = ReadonlySet<'input' | 'output'>;

function schemasOf(decorators: readonly DecoratorSyntax[]): Schemas {
  const options = decorators.flatMap(({ callee, args: [given] }) =>
    callee.kind === 'stepwright' && callee.name === 'Tool' && given?.kind === 'object' ? given.entries : [],
  );
  const isGiven = (side: string): boolean => options.some((each) => 'key' in each && each.key === side);
  return new Set((['input', 'output'] as const).filter(isGiven));
}

/** The methods of a class, the fields that hold functions, and those a server calls that it inherits. */
function readMethods(context: HostContext, node: ts.ClassLikeDeclaration, schemas: Schemas): MethodSyntax[] {
  const own = node.members.flatMap((member) => readMethod(context, member, schemas) ?? []);
  const missing = CALLED.filter((name) => !own.some((method) => method.name === name && !isStatic(method)));
  return [...own, ...missing.flatMap((name) => readInherited(context, node, name))];
}

const isStatic = ({ fault }: MethodSyntax): boolean => fault === 'static';

function readMethod(context: HostContext, node: ts.ClassElement, schemas: Schemas): MethodSyntax | undefined {
  const contained = ts.isPropertyDeclaration(node) ? node.initializer : node;
  if (contained === undefined || node.name === undefined) return undefined;
  if (
    !ts.isMethodDeclaration(contained) &&
    !ts.isArrowFunction(contained) &&
    !ts.isFunctionExpression(contained)
  )
    return undefined;
  // The implementation of an overloaded method is not visible to callers.
  if (ts.isMethodDeclaration(contained) && contained.body !== undefined && isOverloaded(contained))
    return undefined;
  const fault = faultOf([node]);
  const name = propertyName(node.name) ?? node.name.getText();
  return {
    name,
    place: placeOf(context, node.name),
    ...defined({ fault }),
    ...(name === 'execute'
      ? typesOf(context, contained, schemas)
      : { parameters: parametersOf(context, contained) }),
    returnsPlace: placeOf(context, contained.type ?? node.name),
  };
}

function parametersOf(context: HostContext, { parameters }: ts.SignatureDeclaration): ParameterSyntax[] {
  return parameters.map((parameter) => ({
    name: parameter.name.getText(),
    place: placeOf(context, parameter),
  }));
}

/** The types of a method that schemas are derived from. */
function typesOf(
  context: HostContext,
  method: ts.SignatureDeclaration,
  schemas: Schemas,
): Pick<MethodSyntax, 'parameters' | 'returns' | 'isUnread'> {
  const [first] = method.parameters;
  const type =
    first && (schemas.has('input') ? typeIfWritten(context, first) : typeOfDeclaration(context, first));
  const returns = schemas.has('output') ? resultIfWritten(context, method) : returnTypeOf(context, method);
  const [parameter, ...others] = parametersOf(context, method);
  const typed = parameter && { ...parameter, ...defined({ type }) };
  const isUnread = returns === undefined || (first !== undefined && type === undefined);
  return {
    parameters: typed === undefined ? [] : [typed, ...others],
    ...defined({ returns }),
    ...(isUnread ? { isUnread } : {}),
  };
}

function isOverloaded(method: ts.MethodDeclaration): boolean {
  const name = method.name.getText();
  const { members } = method.parent as ts.ClassLikeDeclaration;
  return members.some(
    (other) => other !== method && ts.isMethodDeclaration(other) && other.name.getText() === name,
  );
}

/**
 * One method for each signature of a member of the instance type, in which type arguments of a base class are resolved.
 * Covers members that are neither methods nor function literals, such as `execute = wrapped(…)`.
 */
function readInherited(context: HostContext, node: ts.ClassLikeDeclaration, name: string): MethodSyntax[] {
  const heritage = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
    ?.types[0];
  if (context.names !== undefined && heritage === undefined && !mayHave(node, name)) return [];
  const { checker } = context.compiler;
  const instance = checker.getTypeAtLocation(node);
  const property = checker.getPropertyOfType(instance, name);
  const at = heritage ?? node.name ?? node;
  if (property === undefined) {
    const isAny =
      heritage !== undefined && checker.getTypeAtLocation(heritage.expression).flags & ts.TypeFlags.Any;
    return isAny ? [untyped(context, heritage, name)] : [];
  }
  const declarations = property.declarations ?? [];
  const isOwn = declarations.some(({ parent }) => parent === node);
  const fault = faultOf(declarations);
  const place = (of: ts.Node | undefined) => placeOf(context, isOwn && of !== undefined ? of : at);
  return checker
    .getTypeOfSymbolAtLocation(property, node)
    .getCallSignatures()
    .map((signature): MethodSyntax => {
      const declared = signature.getDeclaration() as ts.SignatureDeclaration | undefined;
      const { parameters, returns } = typeOfSignature(context, signature, at, heritage);
      return {
        name,
        place: place(declared?.name ?? declarations[0]),
        isInherited: true,
        ...defined({ fault }),
        parameters: parameters.map(
          ({ name: parameter, declaration, type }): ParameterSyntax => ({
            name: parameter,
            place: place(declaration),
            ...defined({ type }),
          }),
        ),
        returns,
        returnsPlace: place(declared?.type),
      };
    });
}

/** Whether a class without a base, or an interface that is merged with it, has a member of this name. */
function mayHave(node: ts.ClassLikeDeclaration, name: string): boolean {
  const isNamed = node.members.some((member) => {
    const key = member.name && propertyName(member.name);
    const isComputed = member.name !== undefined && key === undefined;
    return key === name || isComputed || (ts.isConstructorDeclaration(member) && declares(member, name));
  });
  const others = node.name === undefined ? [] : (topLevelOf(node.getSourceFile(), node.name.text) ?? []);
  return isNamed || others.some((other) => other !== node);
}

function declares({ parameters }: ts.ConstructorDeclaration, name: string): boolean {
  return parameters.some((each) => each.modifiers !== undefined && each.name.getText() === name);
}

/** A base class of type `any` has every member, of type `any`. */
function untyped(context: HostContext, base: ts.Node, name: string): MethodSyntax {
  const place = placeOf(context, base);
  const type = { kind: 'unknown', written: 'any' } as const;
  const parameters = [{ name: 'input', place, type }];
  return { name, place, isInherited: true, parameters, returns: type, returnsPlace: place };
}

/** What keeps a server from calling a member on an instance. */
function faultOf(declarations: readonly ts.Declaration[]): MethodFault | undefined {
  const flags = declarations.reduce((all, each) => all | ts.getCombinedModifierFlags(each), 0);
  if (flags & ts.ModifierFlags.Static) return 'static';
  if (flags & ts.ModifierFlags.Private) return 'private';
  if (flags & ts.ModifierFlags.Protected) return 'protected';
  if (flags & ts.ModifierFlags.Abstract) return 'abstract';
  if (declarations.some(ts.isAccessor)) return 'an accessor';
  return declarations.some(ts.isPropertyDeclaration) ? 'a field' : undefined;
}

/** The tag and the functions that make messages of a prompt. They accept tool and resource classes. */
const MAKERS: readonly string[] = ['prompt', 'user', 'assistant', 'system'];

/**
 * The classes that a file refers to in prompt texts and messages outside workflow classes, whose steps are read as a
 * whole. A computed class is known only at run time.
 */
export function readNamedHandles(context: HostContext, source: ts.SourceFile): HandleSyntax[] {
  const names = importedNames(source);
  if (names.size === 0) return [];
  const handles: HandleSyntax[] = [];
  const open: ts.Node[] = [source];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (ts.isClassLike(node) && isWorkflow(context, node)) continue;
    const argument = givenTo(node);
    const verb =
      argument && names.has(leftmost(argument.maker)) ? makerOf(context, argument.maker) : undefined;
    for (const value of verb === undefined || argument === undefined ? [] : argument.values) {
      const handle = readExpression(context, value);
      const isClass =
        (handle.kind === 'identifier' || handle.kind === 'property') && handle.symbol?.kind === 'class';
      if (verb !== undefined && isClass) handles.push({ verb, handle });
    }
    open.push(...childrenOf(node).toReversed());
  }
  return handles;
}

/** The instances of workflow classes that a file makes: `new W()`. */
export function readInstances(context: HostContext, source: ts.SourceFile): InstanceSyntax[] {
  if (!/\bnew\s/.test(source.text)) return [];
  const instances: InstanceSyntax[] = [];
  // Those of packages are not asked for.
  const named: HostContext = { ...context, isOption: true };
  eachNode(source, (node) => {
    const declaration = ts.isNewExpression(node) ? declarationOf(named, node.expression) : undefined;
    if (
      ts.isNewExpression(node) &&
      declaration &&
      ts.isClassLike(declaration) &&
      isWorkflow(context, declaration)
    )
      instances.push({ className: node.expression.getText(), place: placeOf(context, node) });
    return childrenOf(node);
  });
  return instances;
}

/** The local names by which a file may use a maker: imported names, aliases and namespaces. */
function importedNames(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of source.statements) {
    const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
    if (bindings === undefined) continue;
    if (ts.isNamespaceImport(bindings)) names.add(bindings.name.text);
    else
      for (const { name, propertyName } of bindings.elements)
        if (MAKERS.includes((propertyName ?? name).text)) names.add(name.text);
  }
  return names;
}

interface Given {
  readonly maker: ts.Expression;
  readonly values: readonly ts.Expression[];
}

/** The maker and the values of a tagged template or a call. */
function givenTo(node: ts.Node): Given | undefined {
  if (ts.isCallExpression(node)) return { maker: node.expression, values: node.arguments.filter(isName) };
  if (!ts.isTaggedTemplateExpression(node) || !ts.isTemplateExpression(node.template)) return undefined;
  const values = node.template.templateSpans.map(({ expression }) => expression).filter(isName);
  return { maker: node.tag, values };
}

function isName(node: ts.Expression): boolean {
  return ts.isIdentifier(node) || ts.isPropertyAccessExpression(node);
}

function leftmost(node: ts.Expression): string {
  if (ts.isPropertyAccessExpression(node)) return leftmost(node.expression);
  return ts.isIdentifier(node) ? node.text : '';
}

/** The maker that a callee or a tag refers to. */
function makerOf(context: HostContext, node: ts.Expression): string | undefined {
  const name = ownName(context, node);
  return name !== undefined && MAKERS.includes(name) ? name : undefined;
}

/** The export of this package that an expression refers to. */
function ownName(context: HostContext, node: ts.Expression): string | undefined {
  const symbol = ts.isIdentifier(node)
    ? resolveIdentifier(context, node)
    : ts.isPropertyAccessExpression(node)
      ? resolveMember(context, node)
      : undefined;
  return symbol?.kind === 'stepwright' ? symbol.name : undefined;
}

function isWorkflow(context: HostContext, node: ts.ClassLikeDeclaration): boolean {
  const decorators = ts.canHaveDecorators(node) ? (ts.getDecorators(node) ?? []) : [];
  return decorators.some(({ expression }) => {
    const callee = ts.isCallExpression(expression) ? expression.expression : expression;
    return ownName(context, callee) === 'Workflow';
  });
}
