import type { Icon, ToolAnnotations } from '../decorators/tool.js';
import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Json } from '../graph/json.js';
import type { Graph, Input } from '../graph/model.js';
import type { Place } from '../graph/place.js';
import type { RetrySafety } from '../graph/tool-safety.js';
import type { ExpressionSyntax, HandleSyntax, TypeSyntax } from './syntax.js';

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
  readonly retrySafety?: RetrySafety;
  readonly icons?: readonly Icon[];
  readonly hints?: HintsDeclaration;
  /** Properties of the input that are masked. */
  readonly secret?: readonly string[];
  /** Where each of them is written. */
  readonly secretPlaces?: readonly Place[];
  /** The classes of the option `needsState`, as written. */
  readonly needsState?: readonly ExpressionSyntax[];
  readonly hasInputSchema: boolean;
  /** Type of `execute`'s first parameter, when it has one. */
  readonly inputType?: TypeSyntax;
  /** Where that parameter stands. */
  readonly inputPlace?: Place;
  /** Where each signature of an overloaded `execute` stands; missing where there is one. */
  readonly overloads?: readonly Place[];
  /** What `execute` hands back, promises taken off. */
  readonly outputType?: TypeSyntax;
  readonly outputPlace?: Place;
}

/** The `hints` of a tool. Classes stand as they are written; `link` finds the tools they are. */
export interface HintsDeclaration {
  readonly category?: string;
  readonly next?: readonly ExpressionSyntax[];
  readonly requires?: readonly ExpressionSyntax[];
  readonly examples?: readonly Json[];
}

export interface ResourceDeclaration extends ClassHandle {
  readonly name: string;
  readonly namePlace: Place;
  /** The class's `uri` or `uriTemplate`. */
  readonly uri: string;
  readonly uriPlace: Place;
  /** The variables of a template, in its order; missing for a resource with an address of its own. */
  readonly variables?: readonly string[];
  /** Those of them whose values may climb. */
  readonly dotSegments?: readonly string[];
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
  readonly needsState: readonly ExpressionSyntax[];
  readonly args: readonly ArgDeclaration[];
  readonly steps: readonly StepDeclaration[];
  /** Members that were meant as arguments or steps and have been reported: naming them is no further fault. */
  readonly faultyFields: readonly string[];
}

/** A field of state: a class whose `value` says what is kept. */
export interface StateDeclaration extends ClassHandle {
  readonly name: string;
  readonly namePlace: Place;
  readonly initial?: Json;
  readonly initialPlace?: Place;
  /** The type of its `value`. */
  readonly type: TypeSyntax;
  /** Where that field stands. */
  readonly typePlace: Place;
}

/** A plain prompt: a class that renders its messages. */
export interface PromptDeclaration extends ClassHandle {
  readonly name: string;
  readonly namePlace: Place;
  readonly title?: string;
  readonly description: string;
  /** Decorator options as literals. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly args: readonly ArgDeclaration[];
}

export interface ArgDeclaration {
  /** The field's name. */
  readonly name: string;
  /** The name callers know it by: that of the option `name`, else the field's. */
  readonly argument: string;
  readonly place: Place;
  readonly optional: boolean;
  /** Options as literals; `complete`, which is code, stands as `{ $function: true }`. */
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
  /** Set where the type of the field is written out. */
  readonly isAnnotated?: true;
  readonly initializer: ExpressionSyntax;
  /** Its own name or id has been reported: it is linked to find its other faults, and makes no node. */
  readonly isFaulty?: true;
}

/**
 * All that `extract` found. A class at fault is among them, so that what uses it is read and checked as well: its name
 * may be one that stands in for a missing or a taken one. Nothing is emitted then.
 */
export interface Declarations {
  readonly tools: readonly ToolDeclaration[];
  readonly resources: readonly ResourceDeclaration[];
  readonly workflows: readonly WorkflowDeclaration[];
  readonly prompts: readonly PromptDeclaration[];
  readonly states: readonly StateDeclaration[];
  /** The classes that prompts and other functions name in text and messages. */
  readonly handles: readonly HandleSyntax[];
  /** Classes that could not be read, which has been reported: using them is no further fault. */
  readonly faulty: readonly FaultyClass[];
  /** Every file that was read, relative to the project root. */
  readonly files: readonly string[];
  /** Those of them that have faults of their own: what they export is not known. */
  readonly brokenFiles: ReadonlySet<string>;
}

/** A decorated class that could not be read, known by where its name stands. */
export interface FaultyClass {
  readonly kind: 'tool' | 'resource' | 'workflow' | 'prompt' | 'state';
  readonly place: Place;
}

/** A workflow after `link`: its graph, with every reference resolved. */
export interface LinkedWorkflow {
  readonly declaration: WorkflowDeclaration;
  readonly graph: Graph;
  /** The functions its graph names, each once. */
  readonly functions: readonly FunctionHandle[];
  /** The workflows its steps run, by name. */
  readonly runs: readonly { readonly step: StepDeclaration; readonly workflow: string }[];
  /** False where steps or arguments were left out, since they are at fault. */
  readonly isWhole: boolean;
}

/** A pure function the registry will import: its key there is `name`, which `FunctionRef` has as well. */
export interface FunctionHandle {
  /** Unique among the functions of a registry: its own name, or `module#name` where two modules export it. */
  readonly name: string;
  /** The identifier it is declared or exported by. */
  readonly ownName: string;
  /** sha256 of its source, 64 hexadecimal digits. */
  readonly hash: string;
  /** Source file relative to the project root. */
  readonly file: string;
  /** The name it is exported by, `default` included. */
  readonly exportName: string;
  /** Where its name stands. */
  readonly place: Place;
}

/** A prompt after `link`. */
export interface LinkedPrompt {
  readonly declaration: PromptDeclaration;
  /** In declaration order. */
  readonly arguments: readonly Input[];
}

/** What `hints` of a tool come to: tools by the names they are registered under. */
export interface LinkedHints {
  readonly category?: string;
  readonly next?: readonly string[];
  readonly requires?: readonly string[];
  readonly examples?: readonly Json[];
}

/** What every phase returns: its product and what it has to say about the input. */
export interface Phase<T> {
  readonly value: T;
  readonly diagnostics: readonly Diagnostic[];
}
