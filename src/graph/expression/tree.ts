import type { Json } from '../json.js';
import type { Span } from '../source-location.js';

/**
 * The one expression language: a typed tree, shared by every front end. No text is parsed at run time.
 * A node never means two things: where languages differ, the operator names differ (`eq.strict`, `truthy.js`).
 */
export type Expr =
  | LiteralExpr
  | RefExpr
  | GetExpr
  | SliceExpr
  | CompareExpr
  | LogicExpr
  | NotExpr
  | ArithmeticExpr
  | NegateExpr
  | ConditionalExpr
  | ListExpr
  | DictExpr
  | CallExpr
  | TextExpr
  | EachExpr
  | LetExpr;

interface ExprBase {
  /** Its location in the file of the node that holds it. */
  readonly at?: Span;
}

/** A constant. Without `value` it is absent (TypeScript's `undefined`). */
export interface LiteralExpr extends ExprBase {
  readonly kind: 'literal';
  readonly value?: Json;
}

/**
 * Where a reference starts. `local` is a name bound by `each` or `let`. `steps` has the values of nodes, and `nodes` how
 * they settled: `nodes.check.status` is one of `SETTLED_STATUSES`, `nodes.check.error` the failure of the node with
 * `code`, `message`, `attempts` and `node`. It is absent if the node did not fail, and there if a value or another node
 * replaces the failure. A reference to `nodes` orders, and never counts in the join.
 */
export type RefRoot = 'inputs' | 'state' | 'steps' | 'nodes' | 'item' | 'index' | 'error' | 'run' | 'local';

/**
 * A name and a path from it: `inputs.task`, `steps.list.pages.0`. The first path segment names the input, the
 * step or the state field; the rest is read as `get` reads, one segment after another. A `get` of a reference by a
 * written key is not a second spelling of it, but refused; see `readKey`.
 *
 * With `find` the path goes through items of lists and own keys of objects alone, and a reference may find nothing: a
 * name that has no value, an index beyond a list, a key that is not there, a key of null or of text. `strict` is then
 * the error E_REF_MISSING, except for an input that the caller left out, which is absent. `optional` is absent, and only
 * orders. Null is a value to both.
 */
export interface RefExpr extends ExprBase {
  readonly kind: 'ref';
  readonly root: RefRoot;
  readonly path: readonly (string | number)[];
  readonly find?: 'strict' | 'optional';
}

/**
 * A link of a chain: `get`, `slice`, `each`, and the call of a method (see `functions.ts`). Its subject is what comes
 * before the dot: `of`, `in`, the first of `args`. Where an `optional` link (`?.`) meets null or absent, the whole
 * chain of links ends as absent, and nothing behind it is evaluated.
 */
interface LinkBase extends ExprBase {
  readonly optional?: true;
}

/**
 * A property or an array item. Own properties only. A property that is not there is absent; reading from null or
 * absent is the error E_NOT_AN_OBJECT, unless `optional`.
 */
export interface GetExpr extends LinkBase {
  readonly kind: 'get';
  readonly of: Expr;
  readonly key: Expr;
}

/**
 * A part of a list or text. `js` is JavaScript's `slice`: text by UTF-16 code units, negative bounds count from the
 * end, absent bounds are the ends, and there is no `step`. `py` is Python's: text by code points.
 */
export interface SliceExpr extends LinkBase {
  readonly kind: 'slice';
  readonly style: 'js' | 'py';
  readonly of: Expr;
  readonly start?: Expr;
  readonly end?: Expr;
  readonly step?: Expr;
}

/**
 * `eq.strict` is `===` on JSON scalars, `eq.deep` compares values of any kind by their content; `lt.js` and its like
 * compare two numbers or two strings.
 */
export type CompareOp =
  | 'eq.strict'
  | 'ne.strict'
  | 'lt.js'
  | 'le.js'
  | 'gt.js'
  | 'ge.js'
  | 'eq.deep'
  | 'ne.deep'
  | PythonComparison;

/** A comparison; several `ops` chain as in `a < b < c`. */
export interface CompareExpr extends ExprBase {
  readonly kind: 'compare';
  readonly left: Expr;
  readonly ops: readonly { readonly op: CompareOp; readonly right: Expr }[];
}

/** How a value counts as true. `boolean` accepts booleans only. */
export type Truth = 'truthy.js' | 'truthy.py' | 'boolean';

