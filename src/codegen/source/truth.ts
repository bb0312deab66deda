import { ts } from 'ts-morph';
import type { HostContext } from './context.js';

const { TypeFlags } = ts;

/**
 * What a condition is where it is anything but null or undefined: a list or an object, which count as true whatever
 * is in them. Nothing for any other type, and for one that is not known.
 */
export function compositeTruth({ checker }: HostContext, node: ts.Expression): 'list' | 'object' | undefined {
  const type = typeOf(checker, node);
  if (type === undefined) return undefined;
  const members = type.isUnion() ? type.types : [type];
  if (members.length === 0 || !members.every((member) => isComposite(checker, member))) return undefined;
  return members.every((member) => isList(checker, member)) ? 'list' : 'object';
}

/** Whether `value as T` says which of several objects a value is. */
export function isClaim({ checker }: HostContext, node: ts.Expression): boolean {
  if (!ts.isAsExpression(node) && !ts.isTypeAssertionExpression(node)) return false;
  if (ts.isConstTypeReference(node.type)) return false;
  const type = typeOf(checker, node.expression);
  const members = type?.isUnion() === true ? type.types : [];
  return members.filter((member) => member.flags & TypeFlags.Object).length > 1;
}

/**
 * Whether a property is one that only some of several objects have, and the compiler added to the others as one that is
 * never there, as it does for object literals of one expression.
 */
export function isAddedTo({ checker }: HostContext, object: ts.Node, key: string): boolean {
  const type = typeOf(checker, object);
  if (type?.isUnion() !== true) return false;
  return type.types.some((member) => {
    const property = member.getProperty(key);
    return property !== undefined && (checker.getTypeOfSymbol(property).flags & TypeFlags.Undefined) !== 0;
  });
}

function isComposite(checker: ts.TypeChecker, type: ts.Type): boolean {
  if (type.isIntersection()) return type.types.every((part) => isComposite(checker, part));
  if (type.flags & TypeFlags.NonPrimitive) return true;
  if ((type.flags & TypeFlags.Object) === 0) return false;
  // `{}` is the type of text and numbers as well.
  return isList(checker, type) || checker.getPropertiesOfType(type).length > 0;
}

function isList(checker: ts.TypeChecker, type: ts.Type): boolean {
  if (type.isIntersection()) return type.types.some((part) => isList(checker, part));
  return checker.isArrayType(type) || checker.isTupleType(type);
}

/** The compiler's own assertions can fail on source with type errors; those are for `tsc` to report. */
function typeOf(checker: ts.TypeChecker, node: ts.Node): ts.Type | undefined {
  try {
    return checker.getNonNullableType(checker.getTypeAtLocation(node));
  } catch {
    return undefined;
  }
}
