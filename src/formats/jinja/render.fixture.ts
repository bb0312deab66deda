import { defined } from '../../graph/defined.js';
import { Budget, ExpressionError, evaluate } from '../../graph/expression/evaluate.js';
import { useRegexLibrary } from '../../graph/expression/python/texts.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json, JsonObject, Value } from '../../graph/json.js';
import type { Span } from '../../graph/source-location.js';
import { loadRe2 } from '../json-schema/regular-expression.js';
import { lowerTemplate, type TemplatePosition } from './lower.js';
import type { Place } from './syntax.js';
import { TemplateFault } from './tokens.js';

useRegexLibrary(loadRe2);

/** What the names in a template are: objects `state` and `inputs`, and values of other names. */
export type Context = Readonly<Record<string, JsonObject | Json>>;

/** The value of a template, or the code of its error: `fault` for one of the template itself. */
export type Rendered =
  | { readonly value: Value }
  | { readonly error: string; readonly message: string; readonly at?: readonly Place[] };

interface RenderOptions {
  /** In ms since the epoch. */
  readonly now?: number;
  readonly budget?: number;
  /** The location of a part of the template, by its offsets. */
  readonly at?: (start: number, end: number) => Span;
}

/** Lowers and evaluates a template. */
export function render(
  template: string,
  position: TemplatePosition,
  context: Context,
  { now = 0, budget = 1_000_000, at }: RenderOptions = {},
): Rendered {
  const { state = {}, inputs = {}, ...others } = context as Readonly<Record<string, JsonObject>>;
  const names = new Map(
    Object.keys(others).map((name): [string, Expr] => [
      name,
      { kind: 'ref', root: 'item', path: [name], find: 'optional' },
    ]),
  );
  try {
    const expr = lowerTemplate(template, position, {
      inputs: Object.keys(inputs),
      state: Object.keys(state),
      names,
      ...defined({ at }),
    });
    const lookup = (root: string, name: string | number): Value => {
      if (root === 'run') return now;
      const from = root === 'state' ? state : root === 'inputs' ? inputs : others;
      return Object.hasOwn(from, name) ? from[name] : undefined;
    };
    return { value: evaluate(expr, { lookup }, new Budget(budget)) };
  } catch (fault) {
    if (fault instanceof TemplateFault)
      return { error: 'fault', message: fault.message, at: [fault, ...fault.further] };
    if (fault instanceof ExpressionError) return { error: fault.code, message: fault.message };
    throw fault;
  }
}
