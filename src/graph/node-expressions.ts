import type { Expr } from './expression/tree.js';
import type { Compensation, Node, Scope } from './model.js';
import { unreachable } from './unreachable.js';

/**
 * The expressions a node needs values for before it acts, in declaration order; those of nested scopes are not among
 * them. Its condition, its guidance and what follows a failure stand apart: see `sideExpressions`.
 */
export function valueExpressions(node: Node): Expr[] {
  switch (node.kind) {
    case 'call':
    case 'workflow':
      return [node.input];
    case 'resource':
      return [node.uri];
    case 'return':
    case 'compute':
      return [node.value];
    case 'error':
      return [node.message];
    case 'branch':
      return node.cases.map((branch) => branch.when);
    case 'foreach':
      return [node.items];
    case 'ask':
      return present(node.message, node.options);
    case 'shell':
      return present(node.command, node.argv, node.env);
    case 'delegate':
      return [node.prompt];
    case 'wait':
      return present(node.durationMs, node.until);
    case 'set':
      return node.updates.map((update) => update.value);
    case 'parallel':
    case 'goto':
    case 'compensate':
      return [];
    default:
      return unreachable(node);
  }
}

/** The condition and the guidance of a node, and the value that stands in for its failure. What they name only orders. */
export function sideExpressions(node: Node): Expr[] {
  return present(node.when, node.guidance, fallbackValue(node));
}

/** What stands in for the value of a node that failed; the only expression that may name the `error`. */
export function fallbackValue({ onError }: Node): Expr | undefined {
  return onError !== undefined && 'value' in onError ? onError.value : undefined;
}

/** The calls a node undoes with: that of its own effect, or the steps of a `compensate` node. */
export function compensationsOf(node: Node): readonly Compensation[] {
  if (node.kind === 'compensate') return node.steps;
  return node.compensate === undefined ? [] : [node.compensate];
}

/** Every expression of a node itself, its summary and its compensations included; nested scopes are not. */
export function expressionsOf(node: Node): Expr[] {
  return [
    ...valueExpressions(node),
    ...sideExpressions(node),
    ...present(node.summary),
    ...compensationsOf(node).map(({ input }) => input),
  ];
}

/** A body of a container. */
export interface Body {
  /** The arm or branch it is; missing for the one body of a loop. */
  readonly arm?: string;
  readonly scope: Scope;
}

/** The bodies of a node in declaration order; none for a node that is no container. */
export function bodiesOf(node: Node): Body[] {
  switch (node.kind) {
    case 'branch':
      return [...node.cases, ...(node.else === undefined ? [] : [node.else])].flatMap((arm) =>
        'body' in arm ? [{ arm: arm.id, scope: arm.body }] : [],
      );
    case 'parallel':
      return node.branches.map(({ id, body }) => ({ arm: id, scope: body }));
    case 'foreach':
      return [{ scope: node.body }];
    default:
      return [];
  }
}

/** All nodes of a graph or scope, a container before what stands in it. Other workflows are not looked into. */
export function nodesOf({ nodes }: { readonly nodes: readonly Node[] }): Node[] {
  const found: Node[] = [];
  const collect = (node: Node): void => {
    found.push(node);
    for (const { scope } of bodiesOf(node)) scope.nodes.forEach(collect);
  };
  nodes.forEach(collect);
  return found;
}

function present(...parts: readonly (Expr | undefined)[]): Expr[] {
  return parts.filter((part) => part !== undefined);
}
