import { oneLine } from '../../catalogue/encode-text.js';
import type { AskMode } from '../../engine/contract.js';
import { listOf, names } from './sentences.js';

const timesAtMost = (max: number): string => `at most ${max === 1 ? 'once' : `${max} times`}`;

const asked: Readonly<Record<AskMode, string>> = {
  info: 'Tell the user something',
  confirm: 'Ask for a yes or no',
  text: 'Ask for a text',
  choice: 'Ask to choose one',
  yield: 'Ask for an answer',
};

/** Longer values that stand in are not shown in a plan. UTF-16 code units. */
const SHORT = 60;

/** What a plan says of each step: one line. */
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
  goto: (target: string, max: number) => `Go back to '${target}' if need be, ${timesAtMost(max)}`,
  compensate: (tools: readonly string[]) => `Undo with ${listOf(tools)}`,
  /** What has to happen before a step runs that does not run in its turn. */
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
      return `if it fails, ${isShort ? `\`${value}\`` : 'a fallback'} stands in`;
    },
    fails: (message: string | undefined) =>
      `if it fails, the workflow stops${message === undefined ? '' : ` with ${message}`}`,
    ends: () => 'if it fails, the workflow ends',
  },
  noted: (line: string, notes: readonly string[]) =>
    notes.length === 0 ? line : `${line} (${notes.join('; ')})`,
  /** `arm` names the body a step stands in. */
  inside: (arm: string | undefined, line: string) => (arm === undefined ? line : `${arm}: ${line}`),
} as const;
