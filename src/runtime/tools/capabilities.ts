import { oncePerGraph } from '../../check/environment.js';
import { type InputFault, inputFaults, NO_TYPES } from '../../check/inputs.js';
import { valueFault } from '../../formats/json-schema/schema-compiler.js';
import { expressionFunctions } from '../../graph/expression/functions.js';
import { childrenOf } from '../../graph/expression/traversal.js';
import type { DictExpr, Expr } from '../../graph/expression/tree.js';
import { ownProperty } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { compensationsOf, expressionsOf, isServerCall, nodesOf, ownResources } from '../../graph/nodes.js';
import { clip } from '../../graph/printable-text.js';
import { thrownText } from './exceptions.js';
import type { Registry } from './registry.js';

/**
 * Something that the runs of a graph need of a server: a tool, a resource or a function of its registry, that a tool takes
 * and returns what it did (`contract`), an engine that knows the graph, or a worker of its queue at all. Plain JSON.
 */
export interface Capability {
  readonly kind: 'tool' | 'contract' | 'resource' | 'function' | 'engine' | 'worker';
  readonly name: string;
  /** What of it does not fit. */
  readonly problem?: string;
}

/** The needs of a graph that a server lacks, those of its tasks included. Empty: a run of it can continue there. */
export type MissingCapabilities = (graph: Graph) => readonly Capability[];

/** Looks for what a registry lacks, once for each graph. */
export function missingIn(registry: Registry): MissingCapabilities {
  return oncePerGraph((graph) => findMissing(registry, graph));
}

export function capabilityText({ kind, name, problem }: Capability): string {
  switch (kind) {
    case 'tool':
    case 'resource':
    case 'function':
      return `${kind} '${clip(name)}'${problem === undefined ? '' : `, which ${problem}`}`;
    case 'contract':
      return `tool '${clip(name)}' as it was: ${problem}`;
    case 'engine':
      return `a version of Stepwright that knows ${clip(name)}`;
    case 'worker':
      return `a worker of the queue '${clip(name)}'`;
    default:
      return kind satisfies never;
  }
}

function findMissing(registry: Registry, graph: Graph): readonly Capability[] {
  const missing = new Map<string, Capability>();
  const add = (capability: Capability): void => {
    const { kind, name } = capability;
    if (!missing.has(`${kind} ${name}`)) missing.set(`${kind} ${name}`, capability);
  };
  try {
    for (const node of [graph, ...(graph.tasks ?? [])].flatMap(nodesOf)) {
      if (isServerCall(node)) addCall(registry, node, add);
      for (const undo of compensationsOf(node)) addCall(registry, undo, add);
      const resources = ownResources(node).map(({ resource }) => resource);
      for (const name of node.kind === 'resource' ? [...resources, node.resource] : resources)
        if (ownProperty(registry.resources, name) === undefined) add({ kind: 'resource', name });
      if (node.kind === 'compute' && node.function !== undefined) {
        const { name, hash } = node.function;
        const entry = ownProperty(registry.functions ?? {}, name);
        if (entry === undefined) add({ kind: 'function', name });
        else if (entry.hash !== hash) add({ kind: 'function', name, problem: 'has another source here' });
      }
      for (const expr of expressionsOf(node)) addFunctions(expr, add);
    }
  } catch (error) {
    // A node or an expression of a later version.
    add({ kind: 'engine', name: `the workflow (${thrownText(error)})` });
  }
  return [...missing.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

interface ToolUse {
  readonly tool: string;
  readonly input: DictExpr;
}

function addCall({ tools }: Registry, { tool, input }: ToolUse, add: (capability: Capability) => void): void {
  const entry = ownProperty(tools, tool);
  if (entry === undefined) {
    add({ kind: 'tool', name: tool });
    return;
  }
  const [fault] = inputFaults(input, entry.inputSchema, NO_TYPES, valueFault).filter(
    ({ kind }) => kind !== 'unnamed',
  );
  if (fault !== undefined) add({ kind: 'contract', name: tool, problem: problemText(fault) });
}

function problemText(fault: InputFault): string {
  const key = clip(fault.key);
  switch (fault.kind) {
    case 'unknown':
    case 'unnamed':
      return `it does not take '${key}' any more`;
    case 'missing':
      return `it requires '${key}' now`;
    case 'mismatch':
      return `it does not take the value of '${key}' any more: it takes ${fault.expected}, not ${fault.actual}`;
    case 'refused':
      return `it does not take the value of '${key}' any more: ${fault.problem}`;
    default:
      return fault satisfies never;
  }
}

function addFunctions(expr: Expr, add: (capability: Capability) => void): void {
  if (expr.kind === 'call' && !expressionFunctions.has(expr.fn))
    add({ kind: 'engine', name: `the expression function '${expr.fn}'` });
  for (const child of childrenOf(expr)) addFunctions(child.expr, add);
}
