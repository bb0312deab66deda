import { isVerb } from './lifecycle.js';
import type { ToolDescription } from './tool.js';
import { rootOf, rootsOf, wordsOf } from './words.js';

/** What a goal wants to be done, or what a tool does: to read, to act, or to undo. */
export type Intent = 'read' | 'act' | 'undo';

/** Verbs with one meaning. A goal that pays an invoice does not fit a tool that creates one. */
const GROUPS: readonly (readonly [Intent, string])[] = [
  [
    'read',
    'search find get list lookup look read query fetch show browse retrieve discover describe display view see compare ' +
      'track check verify validate count know tell explain give summarize translate',
  ],
  ['undo', 'cancel delete remove rollback revert undo void revoke drop erase'],
  ['undo', 'refund'],
  ['act', 'book reserve order buy purchase place'],
  ['act', 'create add make new register open write draft'],
  ['act', 'schedule arrange plan'],
  ['act', 'send share email message mail notify inform forward'],
  ['act', 'post publish release'],
  ['act', 'update edit change set modify rename adjust'],
  ['act', 'assign give hand'],
  ['act', 'move transfer'],
  ['act', 'pay charge settle'],
  ['act', 'submit upload save store put'],
  ['act', 'run execute start launch play'],
  ['act', 'complete finish finalize close resolve mark confirm'],
  ['act', 'escalate'],
  ['act', 'archive'],
  ['act', 'return'],
  ['act', 'rent hire'],
  ['act', 'print'],
  ['act', 'approve accept'],
  ['act', 'reject decline deny'],
];

interface VerbGroup {
  readonly intent: Intent;
  readonly index: number;
}

const groupOf = new Map<string, VerbGroup>();
for (const [index, [intent, verbs]] of GROUPS.entries())
  for (const verb of verbs.split(' '))
    if (!groupOf.has(rootOf(verb))) groupOf.set(rootOf(verb), { intent, index });

/** How a question begins. */
const QUESTION =
  /^(?:which|what|who|whom|whose|where|when|why|how|is|are|was|were|did|does|has|have|had|do (?:i|we|you|they)|am i|can i|may i|should i|any)\b/i;

/** What a request may begin with, and what does not belong to it. */
const POLITE =
  /^(?:please|kindly|hey|hi|hello|can you|could you|would you|will you|i want to|i want you to|i would like to|i'd like to|i need to|i have to|i wish to|help me(?: to)?|let me|let us|let's|now|also|finally|first)\b[\s,]*/i;

/** One thing that a goal wants. */
export interface GoalPart {
  /** In the words of the goal. */
  readonly text: string;
  /** Its words, with the verb or the noun that it shares with the part beside it. */
  readonly words: string;
  /** Undefined for a goal without a verb. */
  readonly intent: Intent | undefined;
  /** The group of its verb. */
  readonly group: number | undefined;
}

/** The parts of a goal: `find a flight and book it` has two. A part without a verb or without a noun takes that of its neighbour. */
export function partsOf(goal: string): GoalPart[] {
  const texts = goal
    .split(/[;,.!]\s+|\s+(?:and then|after that|afterwards|then|and also|and|as well as)\s+|\?\s*/i)
    .map((text) => withoutPolite(text.trim()))
    .filter((text) => rootsOf(text).size > 0);
  const verbs = texts.map((text) => (QUESTION.test(text) ? undefined : verbIn(text)));
  const nouns = texts.map((text) => wordsOf(text).filter((word) => !isAnyVerb(word)));
  let earlier: string | undefined;
  return texts.map((text, index) => {
    const isQuestion =
      QUESTION.test(text) || (index === 0 && goal.trim().endsWith('?') && texts.length === 1);
    const verb = verbs[index] ?? (isQuestion ? undefined : earlier);
    if (verbs[index] !== undefined) earlier = verbs[index];
    const own = rootsOf((nouns[index] ?? []).join(' ')).size > 0;
    const beside = own
      ? []
      : (nouns.slice(0, index).reverse().find(hasNoun) ?? nouns.slice(index + 1).find(hasNoun) ?? []);
    const group = verb === undefined ? undefined : groupOf.get(rootOf(verb));
    const words = [...(verbs[index] === undefined && verb !== undefined ? [verb] : []), text, ...beside].join(
      ' ',
    );
    return {
      text,
      words,
      intent: isQuestion ? 'read' : group?.intent,
      group: isQuestion ? groupOf.get('find')?.index : group?.index,
    };
  });
}

function hasNoun(words: readonly string[]): boolean {
  return rootsOf(words.join(' ')).size > 0;
}

function withoutPolite(text: string): string {
  const rest = text.replace(POLITE, '');
  return rest === text ? text : withoutPolite(rest);
}

/** Verbs that leave the meaning to their noun: `make a booking`. */
const LIGHT: ReadonlySet<string> = new Set(['make', 'do', 'take', 'have', 'put', 'place']);

/** The verb of a request: its first word that is one. */
function verbIn(text: string): string | undefined {
  const [first, second] = wordsOf(text).filter(isAnyVerb);
  return first !== undefined && LIGHT.has(first) ? (second ?? first) : first;
}

function isAnyVerb(word: string): boolean {
  return groupOf.has(rootOf(word)) || isVerb(word);
}

/** What a tool or a workflow does, as it says itself. */
function intentOf({ name, readOnly }: Pick<ToolDescription, 'name' | 'readOnly'>): Intent {
  if (readOnly === true) return 'read';
  const verbs = wordsOf(name).flatMap((word) => groupOf.get(rootOf(word)) ?? []);
  if (verbs.some(({ intent }) => intent === 'undo')) return 'undo';
  return readOnly !== false && verbs[0]?.intent === 'read' ? 'read' : 'act';
}

/** Whether a tool or a workflow does what a part of a goal wants. */
export function doesWhat(
  { intent, group }: GoalPart,
  { name, description = '', readOnly }: Pick<ToolDescription, 'name' | 'description' | 'readOnly'>,
): boolean {
  const own = intentOf({ name, ...(readOnly === undefined ? {} : { readOnly }) });
  if (intent === undefined) return own !== 'undo';
  if (intent !== own || intent === 'read') return intent === own;
  const groups = wordsOf(`${name} ${description}`).flatMap((word) => groupOf.get(rootOf(word))?.index ?? []);
  return groups.includes(group ?? -1);
}
