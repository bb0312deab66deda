import { z } from 'zod';
import { dictSchema, exprSchema } from '../expression/schema.js';
import type { Expr } from '../expression/tree.js';
import type { Arm, BranchCase, Node, NodeKind, Scope } from '../model.js';
import { FUNCTION_NAME_RULE } from '../names.js';
import { retrySchema, schemaObject, source } from './parts.js';

/** Every kind of the model, and whether this version runs it. A kind that is missing here is a type error. */
export const nodeKinds: Readonly<Record<NodeKind, boolean>> = {
  call: true,
  resource: true,
  compute: true,
  branch: true,
  parallel: true,
  foreach: true,
  workflow: true,
  ask: true,
  wait: true,
  set: true,
  return: true,
  goto: true,
  error: true,
  compensate: true,
  shell: false,
  delegate: false,
};

const base = {
  id: z.string(),
  title: z.string().exactOptional(),
  guidance: exprSchema.exactOptional(),
  embed: z.boolean().exactOptional(),
  summary: exprSchema.exactOptional(),
  after: z.array(z.string()),
  join: z.enum(['all_success', 'none_failed', 'none_failed_min_one_success', 'one_success', 'all_done']),
  when: exprSchema.exactOptional(),
  reads: z.array(z.string()).exactOptional(),
  retry: retrySchema.exactOptional(),
  timeoutMs: z.number().positive().exactOptional(),
  executor: z.literal('server'),
  ...source,
};

const onError = z
  .strictObject({ fallbackNode: z.string().exactOptional(), value: exprSchema.exactOptional() })
  .refine((given) => 'fallbackNode' in given !== 'value' in given, {
    error: 'either a `fallbackNode` takes over or a `value` stands in',
  }) as unknown as z.ZodType<NonNullable<Node['onError']>>;

/** What nodes have that may fail for good and be stood in for. */
const fallible = { ...base, onError: onError.exactOptional() };

const compensation = z.strictObject({
  tool: z.string(),
  input: dictSchema,
  ignoreError: z.boolean().exactOptional(),
});

const nodes = z.array(z.lazy(() => nodeSchema));
const scope: z.ZodType<Scope> = z.strictObject({ nodes, value: exprSchema.exactOptional() });

const arm = { id: z.string(), body: scope.exactOptional(), goto: z.string().exactOptional() };
const oneWay = { error: 'an arm has either a `body` or a `goto`' };
const branchCase = z
  .strictObject({ ...arm, when: exprSchema })
  .refine(leadsOneWay, oneWay) as unknown as z.ZodType<BranchCase>;
const elseArm = z.strictObject(arm).refine(leadsOneWay, oneWay) as unknown as z.ZodType<Arm>;

const functionRef = z.strictObject({
  name: z.string().regex(FUNCTION_NAME_RULE),
  hash: z.string().regex(/^[0-9a-f]{64}$/, { error: 'not a sha256 in hexadecimal' }),
});

const compute = z
  .strictObject({
    kind: z.literal('compute'),
    ...fallible,
    value: exprSchema,
    function: functionRef.exactOptional(),
  })
  .refine(({ value, function: called }) => called === undefined || isArgumentList(value), {
    path: ['value'],
    error: 'the arguments of a function are a list without spreads',
  });

const parallel = z
  .strictObject({
    kind: z.literal('parallel'),
    ...fallible,
    branches: z.array(z.strictObject({ id: z.string(), body: scope })).min(1),
    concurrency: z.int().positive().exactOptional(),
    onPartialFailure: z.enum(['abort', 'continue', 'rollback']),
    compensateNode: z.string().exactOptional(),
  })
  .refine((node) => node.compensateNode === undefined || node.onPartialFailure === 'rollback', {
    path: ['compensateNode'],
    error: 'nothing but `rollback` undoes',
  });

const ask = z
  .strictObject({
    kind: z.literal('ask'),
    ...fallible,
    mode: z.enum(['info', 'confirm', 'text', 'choice', 'yield']),
    message: exprSchema,
    options: exprSchema.exactOptional(),
    expects: schemaObject.exactOptional(),
  })
  .refine(({ mode, options }) => (mode === 'choice') === (options !== undefined), {
    path: ['options'],
    error: 'a `choice` has options, and nothing else has',
  })
  .refine(({ mode, expects }) => (mode === 'yield') === (expects !== undefined), {
    path: ['expects'],
    error: 'a `yield` says what it expects, and nothing else does',
  });

const wait = z
  .strictObject({
    kind: z.literal('wait'),
    ...fallible,
    durationMs: exprSchema.exactOptional(),
    until: exprSchema.exactOptional(),
  })
  .refine(({ durationMs, until }) => (durationMs === undefined) !== (until === undefined), {
    error: 'a wait has either `durationMs` or `until`',
  });

/** A node of any kind this version runs, with all that stands in it. Anything else, unknown keys included, is refused. */
export const nodeSchema: z.ZodType<Node> = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('call'),
    ...fallible,
    tool: z.string(),
    input: dictSchema,
    compensate: compensation.exactOptional(),
  }),
  z.strictObject({ kind: z.literal('resource'), ...fallible, resource: z.string(), uri: exprSchema }),
  compute,
  z.strictObject({
    kind: z.literal('branch'),
    ...fallible,
    cases: z.array(branchCase).min(1),
    else: elseArm.exactOptional(),
  }),
  parallel,
  z.strictObject({
    kind: z.literal('foreach'),
    ...fallible,
    items: exprSchema,
    as: z.string().min(1),
    indexAs: z.string().min(1).exactOptional(),
    body: scope,
    concurrency: z.int().positive(),
    max: z.int().positive(),
    onItemError: z.enum(['fail', 'continue']),
  }),
  z.strictObject({ kind: z.literal('workflow'), ...fallible, workflow: z.string(), input: dictSchema }),
  ask,
  wait,
  z.strictObject({
    kind: z.literal('set'),
    ...fallible,
    updates: z.array(z.strictObject({ field: z.string(), value: exprSchema })).min(1),
  }),
  z.strictObject({ kind: z.literal('return'), ...base, value: exprSchema }),
  z.strictObject({
    kind: z.literal('goto'),
    ...fallible,
    target: z.string(),
    max: z.int().positive(),
    onLimit: z.enum(['fail', 'continue']),
  }),
  z.strictObject({
    kind: z.literal('error'),
    ...base,
    message: exprSchema,
    code: z.string().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('compensate'), ...base, steps: z.array(compensation).min(1) }),
]);

function leadsOneWay(given: object): boolean {
  return 'body' in given !== 'goto' in given;
}

function isArgumentList(value: Expr): boolean {
  return value.kind === 'list' && value.items.every((item) => item.spread === undefined);
}
