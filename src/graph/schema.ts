import { z } from 'zod';
import { type Diagnostic, diagnostic } from './diagnostics/diagnostic.js';
import { dictSchema, exprSchema, jsonSchema, spanSchema } from './expression/schema.js';
import type { Expr } from './expression/tree.js';
import { isJsonObject, type JsonSchema } from './json.js';
import { GRAPH_VERSION, type Graph, type Node, type NodeKind } from './model.js';
import { FUNCTION_NAME_RULE } from './names.js';
import type { Place } from './place.js';

/** Documents nested deeper than this are refused before recursion meets the end of the stack. */
const MAX_DEPTH = 400;

const placeSchema = z.strictObject({
  file: z.string(),
  span: spanSchema,
  pointer: z.string().exactOptional(),
});
const source = { source: placeSchema.exactOptional() };
const schemaObject = jsonSchema.refine(isJsonObject, {
  error: 'expected a JSON Schema object',
}) as z.ZodType<JsonSchema>;
const count = z.int().nonnegative();

const retry = z.strictObject({
  extra: count,
  delayMs: z.number().nonnegative(),
  backoff: z.enum(['constant', 'linear', 'exponential']),
  capMs: z.number().nonnegative(),
  jitter: z.number().min(0).max(1),
});

const nodeBase = {
  id: z.string(),
  title: z.string().exactOptional(),
  guidance: exprSchema.exactOptional(),
  embed: z.boolean().exactOptional(),
  summary: exprSchema.exactOptional(),
  after: z.array(z.string()),
  join: z.enum(['all_success', 'none_failed', 'none_failed_min_one_success', 'one_success', 'all_done']),
  when: exprSchema.exactOptional(),
  retry: retry.exactOptional(),
  timeoutMs: z.number().positive().exactOptional(),
  executor: z.literal('server'),
  ...source,
};

/** What nodes have that may fail for good and be stood in for. */
const fallible = { ...nodeBase, onError: z.strictObject({ value: exprSchema }).exactOptional() };

const functionRef = z.strictObject({
  name: z.string().regex(FUNCTION_NAME_RULE),
  hash: z.string().regex(/^[0-9a-f]{64}$/, { error: 'not a sha256 in hexadecimal' }),
});

const computeSchema = z
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

const nodeSchema: z.ZodType<Node> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('call'), ...fallible, tool: z.string(), input: dictSchema }),
  z.strictObject({ kind: z.literal('resource'), ...fallible, resource: z.string(), uri: exprSchema }),
  computeSchema,
  z.strictObject({ kind: z.literal('return'), ...nodeBase, value: exprSchema }),
  z.strictObject({ kind: z.literal('error'), ...nodeBase, message: exprSchema }),
]);

const graphSchema: z.ZodType<Graph> = z.strictObject({
  graphVersion: z.literal(GRAPH_VERSION),
  name: z.string(),
  title: z.string().exactOptional(),
  description: z.string(),
  domain: z.string().exactOptional(),
  version: z.string().exactOptional(),
  inputs: z.array(
    z.strictObject({
      name: z.string(),
      title: z.string().exactOptional(),
      description: z.string(),
      schema: schemaObject,
      required: z.boolean(),
      default: jsonSchema.exactOptional(),
      secret: z.boolean().exactOptional(),
      ...source,
    }),
  ),
  instructions: z.array(z.strictObject({ resource: z.string(), uri: z.string(), ...source })),
  nodes: z.array(nodeSchema),
  returns: exprSchema.exactOptional(),
  errorStrategy: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('failFast') }),
      z.strictObject({ kind: z.literal('collect') }),
      z.strictObject({ kind: z.literal('retry'), retry }),
    ])
    .exactOptional(),
  failFast: z.boolean().exactOptional(),
  maxConcurrency: z.int().positive().exactOptional(),
  expose: z.array(z.enum(['prompt', 'tool', 'resource'])).exactOptional(),
  ...source,
});

function isArgumentList(value: Expr): boolean {
  return value.kind === 'list' && value.items.every((item) => item.spread === undefined);
}

/** Every kind of the model, and whether this version runs it. A kind that is missing here is a type error. */
const nodeKinds: Readonly<Record<NodeKind, boolean>> = {
  call: true,
  resource: true,
  compute: true,
  return: true,
  error: true,
  branch: false,
  parallel: false,
  foreach: false,
  workflow: false,
  ask: false,
  shell: false,
  delegate: false,
  wait: false,
  set: false,
  goto: false,
  compensate: false,
};

/**
 * Reads a graph from data of any origin. All faults are collected: `SW4010` for steps of kinds this version knows and
 * cannot run, `SW4011` with a JSON pointer for everything else. What the graph means is checked by `checkGraph`.
 */
export function parseGraph(
  data: unknown,
): { readonly ok: true; readonly graph: Graph } | { readonly ok: false; readonly diagnostics: Diagnostic[] } {
  if (isDeeperThan(data, MAX_DEPTH)) {
    const problem = `it is nested deeper than ${MAX_DEPTH} levels`;
    return { ok: false, diagnostics: [diagnostic('SW4011', undefined, { problem })] };
  }
  const result = graphSchema.safeParse(data);
  if (result.success) return { ok: true, graph: result.data };
  const issues = result.error.issues.flatMap((issue) => flatten(issue, []));
  return { ok: false, diagnostics: issues.map((issue) => report(issue, data)) };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Replaces a failed union by the faults of the alternative that was meant: the one that got furthest. */
function flatten(issue: z.core.$ZodIssue, prefix: readonly PropertyKey[]): Issue[] {
  const path = [...prefix, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: 'this version knows no such property',
    }));
  }
  if (issue.code !== 'invalid_union' || issue.errors.length === 0)
    return [{ path, message: lowerFirst(issue.message) }];
  const alternatives = issue.errors.map((issues) => issues.flatMap((inner) => flatten(inner, path)));
  const [best] = alternatives.sort((left, right) => reach(right) - reach(left) || left.length - right.length);
  return best ?? [];
}

function reach(issues: readonly Issue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length));
}

function report(issue: Issue, data: unknown): Diagnostic {
  const place = placeOf(issue.path, data);
  if (issue.path.length === 3 && issue.path[0] === 'nodes' && issue.path[2] === 'kind') {
    const node = at(data, issue.path.slice(0, 2));
    const kind = at(node, ['kind']);
    const id = at(node, ['id']);
    if (typeof kind === 'string' && Object.hasOwn(nodeKinds, kind) && typeof id === 'string') {
      return diagnostic('SW4010', place, { kind, id });
    }
  }
  const pointer = issue.path.map((key) => `/${escapePointer(String(key))}`).join('');
  return diagnostic('SW4011', place, {
    problem: pointer === '' ? issue.message : `\`${pointer}\`: ${issue.message}`,
  });
}

/** The place of the innermost part on the way to the fault that has one. */
function placeOf(path: readonly PropertyKey[], data: unknown): Place | undefined {
  for (let length = path.length; length >= 0; length--) {
    const place = placeSchema.safeParse(at(at(data, path.slice(0, length)), ['source']));
    if (place.success) return place.data;
  }
  return undefined;
}

function at(data: unknown, path: readonly PropertyKey[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<PropertyKey, unknown>>)[key];
  }
  return value;
}

/** RFC 6901, section 3. */
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Goes down first, so that a cycle is found as depth. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1));
}
