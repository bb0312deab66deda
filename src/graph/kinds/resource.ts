import type { z } from 'zod';
import type { Expr } from '../expression/tree.js';
import type { JsonSchema } from '../json.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { NodeBase, ResourceReader } from './node.js';

/** A resource read. The node's value is `{ uri, mimeType?, text }`, or `blob` (base64) in place of `text`. */
export interface ResourceNode extends NodeBase, ResourceReader {
  readonly kind: 'resource';
  readonly resource: string;
  readonly uri: Expr;
}

declare module './node.js' {
  interface NodesByKind {
    readonly resource: ResourceNode;
  }
}

/** What reading a resource gives; see {@link ResourceNode}. */
const CONTENT: JsonSchema = {
  type: 'object',
  properties: {
    uri: { type: 'string' },
    mimeType: { type: 'string' },
    text: { type: 'string' },
    blob: { type: 'string' },
  },
  additionalProperties: false,
};

export const resource: KindDescriptor<ResourceNode> = {
  isSupported: true,
  schema: ({ z, reading, expr }): z.ZodType<ResourceNode> =>
    z.strictObject({ kind: z.literal('resource'), ...reading, resource: z.string(), uri: expr }),
  expressions: { uri: true },
  bodies: {},
  value: () => CONTENT,
  work: 'call',
  isRetryable: true,
  waits: false,
  exit: 'none',
  isStep: true,
  faults: noFaults,
  describe: (node) => `read ${node.resource}`,
  shape: 'step',
};
