import { defined } from '../../../graph/defined.js';
import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Expr, LiteralExpr } from '../../../graph/expression/tree.js';
import type { Scope } from '../../../graph/kinds/node.js';
import { DEFAULT_LOOP_MAX } from '../../../graph/limits.js';
import type { Arm, BranchCase, ForeachNode, GotoNode, ParallelNode } from '../../../graph/model.js';
import { freeName } from '../../../graph/names.js';
import type { SourceLocation } from '../../../graph/source-location.js';
import { type ExpressionSyntax, PATTERN } from '../../syntax.js';
import { type CallSyntax, neverGives, onlySide, symbolOf, unwrap, uses } from '../../verbs.js';
import { print } from '../describe.js';
import { lowerCondition, lowerExpression } from '../expressions.js';
import { type Binding, boundToNode, boundToNothing, type NodeCore, type StepOutcome } from '../nodes.js';
import { TRUTH } from '../operators-and-methods.js';
import { readOptionsOf } from '../options.js';
import { readArrow, type SyntaxOf } from '../scope.js';
import { linkNamed } from './calls.js';
import { type Entry, type Linker, type PartOptions, readArms, refuse } from './linker.js';

/** `condition ? step : step`: a case for each condition, and the last `else`. */
export function linkBranch(linker: Linker, syntax: SyntaxOf<'conditional'>): StepOutcome | undefined {
  const cases: (BranchCase | undefined)[] = [];
  let last: ExpressionSyntax = syntax;
  for (let count = 1; last.kind === 'conditional'; count++) {
    // `a ? undefined : …` is a condition of one step, and remains one inside the last arm.
    if (count > 1 && onlySide(last) === last.else) break;
    const id = count === 1 ? 'then' : `then-${count}`;
    const when = lowerCondition(last.test, linker.values);
    const body = linker.body(last.then, id);
    cases.push(when && body && { id, when, body });
    last = unwrap(last.else);
  }
  const body = linker.body(last, 'else');
  if (body === undefined || !cases.every((each) => each !== undefined)) return undefined;
  return branchOf(linker, cases, [syntax], { id: 'else', body });
}

/**
 * The node for some arms.
 * @param arms the expressions that give its value.
 */
function branchOf(
  linker: Linker,
  cases: readonly BranchCase[],
  arms: readonly ExpressionSyntax[],
  otherwise?: Arm,
): StepOutcome {
  const core = { kind: 'branch', cases, ...defined({ else: otherwise }) } as const;
  return linker.outcome(core, linker.attempts(), bindOf(linker.scope.id, arms));
}

/** If all arms end the run, the name has no value. */
function bindOf(id: string, arms: readonly ExpressionSyntax[]): StepOutcome['bind'] {
  if (!arms.every(neverGives)) return boundToNode(id);
  return arms.some((arm) => uses(arm, 'done')) ? () => ({ kind: 'end' }) : boundToNothing;
}

/** A condition that always holds. */
export const ALWAYS: Expr = { kind: 'literal', value: true };

/** `match(value, arms)`: a case for each value. */
export function linkMatch(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [value, arms, settings] = args;
  const example = 'match(value, { first: call(…), second: undefined })';
  if (value === undefined)
    return refuse(linker, callee.place, 'a `match` without a value', `write \`${example}\``);
  const of = lowerExpression(value, linker.values);
  const options = readOptionsOf('match', settings, linker.scope.report);
  const reading = readArms(linker, arms, callee.place, 'the arms', example);
  if (reading === undefined) return undefined;
  if (reading.entries.length === 0 && reading.isWhole)
    return refuse(linker, (arms ?? callee).place, 'a `match` without arms', `write \`${example}\``);
  const cases = reading.entries.map((entry): BranchCase | undefined => {
    const body = linker.body(entry.value, entry.key);
    return of && body && { id: entry.key, when: isValue(of, entry), body };
  });
  if (options === undefined || !reading.isWhole || !cases.every((each) => each !== undefined))
    return undefined;
  return branchOf(
    linker,
    cases,
    reading.entries.map((entry) => entry.value),
  );
}

