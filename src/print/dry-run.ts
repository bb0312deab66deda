import type { Json } from '../graph/json.js';
import { durationText, inlineText } from '../graph/printable-text.js';

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
  readonly in?: ShownPart;
  readonly [member: string]: unknown;
}

/** A step with steps in it: its branch `arm`, or its item `index`, where it has several. */
interface ShownPart {
  readonly step_id: string;
  readonly arm?: string;
  readonly index?: number;
}

export interface ShownReport {
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

/** Lines, and below them the lines of what they contain. */
type Outline = (string | Outline)[];

/**
 * A dry run as an outline: a line for each step that ran or was skipped, in the order of their starts, and below it what
 * happened to it. What happens to steps at the same time is printed one step after the other.
 */
export function dryRunText({ workflow, status, result, failure, path }: ShownReport): string {
  const end =
    failure !== undefined
      ? `${status}: ${failureText(failure)}`
      : `${status}${result === undefined ? '' : `: ${json(result)}`}`;
  const lines = [`${workflow}: dry run, no tool was called`, ...indented(outlineOf(path)), end];
  return `${lines.join('\n')}\n`;
}

function indented(outline: Outline): readonly string[] {
  return outline.flatMap((each) =>
    typeof each === 'string' ? [`  ${inlineText(each)}`] : indented(each).map((line) => `  ${line}`),
  );
}

function outlineOf(path: readonly ShownStep[]): Outline {
  const root: Outline = [];
  // Of a step that ran several times, the last time.
  const opened = new Map<string, Outline>();
  const below = (outer: Outline, line: string, key: string): Outline => {
    const inner: Outline = [];
    outer.push(line, inner);
    opened.set(key, inner);
    return inner;
  };
  for (const step of path) {
    const { step_id } = step;
    const own = step_id === undefined ? root : (opened.get(step_id) ?? root);
    switch (step.event) {
      case 'started':
        below(outerOf(step, opened) ?? root, `${step_id}: ${step.does}`, `${step_id}`).push(
          ...startTexts(step),
        );
        break;
      case 'skipped':
        (outerOf(step, opened) ?? root).push(`${step_id}: skipped, ${skipText(step)}`);
        break;
      case 'part':
        below(own, partText(step), partKey({ ...step, step_id: `${step_id}` }));
        break;
      default:
        own.push(...detailTexts(step));
    }
  }
  return root;
}

function outerOf({ in: part }: ShownStep, opened: ReadonlyMap<string, Outline>): Outline | undefined {
  return part && (opened.get(partKey(part)) ?? opened.get(part.step_id));
}

/** No id of a step has these characters. */
function partKey({ step_id, arm, index }: ShownPart): string {
  return `${step_id}:${arm ?? ''}#${index ?? ''}`;
}

function startTexts({ condition, join }: ShownStep): readonly string[] {
  return [
    ...(condition === undefined ? [] : [`if ${condition}: holds`]),
    ...(join === undefined ? [] : [`join ${joinText(join as ShownJoin)}`]),
  ];
}

function detailTexts(step: ShownStep): readonly string[] {
  const failure = step.failure as ShownFailure | undefined;
  switch (step.event) {
    case 'call':
      return callTexts(step, failure);
    case 'read':
      return [`read ${step.uri}${failure === undefined ? '' : `: ${failureText(failure)}`}`];
    case 'retry':
      return [
        `attempt ${step.attempt} of ${step.attempts} failed, next after ${durationText(Number(step.delay_ms))}`,
      ];
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
      return [`waits ${durationText(Number(step.wait_ms))}`];
    case 'jump':
      return [`goes back to ${step.target} (${step.visit} of ${step.max})`];
    case 'set':
      return [`sets ${step.field}${step.value === undefined ? '' : ` to ${json(step.value as Json)}`}`];
    case 'undoing':
      return ['undoing'];
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
