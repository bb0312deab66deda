import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ElicitAnswer, Form, FormField } from '../../decorators/client.js';
import { isJsonObject, type JsonObject, ownProperty } from '../../graph/json.js';
import type { RunTimeCode } from '../../graph/run-time-codes.js';
import type { Elicit } from './port.js';
import { message, quoted, toolTexts } from './tool-texts.js';

/** A Standard Schema that describes itself as JSON Schema, as zod's do. */
interface DescribedSchema extends StandardSchemaV1 {
  readonly '~standard': StandardSchemaV1['~standard'] & {
    readonly jsonSchema?: {
      input(options: { readonly target: 'draft-2020-12' }): Readonly<Record<string, unknown>>;
    };
  };
}

/**
 * Puts a form to a user, and checks what comes back: clients may send anything.
 *
 * @throws Error with the code `E_ELICIT_FORM` for a form that MCP does not know, `E_CLIENT` where the client failed, and
 *   `E_ELICIT_ANSWER` for values that do not fit.
 */
export async function elicitForm(
  elicit: Elicit,
  text: string,
  formOrSchema: Form | StandardSchemaV1,
  signal: AbortSignal,
): Promise<ElicitAnswer<unknown>> {
  const standard = '~standard' in formOrSchema ? (formOrSchema as DescribedSchema) : undefined;
  const form = checkedForm(standard === undefined ? formOrSchema : describedForm(standard));
  const answer = await elicit({ message: text, schema: form }, signal).catch((error: unknown) => {
    throw clientError('E_CLIENT', toolTexts.clientFailed('elicitation', error));
  });
  if (answer.action !== 'accept') return { action: answer.action };
  if (standard !== undefined) return { action: 'accept', content: await validated(standard, answer.content) };
  const problems = problemsOf(form as unknown as Form, answer.content);
  if (problems.length > 0) throw clientError('E_ELICIT_ANSWER', toolTexts.badAnswer(problems));
  return { action: 'accept', content: answer.content };
}

/** An error of a tool's call with a run-time code. */
export function clientError(code: RunTimeCode, text: string): Error {
  return Object.assign(new Error(message(text)), { code });
}

function describedForm(schema: DescribedSchema): unknown {
  const { jsonSchema } = schema['~standard'];
  if (jsonSchema === undefined)
    throw clientError(
      'E_ELICIT_FORM',
      'the schema of the form does not describe itself as JSON Schema: use zod 4.2 or later, or a JSON Schema',
    );
  const {
    $schema: _dialect,
    additionalProperties: _additional,
    ...form
  } = jsonSchema.input({
    target: 'draft-2020-12',
  });
  return form;
}

function checkedForm(form: unknown): JsonObject {
  if (!isJsonObject(form) || !isJsonObject(form.properties))
    throw clientError(
      'E_ELICIT_FORM',
      'a form is { properties: { name: field, … } }, or a Standard Schema of an object',
    );
  for (const [name, field] of Object.entries(form.properties)) {
    if (!isField(field))
      throw clientError(
        'E_ELICIT_FORM',
        `field ${quoted(name)} of the form is not a text, number, boolean or list of choices: clients show flat forms`,
      );
  }
  return { ...form, type: 'object' };
}

/** Clients show a flat form: no objects in objects, and no lists but those of choices. */
function isField(field: unknown): boolean {
  if (!isJsonObject(field)) return false;
  if (field.type === 'array')
    return isJsonObject(field.items) && (Array.isArray(field.items.enum) || Array.isArray(field.items.anyOf));
  return ['string', 'number', 'integer', 'boolean'].includes(String(field.type));
}

async function validated(schema: StandardSchemaV1, content: unknown): Promise<unknown> {
  const result = await schema['~standard'].validate(content);
  if (result.issues === undefined) return result.value;
  const problems = result.issues.map((issue) => {
    const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
    return `${path.join('.')}: ${issue.message}`;
  });
  throw clientError('E_ELICIT_ANSWER', toolTexts.badAnswer(problems));
}

function problemsOf(
  { properties, required = [] }: Form,
  content: Readonly<Record<string, unknown>>,
): string[] {
  const missing = required.filter((name) => ownProperty(content, name) === undefined);
  return [
    ...missing.map((name) => `${name}: is missing`),
    ...Object.entries(content).flatMap(([name, value]) => {
      const field = ownProperty(properties, name);
      if (field === undefined) return [`${name}: is not a field of the form`];
      const problem = value === undefined ? undefined : problemOf(field, value);
      return problem === undefined ? [] : [`${name}: ${problem}`];
    }),
  ];
}

/** What is wrong with the value of a field, as the end of a sentence. */
function problemOf(field: FormField, value: unknown): string | undefined {
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'number':
    case 'integer':
      return numberProblem(field, value);
    case 'string': {
      if (typeof value !== 'string') return 'must be text';
      const choices = field.enum ?? field.oneOf?.map((choice) => choice.const);
      return choiceProblem(choices, value) ?? lengthProblem(field.minLength, field.maxLength, value.length);
    }
    case 'array': {
      if (!Array.isArray(value)) return 'must be a list';
      const { items, minItems, maxItems } = field;
      const choices = 'enum' in items ? items.enum : items.anyOf.map((choice) => choice.const);
      const wrong = value
        .map((item) => choiceProblem(choices, item))
        .find((problem) => problem !== undefined);
      return wrong ?? lengthProblem(minItems, maxItems, value.length);
    }
    default:
      return field satisfies never;
  }
}

function numberProblem(
  { type, minimum, maximum }: Extract<FormField, { type: 'number' | 'integer' }>,
  value: unknown,
): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
  if (type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
  return lengthProblem(minimum, maximum, value);
}

function choiceProblem(choices: readonly string[] | undefined, value: unknown): string | undefined {
  if (choices === undefined || (typeof value === 'string' && choices.includes(value))) return undefined;
  return `must be one of: ${choices.join(', ')}`;
}

function lengthProblem(
  least: number | undefined,
  most: number | undefined,
  size: number,
): string | undefined {
  if (least !== undefined && size < least) return `must be at least ${least}, and is ${size}`;
  return most !== undefined && size > most ? `must be at most ${most}, and is ${size}` : undefined;
}
