import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Graph } from '../graph/model.js';
import type { Place } from '../graph/place.js';
import type { ToolAnnotations } from '../decorators/tool.js';
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
}

export interface ArgDeclaration {
  readonly name: string;
  readonly place: Place;
  readonly optional: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  readonly type: TypeSyntax;
}

export interface StepDeclaration {
  /** The field's name, which is its binding and, without an `id` option, its node's id. */
  readonly name: string;
  readonly place: Place;
  readonly options: Readonly<Record<string, unknown>>;
  /** Where each option's value stands, for diagnostics about guidance placeholders and `after`. */
  readonly optionPlaces: Readonly<Record<string, Place>>;
  readonly initializer: ExpressionSyntax;
}

/** All that `extract` found. Faulty declarations are left out, and said so in the diagnostics. */
export interface Declarations {
  readonly tools: readonly ToolDeclaration[];
  readonly resources: readonly ResourceDeclaration[];
  readonly workflows: readonly WorkflowDeclaration[];
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
