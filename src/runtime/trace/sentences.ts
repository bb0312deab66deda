import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { cutText, escapeUnprintable, jsonText, oneLine } from '../../graph/printable-text.js';
import { workText } from '../../print/agent-texts.js';
import { printExpr } from '../../print/expression.js';
import type { ActionDetails } from '../engine/actions.js';
import type { AskMode } from '../engine/contract.js';

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

/** Longer values are cut in a heading. UTF-16 code units. */
const HEADING_LIMIT = 200;

/** A value on one line, as a heading holds it. */
export function shortJson(value: Json): string {
  const text = jsonText(value);
  const { length } = text;
  return length <= HEADING_LIMIT ? text : `${cutText(text, HEADING_LIMIT)}… (${length} characters)`;
}

/** @param where the place of a step that is not at the top: ` in item 3 of 'line'`. */
export function stepFailed(step: string, why: string, attempts = 1, where = ''): string {
  const tries = attempts > 1 ? ` after ${attempts} attempts` : '';
  return `Step '${step}'${where} failed${tries}: ${stop(oneLine(why))}`;
}

export function resourceFailed(uri: string, why: string): string {
  return `Error fetching resource ${oneLine(uri)}: ${oneLine(why)}`;
}

/** A placeholder for an argument of the workflow. */
export function promptArgument(name: string): string {
  return `<prompt arg ${name}>`;
}

export function outputField(step: string, path: string): string {
  return path === '' ? `<output from ${step}>` : `<field '${path}' from ${step}>`;
}

/** @param until RFC 3339. */
export function waitsUntil(step: string, until: string): string {
  return `Step '${step}' waits until ${until}.`;
}

export function requestText(step: string, request: ActionDetails): string {
  if (request.type !== 'prompt') return `Step '${step}' ${workText(request)}`;
  const { type: mode, message, options = [] } = request.parameters;
  const choices = options.map((option) => jsonText(option)).join(', ');
  return `Step '${step}' ${ASKS[mode]}: ${jsonText(message)}${choices === '' ? '' : `\nOptions: ${choices}`}`;
}

const ASKS: Readonly<Record<AskMode, string>> = {
  info: 'tells the user',
  confirm: 'asks for a yes or no',
  text: 'asks for a text',
  choice: 'asks to choose one',
  yield: 'asks for an answer',
  model: 'asks a model for a value',
};

/** How undoing went: one clause each for what was undone, what could not be, and what was not tried. */
export function undoText(
  successes: readonly string[],
  failed: readonly { readonly tool: string; readonly why: string; readonly isUnknown?: boolean }[],
  notRun: readonly string[],
): string {
  return [
    successes.length > 0
      ? `Undone with ${toolList(successes)}.`
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
    ...(notRun.length === 0 ? [] : [`Not tried after that: ${toolList(notRun)}.`]),
  ].join(' ');
}

/** Tools, each once, with how often. */
function toolList(tools: readonly string[]): string {
  const each = [...new Set(tools)].map((tool) => {
    const times = tools.filter((other) => other === tool).length;
    return times === 1 ? tool : `${tool} (${times} times)`;
  });
  return listOf(each);
}
