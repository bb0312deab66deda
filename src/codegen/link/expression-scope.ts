import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { ExpressionSyntax } from '../syntax.js';
import type { CallSyntax } from '../verbs.js';
import type { Binding, Bindings } from './bindings.js';
import type { Handles } from './handles.js';

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
