/** What has a name of its own that people or programs outside see. */
export type NamedKind =
  | 'tool'
  | 'prompt'
  | 'resource'
  | 'workflow'
  | 'domain'
  | 'state'
  | 'agent'
  | 'step'
  | 'argument'
  | 'binding';

/** What MCP allows as the name of a tool or a prompt: a server that moves here keeps its names. */
const PROTOCOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** The tool of a workflow is `w_` and its name, in the 64 characters that every host takes. */
const WORKFLOW_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,61}$/;

/** An identifier, with dots and dashes inside. */
const EXTENDED_IDENTIFIER = /^[\p{ID_Start}_$][\p{ID_Continue}$.-]{0,127}$/u;

/** The name of an agent that a client knows: `@code-reviewer`. */
export const AGENT_NAME = /^@[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * The pattern of each kind of name, in one place. Only what authors write as an identifier has to be one: derived ids of
 * steps have dots and dashes, and so may arguments that callers know by another name than the field's.
 */
export const NAME_RULES: Readonly<Record<NamedKind, RegExp>> = {
  tool: PROTOCOL_NAME,
  prompt: PROTOCOL_NAME,
  resource: PROTOCOL_NAME,
  workflow: WORKFLOW_NAME,
  // A part of the addresses of resources.
  domain: /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u,
  state: WORKFLOW_NAME,
  agent: AGENT_NAME,
  step: EXTENDED_IDENTIFIER,
  argument: EXTENDED_IDENTIFIER,
  binding: /^[\p{ID_Start}_$][\p{ID_Continue}$]{0,127}$/u,
};

/** True for a name of this kind. `__proto__` is none: as a key of an object it means something else. */
export function isValidName(kind: NamedKind, name: string): boolean {
  return name !== '__proto__' && NAME_RULES[kind].test(name);
}

/** The name of a workflow as skills are named: lower case, digits, and single dashes between them. */
export function skillName(workflow: string): string {
  return workflow
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** The folder of a skill, by the address of its `SKILL.md`; undefined for any other address. */
export function skillFolder(uri: string): string | undefined {
  return /^skill:\/\/(.+)\/SKILL\.md$/.exec(uri)?.[1];
}

/** What every host takes as the name of a tool. */
const PORTABLE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A scope of OAuth, as headers write it. */
export const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** True for a name of a tool or a prompt that every host takes: some refuse dots, and more than 64 characters. */
export function isPortableName(name: string): boolean {
  return PORTABLE_NAME.test(name);
}

/**
 * What a function beside a graph is known by: the identifier it is exported by, after `#` where what it belongs to is
 * named before it, and with a number where that leaves two of one name.
 */
export const FUNCTION_NAME_RULE =
  /^(?!__proto__$)(?:[^#\s]{1,255}#)?[\p{ID_Start}_$][\p{ID_Continue}$]{0,127}(?:-[0-9]{1,9})?$/u;

/** The code of a failure whose author gives none. */
const DEFAULT_CODE = 'E_FAIL';

/** Codes of failures, and of warnings beside results, that the product itself gives. */
const RESERVED_PREFIXES = ['E_', 'W_'] as const;

const PLAIN_IDENTIFIER = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** The code an `error` node fails with. */
export function failureCodeOf({ code = DEFAULT_CODE }: { readonly code?: string }): string {
  return code;
}

/** Why an author may not use a code, after "is"; nothing for one that is free. */
export function failureCodeFault(code: string): string | undefined {
  if (!PLAIN_IDENTIFIER.test(code)) return 'no plain identifier of at most 64 characters';
  const prefix = RESERVED_PREFIXES.find((each) => code.startsWith(each));
  return prefix === undefined ? undefined : `reserved: codes with \`${prefix}\` are the product's own`;
}

/** What an expression may read of the failure that a fallback replaces. */
export const ERROR_FIELDS: readonly string[] = ['code', 'message', 'attempts', 'node'];

/** Longer names are not compared: the cost grows with the product of the lengths. */
const MAX_LENGTH = 100;

/**
 * The existing name that a misspelt one most likely means; `undefined` if none is near. Near means at most two
 * edits in five characters, one at least. Of equally near names the first known one wins.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(name.length * 0.4));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    if (candidate === name || candidate === '') continue;
    const distance = nameDistance(name, candidate, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * The correct form of a misspelt name: an existing name that is no more than two edits and a third of the name away, and nearer than
 * all others. `undefined` if it is not certain.
 */
export function certainName(name: string, candidates: readonly string[]): string | undefined {
  const limit = Math.min(2, Math.floor(name.length / 3)) + 1;
  const near = candidates
    .map((candidate) => ({ candidate, distance: nameDistance(name, candidate, limit) }))
    .filter(({ candidate, distance }) => candidate !== name && distance < limit)
    .sort((one, other) => one.distance - other.distance);
  const [best, next] = near;
  return best === undefined || best.distance === next?.distance ? undefined : best.candidate;
}

/** ``did you mean `x`?``; `undefined` if no name is near. */
export function didYouMean(
  near: string | undefined,
  quoted: (name: string) => string = (name) => `\`${name}\``,
): string | undefined {
  return near === undefined ? undefined : `did you mean ${quoted(near)}?`;
}

/** `Did you mean 'x'?`: the question as a sentence of its own; `undefined` if no name is near. */
export function didYouMeanSentence(near: string | undefined): string | undefined {
  return near === undefined ? undefined : `Did you mean '${near}'?`;
}

/** A sentence without its full stop, and `; did you mean 'x'?` after it. */
export function withQuestion(sentence: string, near: string | undefined): string {
  return near === undefined ? sentence : `${sentence}; did you mean '${near}'?`;
}

/** A sentence without its full stop, and {@link didYouMeanSentence} after it. */
export function withSuggestion(sentence: string, near: string | undefined): string {
  return near === undefined ? sentence : `${sentence}. ${didYouMeanSentence(near)}`;
}

/** Edits between two names; case and separators between words count for little. */
function nameDistance(left: string, right: string, limit: number): number {
  if (left.length > MAX_LENGTH || right.length > MAX_LENGTH) return Number.POSITIVE_INFINITY;
  if (plainForm(left) === plainForm(right)) return 0.5;
  // Every character too many is an edit of its own.
  if (Math.abs(left.length - right.length) >= limit) return Number.POSITIVE_INFINITY;
  const distance = editDistance(left.toLowerCase(), right.toLowerCase());
  // A name that shares no character is not a misspelling, however short.
  return distance >= Math.max(left.length, right.length) ? Number.POSITIVE_INFINITY : Math.max(distance, 0.5);
}

function plainForm(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}

/** Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours (Damerau-Levenshtein). */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const substitution = left[row - 1] === right[column - 1] ? 0 : 1;
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + substitution,
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/** A name, or else the first of `name2`, `name3`, … that is not used. */
export function freeName(name: string, isUsed: (name: string) => boolean, separator = ''): string {
  let free = name;
  for (let count = 2; isUsed(free); count += 1) free = `${name}${separator}${count}`;
  return free;
}

/** Compares by UTF-16 code units: the result does not depend on the locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
