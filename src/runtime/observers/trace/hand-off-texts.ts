import type { JsonSchema } from '../../../graph/json.js';
import { soleBody } from '../../../graph/print/shapes.js';
import { oneLine } from '../../catalogue/one-line.js';
import type { ScopeInstance } from '../../engine/instances.js';
import { jsonText } from './json-text.js';
import { ANY_ITEM, nameOf } from './open-values.js';
import { names, oneOf, stop } from './sentences.js';

const triedInVain = (why: string | undefined): string =>
  why === undefined ? '' : ` It was tried and failed: ${stop(oneLine(why))}`;

/** What a hand-off says of constructs. */
export const handOffTexts = {
  /** `step` is a name in quotes, and its place. */
  undone: (step: string | undefined, report: string) =>
    step === undefined ? report : `Step ${step}: ${report}`,
  toCleanUp: (calls: readonly string[]) =>
    `What was not undone still stands. To clean up, make these tool calls:\n\n${calls.map((call, index) => `${index + 1}. ${call}`).join('\n')}`,
  /** `why` is how the call failed, where it was made. */
  undoes: (step: string, where: string, why: string | undefined) =>
    `It undoes step '${step}'${where}.${triedInVain(why)}`,
  belongsTo: (step: string, where: string, why: string | undefined) =>
    `It belongs to step '${step}'${where}.${triedInVain(why)}`,
  ask: (message: string, options: readonly string[], schema: JsonSchema) =>
    `Ask the user: ${jsonText(message)}${options.length === 0 ? '' : ` Options: ${options.map((option) => jsonText(option)).join(', ')}.`} The answer is JSON that fits ${jsonText(schema)}`,
  inside: (where: string) => `It is made${where}.`,
  conditional: (condition: string | undefined) =>
    condition === undefined ? 'This step is conditional.' : `Only if \`${condition}\`.`,
  onlyIf: (condition: string | undefined, step: string, arm: string) =>
    condition === undefined
      ? `Only if step '${step}' takes '${arm}'.`
      : `Only if \`${condition}\`: then step '${step}' takes '${arm}'.`,
  onlyAfter: (steps: readonly string[], how: 'all' | 'one') =>
    `Only if ${how === 'all' ? names(steps) : oneOf(steps)} ${how === 'all' && steps.length > 1 ? 'were' : 'was'} not left out.`,
  leftOut: (step: string, where: string, without: readonly string[]) =>
    `Step '${step}'${where} is left out, because ${names(without)} ${without.length === 1 ? 'is' : 'are'}.`,
  otherwise: (step: string, arm: string) =>
    `Only if nothing before it holds: then step '${step}' takes '${arm}'.`,
  /** `items` is JSON on one line, where they are known. */
  eachItem: (loop: string, items: string | undefined) =>
    items === undefined
      ? `Once for each item of '${loop}', with that item filled in.`
      : `Once for each item of '${loop}', with that item filled in: ${items}.`,
  /** Items counted from 1. */
  otherItems: (loop: string, from: number, to: number, items: string | undefined) => {
    const which = from === to ? `for item ${from}` : `once each for the items ${from} to ${to}`;
    return `Only ${which} of '${loop}', with that item filled in${items === undefined ? '' : `: ${items}`}.`;
  },
  waitFirst: (step: string, time: string | undefined) =>
    time === undefined ? `Step '${step}' waits before this.` : `Before this, step '${step}' waits ${time}.`,
  forMs: (ms: number) => `for ${ms} ms`,
  until: (time: string) => `until ${time}`,
} as const;

/** Where a step stands, from the inside out: ` in item 3 of 'line', in branch 'left' of 'both'`. Nothing at the top. */
export function whereIs(scope: ScopeInstance): string {
  const words: string[] = [];
  for (let each = scope; each.container !== undefined; each = each.container.scope) {
    const { node } = each.container.planned;
    const name = nameOf(node.id);
    switch (node.kind) {
      case 'foreach':
        if (each.part !== ANY_ITEM) words.push(` in item ${each.part + 1} of '${name}'`);
        break;
      case 'parallel':
        words.push(` in branch '${each.plan.arm ?? ''}' of '${name}'`);
        break;
      case 'workflow':
        words.push(` in workflow '${node.workflow}' of '${name}'`);
        break;
      default:
        // What only holds steps together is no place to a reader.
        if (soleBody(node) === undefined) words.push(` in '${each.plan.arm ?? ''}' of '${name}'`);
    }
  }
  return words.join(',');
}

/** The body a step stands in, for programs; a `*` stands for every item. */
export function bodyName(scope: ScopeInstance): { in?: string } {
  return scope.container === undefined ? {} : { in: scope.key.replaceAll(`[${ANY_ITEM}]`, '[*]') };
}
