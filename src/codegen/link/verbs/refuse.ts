import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Place } from '../../../graph/place.js';
import type { ExpressionSyntax } from '../../syntax.js';
import { unwrap } from '../../verbs.js';
import { describeGiven } from '../describe.js';
import type { Linker } from './linker.js';

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
