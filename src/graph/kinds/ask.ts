import type { z } from 'zod';
import { type Answerer, describeAnswerers, isListOfAnswerers, isRole } from '../answerers.js';
import { textsOf } from '../expression/traversal.js';
import type { Expr } from '../expression/tree.js';
import type { JsonSchema } from '../json.js';
import { type KindDescriptor, noFaults } from './descriptor.js';
import type { NodeBase, ResourceReader } from './node.js';

/**
 * Waits for a person, or in mode `model` for a value that a model supplies. Its value is the answer: `{acknowledged}`,
 * `{confirmed}`, `{input}`, `{selected}` by mode; for `yield` and `model` whatever fits `expects`.
 */
export interface AskNode extends NodeBase, ResourceReader {
  readonly kind: 'ask';
  readonly mode: 'info' | 'confirm' | 'text' | 'choice' | 'yield' | 'model';
  readonly message: Expr;
  /** For `choice`: a list of texts, at least one, none twice. */
  readonly options?: Expr;
  /** For `yield` and `model`: schema of the answer. */
  readonly expects?: JsonSchema;
  /** For `model`: the input of a call that the value is for, where it is for one. */
  readonly feeds?: FedInput;
  /**
   * Who may answer, exclusively: at least one, none twice. Not for `model`. Missing: the owner of the run, and for a
   * run without authentication all callers without authentication that know its id.
   */
  readonly answerBy?: readonly Answerer[];
}

/** A part of the input of a node, and the keys and indexes that lead to it. */
export interface FedInput {
  readonly node: string;
  readonly path: readonly (string | number)[];
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
  model: 'a value from a model',
} as const;

export const ask: KindDescriptor<AskNode> = {
  isSupported: true,
  schema: ({ z, reading, expr, jsonSchema }): z.ZodType<AskNode> =>
    z
      .strictObject({
        kind: z.literal('ask'),
        ...reading,
        mode: z.enum(['info', 'confirm', 'text', 'choice', 'yield', 'model']),
        message: expr,
        options: expr.exactOptional(),
        expects: jsonSchema.exactOptional(),
        feeds: z
          .strictObject({ node: z.string(), path: z.array(z.union([z.string(), z.int().nonnegative()])) })
          .exactOptional(),
        answerBy: z
          .array(
            z.union([
              z.strictObject({ kind: z.literal('owner') }),
              z.strictObject({
                kind: z.literal('role'),
                role: z.string().refine(isRole, 'a role is 1 to 128 printable characters without quotes'),
                except: z.literal('owner').exactOptional(),
              }),
            ]),
          )
          .exactOptional(),
      })
      .refine(({ mode, options }) => (mode === 'choice') === (options !== undefined), {
        path: ['options'],
        error: 'a `choice` has options, and nothing else has',
      })
      .refine(({ mode, expects }) => (mode === 'yield' || mode === 'model') === (expects !== undefined), {
        path: ['expects'],
        error: 'a `yield` and a `model` say what they expect, and nothing else does',
      })
      .refine(({ mode, feeds }) => mode === 'model' || feeds === undefined, {
        path: ['feeds'],
        error: 'only the value of a `model` feeds the input of a call',
      })
      .refine(({ mode, answerBy }) => mode !== 'model' || answerBy === undefined, {
        path: ['answerBy'],
        error: 'a `model` is answered by a model',
      })
      .refine(({ answerBy }) => answerBy === undefined || isListOfAnswerers(answerBy), {
        path: ['answerBy'],
        error: 'name at least one, and none twice',
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
  describe: ({ mode, options, message, answerBy }, print) =>
    `ask ${answerBy === undefined ? '' : `${describeAnswerers(answerBy)} `}for ${ANSWERS[mode]}${options === undefined ? '' : ` of ${print(options)}`}: ${print(message)}`,
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
    case 'model':
      return node.expects ?? {};
    default:
      return node.mode satisfies never;
  }
}
