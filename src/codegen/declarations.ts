import type { ToolAnnotations } from '../decorators/tool.js';
import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Graph } from '../graph/model.js';
import type { Place } from '../graph/place.js';
import type { ExpressionSyntax, TypeSyntax } from './syntax.js';

/** A class the registry will import. */
export interface ClassHandle {
  /** Source file relative to the project root. */
  readonly file: string;
  readonly className: string;
  /** The name it is exported by; missing when it is not exported. */
  readonly exportName?: string;
  /** Where the class's name stands. */
  readonly place: Place;
}

export interface ToolDeclaration extends ClassHandle {
  readonly name: string;
  /** Where the name is written in the decorator. */
  readonly namePlace: Place;
  readonly title?: string;
  readonly description: string;
  readonly annotations?: ToolAnnotations;
  readonly hasInputSchema: boolean;
  /** Type of `execute`'s first parameter, when it has one. */
  readonly inputType?: TypeSyntax;
}

export interface ResourceDeclaration extends ClassHandle {
  readonly name: string;
  readonly namePlace: Place;
  readonly uri: string;
  readonly uriPlace: Place;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** As written, relative to the file of the class. */
  readonly contentFile?: string;
  readonly contentFilePlace?: Place;
}

export interface WorkflowDeclaration extends ClassHandle {
  readonly name: string;
  readonly namePlace: Place;
  /** Decorator options as literals, for the fingerprint. Handles stand as `{ $class: className }`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly instructions: readonly ExpressionSyntax[];
  readonly args: readonly ArgDeclaration[];
  readonly steps: readonly StepDeclaration[];
  /** Fields that were meant as arguments or steps and have been reported: naming them is no further fault. */
  readonly faultyFields: readonly string[];
}

export interface ArgDeclaration {
  readonly name: string;
  readonly place: Place;
  readonly optional: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  /** Each option as written. */
  readonly optionSyntax: Readonly<Record<string, ExpressionSyntax>>;
  readonly type: TypeSyntax;
}

export interface StepDeclaration {
  /** The field's name, which is its binding and, without an `id` option, its node's id. */
  readonly name: string;
  readonly place: Place;
  readonly options: Readonly<Record<string, unknown>>;
  /** Each option as written, for diagnostics at a guidance placeholder or at a name in `after`. */
  readonly optionSyntax: Readonly<Record<string, ExpressionSyntax>>;
  /** False for a `done(…)` field without `@Step()`, which the decorators' metadata does not know. */
  readonly decorated: boolean;
  readonly initializer: ExpressionSyntax;
}

/** All that `extract` found. Faulty declarations are left out, and said so in the diagnostics. */
export interface Declarations {
  readonly tools: readonly ToolDeclaration[];
  readonly resources: readonly ResourceDeclaration[];
  readonly workflows: readonly WorkflowDeclaration[];
  /** Workflows whose own options are at fault: linked to find their other faults, and no further than that. */
  readonly faultyWorkflows: readonly WorkflowDeclaration[];
  /** Classes that carry the decorator and have been reported: using them is no further fault. */
  readonly faulty: readonly FaultyClass[];
  /** Every file that was read, relative to the project root. */
  readonly files: readonly string[];
}

/** A decorated class that could not be declared, known by where its name stands. */
export interface FaultyClass {
  readonly kind: 'tool' | 'resource' | 'workflow';
  readonly place: Place;
}

/** A workflow after `link`: its graph, with every reference resolved. */
export interface LinkedWorkflow {
  readonly declaration: WorkflowDeclaration;
  readonly graph: Graph;
}

/** What every phase returns: its product and what it has to say about the input. */
export interface Phase<T> {
  readonly value: T;
  readonly diagnostics: readonly Diagnostic[];
}
