import { childrenOf } from '../graph/expression/children.js';
import { isMethodCall } from '../graph/expression/functions.js';
import { references } from '../graph/expression/references.js';
import type { Expr, RefExpr } from '../graph/expression/tree.js';

/** A reference to a step that has to be there. */
export interface Need {
  readonly ref: RefExpr;
  /** The conditions within the expression under which it is evaluated. */
  readonly given: readonly Expr[];
}

/**
 * The references of an expression to steps that have to be there: the expression reads from what they give, and asks
 * nowhere before whether there is anything.
 * @param isNeeded whether the value of the whole expression has to be there as well.
 */
export function neededSteps(expr: Expr, isNeeded: boolean): Need[] {
  const found: Need[] = [];
  collect(expr, isNeeded, [], found);
  return found;
}

/** The steps that an expression names. */
export function namedSteps(expr: Expr): ReadonlySet<string> {
  const refs = references(expr).filter(({ ref }) => ref.root === 'steps');
  return new Set(refs.map(({ ref }) => String(ref.path[0])));
}

/** `given`: the conditions that hold here; whatever they name has been asked for. */
function collect(expr: Expr, isNeeded: boolean, given: readonly Expr[], found: Need[]): void {
  switch (expr.kind) {
    case 'ref': {
      const isRead = isNeeded || expr.path.length > 1;
      if (expr.root === 'steps' && isRead) found.push({ ref: expr, given });
      return;
    }
    case 'conditional':
      collect(expr.test, false, given, found);
      collect(expr.then, isNeeded, [...given, expr.test], found);
      if (expr.else !== undefined) {
        const otherwise: Expr = { kind: 'not', truth: expr.truth, of: expr.test };
        collect(expr.else, isNeeded, [...given, otherwise], found);
      }
      return;
    case 'and':
    case 'or': {
      let before = given;
      for (const [index, item] of expr.items.entries()) {
        collect(item, isNeeded && index === expr.items.length - 1, before, found);
        before = [...before, expr.kind === 'and' ? item : { kind: 'not', truth: expr.truth, of: item }];
      }
      return;
    }
    default: {
      const subject = subjectOf(expr);
      for (const child of childrenOf(expr))
        if (!child.guarded) collect(child.expr, child.expr === subject, given, found);
    }
  }
}

/** What stands before the dot. */
function subjectOf(expr: Expr): Expr | undefined {
  switch (expr.kind) {
    case 'get':
    case 'slice':
      return expr.of;
    case 'each':
      return expr.in;
    case 'call':
      return isMethodCall(expr) ? expr.args[0] : undefined;
    default:
      return undefined;
  }
}
