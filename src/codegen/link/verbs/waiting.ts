import type { Duration } from '../../../decorators/control-flow.js';
import { type Answerer, answererKey, isRole } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { AskNode } from '../../../graph/kinds/waits.js';
import { nearestName } from '../../../graph/names.js';
import { type ReadOptions, readStatic } from '../../extract/read-options.js';
import { type ExpressionSyntax, PATTERN } from '../../syntax.js';
import { type CallSyntax, stepVerbOf, symbolOf, unwrap } from '../../verbs.js';
import { describeGiven } from '../describe.js';
import { lowerExpression } from '../expressions.js';
import {
  boundTo,
  boundToNothing,
  boundToProperty,
  guarded,
  type NodeCore,
  propertyOf,
  type StepOutcome,
} from '../nodes.js';
import { TRUTH } from '../operators-and-methods.js';
import { readOptionsOf } from '../options.js';
import { readArrow } from '../scope.js';
import { standInFor } from './calls.js';
import { type Linker, readEntries, refuse } from './linker.js';

/** The property of an answer that is its value. */
const ANSWERS = { confirm: 'confirmed', text: 'input', choice: 'selected' } as const;

export type AskMode = keyof typeof ANSWERS | 'info' | 'pick';

/** Where the options of a question are among its arguments. */
const OPTIONS_AT: Readonly<Record<AskMode, number>> = { info: 1, confirm: 1, text: 1, choice: 2, pick: 3 };

/** `ask.info(message)` and its like. */
export function linkAsk(linker: Linker, mode: AskMode, call: CallSyntax): StepOutcome | undefined {
  const { args, callee } = call;
  const [text, list] = args;
  const argument = readOptionsOf(`ask.${mode}`, args[OPTIONS_AT[mode]], linker.scope.report);
  const who = argument && answeringOf(linker, argument);
  if (text === undefined) {
    const what = `a question without a text`;
    return refuse(linker, callee.place, what, `write \`ask.${mode}('…')\``);
  }
  const message = lowerExpression(text, { ...linker.arguments, template: 'reader' });
  const more = linker.attempts();
  const asked = message && who && ({ kind: 'ask', message, ...who } as const);
  switch (mode) {
    case 'info':
      return asked && linker.outcome({ ...asked, mode }, more, boundToNothing);
    case 'confirm':
      return argument?.syntax.approves === undefined
        ? asked && answered(linker, ANSWERS[mode], { ...asked, mode })
        : linkApproval(linker, asked && { ...asked, mode }, argument.syntax.approves);
    case 'text':
      return asked && answered(linker, ANSWERS[mode], { ...asked, mode });
    case 'choice': {
      const options = optionsOf(linker, list, callee);
      return asked && options && answered(linker, ANSWERS[mode], { ...asked, mode, options });
    }
    case 'pick':
      return linkPick(linker, call, asked);
    default:
      return mode satisfies never;
  }
}

