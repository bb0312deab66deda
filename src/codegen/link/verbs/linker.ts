import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { Scope } from '../../../graph/model.js';
import type { Place } from '../../../graph/place.js';
import type { ExpressionSyntax } from '../../syntax.js';
import { unwrap } from '../../verbs.js';
import { describeGiven } from '../describe.js';
import type { Attempts, NodeCore, StepNode, StepOutcome } from '../nodes.js';
import type { Arrow, ExpressionScope, Local, StepScope } from '../scope.js';

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

/** Reports what a verb is not given, or not in this form. */
export function refuse({ scope }: Pick<Linker, 'scope'>, at: Place, what: string, hint: string): undefined {
  scope.report(diagnostic('SW2001', at, { what }, { hint }));
  return undefined;
}

/** A key of an object that is written out, and what stands under it. */
export interface Entry {
  readonly key: string;
  readonly keyPlace: Place;
  readonly value: ExpressionSyntax;
}

/**
 * The entries of an object that is written out; nothing where it is another expression. Spreads and methods in it are
 * reported, and left out.
 *
 * @param role what it is to the verb, after "in the place of".
 * @param example what to write.
 */
export function readEntries(
  linker: Linker,
  syntax: ExpressionSyntax | undefined,
  at: Place,
  role: string,
  example: string,
): { readonly entries: readonly Entry[]; readonly isWhole: boolean } | undefined {
  const object = syntax && unwrap(syntax);
  const hint = `write them one by one: \`${example}\``;
  if (object === undefined) return refuse(linker, at, `a call without ${role}`, `write \`${example}\``);
  if (object.kind !== 'object') {
    const taker = `\`${example.slice(0, example.indexOf('('))}\``;
    const params = { taker, takes: `${role} as an object`, given: describeGiven(object) };
    linker.scope.report(diagnostic('SW2008', object.place, params, { hint: `write \`${example}\`` }));
    return undefined;
  }
  const entries: Entry[] = [];
  for (const entry of object.entries) {
    if ('value' in entry && entry.key !== '__proto__') entries.push(entry);
    else if ('value' in entry) refuse(linker, entry.keyPlace, 'the key `__proto__`', 'choose another key');
    else if ('spread' in entry) refuse(linker, entry.spread.place, `a spread among ${role}`, hint);
    else refuse(linker, entry.place, entry.unsupported, entry.instead ?? hint);
  }
  return { entries, isWhole: entries.length === object.entries.length };
}

/** The same for arms: two of one name are reported, and the second one left out. */
export function readArms(...given: Parameters<typeof readEntries>): ReturnType<typeof readEntries> {
  const [{ scope }] = given;
  const read = readEntries(...given);
  if (read === undefined) return undefined;
  const arms = new Map<string, Entry>();
  for (const entry of read.entries) {
    const first = arms.get(entry.key);
    if (first === undefined) arms.set(entry.key, entry);
    else {
      const related = [{ message: 'first named here', place: first.keyPlace }];
      scope.report(diagnostic('SW4016', entry.keyPlace, { step: scope.id, arm: entry.key }, { related }));
    }
  }
  return { entries: [...arms.values()], isWhole: read.isWhole && arms.size === read.entries.length };
}
