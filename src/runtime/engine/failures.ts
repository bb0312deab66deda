import type { Json, JsonObject } from '../../graph/json.js';
import { PARTIAL_LIMIT } from '../../graph/limits.js';
import type { CompensationReport, Failure } from './events.js';

/** Every failure the engine itself can cause, in one place. Failures of tools and expressions pass through as they came. */
export const failures = {
  /** An attempt had no answer in time. */
  timeout: (limitMs: number): Failure => ({
    code: 'E_TIMEOUT',
    message: `No answer came within ${limitMs} ms.`,
    outcomeUnknown: true,
  }),
  /** The run's deadline cut an attempt short. */
  deadline: (): Failure => ({
    code: 'E_DEADLINE',
    message: "The run's time was up before an answer came.",
    outcomeUnknown: true,
  }),
  /** The run's deadline had passed before the attempt could start. */
  deadlinePassed: (): Failure => ({
    code: 'E_DEADLINE',
    message: "The run's time was up before this step could start.",
  }),
  /** The run's deadline comes before a further attempt could start: how the attempt before failed is not lost. */
  deadlineBeforeRetry: (last: Failure): Failure => ({
    code: 'E_DEADLINE',
    message: `The run's time is up before another attempt can start; the last one failed: ${last.message}`,
    ...(last.outcomeUnknown === undefined ? {} : { outcomeUnknown: last.outcomeUnknown }),
  }),
  /** A function had no answer in time. It has no effect that could be unknown. */
  evaluationTimeout: (limitMs: number): Failure => ({
    code: 'E_TIMEOUT',
    message: `The function gave no value within ${limitMs} ms.`,
  }),
  /** The run's deadline came before a function's answer. */
  evaluationDeadline: (): Failure => ({
    code: 'E_DEADLINE',
    message: "The run's time was up before the function gave a value.",
  }),
  /** A node failed, and so did its fallback expression. */
  fallback: (failure: Failure, fault: Failure): Failure => ({
    ...failure,
    message: `${failure.message} (its fallback has no value either: ${fault.message})`,
  }),
  /** The run was cancelled from outside. */
  cancelled: (reason: string, report?: CompensationReport, code = 'E_CANCELLED'): Failure => ({
    code,
    message: `The run was cancelled: ${reason}`,
    ...(report === undefined ? {} : { details: { compensation: reportAsJson(report) } }),
  }),
  /** The run was cancelled while this call was in flight. */
  cancelledInFlight: (reason: string): Failure => ({ ...failures.cancelled(reason), outcomeUnknown: true }),
  /** A call was cancelled because of something else: its outcome is unknown. */
  cancelledElsewhere: (): Failure => ({
    code: 'E_CANCELLED',
    message: 'The call was given up because of what happened elsewhere in the run.',
    outcomeUnknown: true,
  }),
  /** A node with scopes of its own took too long. */
  containerTimeout: (limitMs: number): Failure => ({
    code: 'E_TIMEOUT',
    message: `It was not done within ${limitMs} ms.`,
  }),
  /** No answer came in time, or the time to wait for was too far away. */
  waitTimeout: (limitMs: number): Failure => ({
    code: 'E_TIMEOUT',
    message: `Nothing came within ${limitMs} ms.`,
  }),
  /** The run's deadline came while a node waited. */
  waitDeadline: (): Failure => ({
    code: 'E_DEADLINE',
    message: "The run's time was up while this step waited.",
  }),
  /** No case of a branch holds, and it has no `else`. */
  noMatch: (): Failure => ({ code: 'E_NO_MATCH', message: 'No case holds, and there is no `else`.' }),
  /** What a loop is to go through is no list. */
  foreachItems: (found: string): Failure => ({
    code: 'E_FOREACH_ITEMS',
    message: `The items of a loop must be a list, not ${found}.`,
  }),
  /** There are more items than the loop allows. */
  foreachLimit: (count: number, max: number): Failure => ({
    code: 'E_FOREACH_LIMIT',
    message: `The loop has ${count} items, and at most ${max} are allowed.`,
  }),
  /** An item failed, and its loop with it: `values` are those of the items that had succeeded, by place. */
  item: (
    failure: Failure,
    index: number,
    values: readonly (readonly [index: number, value: Json])[],
  ): Failure => ({
    ...failure,
    details: {
      index,
      ...partOf(values),
      ...(failure.details === undefined ? {} : { details: failure.details }),
    },
  }),
  /** A branch failed and aborted the others. */
  aborted: (failure: Failure, partial: JsonObject): Failure => ({
    ...failure,
    details: { partial, ...(failure.details === undefined ? {} : { details: failure.details }) },
  }),
  /** Branches failed, and what had succeeded was to be undone. */
  partialFailure: (
    failed: Readonly<Record<string, { readonly code: string; readonly message: string }>>,
    branches: number,
    report?: CompensationReport,
  ): Failure => ({
    code: 'E_PARTIAL_FAILURE',
    message: `${Object.keys(failed).length} of ${branches} branches failed: ${reasonsIn(failed)}.`,
    details: { failed, ...(report === undefined ? {} : { compensation: reportAsJson(report) }) },
  }),
  /** The compensation of a call refers to steps that have not succeeded. */
  compensationInput: (steps: readonly (string | undefined)[]): Failure => ({
    code: 'E_COMPENSATION',
    message: `The compensation refers to steps that have not succeeded: ${steps.map((step) => step ?? '?').join(', ')}.`,
  }),
  /** A call has no compensation. */
  notUndoable: (tool: string): Failure => ({
    code: 'E_NOT_UNDOABLE',
    message: `Nothing says how a call of '${tool}' is undone.`,
  }),
  /** What was to be undone was not. */
  compensation: (report: CompensationReport): Failure => ({
    code: 'E_COMPENSATION',
    message: `Undoing stopped: ${report.failed.map(({ tool, failure }) => `${tool}: ${failure.message}`).join('; ')}`,
    details: { compensation: reportAsJson(report) },
  }),
  /** A workflow was run with inputs that are not its own. */
  workflowInput: (workflow: string, missing: readonly string[], unknown: readonly string[]): Failure => ({
    code: 'E_INPUT',
    message: [
      `Workflow '${workflow}' cannot run with this input:`,
      ...(missing.length === 0 ? [] : [`${missing.join(', ')} missing.`]),
      ...(unknown.length === 0 ? [] : [`${unknown.join(', ')} unknown.`]),
    ].join(' '),
    details: { missing, unknown },
  }),
  /** Workflows run each other too deep. */
  depth: (limit: number): Failure => ({
    code: 'E_DEPTH',
    message: `More than ${limit} workflows would run inside each other.`,
  }),
  /** A choice has no options to choose from. */
  askOptions: (problem: string): Failure => ({
    code: 'E_ASK_OPTIONS',
    message: `The options of a choice must be one or more different texts: ${problem}.`,
  }),
  /** A time to wait that is none. */
  wait: (problem: string): Failure => ({ code: 'E_WAIT', message: `This step cannot wait: ${problem}.` }),
  /** A `goto` has jumped as often as it may. */
  loopLimit: (max: number): Failure => ({
    code: 'E_LOOP_LIMIT',
    message: `The loop has gone back ${max} times, which is the most it may.`,
  }),
  /** The run has started more nodes than any sound run does. */
  stepLimit: (limit: number): Failure => ({
    code: 'E_STEP_LIMIT',
    message: `The run has started ${limit} steps, which is the most it may.`,
  }),
  /** A URI or a message is not text. */
  notText: (what: string, found: string): Failure => ({
    code: 'E_NOT_TEXT',
    message: `The ${what} must be text, not ${found}.`,
  }),
  /** The input of a call is not an object. */
  notObject: (what: string, found: string): Failure => ({
    code: 'E_NOT_OBJECT',
    message: `The ${what} must be an object, not ${found}.`,
  }),
  /** What should be the arguments of a function is no list. */
  notList: (what: string, found: string): Failure => ({
    code: 'E_NOT_LIST',
    message: `The ${what} must be a list, not ${found}.`,
  }),
} as const;

