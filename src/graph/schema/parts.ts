import { z } from 'zod';
import type { ExpressionFunction } from '../expression/function.js';
import { describeArity, expressionFunctions, isMethodCall, takesArguments } from '../expression/functions.js';
import { pathKey } from '../expression/traversal.js';
import type { CallExpr, DictExpr, Expr } from '../expression/tree.js';
import { isJsonObject, type Json, type JsonSchema } from '../json.js';
import { BACKOFFS, type Compensation, JOIN_RULES, type OnError } from '../kinds/node.js';
import type { Span } from '../source-location.js';

// All schemas are made on first use: most servers read no graph, and start without them.

/** What the schemas of graphs and of their nodes are made of. */
export type GraphParts = ReturnType<typeof makeParts>;

let parts: GraphParts | undefined;

export function graphParts(): GraphParts {
  parts ??= makeParts();
  return parts;
}

function makeParts() {
  /** `[line, column, endLine, endColumn]`, counted from 1. */
  const span = z.tuple([z.int().positive(), z.int().positive(), z.int().positive(), z.int().positive()]);
  /** Any JSON value: plain objects, dense arrays, finite numbers. */
  const json: z.ZodType<Json> = z.custom<Json>(isJson, { error: 'not a JSON value' });
  const at = { at: span.exactOptional() };
  /** The expressions this version evaluates. Anything else, unknown keys included, is refused. */
  const expr: z.ZodType<Expr> = z.lazy(() => makeExprSchema({ expr, json, at }));
  /** A dict, for places that take nothing else. */
  const dict: z.ZodType<DictExpr> = z.lazy(() => makeDictSchema({ expr, at }));
  /** Where something was written. */
  const place = z.strictObject({ file: z.string(), span, pointer: z.string().exactOptional() });
  /** What everything has that an author wrote. */
  const source = { source: place.exactOptional() };
  /** A JSON Schema, kept as it is. */
  const schemaObject = json.refine(isJsonObject, {
    error: 'expected a JSON Schema object',
  }) as z.ZodType<JsonSchema>;
  const retry = z.strictObject({
    extra: z.int().nonnegative(),
    delayMs: z.number().nonnegative(),
    backoff: z.enum(BACKOFFS),
    capMs: z.number().nonnegative(),
    jitter: z.number().min(0).max(1),
  });
  /** The properties of nodes of all kinds. */
  const base = {
    id: z.string(),
    title: z.string().exactOptional(),
    guidance: expr.exactOptional(),
    embed: z.boolean().exactOptional(),
    summary: expr.exactOptional(),
    after: z.array(z.string()),
    join: z.enum(JOIN_RULES),
    when: expr.exactOptional(),
    reads: z.array(z.string()).exactOptional(),
    writes: z.string().exactOptional(),
    retry: retry.exactOptional(),
    timeoutMs: z.number().positive().exactOptional(),
    executor: z.literal('server'),
    ...source,
  };
  const onError = z
    .strictObject({ fallbackNode: z.string().exactOptional(), value: expr.exactOptional() })
    .refine((handler) => 'fallbackNode' in handler !== 'value' in handler, {
      error: 'either a `fallbackNode` runs or a `value` is used',
    }) as unknown as z.ZodType<OnError>;
  const compensation: z.ZodType<Compensation> = z.strictObject({
    tool: z.string(),
    input: dict,
    ignoreError: z.boolean().exactOptional(),
  });
  return { json, expr, dict, place, source, schemaObject, retry, base, onError, compensation };
}

/** What expressions are made of. */
interface ExprParts {
  readonly expr: z.ZodType<Expr>;
  readonly json: z.ZodType<Json>;
  readonly at: { readonly at: z.ZodExactOptional<z.ZodType<Span>> };
}

function makeDictSchema({ expr, at }: Pick<ExprParts, 'expr' | 'at'>) {
  const entry = z.union([z.strictObject({ key: z.string(), value: expr }), z.strictObject({ spread: expr })]);
  return z.strictObject({ kind: z.literal('dict'), entries: z.array(entry), ...at });
}

