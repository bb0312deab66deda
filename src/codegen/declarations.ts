import type { ListedOptions } from '../decorators/decorate.js';
import type { ToolAnnotations, ToolVisibility, UpstreamOption } from '../decorators/tool.js';
import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Json } from '../graph/json.js';
import type { Graph, Input, StateField, ToolTask } from '../graph/model.js';
import type { SourceLocation } from '../graph/source-location.js';
import type { RetrySafety } from '../graph/tool-safety.js';
import type { ResourceData, ToolData } from './manifest.js';
import type { ExpressionSyntax, HandleSyntax, TypeSyntax, WrittenSchemas } from './syntax.js';

/** A class the registry will import. */
export interface ClassHandle {
  /** Source file relative to the project root. */
  readonly file: string;
  readonly className: string;
  /** The name it is exported by; missing when it is not exported. */
  readonly exportName?: string;
  /** The location of the class's name. */
  readonly place: SourceLocation;
  /** Set for a class of a package. */
  readonly package?: { readonly name: string /** As the project imports it. */; readonly specifier: string };
}

/** What a class says that is read from its source alone. */
interface LiteralOptions {
  /**
   * All options of the decorator, where they are literals or `writtenSchemas`, which are left out: then the class need
   * not be imported.
   */
  readonly literalOptions?: Readonly<Record<string, unknown>>;
}

export interface ToolDeclaration extends ClassHandle, ListedOptions, LiteralOptions {
  readonly name: string;
  /** Where the name is written in the decorator. */
  readonly namePlace: SourceLocation;
  readonly title?: string;
  readonly description: string;
  readonly annotations?: ToolAnnotations;
  readonly retrySafety?: RetrySafety;
  readonly visibility?: ToolVisibility;
  readonly scopes?: readonly string[];
  readonly task?: ToolTask;
  readonly hints?: HintsDeclaration;
  /** The tool of an upstream server that it calls. */
  readonly upstream?: UpstreamOption;
  /** Properties of the input that are masked. */
  readonly secret?: readonly string[];
  /** Where each of them is written. */
  readonly secretPlaces?: readonly SourceLocation[];
  /** The classes of the option `needsState`, as written. */
  readonly needsState?: readonly ExpressionSyntax[];
  readonly hasInputSchema: boolean;
  /** What clients see of the input schema. */
  readonly listedSchema?: 'flat';
  /** The schemas that its text says. */
  readonly writtenSchemas?: WrittenSchemas;
  /** Type of `execute`'s first parameter, when it has one. */
  readonly inputType?: TypeSyntax;
  /** The location of that parameter. */
  readonly inputPlace?: SourceLocation;
  /** The location of each signature of an overloaded `execute`; absent if it is not overloaded. */
  readonly overloads?: readonly SourceLocation[];
  /** What `execute` returns, without promises. */
  readonly outputType?: TypeSyntax;
  readonly outputPlace?: SourceLocation;
  /** Set where one of these types was not read, since the tool gives a schema itself. */
  readonly isUnread?: true;
  /** What the manifest of its package says. */
  readonly listed?: ToolData;
}

/** The `hints` of a tool. Classes are kept as written; `link` resolves them to tools. */
export interface HintsDeclaration {
  readonly category?: string;
  readonly next?: readonly ExpressionSyntax[];
  readonly requires?: readonly ExpressionSyntax[];
  readonly outputs?: readonly string[];
  readonly hint?: string;
  readonly examples?: readonly Json[];
  /** Where the category is written. */
  readonly categoryPlace?: SourceLocation;
}

export interface ResourceDeclaration extends ClassHandle, ListedOptions, LiteralOptions {
  readonly name: string;
  readonly namePlace: SourceLocation;
  /** The class's `uri` or `uriTemplate`. */
  readonly uri: string;
  readonly uriPlace: SourceLocation;
  /** The variables of a template, in its order; missing for a resource with an address of its own. */
  readonly variables?: readonly string[];
  /** The variables whose values may contain `..`. */
  readonly dotSegments?: readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** As written, relative to the file of the class. */
  readonly contentFile?: string;
  readonly contentFilePlace?: SourceLocation;
  /** What the manifest of its package says. */
  readonly listed?: ResourceData;
}

export interface WorkflowDeclaration extends ClassHandle, ListedOptions {
  readonly name: string;
  readonly namePlace: SourceLocation;
  /** Decorator options as literals, for the fingerprint. Handles are `{ $class: className }`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly instructions: readonly ExpressionSyntax[];
  readonly needsState: readonly ExpressionSyntax[];
  readonly args: readonly ArgDeclaration[];
  readonly steps: readonly StepDeclaration[];
  /** Members that were meant as arguments or steps and have been reported. A use of one is not reported again. */
  readonly faultyFields: readonly string[];
}

