import type { Expr } from '../../../graph/expression/tree.js';
import type { Scope } from '../../../graph/model.js';
import type { Place } from '../../../graph/place.js';
import type { ExpressionSyntax } from '../../syntax.js';
import type { Arrow } from '../arrows.js';
import type { ExpressionScope, Local } from '../expression-scope.js';
import type { Attempts, NodeCore, StepNode, StepOutcome } from '../outcome.js';
import type { StepScope } from '../step-scope.js';

type Locals = ReadonlyMap<string, Local>;

export interface PartOptions {
  readonly id: string;
  readonly prefix: string;
  readonly locals?: Locals | undefined;
  readonly inside?: string;
}

export interface BodyOptions {
  /** What the id of its node begins with. Default: that of the node it is the body of. */
  readonly prefix?: string;
  readonly locals?: Locals;
  /** The names that the body's items and places go by, where it is one of a loop. */
  readonly loopNames?: readonly string[];
  /** Set where the options of @Step are meant for what stands in the body. */
  readonly keepsOptions?: true;
}

/** What the verbs are linked with: one for each node, or row of nodes, that is made. */
export interface Linker {
  readonly scope: StepScope;
  /** What the ids of further nodes begin with. */
  readonly prefix: string;
  /** Where reads cannot be moved out of an expression. */
  readonly values: ExpressionScope;
  /** Where they can: in what a verb is given. */
  readonly arguments: ExpressionScope;

  /** The node, behind the reads that were moved out of what it is given. Without `bind` its value is the step's. */
  outcome(core: NodeCore, more?: Partial<StepNode>, bind?: StepOutcome['bind']): StepOutcome;
  /** The options of the step, for the nodes that make attempts; the own ones win. */
  attempts(own?: Attempts): Attempts;
  /** The same for nodes that are not tried again. */
  limit(): Attempts;
  /** What a verb is given; absent where it was left out. */
  argument(syntax: ExpressionSyntax | undefined, at: Place): Expr | undefined;
  /** The body of an arrow as a value, its parameters bound. */
  inside(arrow: Arrow, ...parameters: readonly Local[]): Expr | undefined;
  /** The names known here, and those of an arrow. */
  withLocals(arrow: Omit<Arrow, 'body'>, ...parameters: readonly Local[]): Locals;
  /** A part of the step, in the same list of nodes. */
  part(syntax: ExpressionSyntax, options: PartOptions): StepOutcome | undefined;
  /** A part of the step with a list of nodes of its own. */
  body(syntax: ExpressionSyntax, arm: string, options?: BodyOptions): Scope | undefined;
  /** Steps as the body of one node, so that their failure and their value are those of one. */
  wrapped(syntax: ExpressionSyntax, arm?: string, id?: string): StepOutcome | undefined;
}
