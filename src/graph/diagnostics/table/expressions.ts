import { error } from './entry.js';

/** Faults of expressions. */
export const expressionFaults = {
  SW2001: error(
    (p: { what: string }) => `${p.what} cannot be stored in a workflow`,
    () => 'move the computation into a tool or an exported function, and call it as a step',
  ),
  SW2002: error(
    (p: { operator: string; instead: string }) => `\`${p.operator}\` depends on JavaScript's conversions`,
    (p) => `write \`${p.instead}\``,
  ),
  SW2003: error(
    (p: { verb: string }) => `\`${p.verb}\` cannot stand here`,
    () => 'give it a step of its own: `@Step() name = …`, then use `this.name`',
  ),
  SW2004: error(
    (p: { name: string; why: string }) => `function \`${p.name}\` cannot be part of a workflow: ${p.why}`,
    () => 'export it at the top level of its module',
  ),
  SW2005: error(
    (p: { what: 'list' | 'object' }) =>
      `as a condition, ${p.what === 'list' ? 'a list' : 'an object'} says no more than that it is there`,
    (p) => (p.what === 'list' ? 'ask for `.length > 0`, or for `!== undefined`' : 'ask for `!== undefined`'),
  ),
  SW2006: error(
    () => 'what `compensate` gives is not a call of a tool',
    () => 'undo with one call: `compensate: (out) => call(SomeTool, { id: out.id })`',
  ),
  SW2007: error(
    (p: { name: string; verb: string }) =>
      `function \`${p.name}\` calls \`${p.verb}\`, which throws outside of a workflow class`,
    (p) =>
      p.verb === 'fail'
        ? "let the function give the value, and write `… ?? fail('…')` in the step, or throw an error in it"
        : `write \`${p.verb}(…)\` in the step itself, or make the steps a workflow of their own and \`run\` it`,
  ),
  SW2008: error(
    (p: { taker: string; takes: string; given: string }) => `${p.taker} takes ${p.takes}, not ${p.given}`,
  ),
  SW2009: error((p: { what: string }) => `${p.what} has no meaning in a workflow: a step is not a promise`),
} as const;