/** `approves: call(…)`: the step is the call, which waits for a yes to the question before it. */
function linkApproval(
  linker: Linker,
  asked: (Parameters<Linker['outcome']>[0] & { readonly kind: 'ask' }) | undefined,
  syntax: ExpressionSyntax,
): StepOutcome | undefined {
  const { scope, prefix } = linker;
  const verb = stepVerbOf(unwrap(syntax));
  if (verb !== 'call' && verb !== 'onClient')
    return refuse(
      linker,
      syntax.place,
      'an approval of what is not a call',
      'write `call(Tool, { … })` here',
    );
  const outcome = linker.part(syntax, { id: scope.id, prefix });
  const at = outcome?.nodes.findLastIndex(({ core }) => core.kind === 'call') ?? -1;
  const call = outcome?.nodes[at];
  if (outcome === undefined || call === undefined || asked === undefined) return undefined;
  const id = scope.ids.next(`${prefix}.approval`);
  const question = linker.outcome({ ...asked, approves: call.id }, { ...linker.limit(), id });
  const rest = guarded(
    { ...outcome, nodes: outcome.nodes.slice(at) },
    propertyOf(id, ANSWERS.confirm, false),
  );
  return { ...rest, nodes: [...outcome.nodes.slice(0, at), ...question.nodes, ...rest.nodes] };
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

/** `ask.pick(message, items, label)`: a choice of labels. Its value is the first item with the chosen label. */
function linkPick(
  linker: Linker,
  { args, callee }: CallSyntax,
  asked: Pick<AskNode, 'kind' | 'message' | 'answerBy' | 'remindAfterMs' | 'escalateTo'> | undefined,
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
  if (asked === undefined || items === undefined || label === undefined) return undefined;
  const at = callee.place.span;
  const options: Expr = { kind: 'each', at, mode: 'map', in: items, as, body: label };
  const selected = propertyOf(linker.scope.id, ANSWERS.choice, false);
  const isSelected: Expr = { kind: 'compare', at, left: label, ops: [{ op: 'eq.strict', right: selected }] };
  const picked: Expr = { kind: 'each', at, mode: 'find', truth: TRUTH, in: items, as, body: isSelected };
  return linker.outcome({ ...asked, mode: 'choice', options }, linker.attempts(), boundTo(picked));
}

const WAIT_EXAMPLE = 'wait({ seconds: 2 })';

/** Milliseconds in each unit. */
const UNITS: Readonly<Record<keyof Duration, number>> = {
  seconds: 1000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};

/** `wait({ seconds, minutes, … })`, or `wait({ until })`. */
export function linkWait(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [span, settings] = args;
  const options = readOptionsOf('wait', settings, linker.scope.report);
  const reading = readEntries(linker, span, callee.place, 'the span', WAIT_EXAMPLE);
  if (reading === undefined) return undefined;
  const values = reading.entries.map(({ key, keyPlace, value }) => {
    const lowered = lowerExpression(value, linker.arguments);
    if (key === 'until' || Object.hasOwn(UNITS, key)) return lowered && { key, value: lowered };
    const cached = [...Object.keys(UNITS), 'until'];
    const suggestion = nearestName(key, cached);
    linker.scope.report(
      diagnostic('SW1011', keyPlace, { decorator: 'wait', option: key, suggestion, candidates: cached }),
    );
    return undefined;
  });
  if (options === undefined || !reading.isWhole || !values.every((each) => each !== undefined))
    return undefined;
  // `minutes: undefined` is the same as no `minutes`.
  const argument = values.filter(({ value }) => value.kind !== 'literal' || value.value !== undefined);
  const until = argument.find(({ key }) => key === 'until');
  const place = span?.place ?? callee.place;
  if (argument.length === 0)
    return refuse(linker, place, 'a `wait` without a time', `write \`${WAIT_EXAMPLE}\``);
  if (until !== undefined && argument.length > 1) {
    const hint = 'name how long it waits, or until when';
    return refuse(linker, place, 'a `wait` for a while and until a moment', hint);
  }
  const core: NodeCore =
    until === undefined
      ? { kind: 'wait', durationMs: sumOf(argument, place.span) }
      : { kind: 'wait', until: until.value };
  return linker.outcome(core, linker.limit(), boundToNothing);
}

/** The sum of all units in milliseconds. Literals are added up at compile time. */
function sumOf(
  argument: readonly { readonly key: string; readonly value: Expr }[],
  at: Expr['at'] & {},
): Expr {
  let constant = 0;
  const parts: Expr[] = [];
  for (const { key, value } of argument) {
    const unit = UNITS[key as keyof Duration];
    const factor: Expr = { kind: 'literal', at, value: unit };
    if (value.kind === 'literal' && typeof value.value === 'number') constant += value.value * unit;
    else parts.push({ kind: 'arithmetic', at, op: 'mul', left: value, right: factor });
  }
  if (constant !== 0 || parts.length === 0) parts.push({ kind: 'literal', at, value: constant });
  return parts.reduce((left, right) => ({ kind: 'arithmetic', at, op: 'add.js', left, right }));
}

const EXAMPLES = "`role('lead')`, `owner()`, `human()`, or a list of them";

type Reader = Pick<Linker, 'scope'>;

/** The options of a question about who answers it; undefined where one has a fault, which is reported. */
export function answeringOf(
  linker: Reader,
  { values, syntax }: ReadOptions,
): Pick<AskNode, 'answerBy' | 'remindAfterMs' | 'escalateTo'> | undefined {
  const answerBy = answerersOf(linker, syntax.answerBy);
  const escalateTo = answerersOf(linker, syntax.escalateTo);
  if (answerBy === 'faulty' || escalateTo === 'faulty') return undefined;
  const { remindAfterMs } = values;
  return {
    ...defined({ answerBy, escalateTo }),
    ...(typeof remindAfterMs === 'number' ? { remindAfterMs } : {}),
  };
}

function answerersOf(
  linker: Reader,
  syntax: ExpressionSyntax | undefined,
): readonly Answerer[] | 'faulty' | undefined {
  const argument = syntax && unwrap(syntax);
  if (argument === undefined || argument.kind === 'undefined') return undefined;
  const items = argument.kind === 'array' ? argument.items : [{ value: argument, spread: false }];
  if (items.length === 0) {
    refuseAnswerers(linker, argument, 'the list of who may answer is empty');
    return 'faulty';
  }
  const reading = items.map((item) =>
    item.spread
      ? refuse(
          linker,
          item.value.place,
          'a spread among who may answer',
          `write them one by one: ${EXAMPLES}`,
        )
      : readAnswerer(linker, item.value),
  );
  if (!reading.every((each) => each !== undefined)) return 'faulty';
  return [...new Map(reading.map((each) => [answererKey(each), each])).values()];
}

function readAnswerer(linker: Reader, argument: ExpressionSyntax): Answerer | undefined {
  const syntax = unwrap(argument);
  const call = syntax.kind === 'call' ? syntax : undefined;
  const symbol = call && symbolOf(unwrap(call.callee));
  const name = symbol?.kind === 'stepwright' ? symbol.name : undefined;
  if (call === undefined || (name !== 'owner' && name !== 'role' && name !== 'human')) {
    const params = { taker: '`answerBy`', takes: 'who may answer', actual: describeGiven(syntax) };
    const hint = `write ${EXAMPLES}, here`;
    linker.scope.report(diagnostic('SW2008', syntax.place, params, { hint }));
    return undefined;
  }
  return name === 'role' ? readRole(linker, call.args, syntax) : { kind: name };
}

function readRole(
  linker: Reader,
  [name, options]: readonly ExpressionSyntax[],
  { place }: ExpressionSyntax,
): Answerer | undefined {
  const reading = name && readStatic(name);
  if (name === undefined || reading?.ok === false)
    return refuse(
      linker,
      name?.place ?? place,
      'a role that is not a literal',
      "write its name: `role('lead')`",
    );
  const role = reading?.value;
  if (!isRole(role)) {
    const problem = `${JSON.stringify(role)} is not a role: a role is 1 to 128 printable characters without quotes`;
    return refuseAnswerers(linker, name, problem);
  }
  const except = options === undefined ? {} : readExcept(linker, options);
  return except && { kind: 'role', role, ...except };
}

/** `{ except: owner() }`. */
function readExcept(linker: Reader, argument: ExpressionSyntax): { readonly except?: 'owner' } | undefined {
  const syntax = unwrap(argument);
  if (syntax.kind === 'undefined') return {};
  const entries = syntax.kind === 'object' ? syntax.entries : undefined;
  const [entry, ...others] = entries ?? [];
  if (entries !== undefined && entry === undefined) return {};
  if (entry === undefined || others.length > 0 || !('value' in entry) || entry.key !== 'except')
    return refuse(linker, syntax.place, 'these options of a role', 'write `{ except: owner() }`');
  if (entry.value.kind === 'undefined') return {};
  const answerer = readAnswerer(linker, entry.value);
  if (answerer === undefined) return undefined;
  if (answerer.kind === 'owner') return { except: 'owner' };
  return refuse(linker, entry.value.place, 'a role that is excepted', 'write `{ except: owner() }`');
}

/** Reports answerers that no caller can be. */
function refuseAnswerers({ scope }: Reader, { place }: ExpressionSyntax, problem: string): undefined {
  scope.report(diagnostic('SW4039', place, { step: scope.id, problem }));
  return undefined;
}
