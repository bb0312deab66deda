import type { ToolDescription } from './tool.js';
/** The words of a name or a text, in lower case: `bookingId`, `booking-id` and `booking id` give the same. */
export function wordsOf(text: string): string[] {
  const spaced = text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/([A-Za-z])([0-9])/g, '$1 $2');
  return spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The words of a name, without their plural endings. */
export function stemsOf(text: string): string[] {
  return wordsOf(text).map(singular);
}

/** `flights` gives `flight`; `status`, `address` and `axis` stay as they are. */
export function singular(word: string): string {
  if (word.length < 4 || /(ss|us|is)$/.test(word)) return word;
  if (/ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(ch|sh|x|z|ss)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

/** Endings that make another form of a word, the longest first. */
const ENDINGS = [
  'ations',
  'ation',
  'ating',
  'ated',
  'ment',
  'ions',
  'ion',
  'ate',
  'ing',
  'ed',
  'er',
  'e',
  'y',
];

const SHORTEST_ROOT = 4;

/** The part that the forms of a word share: `translated`, `translate` and `translation` give the same. */
export function rootOf(word: string): string {
  const stem = singular(word);
  const ending = ENDINGS.find((each) => stem.endsWith(each) && stem.length - each.length >= SHORTEST_ROOT);
  return ending === undefined ? stem : stem.slice(0, -ending.length);
}

const FUNCTION_WORDS = new Set(
  (
    'a an the of to for from in on at by with and or as is are be its it this that given based per into ' +
    'how what which who where when why do does can could i me my we our you your please want need some any all'
  ).split(' '),
);

/** The roots of the words of a text that carry meaning. */
export function rootsOf(text: string): Set<string> {
  return new Set(
    wordsOf(text)
      .filter((word) => !FUNCTION_WORDS.has(word))
      .map(rootOf),
  );
}

/**
 * Names that say what kind of value a field has, and not of what. Many tools have fields of these names that have nothing
 * to do with each other.
 */
const GENERIC = new Set(
  (
    'id identifier key code name title label status state type kind category date time timestamp day month year ' +
    'message text content body description summary note comment value number amount count total size length limit ' +
    'offset page cursor query filter sort order result data item entry list output input response info detail ' +
    'location place address city country language unit currency mode format url uri link path file email phone ' +
    'user success error ok valid version tag option'
  ).split(' '),
);

/** True for a name without a word that says what the value belongs to. */
export function isGeneric(stems: readonly string[]): boolean {
  return stems.every((stem) => GENERIC.has(stem) || /^\d+$/.test(stem));
}

/** Names of values that a tool works on, such as a text. They do not name a subject. */
const CONTENT = new Set(
  'text message content body data value number amount input payload document sentence'.split(' '),
);

/** True if the last word of a name says that the field takes any value of its type. */
export function isContent(stems: readonly string[]): boolean {
  return stems.every((stem) => CONTENT.has(stem));
}

/** Names of fields that report how a call went. */
const OUTCOMES = new Set('status success ok error code valid'.split(' '));

/** True if the last word of a name says that the field reports how the call went. */
export function isOutcome(stems: readonly string[]): boolean {
  return OUTCOMES.has(stems.at(-1) ?? '');
}

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
