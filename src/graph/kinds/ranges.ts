import type { Expr } from '../expression/tree.js';
import type { NodeFault } from './descriptor.js';
import type { NodeBase } from './node.js';

/** The values a number may have, and how a sentence names them. */
export interface Range {
  readonly text: string;
  readonly holds: (value: number) => boolean;
}

export function wholeNumber(least: number, most?: number): Range {
  const { holds } = between(least, most ?? Number.MAX_SAFE_INTEGER);
  const text = `a whole number from ${least}${most === undefined ? '' : ` to ${most}`}`;
  return { text, holds: (value) => Number.isInteger(value) && holds(value) };
}

/** Written so that NaN is outside. */
export function between(least: number, most: number): Range {
  return { text: `from ${least} to ${most}`, holds: (value) => value >= least && value <= most };
}

/** SW4015 where an option of a node has a number outside its range. */
export function outOfRange(
  { id }: Pick<NodeBase, 'id'>,
  option: string,
  value: number,
  { text, holds }: Range,
): readonly NodeFault[] {
  if (holds(value)) return [];
  return [{ code: 'SW4015', params: { what: `step \`${id}\``, option, range: text, value } }];
}

/** The number that an expression writes out. */
export function numberIn(expr: Expr | undefined): number | undefined {
  if (expr?.kind === 'negate') {
    const value = numberIn(expr.of);
    return value === undefined ? undefined : -value;
  }
  return expr?.kind === 'literal' && typeof expr.value === 'number' ? expr.value : undefined;
}
