import type { RunTimeCode } from '../run-time-codes.js';
import type { Span } from '../source-location.js';
import type { ArithmeticOp, CompareOp, Expr, RefRoot } from './tree.js';

/** Operators as people write them. Those of different semantics may have the same sign. */
export const operatorSigns: Readonly<Record<CompareOp | ArithmeticOp, string>> = {
  'eq.strict': '===',
  'ne.strict': '!==',
  'lt.js': '<',
  'le.js': '<=',
  'gt.js': '>',
  'ge.js': '>=',
  'eq.deep': '==',
  'ne.deep': '!=',
  'eq.py': '==',
  'ne.py': '!=',
  'lt.py': '<',
  'le.py': '<=',
  'gt.py': '>',
  'ge.py': '>=',
  'in.py': 'in',
  'add.js': '+',
  sub: '-',
  mul: '*',
  div: '/',
  'mod.js': '%',
  pow: '**',
  'add.py': '+',
  'mod.py': '%',
  'sub.py': '-',
  'mul.py': '*',
  'div.py': '/',
  'pow.py': '**',
  'floordiv.py': '//',
  'concat.py': '~',
};

const signOf = (op: string): string => operatorSigns[op as CompareOp] ?? op;

/** Why an expression has no value. Each code has one sentence, with its facts filled in. */
const messages = {
  /** A property was read from something that has none. */
  E_NOT_AN_OBJECT: (p: { key: string; of: string; actual: string; why?: string }) =>
    `\`${p.key}\` cannot be read: ${p.of} is ${p.actual}${p.why ?? ''}`,
  /** A computed key is neither text nor a number. */
  E_KEY_TYPE: (p: { actual: string }) => `a key must be text or a number, not ${p.actual}`,
  /** Two values that this comparison does not order or equate. */
  E_COMPARE_TYPES: (p: { op: string; left: string; right: string }) =>
    `\`${signOf(p.op)}\` cannot compare ${p.left} with ${p.right}`,
  /** A condition that takes booleans only met something else. */
  E_NOT_A_BOOLEAN: (p: { actual: string }) => `a condition must be true or false, not ${p.actual}`,
  /** A value that is spread into a list is not a list. */
  E_NOT_A_LIST: (p: { actual: string }) => `only a list can be spread into a list, not ${p.actual}`,
  /** A calculation met a value that is not a number. */
  E_OPERAND_TYPES: (p: { op: string; actual: string }) =>
    `\`${signOf(p.op)}\` cannot calculate with ${p.actual}`,
  /** A calculation has no result in numbers: a division by zero, or too large a power. */
  E_NUMBER: (p: { op: string; value: number }) =>
    `\`${signOf(p.op)}\` gives ${p.value}, which is not a finite number`,
  /** A whole number so large that its neighbours can no longer be distinguished from it. */
  E_UNSAFE_INTEGER: (p: { op: string; value: number }) =>
    `\`${signOf(p.op)}\` meets ${p.value}, and whole numbers beyond 2^53 - 1 are not exact`,
  /** A function or method was given a value of another kind. */
  E_ARGUMENT_TYPE: (p: { fn: string; takes: string; actual: string }) =>
    `\`${p.fn}\` takes ${p.takes}, not ${p.actual}`,
  /** A value of a template is not there. */
  E_UNDEFINED: (p: { what: string }) => `${p.what} has no value: it is undefined`,
  /** A function cannot do what it was asked to with a value of the right kind. */
  E_VALUE: (p: { fn: string; problem: string }) => `\`${p.fn}\`: ${p.problem}`,
  /** A text is not JSON. */
  E_PARSE_JSON: (p: { text: string }) => `\`parse_json\` cannot read ${p.text} as JSON`,
  /** A step reads a state field that it does not declare. */
  E_ACCESS: (p: { field: string }) =>
    `the state field \`${p.field}\` is not among those that this step may read`,
  /** A local name that nothing around it binds. */
  E_UNKNOWN_NAME: (p: { name: string }) => `nothing here is named \`${p.name}\``,
  E_UNKNOWN_FUNCTION: (p: { fn: string }) => `there is no function \`${p.fn}\``,
  E_ARITY: (p: { fn: string; takes: string; count: number }) =>
    `\`${p.fn}\` takes ${p.takes}, and ${p.count} were given`,
  /** A strict reference found nothing. */
  E_REF_MISSING: (p: { ref: string; key?: string; of?: string; actual?: string }) =>
    p.key === undefined
      ? `${p.ref} has no value`
      : `${p.ref} finds nothing: ${p.of} is ${p.actual}, and has no \`${p.key}\``,
  /** A text met null, absent, a list or an object. */
  E_TEXT_VALUE: (p: { of: string; actual: string }) =>
    `${p.of} is ${p.actual}, and only text, numbers and booleans can be part of a text`,
  /** Part of the language's design, and not of this version's evaluator. */
  E_UNSUPPORTED: (p: { what: string }) => `this version cannot evaluate ${p.what}`,
  E_DEPTH: (p: { what: string; limit: number }) => `${p.what} is nested deeper than ${p.limit} levels`,
  E_BUDGET: (p: { limit: number }) => `the evaluation takes more than its budget of ${p.limit} units`,
} as const satisfies Partial<Record<RunTimeCode, (params: never) => string>>;

