import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Json, JsonObject } from '../graph/json.js';

/** A client, as it introduced itself. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** What it can do, as MCP defines it: `elicitation`, `sampling`, `roots`, …. */
  readonly capabilities: JsonObject;
}

/** How serious a log message is (RFC 5424), the least serious first. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

interface FieldTexts {
  readonly title?: string;
  readonly description?: string;
}

/** A choice with a name for people. */
interface TitledChoice {
  readonly const: string;
  readonly title: string;
}

/** A text, which may be one of several. */
export interface TextField extends FieldTexts {
  readonly type: 'string';
  readonly enum?: readonly string[];
  /** Names for people, in the order of `enum`. `oneOf` is the present form. */
  readonly enumNames?: readonly string[];
  readonly oneOf?: readonly TitledChoice[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: 'email' | 'uri' | 'date' | 'date-time';
  readonly default?: string;
}

export interface NumberField extends FieldTexts {
  readonly type: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export interface BooleanField extends FieldTexts {
  readonly type: 'boolean';
  readonly default?: boolean;
}

/** Several of some choices. */
export interface ChoicesField extends FieldTexts {
  readonly type: 'array';
  readonly items:
    | { readonly type: 'string'; readonly enum: readonly string[] }
    | { readonly anyOf: readonly TitledChoice[] };
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
}

export type FormField = TextField | NumberField | BooleanField | ChoicesField;

/** A form as MCP defines it: a flat JSON Schema. */
export interface Form {
  readonly type?: 'object';
  readonly properties: Readonly<Record<string, FormField>>;
  readonly required?: readonly string[];
}

type ChoiceOf<F> = F extends { readonly enum: readonly (infer C)[] }
  ? C
  : F extends { readonly oneOf: readonly { readonly const: infer C }[] }
    ? C
    : F extends { readonly anyOf: readonly { readonly const: infer C }[] }
      ? C
      : string;

type ValueOf<F> = F extends { readonly type: 'boolean' }
  ? boolean
  : F extends { readonly type: 'number' | 'integer' }
    ? number
    : F extends { readonly type: 'array'; readonly items: infer I }
      ? ChoiceOf<I>[]
      : ChoiceOf<F>;

type RequiredOf<F extends Form> = F extends { readonly required: readonly (infer N)[] } ? N : never;

/** What a user fills a form in with. */
export type FormValues<F extends Form> = {
  -readonly [N in keyof F['properties'] as N extends RequiredOf<F> ? N : never]: ValueOf<F['properties'][N]>;
} & {
  -readonly [N in keyof F['properties'] as N extends RequiredOf<F> ? never : N]?: ValueOf<F['properties'][N]>;
};

/** What a user did with a form. */
export type ElicitAnswer<Values> =
  | { readonly action: 'accept'; readonly content: Values }
  | { readonly action: 'decline' | 'cancel' };

export interface ElicitOptions {
  /** Names the question in `inputRequests` of protocol 2026-07-28. Default: `elicitation`. */
  readonly key?: string;
}

/** Puts a form to the user of a client. */
export interface ElicitForm {
  /**
   * @param form a flat JSON Schema of texts, numbers, booleans and choices.
   * @returns what the user did; the values fit the form.
   * @throws Error with the code `E_CLIENT_UNSUPPORTED` if the client cannot ask its user, `E_ELICIT_ANSWER` for values that
   *   do not fit the form, `E_CLIENT` if the client answers with an error.
   */
  <const F extends Form>(
    message: string,
    form: F,
    options?: ElicitOptions,
  ): Promise<ElicitAnswer<FormValues<F>>>;
  /** @param form a Standard Schema that describes itself as JSON Schema, such as a flat `z.object({ … })`. */
  <Output>(
    message: string,
    form: StandardSchemaV1<unknown, Output>,
    options?: ElicitOptions,
  ): Promise<ElicitAnswer<Output>>;
}

/** A request to the model of a client; see `sampling/createMessage` of MCP, whose further members may be given too. */
export interface SamplingRequest {
  readonly messages: readonly SamplingMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
}

export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  /** Content of MCP, such as `{ type: 'text', text }`. */
  readonly content: JsonObject;
}

export interface SamplingResult {
  readonly role: 'user' | 'assistant';
  readonly content: Json;
  readonly model: string;
  readonly stopReason?: string;
}

/** A folder or file that a client works on. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}
