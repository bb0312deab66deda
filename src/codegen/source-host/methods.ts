import { ts } from 'ts-morph';
import type { MethodFault, MethodSyntax, ParameterSyntax } from '../syntax.js';
import { type HostContext, placeOf } from './context.js';
import { propertyName } from './expressions.js';
import { returnTypeOf, typeOfDeclaration, typeOfSignature } from './types.js';

/** The methods that a server calls, which a class may inherit as well. */
const CALLED = ['execute', 'read', 'render'] as const;

/** The methods of a class, the fields that hold functions, and those a server calls that it inherits. */
export function readMethods(context: HostContext, node: ts.ClassLikeDeclaration): MethodSyntax[] {
  const own = node.members.flatMap((member) => readMethod(context, member) ?? []);
  const missing = CALLED.filter((name) => !own.some((method) => method.name === name && !isStatic(method)));
  return [...own, ...missing.flatMap((name) => readInherited(context, node, name))];
}

const isStatic = ({ fault }: MethodSyntax): boolean => fault === 'static';

function readMethod(context: HostContext, node: ts.ClassElement): MethodSyntax | undefined {
  const held = ts.isPropertyDeclaration(node) ? node.initializer : node;
  if (held === undefined || node.name === undefined) return undefined;
  if (!ts.isMethodDeclaration(held) && !ts.isArrowFunction(held) && !ts.isFunctionExpression(held))
    return undefined;
  // Of overloads the last one is what no caller sees.
  if (ts.isMethodDeclaration(held) && held.body !== undefined && isOverloaded(held)) return undefined;
  const fault = faultOf([node]);
  return {
    name: propertyName(node.name) ?? node.name.getText(),
    place: placeOf(context, node.name),
    ...(fault === undefined ? {} : { fault }),
    parameters: held.parameters.map((parameter, i) => ({
      name: parameter.name.getText(),
      place: placeOf(context, parameter),
      ...(i > 0 ? {} : { type: typeOfDeclaration(context, parameter) }),
    })),
    returns: returnTypeOf(context, held),
    returnsPlace: placeOf(context, held.type ?? node.name),
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
 * One method for each signature of a member, as the type of the instance has it: type arguments of a base class are in
 * their places. Covers what is written as neither a method nor a function, such as `execute = wrapped(…)`.
 */
function readInherited(context: HostContext, node: ts.ClassLikeDeclaration, name: string): MethodSyntax[] {
  const { checker } = context;
  const heritage = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
    ?.types[0];
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
        ...(fault === undefined ? {} : { fault }),
        parameters: parameters.map(
          ({ name: parameter, declaration, type }): ParameterSyntax => ({
            name: parameter,
            place: place(declaration),
            ...(type === undefined ? {} : { type }),
          }),
        ),
        returns,
        returnsPlace: place(declared?.type),
      };
    });
}

/** A base class that nothing is known of gives every member, of any type. */
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
