import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { ClassSyntax, MethodFault, MethodSyntax } from '../syntax.js';
import type { DecoratedClass } from './collected.js';

/** What is written instead of what cannot be called, by its fault. */
const REPAIRS: Readonly<Record<MethodFault, (name: string) => string>> = {
  static: (name) => `leave out \`static\`: the server calls \`${name}\` on an instance`,
  private: () => 'leave out `private`: the server calls it from outside of the class',
  protected: () => 'make it public: the server calls it from outside of the class',
  abstract: (name) => `write \`${name}\` in this class, with a body`,
  'a field': (name) => `write it as a method: \`${name}(…) { … }\`, which classes that extend this one share`,
  'an accessor': (name) => `write it as a method: \`${name}(…) { … }\``,
};

/** Fields that hold functions are called as methods are, and the messages of prompts may be made by one. */
const FIELDS_ALLOWED: readonly string[] = ['render', 'read'];

/** The signatures of a method that the server calls on instances, own or inherited; reports one that it cannot call. */
export function calledMethods(
  { syntax, report }: DecoratedClass,
  name: 'execute' | 'render' | 'read',
): readonly MethodSyntax[] {
  const all = syntax.methods.filter((method) => method.name === name);
  const isUsable = ({ fault }: MethodSyntax): boolean =>
    fault === undefined || (fault === 'a field' && FIELDS_ALLOWED.includes(name));
  const usable = all.filter(isUsable);
  const faulty = all.find((method) => !isUsable(method));
  if (usable.length === 0 && faulty?.fault !== undefined) {
    const params = { className: syntax.name, method: name, what: faulty.fault };
    report(diagnostic('SW1027', faulty.place, params, { hint: REPAIRS[faulty.fault](name) }));
  }
  return usable;
}

/** Whether a class has a method by that name at all, one that cannot be called included. */
export function hasMethod({ syntax }: DecoratedClass, name: string): boolean {
  return syntax.methods.some((method) => method.name === name);
}

/**
 * A class without a method it needs.
 * @param signature the method as it is to be written.
 * @param result what it returns, where that is to be said.
 */
export function withoutMethod(
  { name: className, place }: ClassSyntax,
  method: string,
  signature: string,
  result?: string,
): Diagnostic {
  const hint = `add \`${signature}\`${result === undefined ? '' : `, which returns ${result}`}`;
  return diagnostic('SW1022', place, { className, method }, { hint });
}
