import { defined } from '../../graph/defined.js';
import type { Json, JsonObject, JsonSchema } from '../../graph/json.js';
import { FAILURE_DETAILS_LIMIT, PARTIAL_LIMIT } from '../../graph/limits.js';
import type { RunTimeCode } from '../../graph/run-time-codes.js';
import type { CompensationReport, Failure } from './events.js';

const failure = (code: RunTimeCode, message: string): Failure => ({ code, message });

/** All failures that the engine itself causes. Failures of tools and expressions pass through unchanged. */
export const failures = {
  timeout: (limitMs: number): Failure => ({
    ...failure('E_TIMEOUT', `Timed out after ${limitMs} ms.`),
    outcomeUnknown: true,
  }),
  deadline: (): Failure => ({
    ...failure('E_DEADLINE', 'Run deadline exceeded before an answer came.'),
    outcomeUnknown: true,
  }),
  /** The run's deadline had passed before the attempt could start. */
  deadlinePassed: () => failure('E_DEADLINE', 'Run deadline exceeded before this step could start.'),
  /** The run's deadline comes before the next attempt. The message includes the failure of the last one. */
  deadlineBeforeRetry: (last: Failure): Failure => ({
    code: 'E_DEADLINE',
    message: `Run deadline exceeded before another attempt could start; the last one failed: ${last.message}`,
    ...defined({ outcomeUnknown: last.outcomeUnknown }),
  }),
  /** A function timed out. It has no side effect. */
  evaluationTimeout: (limitMs: number) => failure('E_TIMEOUT', `The function timed out after ${limitMs} ms.`),
  /** A function reached the run's deadline. */
  evaluationDeadline: () => failure('E_DEADLINE', 'Run deadline exceeded before the function gave a value.'),
  fallback: (failure: Failure, fault: Failure): Failure => ({
    ...failure,
    message: `${failure.message} (its fallback has no value either: ${fault.message})`,
  }),
  cancelled: (reason: string, report?: CompensationReport, code = 'E_CANCELLED'): Failure => ({
    code,
    message: `The run was cancelled: ${reason}`,
    ...(report === undefined ? {} : { details: { compensation: reportAsJson(report) } }),
  }),
  cancelledInFlight: (reason: string): Failure => ({ ...failures.cancelled(reason), outcomeUnknown: true }),
  /** A call was cancelled because of something else: its outcome is unknown. */
  cancelledElsewhere: (): Failure => ({
    ...failure('E_CANCELLED', 'The call was cancelled because of another part of the run.'),
    outcomeUnknown: true,
  }),
  /** A container, an action or a `wait` timed out: it has no side effect of its own. */
  waitTimeout: (limitMs: number) => failure('E_TIMEOUT', `Timed out after ${limitMs} ms.`),
  /** An action or a `wait` reached the run's deadline. */
  waitDeadline: () => failure('E_DEADLINE', 'Run deadline exceeded while this step waited.'),
  noMatch: () => failure('E_NO_MATCH', 'No case holds, and there is no `else`.'),
  foreachItems: (actual: string) =>
    failure('E_FOREACH_ITEMS', `The items of a loop must be a list, not ${actual}.`),
  foreachLimit: (count: number, max: number) =>
    failure('E_FOREACH_LIMIT', `The loop has ${count} items, and at most ${max} are allowed.`),
  /** An item failed its loop. `values` are those of the succeeded items, by index. */
  item: (
    failure: Failure,
    index: number,
    values: readonly (readonly [index: number, value: Json])[],
  ): Failure => ({
    ...failure,
    details: {
      index,
      ...partOf(values),
      ...defined({ details: failure.details }),
    },
  }),
  /** Items failed their loop, which has run them all. `results` says how each one ended. */
  items: (failure: Failure, index: number, results: readonly JsonObject[]): Failure => ({
    ...failure,
    details: { index, ...resultsPart(results), ...defined({ details: failure.details }) },
  }),
  /** A branch failed and aborted the others. */
  aborted: (failure: Failure, values: Readonly<Record<string, Json>>): Failure => ({
    ...failure,
    details: { ...partOf(Object.entries(values)), ...defined({ details: failure.details }) },
  }),
  /** Branches of a `parallel` that rolls back failed. */
  partialFailure: (
    failed: Readonly<Record<string, { readonly code: string; readonly message: string }>>,
    branches: number,
    report?: CompensationReport,
  ): Failure => ({
    code: 'E_PARTIAL_FAILURE',
    message: `${Object.keys(failed).length} of ${branches} branches failed: ${reasonsIn(failed)}.`,
    details: { failed, ...(report === undefined ? {} : { compensation: reportAsJson(report) }) },
  }),
  /** What a failed workflow had done was undone. */
  undone: ({ details, ...failure }: Failure, report: CompensationReport): Failure => ({
    ...failure,
    details: { compensation: reportAsJson(report), ...defined({ details }) },
  }),
  compensationInput: (steps: readonly (string | undefined)[]) =>
    failure(
      'E_COMPENSATION',
      `The compensation refers to steps that have not succeeded: ${steps.map((step) => step ?? '?').join(', ')}.`,
    ),
  notUndoable: (tool: string) => failure('E_NOT_UNDOABLE', `Nothing says how a call of '${tool}' is undone.`),
  /** The call was made before the run was forked. */
  inherited: () =>
    failure(
      'E_INHERITED',
      'The call was made by the run that this one was forked from, which alone may undo it.',
    ),
  compensation: (report: CompensationReport): Failure => ({
    code: 'E_COMPENSATION',
    message: `Undoing stopped: ${report.failed.map(({ tool, failure }) => `${tool}: ${failure.message}`).join('; ')}`,
    details: { compensation: reportAsJson(report) },
  }),
  workflowInput: (workflow: string, missing: readonly string[], unknown: readonly string[]): Failure => ({
    code: 'E_INPUT',
    message: [
      `Workflow '${workflow}' cannot run with this input:`,
      ...(missing.length === 0 ? [] : [`${missing.join(', ')} missing.`]),
      ...(unknown.length === 0 ? [] : [`${unknown.join(', ')} unknown.`]),
    ].join(' '),
    details: { missing, unknown },
  }),
  depth: (limit: number) => failure('E_DEPTH', `More than ${limit} workflows would run inside each other.`),
  askOptions: (problem: string) =>
    failure('E_ASK_OPTIONS', `The options of a choice must be one or more different texts: ${problem}.`),
  wait: (problem: string) => failure('E_WAIT', `This step cannot wait: ${problem}.`),
  modelValue: (tries: number, problems: readonly string[], schema: JsonSchema): Failure => ({
    code: 'E_MODEL_VALUE',
    message: `The model supplied no value that fits in ${tries} tries: ${problems.slice(0, REASONS).map(inShort).join('; ')}`,
    details: { problems, schema },
  }),
  resultShape: (tries: number, problems: readonly string[], schema: JsonSchema): Failure => ({
    code: 'E_RESULT_SHAPE',
    message: `No result fits in ${tries} tries: ${problems.slice(0, REASONS).map(inShort).join('; ')}`,
    details: { problems, schema },
  }),
  exitCode: (code: Json, result: Json): Failure =>
    boundedFailure({
      code: 'E_EXIT_CODE',
      message: `The command ended with exit code ${JSON.stringify(code)}.`,
      details: { result },
    }),
  /** A question that approves the call was not answered with yes. */
  notApproved: (question: string) =>
    failure('E_NOT_APPROVED', `The call was not made: '${question}' did not approve it.`),
  loopLimit: (max: number) =>
    failure('E_LOOP_LIMIT', `The loop has gone back ${max} times, which is the most it may.`),
  stepLimit: (limit: number) =>
    failure('E_STEP_LIMIT', `The run has started ${limit} steps, which is the most it may.`),
  stateSize: (bytes: number, limit: number) =>
    failure('E_STATE_SIZE', `The state would have ${bytes} bytes, and at most ${limit} are allowed.`),
  notText: (what: string, actual: string) =>
    failure('E_NOT_TEXT', `The ${what} must be text, not ${actual}.`),
  notObject: (what: string, actual: string) =>
    failure('E_CALL_INPUT', `The ${what} must be an object, not ${actual}.`),
  notList: (what: string, actual: string) =>
    failure('E_COMPUTE_ARGUMENTS', `The ${what} must be a list, not ${actual}.`),
} as const;

