import { ask } from './ask.js';
import { branch } from './branch.js';
import { call } from './call.js';
import { compensate } from './compensate.js';
import { compute } from './compute.js';
import { delegate } from './delegate.js';
import type { AnyDescriptor, KindTable, OwnPart } from './descriptor.js';
import { error } from './error.js';
import { foreach } from './foreach.js';
import { goto } from './goto.js';
import type { Node, NodeKind } from './node.js';
import { parallel } from './parallel.js';
import { resource } from './resource.js';
import { returnKind } from './return.js';
import { set } from './set.js';
import { shell } from './shell.js';
import { wait } from './wait.js';
import { workflow } from './workflow.js';

export type { AskNode } from './ask.js';
export type { Arm, BranchCase, BranchNode } from './branch.js';
export type { CallNode } from './call.js';
export type { CompensateNode } from './compensate.js';
export type { ComputeNode, FunctionRef } from './compute.js';

export type { ErrorNode } from './error.js';
export type { ForeachNode } from './foreach.js';
export type { GotoNode } from './goto.js';
export type { ParallelNode } from './parallel.js';
export type { ResourceNode } from './resource.js';
export type { ReturnNode } from './return.js';
export type { SetNode } from './set.js';

export type { WaitNode } from './wait.js';
export type { WorkflowNode } from './workflow.js';

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

/** The kinds this version runs. */
export type SupportedKind = {
  [K in NodeKind]: Kinds[K]['isSupported'] extends true ? K : never;
}[NodeKind];

/** The kinds whose value is made of the values of others. */
export type DerivedKind = { [K in NodeKind]: Kinds[K]['value'] extends 'derived' ? K : never }[NodeKind];

/** Whether a node's value is made of the values of others. */
export function hasDerivedValue(node: Node): node is Extract<Node, { kind: DerivedKind }> {
  return kinds[node.kind].value === 'derived';
}

/** What a host does for a node. */
export function workOf(node: OwnPart<Node>): 'call' | 'function' | 'none' {
  const work = kinds[node.kind].work as AnyDescriptor<Node>['work'];
  return typeof work === 'function' ? work(node) : work;
}

/** The descriptor of a node's kind. */
export function kindOf<N extends Node>({ kind }: N): AnyDescriptor<N> {
  return kinds[kind] as unknown as AnyDescriptor<N>;
}
