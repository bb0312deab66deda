import type { Ask } from '../decorators/ask.js';
import type * as controlFlow from '../decorators/control-flow.js';
import type * as states from '../decorators/state.js';
import type * as runs from '../decorators/verbs.js';
import type * as verbs from '../decorators/verbs.js';
import type { ExpressionSyntax, FunctionSymbol, SymbolSyntax } from './syntax.js';

/** The names of all verbs, by the modules that authors import them from. */
type VerbName =
  | keyof typeof controlFlow
  | keyof typeof verbs
  | keyof typeof runs
  | Exclude<keyof typeof states, 'State'>
  | AskVerb;

type AskVerb = `ask.${keyof Ask}`;

interface VerbFacts {
  /** How many arguments are read. */
  readonly arguments: number;
  /**
   * What a call of it makes: one `node` whose value is the step's; one with steps in it (`container`); one without a
   * value (`effect`); one that ends the run, or the scope it is in (`end`); several `nodes`, or one that other steps
   * refer to; or a `value` of another step.
   */
  readonly makes: 'node' | 'container' | 'effect' | 'end' | 'nodes' | 'value';
}

/** All verbs, those of steps before those that are values. One that authors can import and is missing is a type error. */
const FACTS = {
  call: { arguments: 3, makes: 'node' },
  read: { arguments: 2, makes: 'node' },
  run: { arguments: 3, makes: 'node' },
  fail: { arguments: 2, makes: 'end' },
  done: { arguments: 1, makes: 'end' },
  // Only its type limits the links of a chain.
  chain: { arguments: Number.POSITIVE_INFINITY, makes: 'nodes' },
  attempt: { arguments: 2, makes: 'nodes' },
  match: { arguments: 2, makes: 'container' },
  parallel: { arguments: 2, makes: 'container' },
  forEach: { arguments: 3, makes: 'container' },
  set: { arguments: 2, makes: 'node' },
  goto: { arguments: 2, makes: 'nodes' },
  wait: { arguments: 1, makes: 'effect' },
  'ask.info': { arguments: 1, makes: 'nodes' },
  'ask.confirm': { arguments: 1, makes: 'node' },
  'ask.text': { arguments: 1, makes: 'node' },
  'ask.choice': { arguments: 2, makes: 'node' },
  'ask.pick': { arguments: 3, makes: 'nodes' },
  link: { arguments: 2, makes: 'value' },
  get: { arguments: 1, makes: 'value' },
} as const satisfies Readonly<Record<VerbName, VerbFacts>>;

type Facts = typeof FACTS;

export type Verb = VerbName;
export type StepVerb = { [V in Verb]: Facts[V]['makes'] extends 'value' ? never : V }[Verb];

/** All verbs: those of steps, and those that are values. */
export const VERBS = Object.keys(FACTS) as readonly Verb[];

/** What a step may do by a verb. */
const STEP_VERBS = VERBS.filter((verb): verb is StepVerb => FACTS[verb].makes !== 'value');

const ASK_VERBS = VERBS.filter((verb): verb is AskVerb => verb.startsWith('ask.'));

/** What is known of a verb by its name. */
export function factsOf(verb: Verb): VerbFacts {
  return FACTS[verb];
}

export type CallSyntax = Extract<ExpressionSyntax, { kind: 'call' }>;

/** What a callee or a handle means, written as a name or behind a namespace. */
export function symbolOf(syntax: ExpressionSyntax): SymbolSyntax | undefined {
  if (syntax.kind === 'parenthesized') return symbolOf(syntax.inner);
  return syntax.kind === 'identifier' || syntax.kind === 'property' ? syntax.symbol : undefined;
}

/** The verb a call uses; nothing for calls of anything else, functions of the same name included. */
export function verbOf(syntax: ExpressionSyntax): Verb | undefined {
  if (syntax.kind !== 'call') return undefined;
  const callee = unwrap(syntax.callee);
  const symbol = symbolOf(callee);
  if (symbol?.kind === 'stepwright') return VERBS.find((verb) => verb === symbol.name);
  if (callee.kind !== 'property') return undefined;
  const object = symbolOf(callee.object);
  if (object?.kind !== 'stepwright' || object.name !== 'ask') return undefined;
  return ASK_VERBS.find((verb) => verb === `ask.${callee.name}`);
}

