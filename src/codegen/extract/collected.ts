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

/** Declarations while they are being collected. */
export type MutableDeclarations = {
  -readonly [K in
    | 'tools'
    | 'resources'
    | 'workflows'
    | 'prompts'
    | 'states'
    | 'faultyWorkflows'
    | 'faulty']: Declarations[K][number][];
};
