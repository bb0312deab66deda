import { canonicalJson } from '../../src/graph/canonical.js';
import type { Json, JsonObject } from '../../src/graph/json.js';
import type { AskNode } from '../../src/graph/model.js';
import { plain } from './plain.js';

/** What an action is about. */
type ActionKind = AskNode['mode'] | 'shell' | 'mcp_call' | 'delegate';

/**
 * Everything outside of a run, decided beforehand: what each tool, resource and function does with each call, how long
 * it takes, who answers when, and whether the run is cancelled. A pure function of who asks and how often it has asked.
 */
export interface World {
  /** What everything is decided by: 0 is success at once, and so a failing case becomes simple when it is shrunk. */
  readonly luck: readonly number[];
  /** What luck does not decide: replies by node key, or by tool for what undoes, one after the other; the last repeats. */
  readonly replies?: Readonly<Record<string, readonly Reply[]>>;
  /** Answers to actions, by node key, one for each request. */
  readonly says?: Readonly<Record<string, readonly Said[]>>;
  readonly cancel?: { readonly at: number; readonly compensate: boolean };
  /** The safety of tools. That of tools that are not listed is unknown. */
  readonly tools?: Readonly<Record<string, Safety>>;
}

/** What is known of a tool that is called again with the same key. */
export type Safety = 'readOnly' | 'idempotent' | 'key' | 'none';

/** Why something outside failed. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  /** It may have taken effect all the same. */
  readonly outcomeUnknown?: true;
}

/** What becomes of one call, read or evaluation, so many ms after it was begun. */
export type Reply =
  | { readonly kind: 'value'; readonly after: number; readonly value: Json }
  | {
      readonly kind: 'failure';
      readonly after: number;
      readonly failure: Failure;
      readonly attempted: boolean;
      /** It took effect, and its result is of no use. */
      readonly acted?: true;
    }
  /** Never comes back. */
  | { readonly kind: 'hang' };

/** One thing somebody says to a question, so many ms after it was put. */
export type Said =
  | { readonly kind: 'answer'; readonly after: number; readonly value: Json }
  /** Does not fit, and changes nothing. */
  | { readonly kind: 'nonsense'; readonly after: number; readonly value: Json }
  | { readonly kind: 'failure'; readonly after: number; readonly failure: Failure };

/** Who asks the world for something. */
export interface Asker {
  readonly kind: 'tool' | 'undo' | 'resource' | 'function';
  /** The node's key; for what undoes the tool and its input. */
  readonly who: string;
  readonly tool: string;
  readonly input: Json;
  /** How often it has asked before. */
  readonly before: number;
}

/** Who undoes something: the tool with its input, whatever sentences of the machine are in it. */
export function undoer(tool: string, input: Json): string {
  return `${tool} ${canonicalJson(plain(input))}`;
}

/** A number from 0 to `below - 1` that depends on the words alone. */
function pick({ luck }: World, below: number, ...words: readonly (string | number)[]): number {
  if (luck.length === 0) return 0;
  let hash = 2166136261;
  for (const char of words.join('|')) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619) >>> 0;
  return (luck[hash % luck.length] ?? 0) % below;
}

export function reply(world: World, { kind, who, tool, input, before }: Asker): Reply {
  const written = world.replies?.[kind === 'undo' ? tool : who];
  const scripted = written?.[Math.min(before, written.length - 1)];
  if (scripted !== undefined) return scripted;
  const after = pick(world, 30, 'after', who, before);
  const fate = pick(world, 100, 'fate', kind, who, before);
  if (kind === 'undo') {
    if (fate >= 97) return { kind: 'hang' };
    if (fate >= 94) return failure(after, tool, tool, true, true);
    return fate >= 86 ? failure(after, tool, tool, fate !== 86) : success(after, { undone: tool });
  }
  if (fate >= 98) return { kind: 'hang' };
  if (fate >= 96) return failure(after, who, tool, kind !== 'tool');
  if (kind === 'tool' && fate >= 90 && fate < 93) return { ...failure(after, who, tool, true), acted: true };
  if (fate >= 84) return failure(after, who, tool, true, kind === 'tool' && fate >= 93);
  if (kind === 'resource') return success(after, { uri: String(input), text: tool });
  if (fate >= 66) return success(after, input);
  const values: readonly Json[] = [{ ok: true, n: 2 }, { ok: false, n: 1 }, [1, 2, 3], 'text', true, null, 4];
  return success(after, values[Math.floor(fate / 10) % values.length] ?? null);
}

