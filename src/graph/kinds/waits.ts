import type { z } from 'zod';
import { type Answerer, answererKey, describeAnswerers, isListOfAnswerers, isRole } from '../answerers.js';
import { textsOf } from '../expression/traversal.js';
import type { Expr } from '../expression/tree.js';
import type { JsonSchema } from '../json.js';
import { MAX_DURATION_MS } from '../limits.js';
import { AGENT_NAME } from '../names.js';
import { durationText } from '../printable-text.js';
import {
  between,
  type KindDescriptor,
  type NodeFault,
  numberIn,
  outOfRange,
  type SchemaParts,
  usualKind,
} from './descriptor.js';
import type { NodeBase, ResourceReader } from './node.js';

declare module './node.js' {
  interface NodesByKind {
    readonly ask: AskNode;
    readonly wait: WaitNode;
    readonly shell: ShellNode;
    readonly delegate: DelegateNode;
  }
}

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
  /** For `yield` and `model`: schema of the answer. For `text`: of the text; default: any. */
  readonly expects?: JsonSchema;
  /** For `model`: the input of a call that the value is for, where it is for one. */
  readonly feeds?: FedInput;
  /**
   * Who may answer, exclusively: at least one, none twice. Not for `model`. Missing: the owner of the run, and for a
   * run without authentication all callers without authentication that know its id.
   */
  readonly answerBy?: readonly Answerer[];
  /** A reminder of each attempt that is not answered by then, in milliseconds. Not for `model`. Default: no reminder. */
  readonly remindAfterMs?: number;
  /** Who may answer as well from the reminder on: at least one, each once. */
  readonly escalateTo?: readonly Answerer[];
  /** For `confirm`: the call of the same scope that a yes permits, with the input that it has when it is asked for. */
  readonly approves?: string;
}

/** A part of the input of a node, and the keys and indexes that lead to it. */
export interface FedInput {
  readonly node: string;
  readonly path: readonly (string | number)[];
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
  ...usualKind,
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
        answerBy: answerersSchema(z).exactOptional(),
        remindAfterMs: z.number().exactOptional(),
        escalateTo: answerersSchema(z).exactOptional(),
        approves: z.string().exactOptional(),
      })
      .refine(({ mode, options }) => (mode === 'choice') === (options !== undefined), {
        path: ['options'],
        error: 'a `choice` has options, and nothing else has',
      })
      .refine(
        ({ mode, expects }) =>
          mode === 'text' || (mode === 'yield' || mode === 'model') === (expects !== undefined),
        { path: ['expects'], error: 'a `yield` and a `model` say what they expect, and a `text` may' },
      )
      .refine(({ mode, feeds }) => mode === 'model' || feeds === undefined, {
        path: ['feeds'],
        error: 'only the value of a `model` feeds the input of a call',
      })
      .refine(({ mode, approves }) => mode === 'confirm' || approves === undefined, {
        path: ['approves'],
        error: 'only a `confirm` approves a call',
      })
      .refine(
        ({ mode, answerBy, remindAfterMs, escalateTo }) =>
          mode !== 'model' || (answerBy ?? remindAfterMs ?? escalateTo) === undefined,
        {
          path: ['mode'],
          error: 'a `model` is answered by a model, without a reminder',
        },
      ),
  expressions: { message: true, options: true },
  value: answerSchema,
  isRetryable: true,
  waits: true,
  faults: reminderFaults,
  describe: ({ mode, options, message, answerBy }, print) =>
    `ask ${answerBy === undefined ? '' : `${describeAnswerers(answerBy)} `}for ${ANSWERS[mode]}${options === undefined ? '' : ` of ${print(options)}`}: ${print(message)}`,
  shape: 'question',
};

function answerersSchema(z: SchemaParts['z']): z.ZodType<readonly Answerer[]> {
  const role = z.string().refine(isRole, 'a role is 1 to 128 printable characters without quotes');
  return z
    .array(
      z.union([
        z.strictObject({ kind: z.enum(['owner', 'human']) }),
        z.strictObject({ kind: z.literal('role'), role, except: z.literal('owner').exactOptional() }),
      ]),
    )
    .refine(isListOfAnswerers, 'name at least one, and none twice');
}

