import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../../graph/json.js';
import { bodyText, oneLine } from '../../../graph/printable-text.js';
import { actionKind, textOf } from '../../engine/actions.js';
import type { Failure } from '../../engine/contract.js';
import type { Action } from '../../engine/events.js';
import type { Elicit, Elicited } from '../../tools/port.js';
import { toJson } from '../../tools/to-json.js';
import { ACTION_KINDS, type PendingAction, type Submission } from './action.js';

/** What an elicitation needs of its run. */
interface ElicitingRun {
  /** The questions that are open, oldest first. */
  pendingActions(): readonly PendingAction[];
  /** What a question asks, without secrets. */
  shown(pending: PendingAction): Action;
  /** False where another request puts this question already. Once granted, it is kept until `letGo`. */
  claim(pending: PendingAction): boolean;
  release(pending: PendingAction): void;
  /** Hands an answer in. One that does not fit leaves the question open. */
  answer(pending: PendingAction, answer: Pick<Submission, 'result'> | { readonly failure: Failure }): void;
  /** The elicitation has stopped or asked the next question: the run may not have changed. */
  changed(): void;
}

/**
 * Asks the user of a client for the answers of a run while a request is in flight: one pending action at a time, each at
 * most once. One that is not a flat form, or for which the client fails to ask, stays open.
 */
export class Elicitation {
  readonly #elicit: Elicit;
  readonly #run: ElicitingRun;
  readonly #put = new Set<string>();
  #current: { readonly id: string; readonly controller: AbortController } | undefined;
  #isOver = false;

  constructor(elicit: Elicit, run: ElicitingRun) {
    this.#elicit = elicit;
    this.#run = run;
  }

  /** Whether the user has a question before them. */
  get isAsking(): boolean {
    return this.#current !== undefined;
  }

  /** Withdraws a question that is no longer open, and asks the next one. */
  update(): void {
    const pendingActions = this.#run.pendingActions();
    if (this.#current !== undefined && !pendingActions.some(({ id }) => id === this.#current?.id))
      this.#takeBack();
    if (this.#isOver || this.#current !== undefined) return;
    for (const pending of pendingActions) {
      if (this.#put.has(pending.id)) continue;
      const form = this.#formOf(pending);
      if (form === undefined || !this.#run.claim(pending)) continue;
      this.#put.add(pending.id);
      void this.#ask(pending, form.schema, form.answerOf);
      return;
    }
  }

  /** Withdraws the current question, and asks no other. */
  stop(): void {
    this.#isOver = true;
    this.#takeBack();
  }

  /** A form that would show a secret cannot be filled in without it either: the question stays open. */
  #formOf(pending: PendingAction): Form | undefined {
    const isShown = this.#run.shown(pending).schema === pending.action.schema;
    return isShown ? formOf(pending.action) : undefined;
  }

  #takeBack(): void {
    const controller = this.#current?.controller;
    this.#current = undefined;
    controller?.abort();
  }

  async #ask(
    pending: PendingAction,
    schema: JsonObject,
    answerOf: (content: JsonObject) => JsonObject[string],
  ): Promise<void> {
    const current = { id: pending.id, controller: new AbortController() };
    this.#current = current;
    let elicited: Elicited | undefined;
    try {
      elicited = await this.#elicit(
        { message: bodyText(textOf(this.#run.shown(pending))), schema },
        current.controller.signal,
      );
    } catch {
      // The client cannot ask after all: the caller gets the open actions instead.
    }
    this.#run.release(pending);
    // Withdrawn meanwhile: the user answered too late.
    if (this.#current !== current) return;
    this.#current = undefined;
    if (elicited === undefined) this.#isOver = true;
    else this.#hand(pending, elicited, answerOf);
    this.#run.changed();
  }

  #hand(
    pending: PendingAction,
    elicited: Elicited,
    answerOf: (content: JsonObject) => JsonObject[string],
  ): void {
    if (elicited.action !== 'accept') {
      const failure =
        elicited.action === 'decline'
          ? { code: 'E_ASK_DECLINED', message: 'The user declined to answer.' }
          : { code: 'E_ASK_CANCELLED', message: 'The user closed the question without an answer.' };
      this.#run.answer(pending, { failure });
      return;
    }
    const content = toJson(elicited.content);
    if (content.ok) this.#run.answer(pending, { result: answerOf(content.value as JsonObject) });
  }
}

/** A question as a form that a client shows to its user. */
interface Form {
  readonly schema: JsonSchema;
  /** The answer that the filled-in form is. */
  answerOf(content: JsonObject): Json;
}

/** The form of a question; nothing where it is not flat. */
export function formOf(action: Action): Form | undefined {
  const { form } = ACTION_KINDS[actionKind(action)];
  if (form === 'none') return undefined;
  if (form === 'empty')
    return { schema: { type: 'object', properties: {} }, answerOf: () => ({ acknowledged: true }) };
  const schema = flatSchema(action.schema);
  return schema && { schema, answerOf: (content) => content };
}

/** What forms of the protocol know about a field, by its type. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'format', 'enum', 'enumNames', 'default'],
  number: ['minimum', 'maximum', 'default'],
  integer: ['minimum', 'maximum', 'default'],
  boolean: ['default'],
};

const FORMATS: readonly Json[] = ['email', 'uri', 'date', 'date-time'];

/** A schema reduced to what forms of the protocol support; nothing if a field is not a plain value. */
function flatSchema({ type, properties, required }: JsonSchema): JsonSchema | undefined {
  if (type !== 'object' || !isJsonObject(properties)) return undefined;
  const fields: [string, JsonSchema][] = [];
  for (const [name, schema] of Object.entries(properties)) {
    const field = isJsonObject(schema) ? flatField(schema) : undefined;
    if (field === undefined) return undefined;
    fields.push([name, field]);
  }
  if (fields.length === 0) return undefined;
  return { type, properties: Object.fromEntries(fields), ...defined({ required }) };
}

/** Choices as a user reads them, where their values hold what does not show. The values stay: they are the answer. */
function shownNames({ enum: values, enumNames }: JsonSchema): JsonSchema {
  if (!Array.isArray(values) || enumNames !== undefined) return {};
  const names = values.map((value) => oneLine(String(value)));
  return names.every((name, index) => name === values[index]) ? {} : { enumNames: names };
}

/** What a form cannot say, such as a pattern, is checked when the answer comes. */
function flatField(schema: JsonSchema): JsonSchema | undefined {
  const { type } = schema;
  const keywords = typeof type === 'string' ? KEYWORDS[type] : undefined;
  if (
    keywords === undefined ||
    'const' in schema ||
    '$ref' in schema ||
    'anyOf' in schema ||
    'oneOf' in schema
  ) {
    return undefined;
  }
  if (
    Array.isArray(schema.enum) &&
    (type !== 'string' || !schema.enum.every((each) => typeof each === 'string'))
  ) {
    return undefined;
  }
  const members = ['type', 'title', 'description', ...keywords].flatMap((keyword) => {
    const value = schema[keyword];
    return value === undefined || (keyword === 'format' && !FORMATS.includes(value))
      ? []
      : [[keyword, value] as const];
  });
  return { ...Object.fromEntries(members), ...shownNames(schema) };
}
