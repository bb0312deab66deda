import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { MAX_JUMPS } from '../limits.js';
import { FUNCTION_NAME_RULE, failureCodeFault } from '../names.js';
import { call, compensate, resource, workflow } from './calls.js';
import { branch, foreach, parallel } from './containers.js';
import {
  type AnyDescriptor,
  type KindDescriptor,
  type KindTable,
  outOfRange,
  times,
  usualKind,
  type Worker,
  wholeNumber,
} from './descriptor.js';
import type { Node, NodeBase, NodeKind } from './node.js';
import { ask, delegate, shell, wait } from './waits.js';

declare module './node.js' {
  interface NodesByKind {
    readonly compute: ComputeNode;
    readonly set: SetNode;
    readonly return: ReturnNode;
    readonly error: ErrorNode;
    readonly goto: GotoNode;
  }
}

/** Ends its workflow with a value, also from within a branch or a loop. */
export interface ReturnNode extends NodeBase {
  readonly kind: 'return';
  readonly value: Expr;
}

const returnKind: KindDescriptor<ReturnNode> = {
  ...usualKind,
  schema: ({ z, base, expr }): z.ZodType<ReturnNode> =>
    z.strictObject({ kind: z.literal('return'), ...base, value: expr }),
  expressions: { value: true },
  value: 'none',
  exit: 'return',
  isStep: false,
  describe: ({ value }, print) => `return ${print(value)}`,
  shape: 'end',
};

/**
 * Ends its scope as failed with this message and code. The failure goes up as any other does, and fails the run where
 * nothing handles it.
 */
export interface ErrorNode extends NodeBase {
  readonly kind: 'error';
  readonly message: Expr;
  /** The author's own code; see `failureCodeFault`. Default: `E_FAIL`. */
  readonly code?: string;
}

const error: KindDescriptor<ErrorNode> = {
  ...usualKind,
  schema: ({ z, base, expr }): z.ZodType<ErrorNode> =>
    z.strictObject({ kind: z.literal('error'), ...base, message: expr, code: z.string().exactOptional() }),
  expressions: { message: true },
  value: 'none',
  exit: 'failure',
  isStep: false,
  faults: ({ id, code }) => {
    const problem = code === undefined ? undefined : failureCodeFault(code);
    if (code === undefined || problem === undefined) return [];
    return [{ code: 'SW4036', params: { step: id, code, problem } }];
  },
  describe: ({ message, code }, print) =>
    `fail with ${print(message)}${code === undefined ? '' : `, code ${code}`}`,
  shape: 'end',
};

/**
 * Goes back to a node declared earlier in its own scope: everything from there to this node starts over, without the
 * outputs it had. State stays.
 */
export interface GotoNode extends NodeBase {
  readonly kind: 'goto';
  readonly target: string;
  /** How often it jumps at most. */
  readonly max: number;
  /** Past that, the node fails with E_LOOP_LIMIT, or succeeds and the run goes on behind it. */
  readonly onLimit: 'fail' | 'continue';
}

const goto: KindDescriptor<GotoNode> = {
  ...usualKind,
  schema: ({ z, fallible }): z.ZodType<GotoNode> =>
    z.strictObject({
      kind: z.literal('goto'),
      ...fallible,
      target: z.string(),
      max: z.int().positive(),
      onLimit: z.enum(['fail', 'continue']),
    }),
  expressions: {},
  value: 'none',
  exit: 'jump',
  faults: (node) => outOfRange(node, 'max', node.max, wholeNumber(1, MAX_JUMPS)),
  describe: ({ target, max, onLimit }) =>
    `go back to ${target}, at most ${times(max)}${onLimit === 'fail' ? '' : ', then go on'}`,
  shape: 'control',
};

/** An exported pure function beside the graph: the registry imports it, a host runs it, the engine never does. */
export interface FunctionRef {
  /** What it is known by in the registry: the name it is exported by, qualified where that may not be enough. */
  readonly name: string;
  /** sha256 of its source, 64 hexadecimal digits: another body is another graph. */
  readonly hash: string;
}

/** A computed value: that of `value`, or, with `function`, what the function makes of the arguments `value` lists. */
export interface ComputeNode extends NodeBase {
  readonly kind: 'compute';
  /** With `function` a `list` without spreads, one item for each argument; an absent argument is passed as null. */
  readonly value: Expr;
  readonly function?: FunctionRef;
}

const compute: KindDescriptor<ComputeNode, 'derived'> = {
  ...usualKind,
  schema: ({ z, fallible, expr }): z.ZodType<ComputeNode> =>
    z
      .strictObject({
        kind: z.literal('compute'),
        ...fallible,
        value: expr,
        function: z
          .strictObject({
            name: z.string().regex(FUNCTION_NAME_RULE),
            hash: z.string().regex(/^[0-9a-f]{64}$/, { error: 'not a sha256 in hexadecimal' }),
          })
          .exactOptional(),
      })
      .refine(({ value, function: called }) => called === undefined || isArgumentList(value), {
        path: ['value'],
        error: 'the arguments of a function are a list without spreads',
      }),
  expressions: { value: true },
  value: 'derived',
  work: (node) => (node.function === undefined ? 'none' : 'function'),
  isStep: false,
  describe: (node, print) =>
    node.function === undefined
      ? `compute ${print(node.value)}`
      : `compute ${node.function.name}(${print(node.value).slice(1, -1)})`,
  shape: 'step',
};

function isArgumentList(value: Expr): boolean {
  return value.kind === 'list' && value.items.every((item) => item.spread === undefined);
}

/** Writes fields of the run's state, all at once; values are read before any is written. Its value is the dict of them. */
export interface SetNode extends NodeBase {
  readonly kind: 'set';
  readonly updates: readonly { readonly field: string; readonly value: Expr }[];
}

const set: KindDescriptor<SetNode, 'derived'> = {
  ...usualKind,
  schema: ({ z, fallible, expr }): z.ZodType<SetNode> =>
    z.strictObject({
      kind: z.literal('set'),
      ...fallible,
      updates: z.array(z.strictObject({ field: z.string(), value: expr })).min(1),
    }),
  expressions: { updates: 'value' },
  value: 'derived',
  describe: ({ updates }, print) =>
    `set ${updates.map(({ field, value }) => `${field} = ${print(value)}`).join(', ')}`,
  shape: 'state',
};

export type { CallNode, CompensateNode, ResourceNode, WorkflowNode } from './calls.js';
export type { Arm, BranchCase, BranchNode, ForeachNode, ParallelNode } from './containers.js';
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

export type DerivedKind = { [K in NodeKind]: Kinds[K]['value'] extends 'derived' ? K : never }[NodeKind];

export function hasDerivedValue(node: Node): node is Extract<Node, { kind: DerivedKind }> {
  return kinds[node.kind].value === 'derived';
}

/** What a host does for a node. */
export function workOf(node: Worker<Node>): 'call' | 'function' | 'none' {
  const work = kinds[node.kind].work as AnyDescriptor<Node>['work'];
  return typeof work === 'function' ? work(node) : work;
}

export function kindOf<N extends Node>({ kind }: N): AnyDescriptor<N> {
  return kinds[kind] as unknown as AnyDescriptor<N>;
}
