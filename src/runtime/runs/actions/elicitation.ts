import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../../graph/json.js';
import { bodyText, oneLine } from '../../../graph/printable-text.js';
import { actionKind, textOf } from '../../engine/actions.js';
import type { ActionRequest, Failure } from '../../engine/contract.js';
import type { Action } from '../../engine/events.js';
import type { Elicited, Peer } from '../../tools/port.js';
import { toJson } from '../../tools/to-json.js';
import { ACTION_KINDS, type Submission } from './action.js';

interface ElicitingRun {
  /** The questions that are open, and that the user may answer in a form or as a person on a page, oldest first. */
  pendingActions(): readonly ActionRequest[];
  /** Whether the user may answer it in a form of a client, which proves no person. */
  takesForm(pending: ActionRequest): boolean;
  /** The address of its page. Undefined where it has none. */
  pageOf(pending: ActionRequest): Promise<string | undefined>;
  /** What a question asks, without secrets. */
  shown(pending: ActionRequest): Action;
  /** False where another request puts this question already. Once granted, it is kept until `letGo`. */
  claim(pending: ActionRequest): boolean;
  release(pending: ActionRequest): void;
  /** Hands an answer in. One that does not fit leaves the question open. */
  answer(pending: ActionRequest, answer: Pick<Submission, 'result'> | { readonly failure: Failure }): void;
  /** The elicitation has stopped or asked the next question: the run may not have changed. */
  changed(): void;
}

/** What a user did with a question: `onOver` of one that is answered on its page. Undefined: it stays open. */
type Reaction =
  | { readonly kind: 'form'; readonly elicited: Elicited; readonly answerOf: Form['answerOf'] }
  | { readonly kind: 'page'; readonly onOver: () => void }
  | undefined;

/** A question that is before the user. */
interface Current {
  readonly pending: ActionRequest;
  readonly controller: AbortController;
  /** Of a question that is answered on its page. */
  onOver?: () => void;
}

/**
 * Asks the user of a client for the answers of a run while a request is in flight: one pending action at a time, each at
 * most once. Where a form cannot have the answer, or does not prove that a person gives it, the user is sent to the page of
 * the question, and the request waits for it. What cannot be put in either way, or for which the client fails to ask, stays
 * open.
 */
export class Elicitation {
  readonly #peer: Pick<Peer, 'elicit' | 'elicitUrl'>;
  readonly #run: ElicitingRun;
  readonly #put = new Set<string>();
  #current: Current | undefined;
  #isOver = false;

  constructor(peer: Pick<Peer, 'elicit' | 'elicitUrl'>, run: ElicitingRun) {
    this.#peer = peer;
    this.#run = run;
  }

  /** Whether the user has a question before them. */
  get isAsking(): boolean {
    return this.#current !== undefined;
  }

  /** Withdraws a question that is no longer open, and asks the next one. */
  update(): void {
    const pendingActions = this.#run.pendingActions();
    if (this.#current !== undefined && !pendingActions.some(({ id }) => id === this.#current?.pending.id)) {
      this.#current.onOver?.();
      this.#takeBack();
    }
    if (this.#isOver || this.#current !== undefined) return;
    for (const pending of pendingActions) {
      if (this.#put.has(pending.id)) continue;
      const put = this.#wayOf(pending);
      if (put === undefined || !this.#run.claim(pending)) continue;
      this.#put.add(pending.id);
      void this.#ask(pending, put);
      return;
    }
  }

  /**
   * Withdraws the current question, and asks no other. One that its user has on a page stays there.
   *
   * @returns the action of that one, and what to call when the question is over.
   */
  stop(): { readonly action: string; readonly onOver: () => void } | undefined {
    const { pending, onOver } = this.#current ?? {};
    this.#isOver = true;
    this.#takeBack();
    return pending && onOver && { action: pending.id, onOver };
  }

  /** How a question is put. Neither a form nor a page that would show a secret can be filled in without it. */
  #wayOf(pending: ActionRequest): ((signal: AbortSignal) => Promise<Reaction>) | undefined {
    const { elicit, elicitUrl } = this.#peer;
    const { action } = pending;
    const shown = this.#run.shown(pending);
    if (shown.schema !== action.schema) return undefined;
    const message = bodyText(textOf(shown));
    const form = this.#run.takesForm(pending) ? formOf(action) : undefined;
    if (form !== undefined && elicit !== undefined)
      return async (signal) => {
        const elicited = await elicit({ message, schema: form.schema }, signal);
        return { kind: 'form', elicited, answerOf: form.answerOf };
      };
    if (elicitUrl === undefined || !hasPage(action)) return undefined;
    return async (signal) => {
      const url = await this.#run.pageOf(pending);
      const onOver = url === undefined ? undefined : await elicitUrl({ message, url }, signal);
      return onOver && { kind: 'page', onOver };
    };
  }

  #takeBack(): void {
    const current = this.#current;
    if (current === undefined) return;
    this.#current = undefined;
    if (current.onOver !== undefined) this.#run.release(current.pending);
    current.controller.abort();
  }

  async #ask(pending: ActionRequest, put: (signal: AbortSignal) => Promise<Reaction>): Promise<void> {
    const current: Current = { pending, controller: new AbortController() };
    this.#current = current;
    let hasFailed = false;
    let reaction: Reaction;
    try {
      reaction = await put(current.controller.signal);
    } catch {
      // The client cannot ask after all: the caller gets the open actions instead.
      hasFailed = true;
    }
    const isOnPage = reaction?.kind === 'page';
    // Withdrawn meanwhile: the user answered too late, or on the page already.
    const isCurrent = this.#current === current;
    if (!isOnPage || !isCurrent) this.#run.release(pending);
    if (!isCurrent) {
      if (reaction?.kind === 'page') reaction.onOver();
      return;
    }
    if (reaction?.kind === 'page') {
      current.onOver = reaction.onOver;
      return;
    }
    this.#current = undefined;
    if (hasFailed) this.#isOver = true;
    else if (reaction !== undefined) this.#hand(pending, reaction.elicited, reaction.answerOf);
    this.#run.changed();
  }

  #hand(pending: ActionRequest, elicited: Elicited, answerOf: Form['answerOf']): void {
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

/** Whether people answer an action, who can do so on a page. */
export function hasPage(action: Action): boolean {
  return ACTION_KINDS[actionKind(action)].form !== 'none';
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
  array: ['minItems', 'maxItems', 'default'],
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
  const field = { ...Object.fromEntries(members), ...shownNames(schema) };
  if (type !== 'array') return field;
  const items = choiceItems(schema.items);
  return items && { ...field, items };
}

/** The items of a list of some of several texts: forms have no other lists. */
function choiceItems(items: Json | undefined): JsonSchema | undefined {
  const { type, enum: values, enumNames: names } = (isJsonObject(items) && flatField(items)) || {};
  if (type !== 'string' || !Array.isArray(values)) return undefined;
  if (!Array.isArray(names)) return { type, enum: values };
  return { anyOf: values.map((value: Json, index) => ({ const: value, title: names[index] })) };
}