/** A failure with its details, or with their size if they are longer than `FAILURE_DETAILS_LIMIT`. */
export function boundedFailure(failure: Failure): Failure {
  const size = failure.details === undefined ? 0 : JSON.stringify(failure.details).length;
  if (size <= FAILURE_DETAILS_LIMIT) return failure;
  return { ...failure, details: { details_omitted: { size, limit: FAILURE_DETAILS_LIMIT } } };
}

/** A report as JSON, with the code and message of each failure. */
export function reportAsJson({ done, failed, not_run }: CompensationReport): Json {
  const faults = failed.map(({ tool, failure: { code, message, outcomeUnknown } }) => {
    const unknown = outcomeUnknown === undefined ? {} : { outcome_unknown: true };
    return { tool, failure: { code, message, ...unknown } };
  });
  return { done, failed: faults, not_run };
}

/** How many failed branches a message lists, and how many UTF-16 code units of each reason. */
const REASONS = 3;
const REASON_LIMIT = 120;

/** The failed branches with their reasons: `b (cannot make b), c (no answer) and 2 more`. */
function reasonsIn(failed: Readonly<Record<string, { readonly message: string }>>): string {
  const reasons = Object.entries(failed).map(([branch, { message }]) => `${branch} (${inShort(message)})`);
  const more = reasons.length - REASONS;
  return more > 0 ? `${reasons.slice(0, REASONS).join(', ')} and ${more} more` : reasons.join(', ');
}

function inShort(message: string): string {
  const reason = message.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  if (reason.length <= REASON_LIMIT) return reason;
  // Do not cut a surrogate pair in half.
  return `${reason.slice(0, REASON_LIMIT - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The first of these values, up to `PARTIAL_LIMIT` in total, and how many were omitted. */
function partOf(values: readonly (readonly [key: number | string, value: Json])[]): JsonObject {
  const partial: [string, Json][] = [];
  let size = 0;
  for (const [name, value] of values) {
    const key = String(name);
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

/** Results, the values after the first ones up to `PARTIAL_LIMIT` left out. */
function resultsPart(results: readonly JsonObject[]): JsonObject {
  let size = 0;
  let omitted = 0;
  const shown = results.map((result) => {
    size += JSON.stringify(result).length + 1;
    const { value, ...rest } = result;
    if (value === undefined || size <= PARTIAL_LIMIT) return result;
    omitted += 1;
    return rest;
  });
  return { results: shown, ...(omitted === 0 ? {} : { values_omitted: omitted }) };
}
