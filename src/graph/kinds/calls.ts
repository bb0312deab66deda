import type { z } from 'zod';
import type { DictExpr, Expr } from '../expression/tree.js';
import type { JsonSchema } from '../json.js';
import { type KindDescriptor, usualKind } from './descriptor.js';
import type { Compensation, NodeBase, ResourceReader } from './node.js';

declare module './node.js' {
  interface NodesByKind {
    readonly call: CallNode;
    readonly resource: ResourceNode;
    readonly workflow: WorkflowNode;
    readonly compensate: CompensateNode;
  }
}

/** A tool call, by the server or by the client. The node's value is the tool's normalised result. */
export interface CallNode extends NodeBase, ResourceReader {
  readonly kind: 'call';
  readonly tool: string;
  readonly input: DictExpr;
}

export const call: KindDescriptor<CallNode, 'derived'> = {
  ...usualKind,
  schema: ({ z, reading, dict, compensation }): z.ZodType<CallNode> =>
    z.strictObject({
      kind: z.literal('call'),
      ...reading,
      executor: z.enum(['server', 'client']),
      tool: z.string(),
      input: dict,
      compensate: compensation.exactOptional(),
    }),
  expressions: { input: true },
  value: 'derived',
  work: ({ executor }) => (executor === 'client' ? 'none' : 'call'),
  isRetryable: true,
  describe: ({ tool, executor }) => (executor === 'client' ? `have the client call ${tool}` : `call ${tool}`),
  shape: 'step',
};

/** A resource read. The node's value is `{ uri, mimeType?, text }`, or `blob` (base64) in place of `text`. */
export interface ResourceNode extends NodeBase, ResourceReader {
  readonly kind: 'resource';
  readonly resource: string;
  readonly uri: Expr;
}

/** What reading a resource gives; see {@link ResourceNode}. */
export const CONTENT: JsonSchema = {
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
  ...usualKind,
  schema: ({ z, reading, expr }): z.ZodType<ResourceNode> =>
    z.strictObject({ kind: z.literal('resource'), ...reading, resource: z.string(), uri: expr }),
  expressions: { uri: true },
  value: () => CONTENT,
  work: 'call',
  isRetryable: true,
  describe: (node) => `read ${node.resource}`,
  shape: 'step',
};

/** Runs another workflow, one of the graph's `tasks`, with names and inputs of its own. Its value is that one's result. */
export interface WorkflowNode extends NodeBase {
  readonly kind: 'workflow';
  readonly workflow: string;
  readonly input: DictExpr;
}

export const workflow: KindDescriptor<WorkflowNode, 'derived'> = {
  ...usualKind,
  schema: ({ z, fallible, dict }): z.ZodType<WorkflowNode> =>
    z.strictObject({ kind: z.literal('workflow'), ...fallible, workflow: z.string(), input: dict }),
  expressions: { input: true },
  value: 'derived',
  isRetryable: true,
  describe: (node) => `run ${node.workflow}`,
  shape: 'workflow',
};

/** Undoes earlier work, in the written order. Runs only when it is selected. Its value is `{ done, failed, not_run }`. */
export interface CompensateNode extends NodeBase {
  readonly kind: 'compensate';
  readonly steps: readonly Compensation[];
}

const REPORT: JsonSchema = {
  type: 'object',
  properties: {
    done: { type: 'array', items: { type: 'string' } },
    failed: { type: 'array' },
    not_run: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
};

export const compensate: KindDescriptor<CompensateNode> = {
  ...usualKind,
  schema: ({ z, base, compensation }): z.ZodType<CompensateNode> =>
    z.strictObject({ kind: z.literal('compensate'), ...base, steps: z.array(compensation).min(1) }),
  expressions: {},
  value: () => REPORT,
  describe: () => 'undo',
  shape: 'undoing',
};
