import type { Expr } from '../../../graph/expression/tree.js';
import { type ExpressionSyntax, PATTERN } from '../../syntax.js';
import type { CallSyntax } from '../../verbs.js';
import { readArrow } from '../arrows.js';
import { lowerExpression } from '../expressions.js';
import { TRUTH } from '../operators.js';
import { boundTo, boundToNothing, boundToProperty, propertyOf, type StepOutcome } from '../outcome.js';
import { type Linker, refuse } from './linker.js';
import { standInFor } from './read.js';

/** The property of an answer that is its value. */
const ANSWERS = { confirm: 'confirmed', text: 'input', choice: 'selected' } as const;

export type AskMode = keyof typeof ANSWERS | 'info' | 'pick';

/** `ask.info(message)` and its like. */
export function linkAsk(linker: Linker, mode: AskMode, call: CallSyntax): StepOutcome | undefined {
  const { args, callee } = call;
  const [text, list] = args;
  if (text === undefined) {
    const what = `a question without a text`;
    return refuse(linker, callee.place, what, `write \`ask.${mode}('…')\``);
  }
  const message = lowerExpression(text, linker.arguments);
  const more = linker.attempts();
  switch (mode) {
    case 'info':
      return message && linker.outcome({ kind: 'ask', mode, message }, more, boundToNothing);
    case 'confirm':
    case 'text':
      return message && answered(linker, ANSWERS[mode], { kind: 'ask', mode, message });
    case 'choice': {
      const options = optionsOf(linker, list, callee);
      return message && options && answered(linker, ANSWERS[mode], { kind: 'ask', mode, message, options });
    }
    case 'pick':
      return linkPick(linker, call, message);
    default:
      return mode satisfies never;
  }
}

function optionsOf(
  linker: Linker,
  list: ExpressionSyntax | undefined,
  { place }: ExpressionSyntax,
): Expr | undefined {
  if (list !== undefined) return lowerExpression(list, linker.arguments);
  return refuse(linker, place, 'a choice without options', "write `ask.choice('…', ['first', 'second'])`");
}

function answered(
  linker: Linker,
  key: string,
  core: Parameters<Linker['outcome']>[0] & { readonly kind: 'ask' },
): StepOutcome {
  const asked = linker.outcome(core, linker.attempts(), boundToProperty(linker.scope.id, key));
  return { ...asked, standIn: standInFor(key) };
}

/** `ask.pick(message, items, label)`: a choice of labels, and the first item that has the one that was chosen. */
function linkPick(
  linker: Linker,
  { args, callee }: CallSyntax,
  message: Expr | undefined,
): StepOutcome | undefined {
  const [, list, given] = args;
  if (list === undefined || given === undefined) {
    const what = `a pick without ${list === undefined ? 'items' : 'labels'}`;
    return refuse(linker, callee.place, what, "write `ask.pick('…', items, (item) => item.name)`");
  }
  const items = lowerExpression(list, linker.arguments);
  const arrow = readArrow(given, 'ask.pick', 1, linker.scope.report);
  const as = arrow?.names[0] ?? PATTERN;
  const label =
    arrow && linker.inside(arrow, { kind: 'value', expr: { kind: 'ref', root: 'local', path: [as] } });
  if (message === undefined || items === undefined || label === undefined) return undefined;
  const at = callee.place.span;
  const options: Expr = { kind: 'each', at, mode: 'map', in: items, as, body: label };
  const selected = propertyOf(linker.scope.id, ANSWERS.choice, false);
  const isSelected: Expr = { kind: 'compare', at, left: label, ops: [{ op: 'eq.strict', right: selected }] };
  const picked: Expr = { kind: 'each', at, mode: 'find', truth: TRUTH, in: items, as, body: isSelected };
  return linker.outcome(
    { kind: 'ask', mode: 'choice', message, options },
    linker.attempts(),
    boundTo(picked),
  );
}
