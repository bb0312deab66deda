import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Scope } from '../../../graph/kinds/node.js';
import { DEFAULT_LOOP_MAX } from '../../../graph/limits.js';
import type { ForeachNode, GotoNode } from '../../../graph/model.js';
import type { Place } from '../../../graph/span.js';
import { type ExpressionSyntax, PATTERN } from '../../syntax.js';
import { type CallSyntax, symbolOf, unwrap } from '../../verbs.js';
import { print } from '../describe.js';
import { lowerExpression } from '../expressions.js';
import { boundToNothing, type NodeCore, type StepOutcome } from '../nodes.js';
import { readOptionsOf } from '../options.js';
import { readArrow } from '../scope.js';
import { type Linker, refuse } from './linker.js';

const FOR_EACH_EXAMPLE = 'forEach(items, (item) => call(…))';

interface Loop {
  readonly as: string;
  readonly indexAs?: string;
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
  if (items === undefined || loop === undefined || options === undefined) return undefined;
  const { concurrency = 1, max = DEFAULT_LOOP_MAX, onItemError = 'fail' } = options.values;
  const core: NodeCore = {
    kind: 'foreach',
    items,
    ...loop,
    // The rules of the options admit nothing else.
    concurrency: Number(concurrency),
    max: Number(max),
    onItemError: onItemError as ForeachNode['onItemError'],
  };
  return linker.outcome(core, linker.attempts());
}

function readLoop(linker: Linker, syntax: ExpressionSyntax): Loop | undefined {
  const symbol = symbolOf(unwrap(syntax));
  const isNamed = symbol?.kind === 'function';
  const arrow = isNamed
    ? { names: ['item', 'index'], body: calling(syntax) }
    : readArrow(syntax, 'forEach', 2, linker.scope.report);
  if (arrow === undefined) return undefined;
  const [first = PATTERN, index] = arrow.names;
  const item = first === PATTERN ? 'item' : first;
  const as = freeName(item, linker.scope.loopNames ?? []);
  const indexAs = index && freeName(index, [...(linker.scope.loopNames ?? []), as]);
  const locals = linker.withLocals(
    arrow,
    { kind: 'value', expr: { kind: 'ref', root: 'item', path: [as] } },
    { kind: 'value', expr: { kind: 'ref', root: 'index', path: [indexAs ?? ''] } },
  );
  const loopNames = indexAs === undefined ? [as] : [as, indexAs];
  const body = linker.body(arrow.body, 'item', { locals, loopNames });
  return body && { as, ...(indexAs === undefined ? {} : { indexAs }), body };
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
function freeName(name: string, taken: readonly string[]): string {
  const base = name === '__proto__' ? 'item' : name;
  let free = base;
  for (let count = 2; taken.includes(free); count++) free = `${base}${count}`;
  return free;
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

function targetOf({ scope }: Linker, syntax: ExpressionSyntax): string | undefined {
  const inner = unwrap(syntax);
  const name = stepNamed(inner);
  const refuse = (why: string): undefined => {
    scope.report(diagnostic('SW3014', inner.place, { target: print(inner), why }));
    return undefined;
  };
  if (name === undefined) return refuse('it is not a step, such as `this.step`');
  const binding = scope.bindings.resolve(name.text, name.place);
  const first = scope.firstNodeOf(name.text);
  if (binding === undefined || binding.kind === 'faulty' || first !== undefined) return first;
  return refuse('it is not a step');
}

function stepNamed(syntax: ExpressionSyntax): { readonly text: string; readonly place: Place } | undefined {
  if (syntax.kind !== 'property' || unwrap(syntax.object).kind !== 'this') return undefined;
  return { text: syntax.name, place: syntax.namePlace };
}
