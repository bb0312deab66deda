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
