import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { references } from '../../graph/expression/references.js';
import type { Expr } from '../../graph/expression/tree.js';
import { type ExpressionSyntax, PATTERN, type PatternName } from '../syntax.js';
import { symbolOf, unwrap } from '../verbs.js';
import { describeGiven } from './describe.js';
import type { ExpressionScope, Local } from './scope.js';

type ArrowSyntax = Extract<ExpressionSyntax, { kind: 'arrow' }>;

/** The names of an arrow's parameters, and its body. */
export interface Arrow {
  readonly names: readonly string[];
  /** For each parameter the names it is taken apart into, where it is. */
  readonly patterns?: readonly (readonly PatternName[] | undefined)[];
  readonly body: ExpressionSyntax;
}

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
  const names = (arrow.names.length === 0 ? [PATTERN] : arrow.names).map((name) =>
    freeLocal(name, scope.locals),
  );
  const [item = PATTERN, index] = names;
  const parameters = names.map((name): Local => {
    return { kind: 'value', expr: { kind: 'ref', root: 'local', path: [name] } };
  });
  const body = lower(arrow.body, localsOf(arrow, parameters, scope.locals, lower));
  return body && { as: item, ...(index === undefined ? {} : { indexAs: index }), body };
}

/** A name that hides none of the names that other names around the arrow are read from. */
function freeLocal(name: string, locals: ExpressionScope['locals']): string {
  const taken = new Set<string | number | undefined>();
  for (const [key, local] of locals ?? []) {
    if (local.kind !== 'value' || key === name) continue;
    for (const { ref } of references(local.expr)) if (ref.root === 'local') taken.add(ref.path[0]);
  }
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}${count}`;
  return free;
}

/**
 * The names known in the body of an arrow: those around it, its parameters, and what they are taken apart into.
 * @param parameters what they stand for; what is missing binds no name.
 */
export function localsOf(
  { names, patterns = [] }: Pick<Arrow, 'names' | 'patterns'>,
  parameters: readonly Local[],
  around: ExpressionScope['locals'],
  lower: (value: ExpressionSyntax, locals: ReadonlyMap<string, Local>) => Expr | undefined,
): ReadonlyMap<string, Local> {
  const locals = new Map(around);
  for (const [index, name] of names.entries()) {
    const parameter = parameters[index];
    if (parameter === undefined) continue;
    const pattern = patterns[index];
    if (pattern === undefined) locals.set(name, parameter);
    for (const part of pattern ?? []) {
      const expr = lower(part.value, new Map([...locals, [PATTERN, parameter]]));
      locals.set(part.name, expr === undefined ? { kind: 'faulty' } : { kind: 'value', expr });
    }
  }
  return locals;
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
  const patterns = parameters.map(({ pattern }) => pattern);
  const isTakenApart = patterns.some((pattern) => pattern !== undefined);
  return { names: parameters.map(({ name }) => name), body, ...(isTakenApart ? { patterns } : {}) };
}
