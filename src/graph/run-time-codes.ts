import { factories, functions, resources, tools, upstream } from './run-time-codes/calls.js';
import { expressions, prompts, specs, starts } from './run-time-codes/definitions.js';
import { constructs, questions, runs, warnings } from './run-time-codes/runs.js';

/** What one run-time code says to a reader, each in a sentence or two of Markdown. */
interface RunTimeCodeEntry {
  readonly meaning: string;
  readonly cause: string;
  readonly repair: string;
}

/** The codes by topic, in the order of its page. */
export const runTimeCodeTopics = {
  Tools: tools,
  'Upstream servers': upstream,
  'Requests and queries': factories,
  Resources: resources,
  Functions: functions,
  Runs: runs,
  'Branches, loops and undoing': constructs,
  'Questions and answers': questions,
  Expressions: expressions,
  Prompts: prompts,
  'Starting a server': starts,
  'Spec files and profiles': specs,
  Warnings: warnings,
} as const satisfies Readonly<Record<string, Readonly<Record<string, RunTimeCodeEntry>>>>;

/**
 * Every code that the product gives a run, a call or a request, in one place. A code is never given another meaning.
 * Codes that authors choose (`fail`, errors with a `code`) are not among them.
 */
export const runTimeCodes = {
  ...tools,
  ...upstream,
  ...factories,
  ...resources,
  ...functions,
  ...runs,
  ...constructs,
  ...questions,
  ...expressions,
  ...prompts,
  ...starts,
  ...specs,
  ...warnings,
} as const;

export type RunTimeCode = keyof typeof runTimeCodes;

/** What a caller should know although its request was not refused. */
export interface RunWarning {
  readonly code: Extract<RunTimeCode, `W_${string}`>;
  readonly message: string;
}

/** The Markdown about one code, to follow a heading with the code. */
export function runTimeCodeText(code: RunTimeCode): string {
  const { meaning, cause, repair } = runTimeCodes[code];
  return `${meaning}\n\n- Cause: ${cause}\n- Repair: ${repair}\n`;
}
