import { z } from 'zod';
import { dictSchema, exprSchema, jsonSchema, spanSchema } from '../expression/schema.js';
import { isJsonObject, type JsonSchema } from '../json.js';
import type { Compensation, OnError } from '../kinds/node.js';

/** Where something was written. */
export const placeSchema = z.strictObject({
  file: z.string(),
  span: spanSchema,
  pointer: z.string().exactOptional(),
});

/** What everything has that an author wrote. */
export const source = { source: placeSchema.exactOptional() };

/** A JSON Schema, kept as it is. */
export const schemaObject = jsonSchema.refine(isJsonObject, {
  error: 'expected a JSON Schema object',
}) as z.ZodType<JsonSchema>;

export const retrySchema = z.strictObject({
  extra: z.int().nonnegative(),
  delayMs: z.number().nonnegative(),
  backoff: z.enum(['constant', 'linear', 'exponential']),
  capMs: z.number().nonnegative(),
  jitter: z.number().min(0).max(1),
});

/** The properties of nodes of all kinds. */
export const baseShape = {
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

export const onErrorSchema = z
  .strictObject({ fallbackNode: z.string().exactOptional(), value: exprSchema.exactOptional() })
  .refine((handler) => 'fallbackNode' in handler !== 'value' in handler, {
    error: 'either a `fallbackNode` takes over or a `value` stands in',
  }) as unknown as z.ZodType<OnError>;

export const compensationSchema: z.ZodType<Compensation> = z.strictObject({
  tool: z.string(),
  input: dictSchema,
  ignoreError: z.boolean().exactOptional(),
});
