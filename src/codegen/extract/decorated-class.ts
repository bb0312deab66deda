import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { nearestName } from '../../graph/suggest.js';
import type { ClassHandle, Declarations } from '../declarations.js';
import type { ClassSyntax, DecoratorSyntax, MethodFault, MethodSyntax } from '../syntax.js';
import { DECORATOR_NAMES, type DecoratorName, isDecoratorName } from './options.js';

/** What a declaration is made of, beside the options. */
export interface DecoratedClass {
  readonly syntax: ClassSyntax;
  readonly handle: ClassHandle;
  readonly decorator: DecoratorSyntax;
  readonly report: (diagnostic: Diagnostic) => void;
}

/** The name of a class that has none, or none that may be used; every such class gets a replacement. */
export const UNNAMED = '';

/** Declarations while they are being collected. */
export type MutableDeclarations = {
  -readonly [K in
    | 'tools'
    | 'resources'
    | 'workflows'
    | 'prompts'
    | 'states'
    | 'faulty']: Declarations[K][number][];
};

/** A decorator of this package. */
export interface OwnDecorator {
  readonly name: DecoratorName;
  readonly syntax: DecoratorSyntax;
}

/** What the decorators of one class or field come to. */
export interface OwnDecorators {
  readonly found: readonly OwnDecorator[];
  /** Decorators that were most likely meant to be ours, and have been reported. */
  readonly misspelt: readonly DecoratorName[];
}

/** Picks this package's decorators. Those of other libraries are left alone, whatever their names are. */
export function ownDecorators(
  decorators: readonly DecoratorSyntax[],
  report: (diagnostic: Diagnostic) => void,
): OwnDecorators {
  const found: OwnDecorator[] = [];
  const misspelt: DecoratorName[] = [];
  for (const syntax of decorators) {
    const { callee } = syntax;
    if (callee.kind === 'stepwright' && isDecoratorName(callee.name)) {
      found.push({ name: callee.name, syntax });
      continue;
    }
    if (callee.kind !== 'unresolved' && callee.kind !== 'stepwright') continue;
    const meant = isDecoratorName(callee.name) ? callee.name : nearestDecorator(callee.name);
    // What is imported from this package was meant to be ours, however it is spelt.
    if (meant === undefined && callee.kind === 'unresolved') continue;
    if (meant !== undefined) misspelt.push(meant);
    const suggestion = meant === callee.name ? undefined : meant;
    const hint = meant === undefined ? 'stepwright has no decorator of this name' : undefined;
    report(diagnostic('SW1019', syntax.place, { decorator: callee.name, suggestion }, { hint }));
  }
  return { found, misspelt };
}

function nearestDecorator(name: string): DecoratorName | undefined {
  const near = nearestName(name, DECORATOR_NAMES);
  return near !== undefined && isDecoratorName(near) ? near : undefined;
}

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
