import { expressionError } from '../error.js';
import type { FunctionCall } from '../function.js';

/** What expressions need of a library of regular expressions with linear time. Its patterns are those of RE2. */
export interface RegexLibrary {
  compile(pattern: string): RegexPattern;
}

interface RegexPattern {
  groupCount(): number;
  matcher(text: string): RegexMatcher;
}

interface RegexMatcher {
  find(start?: number): boolean;
  start(): number;
  end(): number;
  group(group: number): string | null;
}

/** A match: the whole of it and its groups, and where it is. */
export interface Match {
  readonly start: number;
  readonly end: number;
  /** Missing for a group that did not take part. */
  readonly groups: readonly (string | undefined)[];
  readonly whole: string;
}

let load: (() => RegexLibrary) | undefined;
const patterns = new Map<string, RegexPattern>();
const MAX_COMPILED = 200;

/** Says where regular expressions come from. The evaluator itself has no packages: its host has one. */
export function useRegexLibrary(loadLibrary: () => RegexLibrary): void {
  load = loadLibrary;
}

/** The matches of a pattern in a text, at most `most`. @throws ExpressionError `E_VALUE` for a pattern that cannot be read */
export function matchesIn(text: string, pattern: string, most: number, call: FunctionCall): readonly Match[] {
  const regex = patternOf(pattern, call);
  const [groups, matcher] = [regex.groupCount(), regex.matcher(text)];
  const matches: Match[] = [];
  // The time of a match is linear in the text and in the pattern.
  call.budget.charge(1 + text.length, call.at);
  let at = 0;
  while (matches.length < most && at <= text.length && matcher.find(at)) {
    const [start, end] = [matcher.start(), matcher.end()];
    call.budget.charge(1 + end - at + groups, call.at);
    matches.push({
      ...{ start, end, whole: text.slice(start, end) },
      groups: Array.from({ length: groups }, (_, index) => matcher.group(index + 1) ?? undefined),
    });
    at = end === start ? end + 1 : end;
  }
  return matches;
}

/** How many groups a pattern has. */
export function groupsOf(pattern: string, call: FunctionCall): number {
  return patternOf(pattern, call).groupCount();
}

function patternOf(pattern: string, { budget, at }: FunctionCall): RegexPattern {
  const existing = patterns.get(pattern);
  if (existing !== undefined) return existing;
  if (load === undefined) throw expressionError('E_UNSUPPORTED', { what: 'regular expressions here' }, at);
  budget.charge(10 * pattern.length, at);
  try {
    const created = load().compile(pattern);
    if (patterns.size >= MAX_COMPILED) patterns.clear();
    patterns.set(pattern, created);
    return created;
  } catch (fault) {
    const problem = `the pattern cannot be read: ${fault instanceof Error ? fault.message.replace(/^error parsing regexp: /, '') : ''}`;
    throw expressionError('E_VALUE', { fn: 'regex', problem }, at);
  }
}
