import { childrenOf } from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Graph } from '../graph/model.js';
import { expressionsOf } from '../graph/nodes.js';
import { planOf } from '../plan/compile.js';
import { type CheckEnvironment, withTasks } from './environment.js';
import { type Locals, type Names, typeOf, without } from './type-of.js';
import { itemOf, typesOf } from './value-type.js';
import { namesOf } from './values.js';

/**
 * Whether a condition of a workflow may be a list or an object, which is true wherever it is there. It is, for certain,
 * only if this is true; where nothing is known of a value, this is true as well.
 */
export function mayHaveCompositeConditions(graph: Graph, registered: CheckEnvironment): boolean {
  const { main } = planOf(graph);
  const namesIn = namesOf(main, withTasks(registered, graph));
  const ofNodes = main.nodes.some(({ node, scope }) =>
    expressionsOf(node).some((expr) => mayTest(expr, namesIn(scope), new Map())),
  );
  return (
    ofNodes ||
    main.scopes.some((scope) => scope.value !== undefined && mayTest(scope.value, namesIn(scope), new Map()))
  );
}

/** Whether a part of an expression is tested for its truth, and may be a list or an object. */
function mayTest(expr: Expr, names: Names, locals: Locals): boolean {
  const inside = (part: Expr): boolean => mayTest(part, names, locals);
  const isDoubtful = (part: Expr): boolean => mayBeComposite(part, names, locals) || inside(part);
  switch (expr.kind) {
    case 'conditional':
      return isDoubtful(expr.test) || inside(expr.then) || (expr.else !== undefined && inside(expr.else));
    case 'and':
    case 'or':
      return expr.items.some(isDoubtful);
    case 'not':
      return isDoubtful(expr.of);
    case 'each': {
      const inner = new Map([...locals, [expr.as, itemOf(typeOf(expr.in, names, locals))]]);
      const innerNames = without(names, [expr.as, expr.indexAs ?? expr.as]);
      const isTest = expr.mode !== 'map' && mayBeComposite(expr.body, innerNames, inner);
      return isTest || inside(expr.in) || mayTest(expr.body, innerNames, inner);
    }
    case 'let': {
      const inner = new Map([...locals, [expr.name, typeOf(expr.value, names, locals)]]);
      return inside(expr.value) || mayTest(expr.body, without(names, [expr.name]), inner);
    }
    default:
      return childrenOf(expr).some(({ expr: child }) => inside(child));
  }
}

function mayBeComposite(expr: Expr, names: Names, locals: Locals): boolean {
  const types = typesOf(typeOf(expr, names, locals));
  return types === undefined || types.has('array') || types.has('object');
}
