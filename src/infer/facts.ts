import { type Field, type Parameter, parametersOf, resultsOf } from './fields.js';
import { isVerb } from './lifecycle.js';
import type { ToolDescription } from './tool.js';
import { isGeneric, singular, wordsOf } from './words.js';

/** A tool with what inference asks of it, read once. */
export interface ToolFacts {
  readonly tool: ToolDescription;
  readonly parameters: readonly Parameter[];
  /** The fields of the result, without those that only repeat the input. */
  readonly results: readonly Field[];
  /** Whether a schema, a hint or the description says what the tool returns. */
  readonly hasResults: boolean;
  /** What the tool is about: the nouns of its name. */
  readonly subjects: ReadonlySet<string>;
}

export function factsOf(tool: ToolDescription): ToolFacts {
  const parameters = parametersOf(tool);
  const nouns = wordsOf(tool.name)
    .filter((word) => !isVerb(word))
    .map(singular);
  const subjects = new Set(nouns.filter((noun) => !isGeneric([noun])));
  const fields = resultsOf(tool);
  const given = new Set(parameters.map((parameter) => identityOf(parameter, subjects)));
  const results = fields.filter((field) => !given.has(identityOf(field, subjects)));
  return { tool, parameters, results, hasResults: fields.length > 0, subjects };
}

/** The name of a field in full: `id` of a tool about bookings is a `booking id`. */
function identityOf({ stems, around }: Field, subjects: ReadonlySet<string>): string {
  const isBare = isGeneric(stems) && around.length === 0;
  const owner = isBare && subjects.size === 1 ? [...subjects] : [];
  return [...owner, ...stems].join(' ');
}

/** `flight` and `id` of `flight_id`: a generic name with its owner. */
export function ownedPart({ stems }: Field): { readonly owner: string; readonly part: string } | undefined {
  const part = stems.at(-1);
  const owner = stems.at(-2);
  if (part === undefined || owner === undefined) return undefined;
  return isGeneric([part]) && !isGeneric([owner]) ? { owner, part } : undefined;
}
