import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import {
  cutText,
  escapeUnprintable,
  framedText,
  jsonText,
  MASKED,
  oneLine,
} from '../../graph/printable-text.js';
import { printExpr } from '../../print/expression.js';
import type { AskMode } from '../engine/contract.js';
import type { SkipReason } from '../engine/events.js';
import { limited } from './messages.js';

/** The texts of a trace about calls, reads and failures. Values are passed as they are and escaped here. */
export const texts = {
  intent: (description: string, given: readonly (readonly [name: string, value: string])[]) => {
    const { text, size } = limited(
      given.map(([name, value]) => `\n  - ${name}: ${jsonText(value)}`).join(''),
    );
    const cut = cutNote('text of the parameters', size);
    return `I want to ${stop(description)}${text === '' ? '' : `\nParameters:${text}${cut}`}`;
  },
  plan: (lines: readonly { readonly number: string; readonly depth: number; readonly text: string }[]) =>
    `Here's my plan:\n${lines.map(({ number, depth, text }) => `${'   '.repeat(depth)}${number}. ${text}\n`).join('')}`,

  guidanceFailed: (step: string, why: string) =>
    `The guidance of step '${step}' is not available: ${stop(oneLine(why))}`,
  fetching: (step: string) => `I'll fetch the required resources for ${step}...`,
  resource: (uri: string, text: string, size: number | undefined) =>
    `${framedText(`Resource content from ${oneLine(uri)}`, text)}${cutNote('resource', size)}`,
  binary: (uri: string, mimeType: string | undefined, bytes: number) =>
    `Resource content from ${oneLine(uri)}:\n[${mimeType === undefined ? '' : `${oneLine(mimeType)}, `}${bytes} bytes of binary content]`,
  resourceFailed: (uri: string, why: string) => `Error fetching resource ${oneLine(uri)}: ${oneLine(why)}`,
  calling: (tool: string, json: string, size: number | undefined) =>
    `Calling tool '${tool}' with parameters:\n${json}${cutNote('text of the parameters', size)}`,
  result: (json: string, size: number | undefined) => `Tool result:\n${json}${cutNote('result', size)}`,
  failed: (why: string) => `Error executing tool: ${oneLine(why)}`,
  /** `input` is JSON on one line. */
  refused: (step: string, tool: string, input: string, why: string) =>
    `Step '${step}' did not run: tool '${tool}' refused ${input}: ${stop(oneLine(why))}`,
  notCalled: (step: string, tool: string, input: string, why: string) =>
    `Step '${step}' did not run: the call of tool '${tool}' with ${input} was refused: ${stop(oneLine(why))}`,
  retrying: (attempt: number, attempts: number, why: string, delayMs: number) =>
    `Attempt ${attempt} of ${attempts} failed: ${stop(oneLine(why))} Retrying ${delayMs === 0 ? 'at once' : `in ${delayMs} ms`}.`,
  fallback: (step: string, json: string, size: number | undefined) =>
    `Step '${step}' continues with its fallback value:\n${json}${cutNote('value', size)}`,
  fallbackAbsent: (step: string) => `Step '${step}' continues without a value: its fallback has none.`,
  summary: (json: string, size: number | undefined) =>
    `Tool result (summary):\n${json}${cutNote('summary', size)}`,
  resourceSummary: (uri: string, json: string, size: number | undefined) =>
    `Resource content from ${oneLine(uri)} (summary):\n${json}${cutNote('summary', size)}`,
  summaryFailed: (step: string, why: string) =>
    `The summary of step '${step}' is not available: ${stop(oneLine(why))}`,
  notEmbedded: (uri: string) => `Resource ${oneLine(uri)} was read; its text is not shown.`,
  /** `condition` is an expression in print: the one that is false. */
  skipped: (step: string, reason: SkipReason, condition?: string) =>
    `Skipping step '${step}': ${condition === undefined ? skipReasons[reason] : `\`${condition}\` does not hold`}.`,
  notNeeded: (step: string, failed: readonly string[]) =>
    `Skipping step '${step}': ${names(failed)} did not fail.`,

  // `where` is the place of a step that is not at the top: ` in item 3 of 'line'`.
  stepFailed: (step: string, why: string, attempts = 1, where = '') =>
    `Step '${step}'${where} failed${attempts > 1 ? ` after ${attempts} attempts` : ''}: ${stop(oneLine(why))}`,
  aborted: (step: string, where = '') => `Step '${step}'${where} was cancelled because of another failure.`,
  retryable: ' This step is retryable.',
  outcomeUnknown:
    ' The outcome of this call is unknown: it may have taken effect. Check that first, before you repeat it or go on.',
  unresolvable: (step: string, parameter: string, where = '') =>
    `Could not resolve parameter '${parameter}' for step '${step}'${where}.`,
  missingFields: (step: string, fields: readonly string[], where = '') =>
    `Step '${step}'${where} has missing required fields: ${fields.join(', ')}.`,
  unresolvedDependency: (step: string, output: string, producer: string, where = '') =>
    `Step '${step}'${where} depends on output '${output}' from step '${producer}', which did not complete.`,
  stopped: (step: string, message: string, where = '') =>
    `Step '${step}'${where} stopped the workflow: ${stop(oneLine(message))}`,
  cancelled: (workflow: string, step: string | undefined) =>
    step === undefined
      ? `Workflow '${workflow}' cancelled.`
      : `Workflow '${workflow}' cancelled at step ${step}.`,
  workflowFailed: (workflow: string, why: string) => `Workflow '${workflow}' failed: ${stop(oneLine(why))}`,
  unfinished: (workflow: string) => `Workflow '${workflow}' has not finished.`,

  toContinue: (calls: readonly string[]) =>
    `To continue the workflow, make these tool calls:\n\n${calls.map((call, index) => `${index + 1}. ${call}`).join('\n')}`,
  callTool: (tool: string, input: Json) => `Call ${tool} with ${jsonText(input)}`,
  readResource: (uri: string) => `Read resource ${oneLine(uri)}`,
  noteLine: (note: string) => `\n   Note: ${note}`,
  noCalls:
    'No tool call can continue this workflow. Tell the user why it stopped, or start it again with corrected input.',
  noCallsAfterStop: 'The workflow ended here on purpose, and no tool call continues it. Tell the user why.',

  correctFirst: (problem: string) => `Correct the arguments first: ${stop(oneLine(problem))}`,
  conditional: (steps: readonly string[]) =>
    `This step is conditional: whether to make this call depends on the result of ${names(steps)}.`,
  afterFailed: (steps: readonly string[], oneIsEnough = false) =>
    `The workflow makes this call only after ${oneIsEnough ? oneOf(steps) : names(steps)} succeeded: decide whether it still makes sense.`,
  /** `condition` is an expression in print. */
  guarded: (step: string, condition: string | undefined, message: string | undefined) => {
    const ending = `step '${step}' ends the workflow`;
    const why = message === undefined ? '.' : `: ${stop(oneLine(message))}`;
    return condition === undefined
      ? `Stop before this call if ${ending}${why}`
      : `Stop before this call if \`${condition}\`: ${ending} then${why}`;
  },
  guidanceNote: (guidance: string) => oneLine(guidance),

  promptArgument: (name: string) => `<prompt arg ${name}>`,
  output: (step: string) => `<output from ${step}>`,
  field: (path: string, step: string) => `<field '${path}' from ${step}>`,
  item: (loop: string) => `<item of ${loop}>`,
  itemField: (path: string, loop: string) => `<field '${path}' from item of ${loop}>`,
  itemPlace: (loop: string) => `<place of the item of ${loop}, from 0>`,
  computed: (sources: readonly string[]) => `<value computed from ${sources.join(', ')}>`,
  masked: MASKED,
} as const;

