import type { z } from 'zod';
import { textsOf } from '../expression/traversal.js';
import type { Expr } from '../expression/tree.js';
import type { JsonSchema } from '../json.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { NodeBase } from './node.js';

/**
 * Waits for a person. Its value is the answer: `{acknowledged}`, `{confirmed}`, `{input}`, `{selected}` by mode; for
 * `yield` whatever fits `expects`.
 */
export interface AskNode extends NodeBase {
  readonly kind: 'ask';
  readonly mode: 'info' | 'confirm' | 'text' | 'choice' | 'yield';
  readonly message: Expr;
  /** For `choice`: a list of texts, at least one, none twice. */
  readonly options?: Expr;
  /** For `yield`: schema of the answer. */
  readonly expects?: JsonSchema;
}

declare module './node.js' {
  interface NodesByKind {
    readonly ask: AskNode;
  }
}

const ANSWERS = {
  info: 'an acknowledgement',
  confirm: 'a yes or no',
  text: 'a text',
  choice: 'one',
  yield: 'an answer',
} as const;

export const ask: KindDescriptor<AskNode> = {
  isSupported: true,
  schema: ({ z, fallible, expr, jsonSchema }): z.ZodType<AskNode> =>
    z
      .strictObject({
        kind: z.literal('ask'),
        ...fallible,
        mode: z.enum(['info', 'confirm', 'text', 'choice', 'yield']),
        message: expr,
        options: expr.exactOptional(),
        expects: jsonSchema.exactOptional(),
      })
      .refine(({ mode, options }) => (mode === 'choice') === (options !== undefined), {
        path: ['options'],
        error: 'a `choice` has options, and nothing else has',
      })
      .refine(({ mode, expects }) => (mode === 'yield') === (expects !== undefined), {
        path: ['expects'],
        error: 'a `yield` says what it expects, and nothing else does',
      }),
  expressions: { message: true, options: true },
  bodies: {},
  value: answerSchema,
  work: 'none',
  isRetryable: true,
  waits: true,
  exit: 'none',
  isStep: true,
  faults: noFaults,
  describe: ({ mode, options, message }, print) =>
    `ask for ${ANSWERS[mode]}${options === undefined ? '' : ` of ${print(options)}`}: ${print(message)}`,
  shape: 'question',
};

/** What an answer looks like; see {@link AskNode}. */
function answerSchema(node: AskNode): JsonSchema {
  const answer = (key: string, schema: JsonSchema): JsonSchema => ({
    type: 'object',
    properties: { [key]: schema },
    required: [key],
    additionalProperties: false,
  });
  switch (node.mode) {
    case 'info':
      return answer('acknowledged', { type: 'boolean' });
    case 'confirm':
      return answer('confirmed', { type: 'boolean' });
    case 'text':
      return answer('input', { type: 'string' });
    case 'choice': {
      const options = textsOf(node.options);
      return answer(
        'selected',
        options === undefined ? { type: 'string' } : { type: 'string', enum: options },
      );
    }
    case 'yield':
      return node.expects ?? {};
    default:
      return node.mode satisfies never;
  }
}
