import type { z } from 'zod';
import { pointerOf } from '../json.js';
import { nearestName } from '../names.js';

/** A fault of a configuration. */
export interface SettingFault {
  readonly path: readonly PropertyKey[];
  readonly problem: string;
  /** Whether the key is not that of a setting. */
  readonly isUnknown: boolean;
  /** The setting with the nearest name. */
  readonly suggestion?: string | undefined;
  /** The settings that are allowed in its place. */
  readonly candidates?: readonly string[];
}

/** What a schema was applied to. */
interface Configuration {
  readonly value: unknown;
  /** The pointer of the configuration in its file; empty for the whole of it. */
  readonly base: string;
  /** The settings that are allowed at a path. */
  settingsAt(path: readonly PropertyKey[]): readonly string[];
}

/** Words an issue of a schema in the terms of a configuration. */
export function settingFaults(
  issue: z.core.$ZodIssue,
  configuration: Configuration,
): readonly SettingFault[] {
  const { value, base, settingsAt } = configuration;
  const { path } = issue;
  const inner = innerIssues(issue);
  if (inner !== undefined)
    return inner.flatMap((each) => settingFaults({ ...each, path: [...path, ...each.path] }, configuration));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const place = [...path, key];
      const problem = `\`${base}${pointerOf(place)}\` is not a setting`;
      const candidates = settingsAt(path);
      return { path: place, problem, isUnknown: true, suggestion: nearestName(key, candidates), candidates };
    });
  }
  const named = `\`${base}${pointerOf(path)}\``;
  const fault = (problem: string) => [{ path, problem, isUnknown: false }];
  if (isMissing(value, path)) return fault(`${named} is missing`);
  const isRoot = named === '``';
  const kind = issue.code === 'invalid_type' ? KINDS[issue.expected] : undefined;
  if (kind === undefined) return fault(`${isRoot ? '`/`' : named}: ${issue.message}`);
  return fault(`${isRoot ? 'it' : named} must be ${kind}`);
}

/** What an issue is made of. The form that fits best says what is wrong with a value of several forms. */
function innerIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] | undefined {
  if (issue.code === 'invalid_key') return issue.issues;
  if (issue.code !== 'invalid_union') return undefined;
  const [best = []] = [...issue.errors].sort((a, b) => weightOf(a) - weightOf(b) || a.length - b.length);
  return best;
}

/** What a setting must be, by the words of zod. */
const KINDS: Readonly<Record<string, string>> = {
  array: 'a list: `[…]`',
  boolean: '`true` or `false`',
  number: 'a number',
  object: 'an object: `{ … }`',
  record: 'an object: `{ … }`',
  string: 'a text',
};

/** How many keys of a form are not its own. */
function weightOf(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 0), 0);
}

function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  const match = path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)?.[key], value);
  return path.length > 0 && match === undefined;
}
