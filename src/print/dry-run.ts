import type { Json } from '../graph/json.js';
import { inlineText } from '../graph/printable-text.js';

/** A failure as it is shown. */
interface ShownFailure {
  readonly code: string;
  readonly message: string;
}

interface ShownJoin {
  readonly rule: string;
  readonly of: readonly { readonly step_id: string; readonly status: string }[];
}

/** What happened to a step: one member for each event. */
interface ShownStep {
  readonly event: string;
  readonly step_id?: string;
  readonly depth: number;
  readonly [member: string]: unknown;
}

interface ShownReport {
  readonly workflow: string;
  readonly status: string;
  readonly result?: Json;
  readonly failure?: ShownFailure;
  readonly path: readonly ShownStep[];
}

/** What a result is from, in words. */
const SOURCES: Readonly<Record<string, string>> = {
  given: 'stub',
  schema: 'made up from the schema',
  null: 'the tool has no output schema and no stub',
};

/** A dry run as an outline: a line for each step that ran or was skipped, and below it what happened to it. */
export function dryRunText({ workflow, status, result, failure, path }: ShownReport): string {
  const end =
    failure !== undefined
      ? `${status}: ${failureText(failure)}`
      : `${status}${result === undefined ? '' : `: ${json(result)}`}`;
  const lines = [`${workflow}: dry run, no tool was called`, ...path.flatMap(stepLines), end];
  return `${lines.join('\n')}\n`;
}

function stepLines(step: ShownStep): readonly string[] {
  const indent = '  '.repeat(step.depth + 1);
  const line = (text: string): string => `${indent}${inlineText(text)}`;
  const inner = (text: string): string => `${indent}  ${inlineText(text)}`;
  switch (step.event) {
    case 'started':
      return [
        line(`${step.step_id}: ${step.does}`),
        ...(step.condition === undefined ? [] : [inner(`if ${step.condition}: holds`)]),
        ...(step.join === undefined ? [] : [inner(`join ${joinText(step.join as ShownJoin)}`)]),
      ];
    case 'skipped':
      return [line(`${step.step_id}: skipped, ${skipText(step)}`)];
    case 'part':
      return [inner(partText(step))];
    case 'undoing':
      return step.step_id === undefined ? ['  undoing'] : [inner('undoing')];
    default:
      return detailTexts(step).map(inner);
  }
}

function detailTexts(step: ShownStep): readonly string[] {
  const failure = step.failure as ShownFailure | undefined;
  switch (step.event) {
    case 'call':
      return callTexts(step, failure);
    case 'read':
      return [`read ${step.uri}${failure === undefined ? '' : `: ${failureText(failure)}`}`];
    case 'retry':
      return [`attempt ${step.attempt} of ${step.attempts} failed, next after ${step.delay_ms} ms`];
    case 'arm':
      return [
        `case ${step.arm}${step.condition === undefined ? '' : `: ${step.condition}`}${step.goto === undefined ? '' : `, go to ${step.goto}`}`,
      ];
    case 'asked':
      return [`asks ${json(step.message as Json)}`];
    case 'answered':
      return [
        `answer ${failure === undefined ? json(step.answer as Json) : failureText(failure)} (${sourceText(step)})`,
      ];
    case 'waits':
      return [`waits ${step.wait_ms} ms`];
    case 'jump':
      return [`goes back to ${step.target} (${step.visit} of ${step.max})`];
    case 'set':
      return [`sets ${step.field}${step.value === undefined ? '' : ` to ${json(step.value as Json)}`}`];
    case 'nothing_to_undo':
      return [`${step.tool} is not called: nothing to undo`];
    case 'handled':
      return [`failure handled: ${handledText(step)}`];
    case 'failed':
      return failure === undefined ? [] : [`failed: ${failureText(failure)}`];
    case 'cancelled':
      return ['cancelled'];
    default:
      return [];
  }
}

function callTexts(step: ShownStep, failure: ShownFailure | undefined): readonly string[] {
  const { tool, attempt, compensates } = step;
  const what = compensates === true ? `undo ${tool}` : `input${attempt === 1 ? '' : ` (attempt ${attempt})`}`;
  const source = step.stub === undefined ? '' : ` (${sourceText(step)})`;
  const outcome =
    failure === undefined ? `result ${json(step.result as Json)}` : `error ${failureText(failure)}`;
  return [`${what} ${json(step.input as Json)}`, `${outcome}${source}`];
}

function sourceText({ stub }: ShownStep): string {
  return SOURCES[String(stub)] ?? String(stub);
}

function handledText({ fallback, value }: ShownStep): string {
  if (fallback !== undefined) return `${fallback} takes over`;
  return `the value is ${value === undefined ? 'absent' : json(value as Json)}`;
}

function partText({ arm, index, count }: ShownStep): string {
  return index === undefined ? `branch ${arm}` : `item ${Number(index) + 1} of ${count}`;
}

/** Why a step did not run. */
function skipText(step: ShownStep): string {
  const join = step.join as ShownJoin | undefined;
  const after = join === undefined ? '' : ` (${joinText(join)})`;
  switch (step.reason) {
    case 'condition_false':
      return `its condition does not hold: ${step.condition}`;
    case 'not_selected':
      return 'nothing selected it';
    case 'upstream_skipped':
      return `what it waits for was skipped${after}`;
    case 'upstream_failed':
      return `what it waits for failed${after}`;
    case 'nothing_to_undo':
      return 'there is nothing to undo';
    case 'run_ended':
      return 'the run had ended';
    default:
      return `${step.reason}${after}`;
  }
}

function joinText({ rule, of }: ShownJoin): string {
  return `${rule}: ${of.map(({ step_id, status }) => `${step_id} ${status}`).join(', ')}`;
}

function failureText({ code, message }: ShownFailure): string {
  return `${code}: ${message}`;
}

function json(value: Json | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
