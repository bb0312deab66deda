import { call, compensate, resource, workflow } from './calls.js';
import { branch, foreach, parallel } from './containers.js';
import type { AnyDescriptor, KindTable, Worker } from './descriptor.js';
import { error, goto, returnKind } from './exits.js';
import type { Node, NodeKind } from './node.js';
import { compute, set } from './values.js';
import { ask, delegate, shell, wait } from './waits.js';

export type { CallNode, CompensateNode, ResourceNode, WorkflowNode } from './calls.js';
export type { Arm, BranchCase, BranchNode, ForeachNode, ParallelNode } from './containers.js';
export type { ErrorNode, GotoNode, ReturnNode } from './exits.js';
export type { ComputeNode, FunctionRef, SetNode } from './values.js';
export type { AskNode, DelegateNode, ShellNode, WaitNode } from './waits.js';

/** Every kind of node. One that is missing here is a type error. */
export const kinds = {
  call,
  resource,
  compute,
  branch,
  parallel,
  foreach,
  workflow,
  ask,
  shell,
  delegate,
  wait,
  set,
  return: returnKind,
  goto,
  error,
  compensate,
} satisfies KindTable;

type Kinds = typeof kinds;

/** The kinds whose value is made of the values of others. */
export type DerivedKind = { [K in NodeKind]: Kinds[K]['value'] extends 'derived' ? K : never }[NodeKind];

/** Whether a node's value is made of the values of others. */
export function hasDerivedValue(node: Node): node is Extract<Node, { kind: DerivedKind }> {
  return kinds[node.kind].value === 'derived';
}

/** What a host does for a node. */
export function workOf(node: Worker<Node>): 'call' | 'function' | 'none' {
  const work = kinds[node.kind].work as AnyDescriptor<Node>['work'];
  return typeof work === 'function' ? work(node) : work;
}

/** The descriptor of a node's kind. */
export function kindOf<N extends Node>({ kind }: N): AnyDescriptor<N> {
  return kinds[kind] as unknown as AnyDescriptor<N>;
}