/** A report as a value: of each failure the code and the message. */
export function reportAsJson({ done, failed, not_run }: CompensationReport): Json {
  const faults = failed.map(({ tool, failure: { code, message, outcomeUnknown } }) => {
    const unknown = outcomeUnknown === undefined ? {} : { outcome_unknown: true };
    return { tool, failure: { code, message, ...unknown } };
  });
  return { done, failed: faults, not_run };
}

/** So many failed branches are named with their reasons, and so many UTF-16 code units of each reason. */
const REASONS = 3;
const REASON_LIMIT = 120;

/** Which branches failed, and why, within a sentence: `b (cannot make b), c (no answer) and 2 more`. */
function reasonsIn(failed: Readonly<Record<string, { readonly message: string }>>): string {
  const reasons = Object.entries(failed).map(([branch, { message }]) => `${branch} (${inShort(message)})`);
  const more = reasons.length - REASONS;
  return more > 0 ? `${reasons.slice(0, REASONS).join(', ')} and ${more} more` : reasons.join(', ');
}

function inShort(message: string): string {
  const reason = message.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  if (reason.length <= REASON_LIMIT) return reason;
  // Half of a surrogate pair is no character.
  return `${reason.slice(0, REASON_LIMIT - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The first of these values as long as they are short enough together, and how many are left out. */
function partOf(values: readonly (readonly [index: number, value: Json])[]): JsonObject {
  const partial: [string, Json][] = [];
  let size = 0;
  for (const [index, value] of values) {
    const key = String(index);
    // With quotes, colon and comma, or the braces.
    size += key.length + JSON.stringify(value).length + 4;
    if (size > PARTIAL_LIMIT) break;
    partial.push([key, value]);
  }
  const omitted = values.length - partial.length;
  return {
    partial: Object.fromEntries(partial),
    ...(omitted === 0 ? {} : { partial_omitted: omitted }),
  };
}
