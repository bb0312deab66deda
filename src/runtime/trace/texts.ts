import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { escapeUnprintable } from '../../graph/unprintable.js';
import { printExpr } from '../../print/expression.js';
import type { SkipReason } from '../engine/contract.js';
import { framedText, jsonText, oneLine } from '../tools/encode-text.js';
import { MASKED } from '../tools/mask.js';
import { limited } from './messages.js';

/** Every text a conversation trace speaks. Values come in as they are and are made harmless here. */
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
    `Step '${step}' was not carried out: tool '${tool}' refused ${input}: ${stop(oneLine(why))}`,
  notCalled: (step: string, tool: string, input: string, why: string) =>
    `Step '${step}' was not carried out: the call of tool '${tool}' with ${input} was refused: ${stop(oneLine(why))}`,
  retrying: (attempt: number, attempts: number, why: string, delayMs: number) =>
    `Attempt ${attempt} of ${attempts} failed: ${stop(oneLine(why))} Retrying ${delayMs === 0 ? 'at once' : `in ${delayMs} ms`}.`,
  fallback: (step: string, json: string, size: number | undefined) =>
    `Step '${step}' goes on with its fallback:\n${json}${cutNote('value', size)}`,
  fallbackAbsent: (step: string) => `Step '${step}' goes on without a value, as its fallback says.`,
  summary: (json: string, size: number | undefined) =>
    `Tool result (summary):\n${json}${cutNote('summary', size)}`,
  resourceSummary: (uri: string, json: string, size: number | undefined) =>
    `Resource content from ${oneLine(uri)} (summary):\n${json}${cutNote('summary', size)}`,
  summaryFailed: (step: string, why: string) =>
    `The summary of step '${step}' is not available: ${stop(oneLine(why))}`,
  notEmbedded: (uri: string) => `Resource ${oneLine(uri)} was read; its text is left out here.`,
  /** `condition` is an expression in print: the one that is false. */
  skipped: (step: string, reason: SkipReason, condition?: string) =>
    `Skipping step '${step}': ${condition === undefined ? skipReasons[reason] : `\`${condition}\` does not hold`}.`,
  notNeeded: (step: string, failed: readonly string[]) =>
    `Skipping step '${step}': ${names(failed)} did not fail.`,

  // Where a step stands that is not at the top is told by `where`: ` in item 3 of 'line'`.
  stepFailed: (step: string, why: string, attempts = 1, where = '') =>
    `Step '${step}'${where} failed${attempts > 1 ? ` after ${attempts} attempts` : ''}: ${stop(oneLine(why))}`,
  givenUp: (step: string, where = '') => `Step '${step}'${where} was given up because of another failure.`,
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
    `This step is conditional: whether it is to be called follows from ${names(steps)}.`,
  afterFailed: (steps: readonly string[], oneIsEnough = false) =>
    `The workflow makes this call only after ${oneIsEnough ? oneOf(steps) : names(steps)} succeeded: decide whether it still makes sense.`,
  /** `condition` is an expression in print. */
  guarded: (step: string, condition: string | undefined, message: string | undefined) => {
    const ending = `step '${step}' ends the workflow`;
    const why = message === undefined ? '.' : `: ${stop(oneLine(message))}`;
    return condition === undefined
      ? `Do not go this far if ${ending}${why}`
      : `Do not go this far if \`${condition}\`: ${ending} then${why}`;
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
export function listOf(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

/** Ends a text that was cut; nothing where it was not. `size` is in UTF-16 code units. */
export function cutNote(what: string, size: number | undefined): string {
  return size === undefined ? '' : `\n… (cut; the full ${what} has ${size} characters)`;
}

/** Longer expressions are no help to a reader. UTF-16 code units. */
const LIMIT = 200;

/** An expression as a reader of a trace may check it, where a step goes by its id. Nothing for one that is too long. */
export function printExpression(expr: Expr): string | undefined {
  const text = escapeUnprintable(printExpr(expr));
  return text.length > LIMIT ? undefined : text;
}
