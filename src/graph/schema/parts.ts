import { z } from 'zod';
import { jsonSchema, spanSchema } from '../expression/schema.js';
import { isJsonObject, type JsonSchema } from '../json.js';

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