/** `and`, `or`: evaluated from the left, ends early, yields the deciding operand as JavaScript and Python do. */
export interface LogicExpr extends ExprBase {
  readonly kind: 'and' | 'or';
  readonly truth: Truth;
  readonly items: readonly Expr[];
}

interface NotExpr extends ExprBase {
  readonly kind: 'not';
  readonly truth: Truth;
  readonly of: Expr;
}

export type ArithmeticOp = 'add.js' | 'sub' | 'mul' | 'div' | 'mod.js' | 'pow' | PythonArithmetic;

export type PythonArithmetic =
  | 'add.py'
  | 'sub.py'
  | 'mul.py'
  | 'div.py'
  | 'floordiv.py'
  | 'mod.py'
  | 'pow.py'
  | 'concat.py';

export type PythonComparison = 'eq.py' | 'ne.py' | 'lt.py' | 'le.py' | 'gt.py' | 'ge.py' | 'in.py';

/**
 * `add.js` adds two numbers, or joins text with what a text takes; the others take numbers only, but for those of Python. A result that
 * is not finite is the error E_NUMBER, a whole number beyond 2^53 - 1 on either side E_UNSAFE_INTEGER. There is no
 * negative zero.
 */
export interface ArithmeticExpr extends ExprBase {
  readonly kind: 'arithmetic';
  readonly op: ArithmeticOp;
  readonly left: Expr;
  readonly right: Expr;
}

interface NegateExpr extends ExprBase {
  readonly kind: 'negate';
  readonly of: Expr;
}

/** `test ? then : else`. Without `else` the other side is absent. Only the chosen side is evaluated. */
interface ConditionalExpr extends ExprBase {
  readonly kind: 'conditional';
  readonly truth: Truth;
  readonly test: Expr;
  readonly then: Expr;
  readonly else?: Expr;
}

/**
 * An array; `spread` items must be arrays and are poured in. An absent item stays absent while the tree is evaluated,
 * and is null in its value.
 */
export interface ListExpr extends ExprBase {
  readonly kind: 'list';
  readonly items: readonly { readonly value: Expr; readonly spread?: true }[];
}

/** An object, in written order. A key whose value is absent is left out in the end; a later key replaces an earlier one. */
export interface DictExpr extends ExprBase {
  readonly kind: 'dict';
  readonly entries: readonly DictEntry[];
}

export type DictEntry = { readonly key: string; readonly value: Expr } | { readonly spread: Expr };

/** A function of the closed table in `functions.ts`. Only methods are links, and only they may be `optional`. */
export interface CallExpr extends LinkBase {
  readonly kind: 'call';
  readonly fn: string;
  readonly args: readonly Expr[];
}

/**
 * Text with values in it: text, numbers and booleans. Null, absent, lists and objects are the error E_TEXT_VALUE.
 */
export interface TextExpr extends ExprBase {
  readonly kind: 'text';
  /** What writes the text: a class or a program, a text for readers, a spec file. One rule holds for all. */
  readonly style: 'js' | 'display' | 'strict';
  readonly parts: readonly (string | Expr)[];
}

interface EachBase extends LinkBase {
  readonly kind: 'each';
  /** The local name of the item in `body`. */
  readonly as: string;
  /** The local name of the item's place, counted from 0. */
  readonly indexAs?: string;
  /** What is gone through; anything but a list is the error E_ARGUMENT_TYPE. */
  readonly in: Expr;
  /** Evaluated once for each item, in order. */
  readonly body: Expr;
}

/** The list of the bodies' values. */
interface MapExpr extends EachBase {
  readonly mode: 'map';
}

/**
 * Puts a question to each item: `filter` is the list of the items whose body counts as true, `find` the first of them
 * or else absent, `some` and `every` whether one or all do. All but `filter` end as soon as the answer is known.
 */
export interface QuestionExpr extends EachBase {
  readonly mode: 'filter' | 'find' | 'some' | 'every';
  readonly truth: Truth;
}

/** The one form of a function over a list; its arrow is `as`, `indexAs` and `body`. */
export type EachExpr = MapExpr | QuestionExpr;

/** A name for a value, known in `body` as `local`. An inner name hides an outer one. */
interface LetExpr extends ExprBase {
  readonly kind: 'let';
  readonly name: string;
  readonly value: Expr;
  readonly body: Expr;
}