const skipReasons: Readonly<Record<SkipReason, string>> = {
  condition_false: 'its condition is false',
  not_selected: 'no branch selected it',
  upstream_skipped: 'the steps it depends on were skipped',
  upstream_failed: 'a step it depends on failed',
  nothing_to_undo: 'there is nothing to undo',
  run_ended: 'the workflow had ended before it',
};

/** Ends a sentence, unless it has an end already. */
export function stop(sentence: string): string {
  return /[.!?…]$/u.test(sentence) ? sentence : `${sentence}.`;
}

/** `'a' and 'b'`, `'a', 'b' and 'c'`. */
export function names(steps: readonly string[]): string {
  return listOf(steps.map((step) => `'${step}'`));
}

/** `'a'`, `one of 'a' and 'b'`. */
export function oneOf(steps: readonly string[]): string {
  return steps.length === 1 ? names(steps) : `one of ${names(steps)}`;
}

/** `a, b and c`. */
function listOf(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

/** Ends a text that was cut; nothing where it was not. `size` is in UTF-16 code units. */
function cutNote(what: string, size: number | undefined): string {
  return size === undefined ? '' : `\n… (cut; the full ${what} has ${size} characters)`;
}

/** Longer expressions are no help to a reader. UTF-16 code units. */
const EXPRESSION_LIMIT = 200;

/** An expression as readers of a trace see it, with steps by their ids; `undefined` if it is too long. */
export function printExpression(expr: Expr): string | undefined {
  const text = escapeUnprintable(printExpr(expr));
  return text.length > EXPRESSION_LIMIT ? undefined : text;
}

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

const atOnce = (limit: number, of: number): string => (limit < of ? `, ${limit} at a time` : ' side by side');

const asks: Readonly<Record<AskMode, string>> = {
  info: 'tells the user',
  confirm: 'asks for a yes or no',
  text: 'asks for a text',
  choice: 'asks to choose one',
  yield: 'asks for an answer',
  model: 'asks a model for a value',
};

/** The texts of a trace about constructs: branches, groups, loops, workflows, questions, jumps and undoing. */
export const constructTexts = {
  taken: (step: string, arm: string, condition: string | undefined) =>
    `Step '${step}' takes '${arm}'${condition === undefined ? '' : `, because \`${condition}\` holds`}.`,
  takenElse: (step: string, arm: string) =>
    `Step '${step}' takes '${arm}', because no condition before it holds.`,
  notTaken: (arm: string, condition: string | undefined) =>
    condition === undefined
      ? ` Not '${arm}': its condition does not hold.`
      : ` Not '${arm}': \`${condition}\` does not hold.`,
  notLookedAt: (arms: readonly string[]) => ` Not checked: ${names(arms)}.`,
  goesOnWith: (step: string) => ` It leads to '${step}'.`,

  branches: (step: string, branches: readonly string[], limit: number) =>
    `Step '${step}' runs ${count(branches.length, 'branch').replace('branchs', 'branches')}${atOnce(limit, branches.length)}: ${names(branches)}.`,
  branch: (branch: string, step: string) => `Branch '${branch}' of '${step}':`,
  branchDone: (branch: string, step: string) => `Branch '${branch}' of '${step}' is done.`,
  branchFailed: (branch: string, step: string, why: string) =>
    `Branch '${branch}' of '${step}' failed: ${stop(oneLine(why))}`,
  branchCancelled: (branch: string, step: string) => `Branch '${branch}' of '${step}' was cancelled.`,
  branchNotBegun: (branches: readonly string[], step: string) =>
    `${names(branches)} of '${step}' did not begin.`,
  abortsOthers: ' That ends the other branches.',
  withoutFailed: (step: string, branches: readonly string[]) =>
    `Step '${step}' continues without ${names(branches)}, which failed.`,

  items: (step: string, amount: number, limit: number) =>
    `Step '${step}' goes through ${count(amount, 'item')}${amount > 1 && limit > 1 ? `, ${Math.min(limit, amount)} at a time` : ''}.`,
  noItems: (step: string) => `Step '${step}' has no items to go through.`,
  /** `json` is the item on one line, where it is known. */
  item: (place: number, amount: number, step: string, json: string | undefined) =>
    `Item ${place} of ${amount} of '${step}':${json === undefined ? '' : ` ${json}`}`,
  itemFailed: (place: number, amount: number, step: string, why: string, goesOn: boolean) =>
    `Item ${place} of ${amount} of '${step}' failed: ${stop(oneLine(why))}${goesOn ? ' Its result is null.' : ''}`,
  itemCancelled: (place: number, amount: number, step: string) =>
    `Item ${place} of ${amount} of '${step}' was cancelled.`,
  /** The items that are not shown one by one. */
  otherItems: (
    step: string,
    { succeeded, failed, cancelled }: { succeeded: number; failed: number; cancelled: number },
  ) => {
    const parts = [
      ...(succeeded === 0 ? [] : [`${succeeded} succeeded`]),
      ...(failed === 0 ? [] : [`${failed} failed`]),
      ...(cancelled === 0 ? [] : [`${cancelled} cancelled`]),
    ];
    return `${count(succeeded + failed + cancelled, 'further item')} of '${step}' ${succeeded + failed + cancelled === 1 ? 'is' : 'are'} not shown: ${parts.join(', ')}.`;
  },
  itemsNotBegun: (amount: number, step: string) => `${count(amount, 'item')} of '${step}' did not begin.`,
  loopDone: (step: string, amount: number) =>
    `Step '${step}' is done with ${amount === 1 ? 'its item' : `all ${amount} items`}.`,
  loopResult: (step: string, amount: number, json: string, size: number | undefined) =>
    `Result of '${step}' (${count(amount, 'item')}):\n${json}${cutNote('result', size)}`,

  workflow: (step: string, workflow: string, json: string | undefined, size: number | undefined) =>
    json === undefined
      ? `Step '${step}' runs workflow '${workflow}'.`
      : `Step '${step}' runs workflow '${workflow}' with:\n${json}${cutNote('input', size)}`,
  workflowResult: (step: string, workflow: string, json: string, size: number | undefined) =>
    `Result of workflow '${workflow}' (step '${step}'):\n${json}${cutNote('result', size)}`,
  workflowDone: (step: string, workflow: string) => `Workflow '${workflow}' (step '${step}') is done.`,

  /** `message` is JSON on one line. */
  question: (step: string, mode: AskMode, message: string, options: readonly string[]) =>
    `Step '${step}' ${asks[mode]}: ${message}${options.length === 0 ? '' : `\nOptions: ${options.map((option) => jsonText(option)).join(', ')}`}`,
  valueRefused: (tries: number, of: number, problems: readonly string[]) =>
    `The value does not fit (try ${tries} of ${of}): ${stop(oneLine(problems.join('; ')))}`,
  answer: (json: string, size: number | undefined) => `Answer:\n${json}${cutNote('answer', size)}`,
  notAnswered: (step: string, why: string) => `Step '${step}' got no answer: ${stop(oneLine(why))}`,
  withdrawn: (step: string) => `Step '${step}' no longer waits for an answer.`,
  waits: (step: string, until: string) => `Step '${step}' waits until ${until}.`,
  waited: (step: string) => `Step '${step}' has finished waiting.`,
  waitGivenUp: (step: string) => `Step '${step}' no longer waits.`,

  wrote: (step: string, json: string, size: number | undefined) =>
    `Step '${step}' writes the state:\n${json}${cutNote('state', size)}`,
  cleared: (fields: readonly string[]) =>
    `\nWithout a value now: ${fields.map((field) => `'${field}'`).join(', ')}.`,

  goingBack: (target: string, visit: number, max: number) =>
    `Going back to '${target}', ${ordinal(visit)} of at most ${max} ${max === 1 ? 'time' : 'times'}.`,
  noMoreJumps: (step: string, target: string, max: number) =>
    `Step '${step}' does not go back to '${target}' any more: it has done so ${max} ${max === 1 ? 'time' : 'times'}, the most it may.`,

  takesOver: (step: string, fallback: string) => `Step '${fallback}' takes over from '${step}'.`,

  undoing: (step: string, why: string | undefined) =>
    `Step '${step}' undoes what was done${why === undefined ? '.' : `, because of this failure: ${stop(oneLine(why))}`}`,
  undoingRun: 'The run was cancelled. What it did is undone, the last step first.',
  undoCall: (tool: string, undone: string | undefined, json: string, size: number | undefined) =>
    `Undoing${undone === undefined ? '' : ` '${undone}'`}: calling tool '${tool}' with parameters:\n${json}${cutNote('text of the parameters', size)}`,
  undone: (json: string, size: number | undefined) => `Tool result:\n${json}${cutNote('result', size)}`,
  nothingToUndo: (tool: string, undone: string | undefined) =>
    `Nothing to undo with tool '${tool}': ${undone === undefined ? 'what it would undo was not done' : `'${undone}' did not succeed`}.`,
  /** One clause each for what was undone, what could not be, and what was not tried. */
  undoReport: (
    done: readonly string[],
    failed: readonly { readonly tool: string; readonly why: string; readonly isUnknown?: boolean }[],
    notRun: readonly string[],
  ) =>
    [
      done.length > 0
        ? `Undone with ${counted(done)}.`
        : failed.some(({ isUnknown }) => isUnknown)
          ? 'Nothing is known to have been undone.'
          : failed.length + notRun.length > 0
            ? 'Nothing was undone.'
            : 'There was nothing to undo.',
      ...failed.map(({ tool, why, isUnknown }) =>
        isUnknown
          ? `Whether it was undone with ${tool} is unknown: ${stop(oneLine(why))}`
          : `Undoing with ${tool} failed: ${stop(oneLine(why))}`,
      ),
      ...(notRun.length === 0 ? [] : [`Not tried after that: ${counted(notRun)}.`]),
    ].join(' '),
} as const;

