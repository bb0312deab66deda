import type { Expr } from './tree.js';

/** The texts of a list that is written out. */
export function textsOf(list: Expr | undefined): readonly string[] | undefined {
  if (list?.kind === 'literal') {
    const { value } = list;
    return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
  }
  if (list?.kind !== 'list') return undefined;
  const texts = list.items.map(({ value, spread }) =>
    spread === undefined && value.kind === 'literal' && typeof value.value === 'string'
      ? value.value
      : undefined,
  );
  return texts.every((text) => text !== undefined) ? texts : undefined;
}
