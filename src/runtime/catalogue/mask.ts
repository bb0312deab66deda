import { inlineText } from '../../graph/expression/inline.js';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import type { Failure } from '../engine/contract.js';
import { bodyText, jsonText, oneLine } from './encode-text.js';
import { thrownReport } from './thrown.js';

/** What stands in place of a secret. */
export const MASKED = '••••';

/**
 * Secrets with fewer UTF-16 code units are masked where they stand alone, as a whole value or text, and not inside other
 * text: every text holds an `a`.
 */
export const SHORT_SECRET = 4;

/** Ends a text that was shortened. */
const CUT = '…';

/**
 * Keeps certain values out of whatever is shown: traces, logs, messages of failures. A secret of at least
 * {@link SHORT_SECRET} characters is masked wherever it stands, a shorter one where it stands alone.
 */
export class Mask {
  readonly #values: readonly string[];

  /** @param secrets values to mask; of lists and objects every text and number they hold, and their JSON as a whole. */
  constructor(secrets: Iterable<Json>) {
    const texts = [...secrets].flatMap((value) => [...formsOf(value)]);
    // Messages and values in guidance are brought onto one line before they get here; a tool may hand JSON on as text.
    const forms = new Set(
      texts
        .flatMap((text) => [
          text,
          oneLine(text),
          bodyText(text),
          inlineText(text),
          escaped(text),
          encoded(text),
        ])
        .filter((text) => text !== ''),
    );
    // A secret that holds another one is replaced first.
    this.#values = [...forms].sort((a, b) => b.length - a.length);
  }

  /** True where there is nothing to mask. */
  get isEmpty(): boolean {
    return this.#values.length === 0;
  }

  /** A text with secrets masked. */
  text(text: string): string {
    let masked = text;
    for (const value of this.#values) {
      if (masked === value) return MASKED;
      if (value.length >= SHORT_SECRET) masked = masked.replaceAll(value, MASKED);
    }
    return this.#cutSecrets(masked);
  }

  /** Texts are shortened before they get here: what is left of a secret in front of a `…` is masked as well. */
  #cutSecrets(text: string): string {
    if (!text.includes(CUT)) return text;
    const parts = text.split(CUT);
    const last = parts.pop() ?? '';
    return [...parts.map((part) => this.#withoutCutEnd(part)), last].join(CUT);
  }

  #withoutCutEnd(part: string): string {
    for (const value of this.#values) {
      for (let length = Math.min(value.length - 1, part.length); length >= SHORT_SECRET; length--) {
        if (part.endsWith(value.slice(0, length))) return `${part.slice(0, -length)}${MASKED}`;
      }
    }
    return part;
  }

  /** A value with secrets masked, wherever in it they stand. */
  json(value: Json): Json {
    if (this.isEmpty) return value;
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.#values.includes(String(value)) ? MASKED : value;
    if (Array.isArray(value)) return value.map((item: Json) => this.json(item));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [this.text(key), this.json(member)]),
    );
  }

  /** What was thrown, for a log: the stack, and those of its causes. */
  thrown(thrown: unknown): string {
    return this.text(thrownReport(thrown));
  }
}

/** A failure without secrets. Its code is for programs, and none of anybody's input. */
export function maskedFailure(failure: Failure, mask: Mask): Failure {
  if (mask.isEmpty) return failure;
  const { message, details } = failure;
  return {
    ...failure,
    message: mask.text(message),
    ...(details === undefined ? {} : { details: mask.json(details) }),
  };
}

/** An error without secrets in its message and stack, for whoever logs it. The stack holds those of its causes. */
export function maskedError(error: unknown, mask: Mask): unknown {
  if (mask.isEmpty || !(error instanceof Error)) return error;
  return Object.assign(new Error(mask.text(error.message)), { stack: mask.thrown(error) });
}

/** The values of these members, for a {@link Mask}. */
export function valuesOf(object: JsonObject, names: readonly string[] = []): Json[] {
  return names.flatMap((name) => (Object.hasOwn(object, name) ? [object[name] ?? null] : []));
}

/** An object whose members of these names are masked, whatever they hold. */
export function maskMembers(object: JsonObject, names: readonly string[] = []): JsonObject {
  if (names.length === 0) return object;
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, names.includes(key) ? MASKED : value]),
  );
}

/** A text as it stands in JSON, without the quotes. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The same as an answer of ours holds it. */
function encoded(text: string): string {
  return jsonText(text).slice(1, -1);
}

/** The texts a value may turn up as. `true`, `false` and `null` stand in too many places to be secrets. */
function* formsOf(value: Json): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number') yield String(value);
  else if (typeof value === 'object' && value !== null) {
    yield JSON.stringify(value);
    for (const member of Object.values(value)) yield* formsOf(member);
  }
}
