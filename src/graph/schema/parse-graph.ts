import { z } from 'zod';
import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { pointerOf } from '../json.js';
import type { SchemaParts } from '../kinds/descriptor.js';
import { kinds } from '../kinds/kinds.js';
import type { Node, Scope } from '../kinds/node.js';
import { EXPOSURES, GRAPH_VERSION, type Graph, TASK_SUPPORT } from '../model.js';
import { SCOPE } from '../names.js';
import type { SourceLocation } from '../source-location.js';
import { graphParts } from './parts.js';

let cached: z.ZodType<Graph> | undefined;

/** The schema of a whole graph, made on first use: most servers read no graph, and start without it. */
function graphSchema(): z.ZodType<Graph> {
  cached ??= makeGraphSchema();
  return cached;
}

function makeGraphSchema(): z.ZodType<Graph> {
  const { json, expr, dict, source, schemaObject, retry, base, onError, compensation } = graphParts();
  const scope: z.ZodType<Scope> = z.strictObject({
    nodes: z.array(z.lazy(() => nodeSchema)),
    value: expr.exactOptional(),
  });

  const resources = z.array(z.strictObject({ resource: z.string(), uri: z.string(), ...source }));
  const fallible = { ...base, onError: onError.exactOptional() };

  const parts: SchemaParts = {
    z,
    base,
    fallible,
    reading: { ...fallible, resources: resources.exactOptional() },
    expr,
    dict,
    scope,
    compensation,
    jsonSchema: schemaObject,
  };

  // A node of any kind this version runs, with its content. Anything else, unknown keys included, is refused.
  const nodeSchema: z.ZodType<Node> = z.discriminatedUnion(
    'kind',
    Object.values(kinds).map(({ schema }) => schema(parts)) as unknown as readonly [z.ZodObject],
  ) as unknown as z.ZodType<Node>;

  const workflow = {
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
        default: json.exactOptional(),
        secret: z.boolean().exactOptional(),
        ...source,
      }),
    ),
    state: z
      .array(
        z.strictObject({
          name: z.string(),
          scope: z.enum(['run', 'workflow']),
          schema: schemaObject,
          initial: json.exactOptional(),
          secret: z.literal(true).exactOptional(),
          ...source,
        }),
      )
      .exactOptional(),
    instructions: resources,
    nodes: z.array(nodeSchema),
    returns: expr.exactOptional(),
    errorStrategy: z
      .discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('failFast') }),
        z.strictObject({ kind: z.literal('collect') }),
        z.strictObject({ kind: z.literal('retry'), retry }),
      ])
      .exactOptional(),
    failFast: z.boolean().exactOptional(),
    onFailure: z.literal('undo').exactOptional(),
    maxConcurrency: z.int().positive().exactOptional(),
    task: z.literal(true).exactOptional(),
    taskSupport: z.enum(TASK_SUPPORT).exactOptional(),
    allowNestedAgents: z.literal(true).exactOptional(),
    limits: z.strictObject({ steps: z.int().positive(), stateBytes: z.int().positive() }).exactOptional(),
    scopes: z.array(z.string().regex(SCOPE)).exactOptional(),
    expose: z.array(z.enum(EXPOSURES)).exactOptional(),
    ...source,
  };

  // The workflows it includes have none of their own.
  return z.strictObject({
    ...workflow,
    tasks: z.array(z.strictObject(workflow)).exactOptional(),
  });
}

/** Documents nested deeper than this are refused before recursion meets the end of the stack. */
const MAX_DEPTH = 400;

/**
 * Reads a graph from data of any origin. All faults are collected: `SW4011` with a JSON pointer. What the graph means is
 * checked by `checkGraph`.
 */
export function parseGraph(
  data: unknown,
): { readonly ok: true; readonly graph: Graph } | { readonly ok: false; readonly diagnostics: Diagnostic[] } {
  if (isDeeperThan(data, MAX_DEPTH)) {
    const problem = `it is nested deeper than ${MAX_DEPTH} levels`;
    return { ok: false, diagnostics: [diagnostic('SW4011', undefined, { problem })] };
  }
  const result = graphSchema().safeParse(data);
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
    return [{ path, message: issue.message.charAt(0).toLowerCase() + issue.message.slice(1) }];
  const alternatives = issue.errors.map((issues) => issues.flatMap((inner) => flatten(inner, path)));
  const [best] = alternatives.sort((one, right) => reach(right) - reach(one) || one.length - right.length);
  return best ?? [];
}

function reach(issues: readonly Issue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length));
}

function report(issue: Issue, data: unknown): Diagnostic {
  const place = placeOf(issue.path, data);
  const pointer = pointerOf(issue.path);
  return diagnostic('SW4011', place, {
    problem: pointer === '' ? issue.message : `\`${pointer}\`: ${issue.message}`,
  });
}

/** The place of the innermost part on the way to the fault that has one. */
function placeOf(path: readonly PropertyKey[], data: unknown): SourceLocation | undefined {
  for (let length = path.length; length >= 0; length--) {
    const place = graphParts().place.safeParse(at(at(data, path.slice(0, length)), ['source']));
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

/** Goes down first, so that a cycle is found as depth. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1));
}