/** A field of state: a class whose `value` says what is kept. */
export interface StateDeclaration extends ClassHandle {
  readonly name: string;
  readonly namePlace: SourceLocation;
  /** Default: `run`. */
  readonly scope?: StateField['scope'];
  readonly initial?: Json;
  readonly initialPlace?: SourceLocation;
  /** The type of its `value`. */
  readonly type: TypeSyntax;
  /** The location of that field. */
  readonly typePlace: SourceLocation;
}

/** An agent of the client: a class that `delegate` and `forEach` name. */
export interface AgentDeclaration extends ClassHandle {
  /** With `@` before it. */
  readonly name: string;
  readonly namePlace: SourceLocation;
  /** The type of its `reply`, where the class says it. */
  readonly reply?: TypeSyntax;
}

/** A plain prompt: a class that renders its messages. */
export interface PromptDeclaration extends ClassHandle, ListedOptions {
  readonly name: string;
  readonly namePlace: SourceLocation;
  readonly title?: string;
  readonly description: string;
  /** Decorator options as literals. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly args: readonly ArgDeclaration[];
}

export interface ArgDeclaration {
  /** The field's name. */
  readonly name: string;
  /** The name for callers: that of the option `name`, else the field's. */
  readonly argument: string;
  readonly place: SourceLocation;
  readonly optional: boolean;
  /** Options as literals; `complete`, which is code, is `{ $function: true }`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Each option as written. */
  readonly optionSyntax: Readonly<Record<string, ExpressionSyntax>>;
  readonly type: TypeSyntax;
}

export interface StepDeclaration {
  /** The field's name, which is its binding and, without an `id` option, its node's id. */
  readonly name: string;
  readonly place: SourceLocation;
  readonly options: Readonly<Record<string, unknown>>;
  /** Each option as written, for diagnostics at a guidance placeholder or at a name in `after`. */
  readonly optionSyntax: Readonly<Record<string, ExpressionSyntax>>;
  /** The classes that the option `resources` lists. */
  readonly resources: readonly ExpressionSyntax[];
  /** False for a `done(…)` field without `@Step()`, which the decorators' metadata does not know. */
  readonly decorated: boolean;
  /** Set if the field has a type annotation. */
  readonly isAnnotated?: true;
  readonly initializer: ExpressionSyntax;
  /** Set if its name or id has been reported. It is still linked to find its other faults, and makes no node. */
  readonly isFaulty?: true;
}

/**
 * All that `extract` found. Includes faulty classes, so that their uses are read and checked as well: a missing or
 * duplicate name is then replaced. Nothing is emitted then.
 */
export interface Declarations {
  readonly tools: readonly ToolDeclaration[];
  readonly resources: readonly ResourceDeclaration[];
  readonly workflows: readonly WorkflowDeclaration[];
  readonly prompts: readonly PromptDeclaration[];
  readonly states: readonly StateDeclaration[];
  readonly agents: readonly AgentDeclaration[];
  /** The classes that prompts and other functions name in text and messages. */
  readonly handles: readonly HandleSyntax[];
  /** Classes that could not be read, which has been reported. A use of one is not reported again. */
  readonly faulty: readonly FaultyClass[];
  /** Every file that was read, relative to the project root. */
  readonly files: readonly string[];
  /** The files with syntax errors: what they export is not known. */
  readonly brokenFiles: ReadonlySet<string>;
  /** Why classes of packages cannot be used, by `importKey`. Default: none was named. */
  readonly packageFaults?: ReadonlyMap<string, (at: SourceLocation) => Diagnostic>;
}

/** A decorated class that could not be read, identified by the location of its name. */
export interface FaultyClass {
  readonly kind: 'tool' | 'resource' | 'workflow' | 'prompt' | 'state' | 'agent';
  readonly place: SourceLocation;
}

/** A workflow after `link`: its graph, with every reference resolved. */
export interface LinkedWorkflow {
  readonly declaration: WorkflowDeclaration;
  readonly graph: Graph;
  /** The functions its graph names, each once. */
  readonly functions: readonly FunctionHandle[];
  /** The workflows its steps run, by name. */
  readonly runs: readonly { readonly step: StepDeclaration; readonly workflow: string }[];
  /** False if faulty steps or arguments were left out. */
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
  /** The location of its name. */
  readonly place: SourceLocation;
}

export interface LinkedPrompt {
  readonly declaration: PromptDeclaration;
  /** In declaration order. */
  readonly arguments: readonly Input[];
}

/** What every phase returns: its product, and its diagnostics about the input. */
export interface Phase<T> {
  readonly value: T;
  readonly diagnostics: readonly Diagnostic[];
}

/** The names of a workflow's fields: arguments, then steps. */
export function fieldNames({ args, steps }: WorkflowDeclaration): readonly string[] {
  return [...args, ...steps].map(({ name }) => name);
}
