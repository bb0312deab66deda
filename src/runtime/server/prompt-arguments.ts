import type { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { Input } from '../../graph/model.js';
import { nearestName } from '../../graph/suggest.js';
import { receivedJson } from '../catalogue/check-input.js';
import { MASKED } from '../catalogue/mask.js';
import { schemaProblems } from '../catalogue/problems.js';
import { coerce, textOf } from './coerce.js';
import { describeValues } from './describe-argument.js';
import { kindOf } from './kind-of.js';
import { texts, valueWords } from './texts.js';
import type { PromptArgumentListing } from './wire.js';

/** What is wrong with one argument of a request. */
interface ArgumentProblem {
  readonly argument: string;
  /** One sentence. */
  readonly message: string;
}

/** The input of a run, or everything that is wrong with the arguments at once. */
export type ReadArguments =
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly problems: readonly ArgumentProblem[] };

/**
 * An argument as `prompts/list` shows it: type, limits and default follow the description, in plain words. One that is not
 * `required` may be left out, or sent blank.
 */
export function listArgument(input: Input): PromptArgumentListing {
  const notes = [
    ...describeValues(input.schema),
    input.default === undefined || input.secret === true
      ? undefined
      : valueWords.standing(textOf(input.default)),
  ].filter((note) => note !== undefined);
  return {
    name: input.name,
    ...(input.title === undefined ? {} : { title: input.title }),
    description: notes.length === 0 ? input.description : `${input.description} (${notes.join('; ')})`,
    required: input.required,
  };
}

/**
 * Turns the arguments of `prompts/get` into the input of a run: coerces typed ones, checks each against its schema,
 * fills defaults in and leaves absent optional ones absent. They obey the limits of tools: see `receivedJson`. Blank text counts as absent where an argument is optional: a
 * form sends it for a field that nobody filled in.
 */
export function readArguments(
  inputs: readonly Input[],
  given: Readonly<Record<string, unknown>>,
  schemas: SchemaCompiler,
): ReadArguments {
  const problems: ArgumentProblem[] = [];
  const entries: [string, Json][] = [];
  const names = new Set(inputs.map((input) => input.name));

  for (const name of Object.keys(given)) {
    if (names.has(name)) continue;
    problems.push({ argument: name, message: texts.unknownArgument(name, nearestName(name, names)) });
  }
  for (const input of inputs) {
    const { name } = input;
    const sent = Object.hasOwn(given, name) ? given[name] : undefined;
    const text = !input.required && isBlank(sent) ? undefined : sent;
    if (text !== undefined) {
      const value = readArgument(input, text, schemas);
      if (value.ok) entries.push([name, value.value]);
      else problems.push(...value.messages.map((message) => ({ argument: name, message })));
    } else if (input.default !== undefined) {
      entries.push([name, input.default]);
    } else if (input.required) {
      problems.push({ argument: name, message: texts.missingArgument(name) });
    }
  }
  if (problems.length > 0) return { ok: false, problems };
  const received = receivedJson(Object.fromEntries(entries));
  if (received.ok) return { ok: true, input: received.value as JsonObject };
  const { pointer, message } = received.problem;
  return { ok: false, problems: [{ argument: pointer.split('/')[1] ?? '', message }] };
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === '';
}

type ReadArgument =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly messages: readonly string[] };

function readArgument(input: Input, text: unknown, schemas: SchemaCompiler): ReadArgument {
  const { name, schema } = input;
  if (typeof text !== 'string') return { ok: false, messages: [texts.notText(name, kindOf(text))] };
  const coerced = coerce(text, schema);
  if (!coerced.ok) {
    // A secret is repeated to nobody, not even to who sent it.
    const shown = input.secret === true ? MASKED : text;
    return { ok: false, messages: [texts.invalidValue(name, shown, coerced.expected)] };
  }
  // Before the schema: what is too deep or too large for it must not reach it.
  const received = receivedJson({ [name]: coerced.value });
  if (!received.ok) return { ok: false, messages: [texts.refusedValue(name, received.problem.message)] };
  const problems = schemaProblems(schemas.check(schema, coerced.value), schema);
  if (problems.length === 0) return coerced;
  return { ok: false, messages: problems.map((problem) => texts.refusedValue(name, problem.message)) };
}
