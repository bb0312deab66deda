import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { ClassHandle, Declarations } from '../declarations.js';
import type { ClassSyntax, DecoratorSyntax } from '../syntax.js';

/** What a declaration is made of, beside the options. */
export interface DecoratedClass {
  readonly syntax: ClassSyntax;
  readonly handle: ClassHandle;
  readonly decorator: DecoratorSyntax;
  readonly report: (diagnostic: Diagnostic) => void;
}

/** The name of a class that has none, or none that may be used; every such class gets one that stands in for it. */
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