/** Whether the value is the one of a key. A key may mean a number or its text. */
function isValue(of: Expr, { key, keyPlace }: Entry): Expr {
  const at = keyPlace.span;
  const values = String(Number(key)) === key && Number.isFinite(Number(key)) ? [key, Number(key)] : [key];
  const items = values.map((value): Expr => {
    const right: LiteralExpr = { kind: 'literal', at, value };
    return { kind: 'compare', at, left: of, ops: [{ op: 'eq.strict', right }] };
  });
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : { kind: 'or', at, truth: TRUTH, items };
}

const PARALLEL_EXAMPLE = 'parallel({ first: call(…), second: call(…) })';

/** `parallel(branches, options)`. */
export function linkParallel(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [given, settings] = args;
  const reading = readArms(linker, given, callee.place, 'the branches', PARALLEL_EXAMPLE);
  const options = readOptionsOf('parallel', settings, linker.scope.report);
  if (reading === undefined) return undefined;
  if (reading.entries.length === 0 && reading.isWhole)
    return refuse(
      linker,
      (given ?? callee).place,
      'a `parallel` without branches',
      `write \`${PARALLEL_EXAMPLE}\``,
    );
  const branches = reading.entries.map(({ key, value }) => {
    const body = linker.body(value, key);
    return body && { id: key, body };
  });
  if (options === undefined || !reading.isWhole || !branches.every((branch) => branch !== undefined))
    return undefined;
  const { concurrency, onPartialFailure = 'abort' } = options.values;
  const core: NodeCore = {
    kind: 'parallel',
    branches,
    // The rules of the options admit nothing else.
    ...(typeof concurrency === 'number' ? { concurrency } : {}),
    onPartialFailure: onPartialFailure as ParallelNode['onPartialFailure'],
  };
  return linker.outcome(core, linker.attempts());
}

/** `chain(step, (value) => next, …)`: one node after the other, each given the value of the one before. */
export function linkChain(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const { prefix, scope } = linker;
  const [first, ...rest] = args;
  if (first === undefined) {
    const hint = 'write `chain(call(…), (value) => call(…))`';
    return refuse(linker, callee.place, 'a `chain` without steps', hint);
  }
  const partAt = (index: number): PartOptions => {
    const own = `${prefix}.${index + 1}`;
    return { id: index === rest.length ? scope.id : scope.ids.next(own), prefix: own };
  };
  const outcomes = [linker.part(first, partAt(0))];
  for (const [index, each] of rest.entries()) {
    const value = outcomes.at(-1)?.bind([]) ?? ({ kind: 'faulty' } as const);
    outcomes.push(linkNext(linker, each, partAt(index + 1), value));
  }
  const last = outcomes.at(-1);
  if (last === undefined || !outcomes.every((outcome) => outcome !== undefined)) return undefined;
  const early = outcomes.slice(0, -1).findIndex((outcome) => outcome.bind([]).kind === 'end');
  if (early !== -1) {
    const hint = 'nothing follows the end of the run: make it the last one';
    scope.report(diagnostic('SW2003', (args[early] ?? first).place, { verb: 'done' }, { hint }));
    return undefined;
  }
  return { nodes: outcomes.flatMap(({ nodes }) => nodes), bind: last.bind };
}

/** A link of a chain: an arrow that gives a step, or an exported function. */
function linkNext(
  linker: Linker,
  syntax: ExpressionSyntax,
  part: PartOptions,
  value: Binding,
): StepOutcome | undefined {
  const symbol = symbolOf(unwrap(syntax));
  if (symbol?.kind === 'function') {
    const { id, source } = linker.scope;
    const own = { ...linker.scope, id: part.id, source: part.id === id ? source : syntax.place };
    const args = value.kind === 'value' ? [value.expr] : [];
    const called = linkNamed(linker, symbol, syntax, args, own);
    return value.kind === 'value' ? called : undefined;
  }
  if (unwrap(syntax).kind === 'object') return refuseOptions(linker, syntax);
  const arrow = readArrow(syntax, 'chain', 1, linker.scope.report);
  return arrow && linker.part(arrow.body, { ...part, locals: linker.withLocals(arrow, value) });
}

