import type { Arc } from './order.js';
import type { ToolDescription } from './tool.js';

/** Why one tool may have to come before another. */
export interface Evidence {
  readonly kind: EvidenceKind;
  /** Between 0 and 1. */
  readonly confidence: number;
  /** A clause for readers, with the names of both tools. */
  readonly text: string;
  /** Which value goes where, if the evidence says so. */
  readonly link?: ValueLink;
}

/**
 * - `requires`, `next`: a hint;
 * - `use`: a workflow calls one after the other;
 * - `field`: a result and a parameter of one name;
 * - `identity`: a result identifies what the parameter names;
 * - `phrase`: a description names the other tool;
 * - `operand`: the only value that the second tool could work on;
 * - `source`: a tool about the subject of an identifier, which does not say what it returns;
 * - `lifecycle`: the kinds of work usually come in this order.
 */
export type EvidenceKind =
  | 'requires'
  | 'next'
  | 'use'
  | 'field'
  | 'identity'
  | 'phrase'
  | 'operand'
  | 'source'
  | 'lifecycle';

export interface ValueLink {
  /** The path of the field of the first tool's result. */
  readonly output: string;
  /** The path of the parameter of the second tool. */
  readonly parameter: string;
}

/** How much each kind of evidence counts. */
export const CONFIDENCE = {
  hint: 1,
  use: 0.7,
  equalName: 0.8,
  identity: 0.7,
  qualifiedName: 0.6,
  phrase: 0.7,
  operand: 0.6,
  untypedSource: 0.5,
  /** The most for an edge whose opposite is as likely or likelier, or which runs against the usual order. */
  contradicted: 0.45,
  /** The most for a parameter that may be left out. */
  optional: 0.4,
  lifecycle: 0.3,
  genericName: 0.2,
} as const;

/** The least confidence of an edge that orders tools and is shown. */
export const ENOUGH = 0.7;

/** One tool before another. */
export interface Edge extends Arc {
  /** That of the best evidence, or less where the opposite is as likely. */
  readonly confidence: number;
  /** The best first. */
  readonly evidence: readonly Evidence[];
}

/** Phrases about the order, before the name of another tool. */
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

/** Whether a description says `final step`: no tool follows. */
export function isFinal({ description = '' }: ToolDescription): boolean {
  return (
    /\b(?:final|last) step\b/i.test(description) &&
    !/\b(?:not|before)\b[^.]*\b(?:final|last) step\b/i.test(description)
  );
}
