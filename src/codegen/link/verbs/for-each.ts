import { DEFAULT_LOOP_MAX } from '../../../graph/defaults.js';
import type { ForeachNode, Scope } from '../../../graph/model.js';
import { type ExpressionSyntax, PATTERN } from '../../syntax.js';
import { type CallSyntax, symbolOf, unwrap } from '../../verbs.js';
import { readArrow } from '../arrows.js';
import { lowerExpression } from '../expressions.js';
import { readOptionsOf } from '../options.js';
import type { NodeCore, StepOutcome } from '../outcome.js';
import { type Linker, refuse } from './linker.js';

const EXAMPLE = 'forEach(items, (item) => call(…))';

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
    return refuse(linker, callee.place, what, `write \`${EXAMPLE}\``);
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

/** Loops inside each other that use one name in the source have names of their own in the graph. */
function freeName(name: string, taken: readonly string[]): string {
  const base = name === '__proto__' ? 'item' : name;
  let free = base;
  for (let count = 2; taken.includes(free); count++) free = `${base}${count}`;
  return free;
}
