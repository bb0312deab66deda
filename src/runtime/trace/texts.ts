import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { cutText, escapeUnprintable, jsonText, MASKED, oneLine } from '../../graph/printable-text.js';
import { printExpr } from '../../print/expression.js';
import type { AskMode } from '../engine/contract.js';
import type { SkipReason } from '../engine/events.js';
import { limited } from './messages.js';

/** The texts of a trace about calls, reads and failures. Values are passed as they are and escaped here. */
export const texts = {
  intent: (description: string, args: readonly (readonly [name: string, value: string])[]) => {
    const { text, size } = limited(args.map(([name, value]) => `\n  - ${name}: ${jsonText(value)}`).join(''));
    const cut = cutNote('text of the parameters', size);
    return `I want to ${stop(description)}${text === '' ? '' : `\nParameters:${text}${cut}`}`;
  },
  binary: (uri: string, mimeType: string | undefined, bytes: number) =>
    `Resource content from ${oneLine(uri)}:\n[${mimeType === undefined ? '' : `${oneLine(mimeType)}, `}${bytes} bytes of binary content]`,
  resourceFailed: (uri: string, why: string) => `Error fetching resource ${oneLine(uri)}: ${oneLine(why)}`,
  result: (json: string, size: number | undefined) => `Tool result:\n${json}${cutNote('result', size)}`,
  failed: (why: string) => `Error executing tool: ${oneLine(why)}`,
  /** `input` is JSON on one line. */
  refused: (step: string, tool: string, input: string, why: string) =>
    `Step '${step}' did not run: tool '${tool}' refused ${input}: ${stop(oneLine(why))}`,
  notCalled: (step: string, tool: string, input: string, why: string) =>
    `Step '${step}' did not run: the call of tool '${tool}' with ${input} was refused: ${stop(oneLine(why))}`,
  summary: (json: string, size: number | undefined) =>
    `Tool result (summary):\n${json}${cutNote('summary', size)}`,
  /** `condition` is an expression in print: the one that is false. */
  skipped: (step: string, reason: SkipReason, condition?: string) =>
    `Skipping step '${step}': ${condition === undefined ? skipReasons[reason] : `\`${condition}\` does not hold`}.`,
  notNeeded: (step: string, failed: readonly string[]) =>
    `Skipping step '${step}': ${names(failed)} did not fail.`,

  // `where` is the place of a step that is not at the top: ` in item 3 of 'line'`.
  stepFailed: (step: string, why: string, attempts = 1, where = '') =>
    `Step '${step}'${where} failed${attempts > 1 ? ` after ${attempts} attempts` : ''}: ${stop(oneLine(why))}`,
  outcomeUnknown:
    ' The outcome of this call is unknown: it may have taken effect. Check that first, before you repeat it or go on.',
  cancelled: (workflow: string, step: string | undefined) =>
    step === undefined
      ? `Workflow '${workflow}' cancelled.`
      : `Workflow '${workflow}' cancelled at step ${step}.`,
  /** `condition` is an expression in print. */
  guarded: (step: string, condition: string | undefined, message: string | undefined) => {
    const ending = `step '${step}' ends the workflow`;
    const why = message === undefined ? '.' : `: ${stop(oneLine(message))}`;
    return condition === undefined
      ? `Stop before this call if ${ending}${why}`
      : `Stop before this call if \`${condition}\`: ${ending} then${why}`;
  },

  promptArgument: (name: string) => `<prompt arg ${name}>`,
  output: (step: string) => `<output from ${step}>`,
  field: (path: string, step: string) => `<field '${path}' from ${step}>`,
  item: (loop: string) => `<item of ${loop}>`,
  itemField: (path: string, loop: string) => `<field '${path}' from item of ${loop}>`,
  itemPlace: (loop: string) => `<place of the item of ${loop}, from 0>`,
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
export function listOf(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

/** Ends a text that was cut; nothing where it was not. `size` is in UTF-16 code units. */
export function cutNote(what: string, size: number | undefined): string {
  return size === undefined ? '' : `\n… (cut; the full ${what} has ${size} characters)`;
}

/** Longer expressions are no help to a reader. UTF-16 code units. */
const EXPRESSION_LIMIT = 200;

/** An expression as readers of a trace see it, with steps by their ids; `undefined` if it is too long. */
export function printExpression(expr: Expr): string | undefined {
  const text = escapeUnprintable(printExpr(expr));
  return text.length > EXPRESSION_LIMIT ? undefined : text;
}

export const amountOf = (amount: number, noun: string): string =>
  `${amount} ${noun}${amount === 1 ? '' : 's'}`;

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
  notTaken: (arm: string, condition: string | undefined) =>
    condition === undefined
      ? ` Not '${arm}': its condition does not hold.`
      : ` Not '${arm}': \`${condition}\` does not hold.`,

  branches: (step: string, branches: readonly string[], limit: number) =>
    `Step '${step}' runs ${amountOf(branches.length, 'branch').replace('branchs', 'branches')}${atOnce(limit, branches.length)}: ${names(branches)}.`,
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
    return `${amountOf(succeeded + failed + cancelled, 'further item')} of '${step}' ${succeeded + failed + cancelled === 1 ? 'is' : 'are'} not shown: ${parts.join(', ')}.`;
  },

  workflow: (step: string, workflow: string, json: string | undefined, size: number | undefined) =>
    json === undefined
      ? `Step '${step}' runs workflow '${workflow}'.`
      : `Step '${step}' runs workflow '${workflow}' with:\n${json}${cutNote('input', size)}`,

  /** `message` is JSON on one line. */
  question: (step: string, mode: AskMode, message: string, options: readonly string[]) =>
    `Step '${step}' ${asks[mode]}: ${message}${options.length === 0 ? '' : `\nOptions: ${options.map((option) => jsonText(option)).join(', ')}`}`,
  answer: (json: string, size: number | undefined) => `Answer:\n${json}${cutNote('answer', size)}`,
  waits: (step: string, until: string) => `Step '${step}' waits until ${until}.`,
  undoCall: (tool: string, undone: string | undefined, json: string, size: number | undefined) =>
    `Undoing${undone === undefined ? '' : ` '${undone}'`}: calling tool '${tool}' with parameters:\n${json}${cutNote('text of the parameters', size)}`,
  nothingToUndo: (tool: string, undone: string | undefined) =>
    `Nothing to undo with tool '${tool}': ${undone === undefined ? 'what it would undo was not done' : `'${undone}' did not succeed`}.`,
  /** One clause each for what was undone, what could not be, and what was not tried. */
  undoReport: (
    successes: readonly string[],
    failed: readonly { readonly tool: string; readonly why: string; readonly isUnknown?: boolean }[],
    notRun: readonly string[],
  ) =>
    [
      successes.length > 0
        ? `Undone with ${counted(successes)}.`
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

export function ordinal(number: number): string {
  const tens = number % 100;
  const ending = tens > 10 && tens < 14 ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[number % 10];
  return `${number}${ending ?? 'th'}`;
}

/** A value on one line, as a heading holds it. */
export function shortJson(value: Json, limit = 200): string {
  const text = jsonText(value);
  return text.length <= limit ? text : `${cutText(text, limit)}… (${text.length} characters)`;
}

export const timesAtMost = (max: number): string => `at most ${max === 1 ? 'once' : `${max} times`}`;

export const asked: Readonly<Record<AskMode, string>> = {
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
  titled: (step: string, title: string | undefined) =>
    title === undefined ? step : `${step} - ${oneLine(title)}`,
  branch: (arms: readonly string[]) => `Take the first that fits: ${arms.join('; ')}`,
  arm: (arm: string, condition: string | undefined, goto: string | undefined) =>
    `'${arm}'${condition === undefined ? '' : ` if \`${condition}\``}${goto === undefined ? '' : `, then go on with '${goto}'`}`,
  elseArm: (arm: string, goto: string | undefined) =>
    `otherwise '${arm}'${goto === undefined ? '' : `, then go on with '${goto}'`}`,
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
  /** The condition of a step that runs only when it is selected. */
  onlyIf: {
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
  },
  noted: (line: string, notes: readonly string[]) =>
    notes.length === 0 ? line : `${line} (${notes.join('; ')})`,
  /** `arm` names the body of a step. */
  inside: (arm: string | undefined, line: string) => (arm === undefined ? line : `${arm}: ${line}`),
} as const;
