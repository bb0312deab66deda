import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { ExpressionSyntax } from '../syntax.js';
import { symbolOf, unwrap } from '../verbs.js';
import { describeGiven } from './describe.js';
import type { ExpressionScope, Local } from './expression-scope.js';

type ArrowSyntax = Extract<ExpressionSyntax, { kind: 'arrow' }>;

/** The names of an arrow's parameters, and its body. */
export interface Arrow {
  readonly names: readonly string[];
  readonly body: ExpressionSyntax;
}

/** No name of an author, so that it hides none. */
const UNNAMED = '(item)';

/** The names of an arrow over the items of a list, and its body. */
export interface LoweredArrow {
  readonly as: string;
  readonly indexAs?: string;
  readonly body: Expr;
}

/** What the arrows of verbs look like; those of methods are over an item. */
const ARROWS: Readonly<Record<string, string>> = {
  chain: '(value) => call(…)',
  attempt: '(error) => …',
  forEach: '(item) => call(…)',
  compensate: '(out) => call(…)',
  transform: '(out) => out.id',
};

/** @param method what takes the arrow, for messages. */
export function lowerArrow(
  syntax: ExpressionSyntax,
  method: string,
  scope: ExpressionScope,
  lower: (body: ExpressionSyntax, locals: ReadonlyMap<string, Local>) => Expr | undefined,
): LoweredArrow | undefined {
  const arrow = readArrow(syntax, `.${method}`, 2, scope.report);
  if (arrow === undefined) return undefined;
  const [item, index] = arrow.names;
  const locals = new Map(scope.locals);
  for (const name of arrow.names) {
    locals.set(name, { kind: 'value', expr: { kind: 'ref', root: 'local', path: [name] } });
  }
  const body = lower(arrow.body, locals);
  return body && { as: item ?? UNNAMED, ...(index === undefined ? {} : { indexAs: index }), body };
}

/** An arrow whose parameters are plain names and whose body is an expression; anything else is reported. */
export function readArrow(
  syntax: ExpressionSyntax,
  taker: string,
  most: number,
  report: (diagnostic: Diagnostic) => void,
): Arrow | undefined {
  const arrow = unwrap(syntax);
  const refuse = (at: ExpressionSyntax['place'], what: string, hint: string): undefined => {
    report(diagnostic('SW2001', at, { what }, { hint }));
    return undefined;
  };
  if (arrow.kind !== 'arrow') {
    const given = symbolOf(arrow)?.kind === 'function' ? 'a function by name' : describeGiven(arrow);
    const hint = `write an arrow with an expression: \`${ARROWS[taker] ?? '(item) => …'}\``;
    report(diagnostic('SW2008', syntax.place, { taker: `\`${taker}\``, takes: 'an arrow', given }, { hint }));
    return undefined;
  }
  return checkArrow(arrow, taker, most, refuse);
}

function checkArrow(
  { parameters, body, isAsync, place }: ArrowSyntax,
  taker: string,
  most: number,
  refuse: (at: ExpressionSyntax['place'], what: string, hint: string) => undefined,
): Arrow | undefined {
  const faults = parameters.filter(({ unsupported }) => unsupported !== undefined);
  for (const { place: at, unsupported, instead } of faults) refuse(at, unsupported ?? '', instead ?? '');
  if (faults.length > 0) return undefined;
  const extra = parameters[most];
  if (extra !== undefined) {
    const count = most === 1 ? 'one parameter' : `${most} parameters`;
    return refuse(
      extra.place,
      `the parameter \`${extra.name}\``,
      `the arrow of \`${taker}\` has ${count} at most`,
    );
  }
  if (isAsync) return refuse(place, 'an asynchronous function', 'leave out `async`: nothing in it waits');
  if (body === undefined)
    return refuse(place, 'a function with statements', 'write its body as one expression, without braces');
  return { names: parameters.map(({ name }) => name), body };
}