/** Reports options of a chain, which has none: its links are steps, and one of them ends it. */
function refuseOptions({ scope }: Linker, { place }: ExpressionSyntax): undefined {
  const params = { taker: '`chain`', takes: 'an arrow', actual: 'an object' };
  const hint = 'options go into the calls of its links; the whole chain waits as its first link says';
  scope.report(diagnostic('SW2008', place, params, { hint }));
  return undefined;
}

/** `fail(message, { code })`: ends the run, or the scope it is in, as failed. */
export function linkFail(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [text, settings] = args;
  const message = linker.argument(text, callee.place);
  const options = readOptionsOf('fail', settings, linker.scope.report);
  if (message === undefined || options === undefined) return undefined;
  const { code } = options.values;
  // The rule of the option admits nothing else.
  const value = code === undefined ? {} : { code: String(code) };
  return linker.outcome({ kind: 'error', message, ...value }, {}, boundToNothing);
}

/** `done(value)`: ends the run with a value. */
export function linkDone(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const value = linker.argument(args[0], callee.place);
  const options = readOptionsOf('done', args[1], linker.scope.report);
  return value && options && linker.outcome({ kind: 'return', value }, {}, () => ({ kind: 'end' }));
}

const FOR_EACH_EXAMPLE = 'forEach(items, (item) => call(…))';

interface Loop {
  readonly as: string;
  readonly indexAs?: string;
  readonly resultsAs?: string;
  readonly body: Scope;
}

/** `forEach(items, body, options)`. */
export function linkForEach(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [list, each, settings] = args;
  if (list === undefined || each === undefined) {
    const what = `a \`forEach\` without ${list === undefined ? 'items' : 'a body'}`;
    return refuse(linker, callee.place, what, `write \`${FOR_EACH_EXAMPLE}\``);
  }
  const items = lowerExpression(list, linker.arguments);
  const loop = readLoop(linker, each);
  const options = readOptionsOf('forEach', settings, linker.scope.report);
  const { agent: handle } = options?.syntax ?? {};
  const agent = handle && linker.scope.handles.agent(handle, 'forEach', handle.place);
  if (items === undefined || loop === undefined || options === undefined) return undefined;
  if (handle !== undefined && agent === undefined) return undefined;
  const { concurrency = 1, max = DEFAULT_LOOP_MAX, onItemError = 'fail' } = options.values;
  const core: NodeCore = {
    kind: 'foreach',
    items,
    ...loop,
    // The rules of the options admit nothing else.
    concurrency: Number(concurrency),
    max: Number(max),
    onItemError: onItemError as ForeachNode['onItemError'],
    ...defined({ agent: agent?.name }),
  };
  if (loop.resultsAs !== undefined && concurrency !== 1) {
    const hint = 'leave `concurrency` out: items that read the results of others run one at a time';
    return refuse(linker, each.place, 'a loop over results of items that run side by side', hint);
  }
  return linker.outcome(core, linker.attempts());
}

function readLoop(linker: Linker, syntax: ExpressionSyntax): Loop | undefined {
  const symbol = symbolOf(unwrap(syntax));
  const isNamed = symbol?.kind === 'function';
  const arrow = isNamed
    ? { names: ['item', 'index'], body: calling(syntax) }
    : readArrow(syntax, 'forEach', 3, linker.scope.report);
  if (arrow === undefined) return undefined;
  const [first = PATTERN, index, results] = arrow.names;
  const item = first === PATTERN ? 'item' : first;
  const as = loopName(item, linker.scope.loopNames ?? []);
  const indexAs = index && loopName(index, [...(linker.scope.loopNames ?? []), as]);
  const names = indexAs === undefined ? [as] : [as, indexAs];
  const resultsAs = results && loopName(results, [...(linker.scope.loopNames ?? []), ...names]);
  const locals = linker.withLocals(
    arrow,
    { kind: 'value', expr: { kind: 'ref', root: 'item', path: [as] } },
    { kind: 'value', expr: { kind: 'ref', root: 'index', path: [indexAs ?? ''] } },
    { kind: 'value', expr: { kind: 'ref', root: 'item', path: [resultsAs ?? ''] } },
  );
  const loopNames = resultsAs === undefined ? names : [...names, resultsAs];
  const body = linker.body(arrow.body, 'item', { locals, loopNames });
  return body && { as, ...defined({ indexAs, resultsAs }), body };
}