/** SW4015 for a time out of range, SW4052 for a reminder without effect. */
function reminderFaults(node: AskNode): readonly NodeFault[] {
  const { id, answerBy, remindAfterMs, escalateTo, timeoutMs } = node;
  const useless = (problem: string): NodeFault[] => [{ code: 'SW4052', params: { step: id, problem } }];
  if (remindAfterMs === undefined)
    return escalateTo === undefined
      ? []
      : useless('it says to whom it is escalated, and not after what time');
  if (timeoutMs !== undefined && remindAfterMs >= timeoutMs)
    return useless(
      `its time limit of ${durationText(timeoutMs)} ends it before ${durationText(remindAfterMs)}`,
    );
  if (escalateTo !== undefined && addedBy(escalateTo, answerBy).length === 0)
    return useless('those to whom it is escalated may answer from the beginning');
  return outOfRange(node, 'remindAfterMs', remindAfterMs, REMINDER);
}

/** Those to whom a question is escalated and who may not answer it before. Without `answerBy` the owner may. */
export function addedBy(
  escalateTo: readonly Answerer[],
  answerBy: readonly Answerer[] = [{ kind: 'owner' }],
): readonly Answerer[] {
  const keys = new Set(answerBy.map(answererKey));
  return escalateTo.filter((each) => !keys.has(answererKey(each)));
}

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
      return answer('input', node.expects ?? { type: 'string' });
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

/** Waits for a time: `durationMs` in milliseconds, or `until`, ms since the epoch or an RFC 3339 time. One of the two. */
export interface WaitNode extends NodeBase {
  readonly kind: 'wait';
  readonly durationMs?: Expr;
  readonly until?: Expr;
}

const DURATION = {
  ...between(0, MAX_DURATION_MS),
  text: `from 0 to ${MAX_DURATION_MS} (milliseconds, ten years)`,
};

const REMINDER = {
  ...between(1, MAX_DURATION_MS),
  text: `from 1 to ${MAX_DURATION_MS} (milliseconds, ten years)`,
};

export const wait: KindDescriptor<WaitNode> = {
  ...usualKind,
  schema: ({ z, fallible, expr }): z.ZodType<WaitNode> =>
    z
      .strictObject({
        kind: z.literal('wait'),
        ...fallible,
        durationMs: expr.exactOptional(),
        until: expr.exactOptional(),
      })
      .refine(({ durationMs, until }) => (durationMs === undefined) !== (until === undefined), {
        error: 'a wait has either `durationMs` or `until`',
      }),
  expressions: { durationMs: true, until: true },
  value: 'none',
  waits: true,
  faults: (node) => [...durationFaults(node), ...timeFaults(node)],
  describe: ({ durationMs, until }, print) => {
    if (until !== undefined) return `wait until ${print(until)}`;
    const ms = numberIn(durationMs);
    if (ms !== undefined) return `wait for ${durationText(ms)}`;
    return durationMs === undefined ? 'wait' : `wait for ${print(durationMs)} ms`;
  },
  shape: 'control',
};

function durationFaults(node: WaitNode): readonly NodeFault[] {
  const duration = numberIn(node.durationMs);
  return duration === undefined ? [] : outOfRange(node, 'durationMs', duration, DURATION);
}

function timeFaults({ id, until }: WaitNode): readonly NodeFault[] {
  const text = until?.kind === 'literal' && typeof until.value === 'string' ? until.value : undefined;
  if (until === undefined || text === undefined || parseTime(text) !== undefined) return [];
  return [{ code: 'SW4034', params: { step: id, text }, at: until }];
}

const TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * The time an RFC 3339 text names, in ms since the epoch; none for other text, and for days and hours that do not
 * exist. A leap second is the moment after it. There is no `Date` here.
 */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  const offset = {
    hours: Number(match[9] ?? 0),
    minutes: Number(match[10] ?? 0),
    sign: match[8] === '-' ? -1 : 1,
  };
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 60 || offset.hours > 23 || offset.minutes > 59) return undefined;
  const local = ((daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
  const seconds = local - offset.sign * (offset.hours * 60 + offset.minutes) * 60;
  return seconds * 1_000 + Math.floor(Number(match[7] ?? 0) * 1_000);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Days from 1970-01-01, in the Gregorian calendar; the year is taken to begin in March, so that a leap day ends it. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const from = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return (
    from * 365 + Math.floor(from / 4) - Math.floor(from / 100) + Math.floor(from / 400) + dayOfYear - 719_468
  );
}

/** A command that the client runs. Its value is `{stdout, stderr, exit_code, duration?, truncated?}`. */
export interface ShellNode extends NodeBase {
  readonly kind: 'shell';
  readonly command: Expr;
  /** Arguments: with it `command` is the program, and no shell reads either. A list of texts. */
  readonly argv?: Expr;
  /** Environment variables: a dict of texts. */
  readonly env?: Expr;
  /** An exit code other than 0 fails the node with `E_EXIT_CODE`. Default: it is data. */
  readonly failOnError?: true;
}

/** What a client returns for a command; the value of the node has `stdout` and `stderr` in any case. */
export const COMMAND_RESULT: JsonSchema = {
  type: 'object',
  properties: {
    stdout: { type: 'string' },
    stderr: { type: 'string' },
    exit_code: { type: 'integer' },
    duration: { type: 'number' },
    truncated: { type: 'boolean' },
  },
  required: ['exit_code'],
  additionalProperties: false,
};

const COMMAND_VALUE: JsonSchema = { ...COMMAND_RESULT, required: ['stdout', 'stderr', 'exit_code'] };

export const shell: KindDescriptor<ShellNode> = {
  ...usualKind,
  schema: ({ z, fallible, expr }): z.ZodType<ShellNode> =>
    z.strictObject({
      kind: z.literal('shell'),
      ...fallible,
      executor: z.literal('client'),
      command: expr,
      argv: expr.exactOptional(),
      env: expr.exactOptional(),
      failOnError: z.literal(true).exactOptional(),
    }),
  expressions: { command: true, argv: true, env: true },
  value: () => COMMAND_VALUE,
  isRetryable: true,
  waits: true,
  describe: ({ command }, print) => `have the client run the command ${print(command)}`,
  shape: 'step',
};

/**
 * Work that an agent does by itself, from instructions. Its value is `{response, agent_used?, tokens_used?}`: `response` is
 * a text, or with `responseSchema` the JSON in it.
 */
export interface DelegateNode extends NodeBase {
  readonly kind: 'delegate';
  /** The agent, with `@` before its name; null for the one that called. */
  readonly agent: string | null;
  readonly prompt: Expr;
  /** Tools that the agent may use. Default: its own. */
  readonly tools?: readonly string[];
  readonly responseSchema?: JsonSchema;
}

const TEXT_RESPONSE: JsonSchema = Object.freeze({ type: 'string' });

const delegateResults = new WeakMap<JsonSchema, JsonSchema>();

/** What an agent returns for a task. One schema for each one of responses: validators are cached by schema. */
export function delegateResult(response = TEXT_RESPONSE): JsonSchema {
  const cached = delegateResults.get(response);
  if (cached !== undefined) return cached;
  const result: JsonSchema = {
    type: 'object',
    properties: { response, agent_used: { type: 'string' }, tokens_used: { type: 'number' } },
    required: ['response'],
    additionalProperties: false,
  };
  delegateResults.set(response, result);
  return result;
}

export const delegate: KindDescriptor<DelegateNode> = {
  ...usualKind,
  schema: ({ z, fallible, expr, jsonSchema }): z.ZodType<DelegateNode> =>
    z.strictObject({
      kind: z.literal('delegate'),
      ...fallible,
      executor: z.literal('client'),
      agent: z.string().regex(AGENT_NAME).nullable(),
      prompt: expr,
      tools: z.array(z.string()).exactOptional(),
      responseSchema: jsonSchema.exactOptional(),
    }),
  expressions: { prompt: true },
  value: ({ responseSchema }) => delegateResult(responseSchema),
  isRetryable: true,
  waits: true,
  describe: ({ agent, prompt }, print) => `delegate to ${agent ?? 'the caller'}: ${print(prompt)}`,
  shape: 'step',
};
