import { z } from 'zod';
import { exprSchema, jsonSchema } from '../expression/schema.js';
import { GRAPH_VERSION, type Graph } from '../model.js';
import { nodeSchema } from './nodes.js';
import { retrySchema, schemaObject, source } from './parts.js';

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
      default: jsonSchema.exactOptional(),
      secret: z.boolean().exactOptional(),
      ...source,
    }),
  ),
  state: z
    .array(
      z.strictObject({
        name: z.string(),
        scope: z.literal('run'),
        schema: schemaObject,
        initial: jsonSchema.exactOptional(),
        ...source,
      }),
    )
    .exactOptional(),
  instructions: z.array(z.strictObject({ resource: z.string(), uri: z.string(), ...source })),
  nodes: z.array(nodeSchema),
  returns: exprSchema.exactOptional(),
  errorStrategy: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('failFast') }),
      z.strictObject({ kind: z.literal('collect') }),
      z.strictObject({ kind: z.literal('retry'), retry: retrySchema }),
    ])
    .exactOptional(),
  failFast: z.boolean().exactOptional(),
  maxConcurrency: z.int().positive().exactOptional(),
  expose: z.array(z.enum(['prompt', 'tool', 'resource'])).exactOptional(),
  ...source,
};

/** A whole graph; the workflows it brings along have none of their own. */
export const graphSchema: z.ZodType<Graph> = z.strictObject({
  ...workflow,
  tasks: z.array(z.strictObject(workflow)).exactOptional(),
});
