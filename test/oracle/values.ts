import type { Expr } from '../../src/graph/expression/tree.js';
import type { JsonObject, Value } from '../../src/graph/json.js';
import { ExpressionFault, evaluateTree, type Lookup } from './expressions.js';
import type { Fault, Instance, Part, Run } from './run.js';

/** Thrown where something a node needs has no value, or one that does not do. */
export class NoValue extends Error {
  readonly fault: Fault;

  /** What is computed comes out the same when it is tried again. */
  constructor(code: string, message = '') {
    super(message);
    this.fault = { code, message, again: false };
  }
}

/** The value of an expression at its position. @throws NoValue */
export function read(run: Run, part: Part, expr: Expr, error: JsonObject = {}): Value {
  return readWith(expr, lookupIn(run, part, error));
}

/** What names mean in a scope at the moment they are looked up. */
export function lookupIn(run: Run, part: Part, error: JsonObject = {}): Lookup {
  return (root, name) => {
    switch (root) {
      case 'inputs':
        return own(part.frame.inputs, name);
      case 'state': {
        const fields = fieldsWith(run, part, name);
        const field = part.frame.graph.state?.find((each) => each.name === name);
        return fields.has(name) ? fields.get(name) : field?.initial;
      }
      case 'steps': {
        const found = visible(part, name);
        return found?.status === 'succeeded' || !run.rules.jumpForgets ? found?.value : undefined;
      }
      case 'nodes':
        return settled(visible(part, name));
      case 'error':
        return own(error, name);
      default:
        return part.names.get(name);
    }
  };
}

/** The fields of which one with this name is: those of the run, or those of the workflow. */
export function fieldsWith(run: Run, { frame }: Part, name: string): Map<string, Value> {
  const declared = frame.graph.state?.find((each) => each.name === name);
  return declared?.scope === 'workflow' && !run.rules.sharesFields ? frame.fields : run.fields;
}

/** How a node settled. One that is nowhere is in an arm or a branch that never began. */
function settled(instance: Instance | undefined): Value {
  if (instance === undefined) return { status: 'skipped' };
  const { status, fault, replaced, reached, node } = instance;
  switch (status) {
    case 'succeeded':
    case 'failed':
    case 'handled': {
      const failure = status === 'succeeded' ? replaced : fault;
      if (failure === undefined) return { status };
      const { code, message } = failure;
      return { status, error: { code, message, attempts: reached, node: node.id } };
    }
    case 'skipped':
    case 'cancelled':
      return { status };
    default:
      return undefined;
  }
}

/** @throws NoValue */
export function readWith(expr: Expr, lookup: Lookup): Value {
  try {
    return evaluateTree(expr, lookup);
  } catch (thrown) {
    if (thrown instanceof ExpressionFault) throw new NoValue(thrown.code);
    throw thrown;
  }
}

/** A condition: null and absent count as false, and nothing else but a boolean will do. @throws NoValue */
export function holds(run: Run, part: Part, expr: Expr): boolean {
  const value = read(run, part, expr) ?? false;
  if (typeof value !== 'boolean') throw new NoValue('E_NOT_A_BOOLEAN');
  return value;
}

/** @throws NoValue */
export function readText(run: Run, part: Part, expr: Expr): string {
  const value = read(run, part, expr);
  if (typeof value !== 'string') throw new NoValue('E_NOT_TEXT');
  return value;
}

/** Does something, and something else where it comes to a value that is not there. */
export function attempt(what: () => void, otherwise: (fault: Fault) => void): void {
  try {
    what();
  } catch (thrown) {
    if (!(thrown instanceof NoValue)) throw thrown;
    otherwise(thrown.fault);
  }
}

/** The node of this id that a reader sees: in its scope, in those around it, and in branches and parallels there. */
export function visible(from: Part, id: string): Instance | undefined {
  for (let part: Part | undefined = from; part !== undefined; part = part.outer) {
    const found = within(part, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

function within(part: Part, id: string): Instance | undefined {
  for (const instance of part.nodes) {
    if (instance.node.id === id) return instance;
    if (instance.node.kind !== 'branch' && instance.node.kind !== 'parallel') continue;
    for (const inner of instance.parts) {
      const found = within(inner, id);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function own(object: JsonObject, name: string): Value {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
