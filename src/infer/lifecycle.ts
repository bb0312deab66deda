import type { ToolDescription } from './tool.js';
import { wordsOf } from './words.js';

/** The kinds of work by their place in a process: tools of a lower rank come first. */
const RANKS: readonly (readonly string[])[] = [
  ['search', 'read'],
  ['validation', 'check'],
  ['action', 'write', 'booking'],
  ['payment', 'finalization', 'confirmation', 'notify'],
];

/** The category of tools that undo, which has no rank. */
const UNRANKED = 'cancellation';

/** The categories of hints, in the order of their ranks. */
export const CATEGORIES: readonly string[] = [...RANKS.flat(), UNRANKED];

const VERBS: readonly (readonly string[])[] = [
  'search find get list lookup look read query fetch show browse retrieve discover describe'.split(' '),
  'validate check verify'.split(' '),
  (
    'create add book reserve buy order make write update set put upload submit schedule register start send save ' +
    'share post publish edit change assign apply rent play run execute open'
  ).split(' '),
  'pay charge notify finalize confirm complete'.split(' '),
];

/** Verbs of tools that undo what others did: they belong to no place in a process. */
const UNDOING = new Set('cancel refund delete remove rollback revert undo void'.split(' '));

/** A rank is asked for with each edge of a tool, of which a long list has very many. */
const ranks = new WeakMap<ToolDescription, { readonly rank: number | undefined }>();

/** The place of a tool in a process, by its category or else by the verb of its name; `undefined` if neither says. */
export function rankOf(tool: ToolDescription): number | undefined {
  const cached = ranks.get(tool) ?? { rank: rankByWords(tool) };
  ranks.set(tool, cached);
  return cached.rank;
}

function rankByWords({ name, hints }: ToolDescription): number | undefined {
  if (isUndoing({ name })) return undefined;
  const category = hints?.category?.toLowerCase();
  const ranked = category === undefined ? -1 : RANKS.findIndex((names) => names.includes(category));
  if (ranked >= 0) return ranked;
  for (const word of wordsOf(name)) {
    const rank = VERBS.findIndex((verbs) => verbs.includes(word));
    if (rank >= 0) return rank;
  }
  return undefined;
}

/** True for a tool that undoes what another one did. */
export function isUndoing({ name }: Pick<ToolDescription, 'name'>): boolean {
  return wordsOf(name).some((word) => UNDOING.has(word));
}

const CREATING = new Set('create add make insert register'.split(' '));

/** True for a tool that makes something new. */
export function isCreating({ name }: Pick<ToolDescription, 'name'>): boolean {
  return wordsOf(name).some((word) => CREATING.has(word));
}

/** True for a word that says what a tool does, and not with what. */
export function isVerb(word: string): boolean {
  return UNDOING.has(word) || VERBS.some((verbs) => verbs.includes(word));
}