/** What somebody says to a question, in this order. The last of it ends the question. */
export function said(
  world: World,
  kind: ActionKind,
  options: readonly string[],
  who: string,
  before: number,
): Said[] {
  const scripted = world.says?.[who];
  if (scripted !== undefined) return [...scripted];
  const isWork = kind === 'shell' || kind === 'mcp_call' || kind === 'delegate';
  if (isWork && pick(world, 12, 'silent', who, before) === 11) return [];
  const all: Said[] = [];
  let after = pick(world, 40, 'think', who, before);
  // Any result of a tool is one.
  if (kind !== 'mcp_call' && pick(world, 3, 'wrong', who, before) === 2) {
    all.push({
      kind: 'nonsense',
      after,
      value: NONSENSE[pick(world, NONSENSE.length, 'what', who, before)] ?? 7,
    });
    after += 1 + pick(world, 9, 'again', who, before);
  }
  if (pick(world, 10, 'refuse', who, before) === 9) {
    all.push({ kind: 'failure', after, failure: { code: 'X_ANSWER', message: `nobody answers ${who}` } });
  } else {
    all.push({
      kind: 'answer',
      after,
      value: fitting(kind, options, pick(world, 10, 'answer', who, before)),
    });
  }
  return all;
}

/** What becomes of a step of a task that failed: its result is made outside, it is tried again, or it fails for good. */
export type Rescue = { readonly after: number } & (
  | { readonly kind: 'answer'; readonly value: Json }
  | { readonly kind: 'retry' }
  | { readonly kind: 'failure'; readonly failure: Failure }
);

/** More often no step is tried again. */
const MOST_RETRIES = 3;

/**
 * @param member the one that the result must have, if there is one.
 * @param before how often the step has failed so before.
 */
export function rescue(world: World, member: string | undefined, who: string, before: number): Rescue {
  const after = pick(world, 30, 'rescue', who, before);
  const way = pick(world, 6, 'way', who, before);
  if (way === 5) {
    return { kind: 'failure', after, failure: { code: 'X_RESCUE', message: `nobody rescues ${who}` } };
  }
  if (way >= 3 && before < MOST_RETRIES) return { kind: 'retry', after };
  const number = pick(world, 10, 'result', who, before);
  return { kind: 'answer', after, value: fittingOf(member, number) };
}

function fittingOf(member: string | undefined, number: number): Json {
  switch (member) {
    case undefined:
    case 'ok':
      return { ok: number % 2 === 0, n: number };
    case 'exit_code':
      return { exit_code: number % 3 };
    case 'acknowledged':
      return { acknowledged: true };
    case 'confirmed':
      return { confirmed: number % 2 === 0 };
    default:
      return { [member]: `text ${number}` };
  }
}

/** How long after its request work of the client is in a response. */
export function deliveredAfter(world: World, who: string, before: number): number {
  return pick(world, 20, 'deliver', who, before);
}

/** Fits no question. */
const NONSENSE: readonly Json[] = [
  7,
  'what?',
  [],
  null,
  { selected: 'none of these', confirmed: 'yes', input: 3 },
];

function fitting(kind: ActionKind, options: readonly string[], number: number): JsonObject {
  switch (kind) {
    case 'info':
      return { acknowledged: true };
    case 'confirm':
      return { confirmed: number % 2 === 0 };
    case 'text':
      return { input: `text ${number}` };
    case 'choice':
      return { selected: options[number % options.length] ?? '' };
    case 'yield':
    case 'model':
      return { ok: number % 2 === 0 };
    case 'shell':
      return { exit_code: number % 3 };
    case 'mcp_call':
      return { ok: number % 2 === 0, n: number };
    case 'delegate':
      return { response: `text ${number}` };
  }
}

function success(after: number, value: Json): Reply {
  return { kind: 'value', after, value };
}

function failure(after: number, who: string, tool: string, attempted: boolean, isUnknown = false) {
  const code = attempted ? 'X_BROKE' : 'X_REFUSED';
  const how = isUnknown ? { outcomeUnknown: true as const } : {};
  return {
    ...({ kind: 'failure', after, attempted } as const),
    failure: { code, message: `${tool} of ${who}`, ...how },
  };
}

/** Whether an abandoned call is still answered, at its time. */
export function answersLate(world: World, who: string, before: number): boolean {
  return pick(world, 3, 'late', who, before) > 0;
}
