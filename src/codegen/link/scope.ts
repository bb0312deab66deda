import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Place } from '../../graph/place.js';
import type { StepDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import type { CallSyntax } from '../verbs.js';
import type { Binding, Bindings } from './bindings.js';
import type { Functions } from './functions.js';
import type { Handles } from './handles.js';
import type { NodeIds } from './node-ids.js';

export type SyntaxOf<K extends ExpressionSyntax['kind']> = Extract<ExpressionSyntax, { kind: K }>;

/** What a name bound by an arrow stands for. */
export type Local = Binding | { readonly kind: 'error' };

/** What an expression may use. */
export interface ExpressionScope {
  readonly bindings: Bindings;
  readonly handles: Handles;
  readonly report: (diagnostic: Diagnostic) => void;
  /** The names that arrows around the expression bind. */
  readonly locals?: ReadonlyMap<string, Local>;
  /** The values of parts that were linked before. */
  readonly given?: ReadonlyMap<ExpressionSyntax, Expr>;
  /** Gives a `read(…)` inside an expression a node of its own; without it, reads are refused here. */
  readonly hoist?: Hoist;
}

/** @param path where the value goes, by keys and indexes from the outermost expression. */
type Hoist = (read: CallSyntax, path: readonly (string | number)[]) => Expr | undefined;

/** What a step, or a part of one, is linked against. */
export interface StepScope {
  readonly step: StepDeclaration;
  /** The id of the node to be made: the step's own, or one derived from it. */
  readonly id: string;
  /** What the ids of further nodes begin with, where that is not `id`: parts of a chain are numbered. */
  readonly prefix?: string;
  /** The id of the step's own node. */
  readonly ownId: string;
  readonly ids: NodeIds;
  /** Where the part stands whose node it is: the step's field, or an expression in its initializer. */
  readonly source: Place;
  readonly bindings: Bindings;
  readonly handles: Handles;
  readonly functions: Functions;
  readonly report: (diagnostic: Diagnostic) => void;
  /** The names that arrows around this part bind. */
  readonly locals?: ReadonlyMap<string, Local>;
  /** The names of items and places in the loops around this part. */
  readonly loopNames?: readonly string[];
  /** Set in the body of a node that carries the options of the step itself. */
  readonly isBody?: true;
  /** The id of the first node of a step that stands before this one; nothing where `name` is no such step. */
  readonly firstNodeOf: (name: string) => string | undefined;
  /** The step or node this part stands inside of, which is no place to go back from. */
  readonly inside?: string;
}
