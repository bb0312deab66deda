import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonSchema, ownProperty, unreachable } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import { COMMAND_RESULT, delegateResult } from '../../graph/kinds/waits.js';
import type { AskNode } from '../../graph/model.js';
import { jsonText } from '../../graph/printable-text.js';
import type {
  Action,
  ActionKind,
  Approval,
  AskAction,
  AskMode,
  DelegateAction,
  Failure,
  McpCallAction,
  OwedCommand,
  ShellAction,
  StepAction,
} from './events.js';

/** What hosts and the trace enter in their tables: see `ActionKind`. */
export function actionKind(action: Action): ActionKind {
  return action.type === 'ask' ? action.mode : action.type;
}

/** Whether a model supplies the answer. */
export function asksModel(action: Action): boolean {
  return action.type === 'ask' && action.mode === 'model';
}

/** Whether a model may supply the answer: also that of a task for the agent that called. */
export function mayAskModel(action: Action): boolean {
  return asksModel(action) || (action.type === 'delegate' && action.agent === null);
}

/** Whether a client does the action, in a time that begins with its delivery. */
export function isClientWork(action: Action): action is Exclude<Action, AskAction | StepAction> {
  return action.type !== 'ask' && action.type !== 'step';
}

/** When an action is no longer open; undefined without a time limit. */
export function limitOf({
  dueAt,
  reminder,
}: Pick<Extract<OwedCommand, { kind: 'requestAction' }>, 'dueAt' | 'reminder'>): number | undefined {
  return reminder === undefined ? dueAt : reminder.limitAt;
}

export function optionsOf(action: Action): readonly string[] {
  return action.type === 'ask' ? (action.options ?? []) : [];
}

/** What an action asks for, in its author's words. */
export function textOf(action: Action): string {
  switch (action.type) {
    case 'ask':
      return questionText(action);
    case 'shell':
      return [action.command, ...(action.argv ?? [])].join(' ');
    case 'mcp_call':
      return action.tool;
    case 'delegate':
      return action.instructions;
    case 'step':
      return action.failure.message;
    default:
      return unreachable(action);
  }
}

function questionText({ message, approves }: AskAction): string {
  if (approves === undefined) return message;
  const { tool, input, askedAgain } = approves;
  const why = askedAgain === undefined ? '' : `\n\nAsked again: ${askedAgain}.`;
  // JSON leaves no line of its own to a text in it.
  return `${message}${why}\n\nA yes makes this call:\n${tool} ${jsonText(input, 2)}`;
}

const ACKNOWLEDGED = only('acknowledged', { const: true });
const CONFIRMED = only('confirmed', { type: 'boolean' });
const TEXT = only('input', { type: 'string' });
const SELECTED = only('selected', { type: 'string' });
const ANYTHING: JsonSchema = Object.freeze({});

/** What an action asks for, as callers see it: its type and its parameters. `timeout` in seconds. */
export type ActionDetails =
  | {
      readonly type: 'prompt';
      readonly parameters: {
        readonly message: string;
        readonly type: AskMode;
        readonly options?: readonly string[];
        /** The call that a yes permits. */
        readonly approves?: ReturnType<typeof callIn>;
      };
    }
  | {
      readonly type: 'shell';
      readonly parameters: Pick<ShellAction, 'command' | 'argv' | 'env'> & { readonly timeout: number };
    }
  | { readonly type: 'mcp_call'; readonly parameters: Pick<McpCallAction, 'tool' | 'args'> }
  | {
      readonly type: 'delegate';
      readonly parameters: Pick<DelegateAction, 'instructions' | 'agent' | 'tools'>;
    }
  | {
      readonly type: 'step';
      readonly parameters: Pick<StepAction, 'tool' | 'args'> & {
        readonly failure: Pick<Failure, 'code' | 'message'> & { readonly outcome_unknown?: boolean };
      };
    };