/** The verb of a call that makes a step. */
export function stepVerbOf(syntax: ExpressionSyntax): StepVerb | undefined {
  const verb = verbOf(syntax);
  return STEP_VERBS.find((each) => each === verb);
}

/** The function a call names. */
export function functionOf(syntax: ExpressionSyntax): FunctionSymbol | undefined {
  const symbol = syntax.kind === 'call' ? symbolOf(syntax.callee) : undefined;
  return symbol?.kind === 'function' ? symbol : undefined;
}

/** Whether an expression is a function that is written out. */
export function isFunctionSyntax(syntax: ExpressionSyntax): boolean {
  return syntax.kind === 'arrow' || (syntax.kind === 'unsupported' && syntax.unsupported === 'a function');
}

/** Whether a call makes a step: by a verb, or by the name of a function. */
export function isStep(call: CallSyntax): boolean {
  return stepVerbOf(call) !== undefined || functionOf(call) !== undefined;
}

/** Whether a call was most likely meant as one of a verb, although what it names is something else. */
export function looksLikeVerb({ callee, args: [first] }: CallSyntax): boolean {
  const name = symbolOf(callee)?.name;
  return VERBS.some((verb) => verb === name) && first !== undefined && symbolOf(first)?.kind === 'class';
}

/** The verb or function of a call that makes a step, for messages. */
export function calleeName(call: CallSyntax | undefined): string {
  return (call && (verbOf(call) ?? functionOf(call)?.name)) ?? 'call';
}

/** Whether a template has the tag `prompt` of this package. */
export function isPromptText(syntax: ExpressionSyntax): boolean {
  if (syntax.kind !== 'tagged') return false;
  const symbol = symbolOf(syntax.tag);
  return symbol?.kind === 'stepwright' && symbol.name === 'prompt';
}

/** An expression without the parentheses around it. */
export function unwrap(syntax: ExpressionSyntax): ExpressionSyntax {
  return syntax.kind === 'parenthesized' ? unwrap(syntax.inner) : syntax;
}

/** The direct parts of an expression, in written order. */
export function partsOf(syntax: ExpressionSyntax): readonly ExpressionSyntax[] {
  switch (syntax.kind) {
    case 'literal':
    case 'undefined':
    case 'this':
    case 'identifier':
    case 'unsupported':
      return [];
    case 'template':
      return expressionsIn(syntax.parts);
    case 'tagged':
      return [syntax.tag, ...expressionsIn(syntax.parts)];
    case 'property':
      return [syntax.object];
    case 'element':
      return [syntax.object, syntax.index];
    case 'call':
      return [syntax.callee, ...syntax.args];
    case 'object':
      return syntax.entries.flatMap((entry) => {
        if ('unsupported' in entry) return [];
        return 'spread' in entry ? entry.spread : entry.value;
      });
    case 'array':
      return syntax.items.map(({ value }) => value);
    case 'binary':
      return [syntax.left, syntax.right];
    case 'prefix':
      return [syntax.operand];
    case 'conditional':
      return [syntax.test, syntax.then, syntax.else];
    case 'parenthesized':
      return [syntax.inner];
    case 'arrow':
      return syntax.body === undefined ? [] : [syntax.body];
    default:
      return syntax satisfies never;
  }
}

function expressionsIn(parts: readonly (string | ExpressionSyntax)[]): readonly ExpressionSyntax[] {
  return parts.filter((part) => typeof part !== 'string');
}

/** An expression and everything in it, the outermost first. Without recursion: what is written may be deep. */
export function* allPartsOf(syntax: ExpressionSyntax): Generator<ExpressionSyntax> {
  const open = [syntax];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    open.push(...[...partsOf(next)].reverse());
  }
}
