import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import { FUNCTION_NAME_RULE } from '../names.js';
import { type KindDescriptor, usualKind } from './descriptor.js';
import type { NodeBase } from './node.js';

declare module './node.js' {
  interface NodesByKind {
    readonly compute: ComputeNode;
    readonly set: SetNode;
  }
}

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

export const compute: KindDescriptor<ComputeNode, 'derived'> = {
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

export const set: KindDescriptor<SetNode, 'derived'> = {
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