export function requestOf(action: Action): ActionDetails {
  switch (action.type) {
    case 'ask': {
      const { mode, options, approves } = action;
      const shown = { options, approves: approves && callIn(approves) };
      return { type: 'prompt', parameters: { message: textOf(action), type: mode, ...defined(shown) } };
    }
    case 'shell': {
      const { type, command, argv, env, timeoutMs } = action;
      return { type, parameters: { command, timeout: timeoutMs / 1_000, ...defined({ argv, env }) } };
    }
    case 'mcp_call':
      return { type: action.type, parameters: { tool: action.tool, args: action.args } };
    case 'delegate': {
      const { type, instructions, agent, tools } = action;
      return { type, parameters: { instructions, agent, ...defined({ tools }) } };
    }
    case 'step': {
      const { type, failure, tool, args } = action;
      const { code, message, outcomeUnknown } = failure;
      const shown = { code, message, ...(outcomeUnknown === undefined ? {} : { outcome_unknown: true }) };
      return { type, parameters: { failure: shown, ...defined({ tool, args }) } };
    }
    default:
      return unreachable(action);
  }
}

function callIn({ tool, input: args, digest, askedAgain: asked_again }: Approval) {
  return { tool, args, digest, ...defined({ asked_again }) };
}

/** The schema of the last answer of each node. Validators are cached by schema. */
const schemas = new WeakMap<AskNode, { readonly options: readonly string[]; readonly schema: JsonSchema }>();

/** The schema of an answer: the same object for all actions of a node with the same options. Do not change it. */
export function answerSchema(node: AskNode, options: readonly string[] = []): JsonSchema {
  const last = schemas.get(node);
  const isSame =
    last?.options.length === options.length && last.options.every((option, at) => option === options[at]);
  if (isSame) return last.schema;
  const schema = newAnswerSchema(node, options);
  schemas.set(node, { options, schema });
  return schema;
}

function newAnswerSchema({ mode, expects }: AskNode, options: readonly string[]): JsonSchema {
  switch (mode) {
    case 'info':
      return ACKNOWLEDGED;
    case 'confirm':
      return CONFIRMED;
    case 'text':
      return expects === undefined ? TEXT : only('input', expects);
    case 'choice':
      return only('selected', { type: 'string', enum: options });
    case 'yield':
    case 'model':
      return expects ?? ANYTHING;
    default:
      return unreachable(mode);
  }
}

/** The schema of the result of a node that is made outside. */
export function resultSchema(node: Node): JsonSchema {
  switch (node.kind) {
    case 'ask':
      return node.mode === 'choice' ? SELECTED : answerSchema(node);
    case 'shell':
      return COMMAND_RESULT;
    case 'delegate':
      return delegateResult(node.responseSchema);
    default:
      return ANYTHING;
  }
}

function only(key: string, schema: JsonSchema): JsonSchema {
  const properties = Object.freeze({ [key]: Object.freeze(schema) });
  const required = Object.freeze([key]);
  return Object.freeze({ type: 'object', properties, required, additionalProperties: false });
}

/**
 * Whether an answer matches its action, as far as possible without a validator: a host checks the schema before it submits
 * an answer.
 */
export function fits(action: Action, answer: Json): boolean {
  const { schema } = action;
  if (action.type !== 'ask' || action.mode === 'yield' || action.mode === 'model')
    return hasShape(schema, answer);
  if (!isJsonObject(answer) || Object.keys(answer).length !== 1) return false;
  switch (action.mode) {
    case 'info':
      return ownProperty(answer, 'acknowledged') === true;
    case 'confirm':
      return typeof ownProperty(answer, 'confirmed') === 'boolean';
    case 'text':
      return typeof ownProperty(answer, 'input') === 'string';
    case 'choice':
      return action.options?.some((option) => option === ownProperty(answer, 'selected')) ?? false;
    default:
      return unreachable(action.mode);
  }
}

/** Whether a value has the type of a schema, the keys that it requires, and members of the types that it names. */
function hasShape({ type, required, properties }: JsonSchema, value: Json): boolean {
  if (!hasType(type, value)) return false;
  if (!isJsonObject(value)) return true;
  const isMissing = (key: Json) => typeof key === 'string' && !Object.hasOwn(value, key);
  if (Array.isArray(required) && required.some(isMissing)) return false;
  return Object.entries(value).every(([key, member]) => {
    const schema = isJsonObject(properties) ? ownProperty(properties, key) : undefined;
    return !isJsonObject(schema) || hasType(schema.type, member);
  });
}

function hasType(type: Json | undefined, value: Json): boolean {
  if (typeof type !== 'string') return true;
  if (type === 'integer') return typeof value === 'number' && Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isJsonObject(value);
  return type === 'null' ? value === null : type === typeof value;
}
