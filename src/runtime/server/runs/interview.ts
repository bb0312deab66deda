import type { JsonObject } from '../../../graph/json.js';
import { bodyText } from '../../catalogue/encode-text.js';
import { toJson } from '../../catalogue/to-json.js';
import type { Action, Failure } from '../../engine/contract.js';
import type { Elicit, Elicited } from '../request.js';
import { type Form, formOf } from './form.js';
import type { Submission } from './run-store.js';
import { texts } from './texts.js';

/** An action that is open. */
export interface Question {
  readonly id: string;
  /** Key of the node that asks. */
  readonly node: string;
  readonly action: Action;
}

/** What an interview needs of the run it is about. */
export interface Interviewed {
  /** The questions that are open, oldest first. */
  questions(): readonly Question[];
  /** What a question asks, without secrets. */
  shown(question: Question): Action;
  /** False where another request puts this question already. Once granted, it is kept until `letGo`. */
  claim(question: Question): boolean;
  letGo(question: Question): void;
  /** Hands an answer in. One that does not fit leaves the question open. */
  take(question: Question, answer: Pick<Submission, 'result'> | { readonly failure: Failure }): void;
  /** The interview has stopped or gone on by itself: the run may not have changed. */
  moved(): void;
}

/**
 * Puts the questions of a run to the user of a client while a request is under way, one at a time, each at most once. A
 * question that is no flat form, or that the client fails to put, stays open.
 */
export class Interview {
  readonly #elicit: Elicit;
  readonly #run: Interviewed;
  readonly #put = new Set<string>();
  #current: { readonly id: string; readonly controller: AbortController } | undefined;
  #isOver = false;

  constructor(elicit: Elicit, run: Interviewed) {
    this.#elicit = elicit;
    this.#run = run;
  }

  /** Whether the user has a question before them. */
  get isUnderWay(): boolean {
    return this.#current !== undefined;
  }

  /** Takes back a question that is not open any more, and puts the next one. */
  look(): void {
    const questions = this.#run.questions();
    if (this.#current !== undefined && !questions.some(({ id }) => id === this.#current?.id))
      this.#takeBack();
    if (this.#isOver || this.#current !== undefined) return;
    for (const question of questions) {
      if (this.#put.has(question.id)) continue;
      const form = this.#formOf(question);
      if (form === undefined || !this.#run.claim(question)) continue;
      this.#put.add(question.id);
      void this.#ask(question, form.schema, form.answerOf);
      return;
    }
  }

  /** Takes back what is asked, and asks nothing more. */
  end(): void {
    this.#isOver = true;
    this.#takeBack();
  }

  /** A form that would show a secret cannot be filled in without it either: the question stays open. */
  #formOf(question: Question): Form | undefined {
    const isShown = this.#run.shown(question).schema === question.action.schema;
    return isShown ? formOf(question.action) : undefined;
  }

  #takeBack(): void {
    const controller = this.#current?.controller;
    this.#current = undefined;
    controller?.abort();
  }

  async #ask(
    question: Question,
    schema: JsonObject,
    answerOf: (content: JsonObject) => JsonObject[string],
  ): Promise<void> {
    const current = { id: question.id, controller: new AbortController() };
    this.#current = current;
    let elicited: Elicited | undefined;
    try {
      elicited = await this.#elicit(
        { message: bodyText(this.#run.shown(question).message), schema },
        current.controller.signal,
      );
    } catch {
      // The client cannot ask after all: what is open is told to the caller instead.
    }
    this.#run.letGo(question);
    // Taken back meanwhile: what the user said is too late.
    if (this.#current !== current) return;
    this.#current = undefined;
    if (elicited === undefined) this.#isOver = true;
    else this.#hand(question, elicited, answerOf);
    this.#run.moved();
  }

  #hand(question: Question, elicited: Elicited, answerOf: (content: JsonObject) => JsonObject[string]): void {
    if (elicited.action !== 'accept') {
      const failure =
        elicited.action === 'decline'
          ? { code: 'E_ASK_DECLINED', message: texts.declined }
          : { code: 'E_ASK_CANCELLED', message: texts.dismissed };
      this.#run.take(question, { failure });
      return;
    }
    const content = toJson(elicited.content);
    if (content.ok) this.#run.take(question, { result: answerOf(content.value as JsonObject) });
  }
}