export type ExpressionErrorCode = keyof typeof messages;

/** Thrown when an expression has no value. `message` is one sentence for people. */
export class ExpressionError extends Error {
  readonly code: ExpressionErrorCode;
  /** The location of the failing part in the file of its node, when the front end said so. */
  readonly at?: Span;

  constructor(code: ExpressionErrorCode, message: string, at?: Span) {
    super(message);
    this.name = 'ExpressionError';
    this.code = code;
    if (at !== undefined) this.at = at;
  }
}

/** Builds the error of a code; a missing or misspelt fact is a type error. */
export function expressionError<C extends ExpressionErrorCode>(
  code: C,
  params: Parameters<(typeof messages)[C]>[0],
  at?: Span,
): ExpressionError {
  const text = messages[code] as (params: Parameters<(typeof messages)[C]>[0]) => string;
  return new ExpressionError(code, text(params), at);
}

/** What one expression may cost that a reader of a run evaluates. See {@link Budget} for the unit. */
export const EXPRESSION_BUDGET = 1_000_000;

/**
 * How much work evaluation may do: one unit for each tree node, each item or entry, and each character that is
 * compared or written. One budget may serve many evaluations.
 */
export class Budget {
  readonly #limit: number;
  #left: number;

  /** @param limit what a failure names, where a part of it is used up already. Default: `units`. */
  constructor(units: number, limit = units) {
    this.#limit = limit;
    this.#left = units;
  }

  /** Units not used yet. */
  get remaining(): number {
    return this.#left;
  }

  /**
   * Takes units away before the work is done.
   * @throws ExpressionError `E_BUDGET` when too few are left.
   */
  charge(units: number, at?: Span): void {
    // Written so that NaN fails as well.
    if (!(units <= this.#left)) {
      this.#left = 0;
      throw expressionError('E_BUDGET', { limit: this.#limit }, at);
    }
    this.#left -= units;
  }
}

/** `steps.list.pages`, for sentences. */
export function describePath(root: RefRoot, path: readonly (string | number)[]): string {
  // Authors write how a node settled beside its value: `steps.check.status`.
  return `\`${[root === 'nodes' ? 'steps' : root, ...path].join('.')}\``;
}

/** `state.plan.title` for a reference and keys that are written; `other` for all else. */
export function describeSource(expr: Expr | string, other = 'the value before it'): string {
  const keys: (string | number)[] = [];
  let at = expr;
  while (typeof at !== 'string' && at.kind === 'get' && at.key.kind === 'literal') {
    keys.unshift(String(at.key.value));
    at = at.of;
  }
  return typeof at !== 'string' && at.kind === 'ref' ? describePath(at.root, [...at.path, ...keys]) : other;
}
