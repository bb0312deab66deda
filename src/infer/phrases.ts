import { CONFIDENCE, type Evidence } from './evidence.js';
import type { Arc } from './order.js';
import type { ToolDescription } from './tool.js';

/** What a description says of the order, before the name of another tool. */
const BEFORE_THIS: readonly RegExp[] = [
  /\b(?:after|once|following)\b[^.;]*$/i,
  /\brequires\b[^.;]*$/i,
  /\b(?:use|uses|using|takes|with) the (?:result|results|output|outputs|response)\b[^.;]*\b(?:of|from)\b[^.;]*$/i,
];
const AFTER_THIS: readonly RegExp[] = [/\bbefore (?:calling|using|running)?\b[^.;]*$/i];
const NEGATION = /\b(?:not|never|no|without|unless|optional|optionally)\b|n't\b/i;

/** The order that a description gives in words. */
export function orderingPhrases(
  { name, description = '' }: ToolDescription,
  others: readonly ToolDescription[],
): (Arc & { readonly evidence: Evidence })[] {
  return others.flatMap((other) => {
    if (other.name === name || !description.includes(other.name)) return [];
    return mentionsOf(other.name, description).flatMap((before) => {
      if (NEGATION.test(before)) return [];
      const follows = BEFORE_THIS.some((phrase) => phrase.test(before));
      if (!follows && !AFTER_THIS.some((phrase) => phrase.test(before))) return [];
      const arc = follows ? { from: other.name, to: name } : { from: name, to: other.name };
      const text = `the description of ${name} says that it comes ${follows ? 'after' : 'before'} ${other.name}`;
      return [{ ...arc, evidence: { kind: 'phrase', confidence: CONFIDENCE.phrase, text } as const }];
    });
  });
}

/** The text of the sentence before each mention of a tool. A name that is a plain word is one only in quotes. */
function mentionsOf(name: string, text: string): string[] {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const isPlain = /^[A-Za-z]+$/.test(name);
  const mention = isPlain
    ? new RegExp(`[\`'"]${escaped}[\`'"]`, 'g')
    : new RegExp(`(?<![\\w.-])${escaped}(?![\\w-])`, 'g');
  return [...text.matchAll(mention)].map(
    ({ index }) =>
      text
        .slice(0, index)
        .split(/[.;]\s/)
        .at(-1) ?? '',
  );
}

/** `Final step`: nothing follows the tool. */
export function isFinal({ description = '' }: ToolDescription): boolean {
  return (
    /\b(?:final|last) step\b/i.test(description) &&
    !/\b(?:not|before)\b[^.]*\b(?:final|last) step\b/i.test(description)
  );
}