/** Tools, each once, with how often. */
function counted(tools: readonly string[]): string {
  const each = [...new Set(tools)].map((tool) => {
    const times = tools.filter((other) => other === tool).length;
    return times === 1 ? tool : `${tool} (${times} times)`;
  });
  return listOf(each);
}

function ordinal(number: number): string {
  const tens = number % 100;
  const ending = tens > 10 && tens < 14 ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[number % 10];
  return `${number}${ending ?? 'th'}`;
}

/** A value on one line, as a heading holds it. */
export function shortJson(value: Json, limit = 200): string {
  const text = jsonText(value);
  return text.length <= limit ? text : `${cutText(text, limit)}… (${text.length} characters)`;
}

const timesAtMost = (max: number): string => `at most ${max === 1 ? 'once' : `${max} times`}`;

const asked: Readonly<Record<AskMode, string>> = {
  info: 'Tell the user something',
  confirm: 'Ask for a yes or no',
  text: 'Ask for a text',
  choice: 'Ask to choose one',
  yield: 'Ask for an answer',
  model: 'Supply a value',
};

/** Longer fallback values are not shown in a plan. UTF-16 code units. */
const SHORT = 60;

/** The line of a plan for each step. */
export const planTexts = {
  tool: (tool: string, description: string | undefined) =>
    description === undefined ? tool : `${tool} - ${oneLine(description)}`,
  resource: (step: string) => `${step} - Fetch 1 resource`,
  titled: (step: string, title: string | undefined) =>
    title === undefined ? step : `${step} - ${oneLine(title)}`,
  branch: (arms: readonly string[]) => `Take the first that fits: ${arms.join('; ')}`,
  arm: (arm: string, condition: string | undefined, goto: string | undefined) =>
    `'${arm}'${condition === undefined ? '' : ` if \`${condition}\``}${goto === undefined ? '' : `, then go on with '${goto}'`}`,
  elseArm: (arm: string, goto: string | undefined) =>
    `otherwise '${arm}'${goto === undefined ? '' : `, then go on with '${goto}'`}`,
  attempt: () => 'Try one thing, otherwise another',
  tried: 'try',
  otherwise: 'otherwise',
  together: () => 'Do this in order',
  parallel: {
    abort: (branches: readonly string[]) =>
      `Run ${names(branches)} side by side; the first failure ends the others`,
    continue: (branches: readonly string[]) =>
      `Run ${names(branches)} side by side; go on if one of them succeeds`,
    rollback: (branches: readonly string[]) =>
      `Run ${names(branches)} side by side; if one fails, undo the others`,
  },
  foreach: (items: string | undefined, max: number) =>
    `For each ${items === undefined ? 'item' : `of \`${items}\``}, at most ${max}`,
  foreachOf: (count: number) => `For each of ${count} items`,
  workflow: (workflow: string) => `Run workflow '${workflow}'`,
  ask: (mode: AskMode) => asked[mode],
  wait: () => 'Wait',
  set: (fields: readonly string[]) => `Write ${listOf(fields)} into the state`,
  goto: (target: string, max: number) => `Go back to '${target}' if needed, ${timesAtMost(max)}`,
  compensate: (tools: readonly string[]) => `Undo with ${listOf(tools)}`,
  /** The condition of a step that runs only when it is selected. */
  onlyIf: {
    chosen: (steps: readonly string[]) =>
      `only if ${names(steps)} ${steps.length === 1 ? 'leads' : 'lead'} here`,
    failed: (steps: readonly string[]) => `only if ${names(steps)} ${steps.length === 1 ? 'fails' : 'fail'}`,
    never: () => 'only if another step leads here',
    holds: (condition: string | undefined) =>
      condition === undefined ? 'only under a condition' : `only if \`${condition}\``,
  },
  /** What happens where a step fails. Texts in print are expressions. */
  ifItFails: {
    value: (value: string | undefined) => {
      if (value === 'undefined') return 'if it fails, it goes on without a value';
      const isShort = value !== undefined && value.length <= SHORT && !value.includes('`');
      return `if it fails, ${isShort ? `\`${value}\`` : 'a fallback'} is its value`;
    },
    fails: (message: string | undefined) =>
      `if it fails, the workflow stops${message === undefined ? '' : ` with ${message}`}`,
    ends: () => 'if it fails, the workflow ends',
  },
  noted: (line: string, notes: readonly string[]) =>
    notes.length === 0 ? line : `${line} (${notes.join('; ')})`,
  /** `arm` names the body of a step. */
  inside: (arm: string | undefined, line: string) => (arm === undefined ? line : `${arm}: ${line}`),
} as const;