/** `fn` as a body is `(item, index) => fn(item, index)`. */
function calling(callee: ExpressionSyntax): ExpressionSyntax {
  const { place } = callee;
  const nameOf = (name: string): ExpressionSyntax => ({
    kind: 'identifier',
    place,
    name,
    symbol: { kind: 'other', name },
  });
  return { kind: 'call', place, callee, args: [nameOf('item'), nameOf('index')], optional: false };
}

/** Nested loops that use one name in the source have distinct names in the graph. */
function loopName(name: string, used: readonly string[]): string {
  return freeName(name === '__proto__' ? 'item' : name, (each) => used.includes(each));
}

/** `goto(this.step, { max })`: goes back to the first node of an earlier step. */
export function linkGoto(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [step, settings] = args;
  const { scope } = linker;
  const example = 'goto(this.step, { max: 3 })';
  if (step === undefined || settings === undefined) {
    const what = `a \`goto\` without ${step === undefined ? 'a step' : 'a limit'}`;
    return refuse(linker, callee.place, what, `write \`${example}\``);
  }
  const target = targetOf(linker, step);
  const options = readOptionsOf('goto', settings, scope.report);
  if (scope.inside !== undefined) {
    const why = `the \`goto\` is inside \`${scope.inside}\`, and goes back in its own list of steps alone`;
    const hint = `give it a step of its own: \`@Step() again = condition ? goto(…) : undefined\`${besideNull(scope.step.initializer) ? ', with `undefined` and not `null`' : ''}`;
    scope.report(diagnostic('SW3014', callee.place, { target: print(unwrap(step)), why }, { hint }));
    return undefined;
  }
  if (target === undefined || options === undefined) return undefined;
  const { max, onLimit = 'fail' } = options.values;
  // The rules of the options admit nothing else.
  const limit = { max: Number(max), onLimit: onLimit as GotoNode['onLimit'] };
  return linker.outcome({ kind: 'goto', target, ...limit }, {}, boundToNothing);
}

/** Whether the other side of a condition is `null`, which is a value: then the condition is a branch with two arms. */
function besideNull(initializer: ExpressionSyntax): boolean {
  const inner = unwrap(initializer);
  if (inner.kind !== 'conditional') return false;
  return [inner.then, inner.else].map(unwrap).some((side) => side.kind === 'literal' && side.value === null);
}

/** The repair of a `goto` to a later step. */
const SKIP_HINT =
  'name a step that is declared above; to skip steps, give each a condition: `condition ? step : undefined`';

function targetOf({ scope }: Linker, syntax: ExpressionSyntax): string | undefined {
  const inner = unwrap(syntax);
  const name = stepNamed(inner);
  const refuse = (why: string, hint?: string): undefined => {
    scope.report(diagnostic('SW3014', inner.place, { target: print(inner), why }, { hint }));
    return undefined;
  };
  if (name === undefined) return refuse('it is not a step, such as `this.step`');
  if (scope.bindings.isDeclaredBelow(name.text)) {
    return refuse('it is declared below', SKIP_HINT);
  }
  const binding = scope.bindings.resolve(name.text, name.place);
  const first = scope.firstNodeOf(name.text);
  if (binding === undefined || binding.kind === 'faulty' || first !== undefined) return first;
  return refuse('it is not a step');
}

function stepNamed(
  syntax: ExpressionSyntax,
): { readonly text: string; readonly place: SourceLocation } | undefined {
  if (syntax.kind !== 'property' || unwrap(syntax.object).kind !== 'this') return undefined;
  return { text: syntax.name, place: syntax.namePlace };
}
