import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { Scope } from '../../../graph/kinds/node.js';
import type { SourceLocation } from '../../../graph/source-location.js';
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
  /** The names of the item and the index, in the body of a loop. */
  readonly loopNames?: readonly string[];
  /** Set if the options of @Step apply to the nodes of the body. */
  readonly keepsOptions?: true;
}

/** Makes the nodes of verbs: one linker for each node, or sequence of nodes. */
export interface Linker {
  readonly scope: StepScope;
  /** What the ids of further nodes begin with. */
  readonly prefix: string;
  /** The scope of expressions in which `read` is not allowed. */
  readonly values: ExpressionScope;
  /** The scope of a verb's arguments, in which `read` gets a node of its own. */
  readonly arguments: ExpressionScope;

  /** The node, after the reads of its arguments. Without `bind` its value is the step's. */
  outcome(core: NodeCore, more?: Partial<StepNode>, bind?: StepOutcome['bind']): StepOutcome;
  /** The retry and timeout of the step; `own` wins. */
  attempts(own?: Attempts): Attempts;
  /** The same for nodes that are not retried. */
  limit(): Attempts;
  /** An argument of a verb; an absent value if it is omitted. */
  argument(syntax: ExpressionSyntax | undefined, at: SourceLocation): Expr | undefined;
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

/** Reports an argument of a verb that is missing or has an unsupported form. */
export function refuse(
  { scope }: Pick<Linker, 'scope'>,
  at: SourceLocation,
  what: string,
  hint: string,
): undefined {
  scope.report(diagnostic('SW2001', at, { what }, { hint }));
  return undefined;
}

/** A key of an object literal, and its value. */
export interface Entry {
  readonly key: string;
  readonly keyPlace: SourceLocation;
  readonly value: ExpressionSyntax;
}

/**
 * The entries of an object literal; nothing for another expression. Spreads and methods in it are reported and left
 * out.
 *
 * @param role the name of the argument, for messages: `the arms`.
 * @param example what to write.
 */
export function readEntries(
  linker: Linker,
  syntax: ExpressionSyntax | undefined,
  at: SourceLocation,
  role: string,
  example: string,
): { readonly entries: readonly Entry[]; readonly isWhole: boolean } | undefined {
  const object = syntax && unwrap(syntax);
  const hint = `write them one by one: \`${example}\``;
  if (object === undefined) return refuse(linker, at, `a call without ${role}`, `write \`${example}\``);
  if (object.kind !== 'object') {
    const taker = `\`${example.slice(0, example.indexOf('('))}\``;
    const params = { taker, takes: `${role} as an object`, actual: describeGiven(object) };
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

/** The same for arms: a second arm of one name is reported and left out. */
export function readArms(...argument: Parameters<typeof readEntries>): ReturnType<typeof readEntries> {
  const [{ scope }] = argument;
  const reading = readEntries(...argument);
  if (reading === undefined) return undefined;
  const arms = new Map<string, Entry>();
  for (const entry of reading.entries) {
    const first = arms.get(entry.key);
    if (first === undefined) arms.set(entry.key, entry);
    else {
      const related = [{ message: 'first named here', place: first.keyPlace }];
      scope.report(diagnostic('SW4016', entry.keyPlace, { step: scope.id, arm: entry.key }, { related }));
    }
  }
  return { entries: [...arms.values()], isWhole: reading.isWhole && arms.size === reading.entries.length };
}
