import { z } from 'zod';
import { dictSchema, exprSchema } from '../expression/schema.js';
import type { SchemaParts } from '../kinds/descriptor.js';
import { kinds } from '../kinds/kinds.js';
import type { Node, Scope } from '../model.js';
import { baseShape, compensationSchema, onErrorSchema, schemaObject } from './parts.js';

const scope: z.ZodType<Scope> = z.strictObject({
  nodes: z.array(z.lazy(() => nodeSchema)),
  value: exprSchema.exactOptional(),
});

const parts: SchemaParts = {
  z,
  base: baseShape,
  fallible: { ...baseShape, onError: onErrorSchema.exactOptional() },
  expr: exprSchema,
  dict: dictSchema,
  scope,
  compensation: compensationSchema,
  jsonSchema: schemaObject,
};

const supported = Object.values(kinds).filter(({ isSupported }) => isSupported);

/** A node of any kind this version runs, with all that stands in it. Anything else, unknown keys included, is refused. */
export const nodeSchema: z.ZodType<Node> = z.discriminatedUnion(
  'kind',
  supported.map(({ schema }) => schema(parts)) as unknown as readonly [z.ZodObject],
) as unknown as z.ZodType<Node>;