function makeExprSchema({ expr: child, json, at }: ExprParts) {
  const compareOp = z.enum([
    'eq.strict',
    'ne.strict',
    'lt.js',
    'le.js',
    'gt.js',
    'ge.js',
    'eq.deep',
    'ne.deep',
    ...(['eq.py', 'ne.py', 'lt.py', 'le.py', 'gt.py', 'ge.py', 'in.py'] as const),
  ]);
  const truth = z.enum(['truthy.js', 'truthy.py', 'boolean']);
  const root = z.enum(['inputs', 'steps', 'nodes', 'state', 'item', 'index', 'error', 'run', 'local']);
  const arithmeticOp = z.enum([
    ...(['add.js', 'sub', 'mul', 'div', 'mod.js', 'pow'] as const),
    ...(['add.py', 'sub.py', 'mul.py', 'div.py', 'floordiv.py', 'mod.py', 'pow.py', 'concat.py'] as const),
  ]);
  const optional = { optional: z.literal(true).exactOptional() };
  const logic = { truth, items: z.array(child).min(1), ...at };
  const callSchema = z
    .strictObject({ kind: z.literal('call'), fn: z.string(), args: z.array(child), ...optional, ...at })
    .superRefine((call, context) => {
      const problem = callProblem(call);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    });
  const localName = z.string().min(1);
  const each = {
    kind: z.literal('each'),
    as: localName,
    indexAs: localName.exactOptional(),
    in: child,
    body: child,
    ...optional,
    ...at,
  };
  return z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('literal'), value: json.exactOptional(), ...at }),
    z.strictObject({
      kind: z.literal('ref'),
      root,
      path: z.array(z.union([z.string(), z.int().nonnegative()])).min(1),
      find: z.enum(['strict', 'optional']).exactOptional(),
      ...at,
    }),
    z
      .strictObject({ kind: z.literal('get'), of: child, key: child, ...optional, ...at })
      .refine(
        ({ of, key, optional }) => of.kind !== 'ref' || optional === true || pathKey(key) === undefined,
        {
          path: ['key'],
          error: 'a written key of a reference is part of its `path`',
        },
      ),
    z
      .strictObject({
        kind: z.literal('slice'),
        style: z.enum(['js', 'py']),
        of: child,
        start: child.exactOptional(),
        end: child.exactOptional(),
        step: child.exactOptional(),
        ...optional,
        ...at,
      })
      .refine(({ style, step }) => style === 'py' || step === undefined, {
        path: ['step'],
        error: 'only a slice of Python has a step',
      }),
    z.strictObject({
      kind: z.literal('compare'),
      left: child,
      ops: z.array(z.strictObject({ op: compareOp, right: child })).min(1),
      ...at,
    }),
    z.strictObject({ kind: z.literal('and'), ...logic }),
    z.strictObject({ kind: z.literal('or'), ...logic }),
    z.strictObject({ kind: z.literal('not'), truth, of: child, ...at }),
    z.strictObject({ kind: z.literal('arithmetic'), op: arithmeticOp, left: child, right: child, ...at }),
    z.strictObject({ kind: z.literal('negate'), of: child, ...at }),
    z.strictObject({
      kind: z.literal('conditional'),
      truth,
      test: child,
      // biome-ignore lint/suspicious/noThenProperty: the name is the model's, and no such object is awaited
      then: child,
      else: child.exactOptional(),
      ...at,
    }),
    z.strictObject({
      kind: z.literal('list'),
      items: z.array(z.strictObject({ value: child, spread: z.literal(true).exactOptional() })),
      ...at,
    }),
    makeDictSchema({ expr: child, at }),
    callSchema,
    z.strictObject({
      kind: z.literal('text'),
      style: z.enum(['js', 'display', 'strict']),
      parts: z.array(z.union([z.string(), child])),
      ...at,
    }),
    z.discriminatedUnion('mode', [
      z.strictObject({ mode: z.literal('map'), ...each }),
      z.strictObject({ mode: z.enum(['filter', 'find', 'some', 'every']), truth, ...each }),
    ]),
    z.strictObject({ kind: z.literal('let'), name: localName, value: child, body: child, ...at }),
  ]);
}

function callProblem(call: CallExpr): string | undefined {
  const fn: ExpressionFunction | undefined = expressionFunctions.get(call.fn);
  if (fn === undefined) return `there is no function \`${call.fn}\``;
  if (call.optional && !isMethodCall(call)) return `\`${fn.name}\` is not a method, and cannot be optional`;
  if (takesArguments(fn, call.args.length)) return undefined;
  return `\`${fn.name}\` takes ${describeArity(fn)}, and ${call.args.length} were given`;
}

function isJson(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object': {
      if (value === null) return true;
      if (Array.isArray(value)) return value.every(isJson);
      const prototype: unknown = Object.getPrototypeOf(value);
      return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isJson);
    }
    default:
      return false;
  }
}
