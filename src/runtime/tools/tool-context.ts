import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ClientInfo, ElicitAnswer, ElicitOptions, Form, FormField } from '../../decorators/client.js';
import type { AuthInfo, Owner, RequestContext, ToolContext } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type JsonObject, ownProperty } from '../../graph/json.js';
import type { RunTimeCode } from '../../graph/run-time-codes.js';
import type { CallMask } from '../secrets/call-mask.js';
import { type UpstreamCall, UpstreamError } from '../upstream/port.js';
import type { CallContext, Elicit, Peer } from './port.js';
import { message, quoted, toolTexts } from './tool-texts.js';

/**
 * What a tool sees of the context of its call. What it reports of its progress holds no secrets: it is shown as it
 * comes. Few tools look at the signal, the key or the headers, which are dear: they are made when they are read.
 */
export function toolContextOf(
  context: CallContext,
  maskOf: () => CallMask,
  upstream?: CallUpstream,
): ToolContext {
  return new ToolCallContext(context, maskOf, upstream);
}

/** Calls the upstream tool that belongs to a tool. */
export type CallUpstream = (input: JsonObject, call: UpstreamCall) => Promise<unknown>;

class ToolCallContext implements ToolContext {
  declare readonly signal: AbortSignal;
  declare readonly idempotencyKey?: string;
  readonly requestId: string;
  declare readonly auth?: AuthInfo;
  declare readonly principal?: Owner;
  readonly progress: ToolContext['progress'];
  declare readonly headers?: NonNullable<ToolContext['headers']>;
  declare readonly session?: string;
  declare readonly client?: ClientInfo;
  readonly elicit: ToolContext['elicit'];
  readonly log: ToolContext['log'];
  readonly sample: ToolContext['sample'];
  readonly roots: ToolContext['roots'];
  readonly closeStream: ToolContext['closeStream'];
  readonly callUpstream: ToolContext['callUpstream'];
  readonly #context: CallContext;
  readonly #peer: Peer | undefined;

  constructor(context: CallContext, maskOf: () => CallMask, upstream: CallUpstream | undefined) {
    const { peer } = context;
    this.#context = context;
    this.#peer = peer;
    Object.defineProperty(this, 'signal', ToolCallContext.#signal);
    this.requestId = context.requestId;
    if ('idempotencyKey' in context) {
      Object.defineProperty(this, 'idempotencyKey', ToolCallContext.#idempotencyKey);
    }
    if (context.auth !== undefined) this.auth = context.auth;
    if (context.principal !== undefined) this.principal = context.principal;
    const progress: ToolContext['progress'] = (value, total, text) => {
      if (text !== undefined) context.progress(value, total, maskOf().text(text));
      else if (total !== undefined) context.progress(value, total);
      else context.progress(value);
    };
    this.progress = progress;
    if (peer !== undefined && 'headers' in peer)
      Object.defineProperty(this, 'headers', ToolCallContext.#headers);
    if (peer?.session !== undefined) this.session = peer.session;
    if (peer?.client !== undefined) this.client = peer.client;
    // The client is absent where no request is open: a run that has waited is moved on by another one.
    const { elicit, log, sample, roots, closeStream } = clientMethods(context, maskOf);
    this.elicit = elicit;
    this.log = log;
    this.sample = sample;
    this.roots = roots;
    this.closeStream = closeStream;
    const callUpstream = async (input: object): Promise<unknown> => {
      if (upstream === undefined)
        throw new UpstreamError(
          'E_UPSTREAM_CONFIG',
          'The tool has no option `upstream`: it calls no upstream server',
        );
      const { signal, idempotencyKey, auth } = context;
      return upstream(input as JsonObject, { signal, idempotencyKey, auth, progress });
    };
    this.callUpstream = callUpstream as ToolContext['callUpstream'];
  }

  // Members of the object itself, since tools copy contexts; one function for all of them, or each object would have a
  // form of its own.
  static readonly #signal: PropertyDescriptor & ThisType<ToolCallContext> = {
    enumerable: true,
    get() {
      return this.#context.signal;
    },
  };
  static readonly #headers: PropertyDescriptor & ThisType<ToolCallContext> = {
    enumerable: true,
    get() {
      return this.#peer?.headers;
    },
  };
  static readonly #idempotencyKey: PropertyDescriptor & ThisType<ToolCallContext> = {
    enumerable: true,
    get() {
      return this.#context.idempotencyKey;
    },
  };
}

/** What resources, prompts, completions and middleware see of a request. */
export function requestContextOf({
  signal,
  requestId,
  auth,
  principal,
  peer,
}: Pick<CallContext, 'signal' | 'requestId' | 'auth' | 'principal' | 'peer'>): RequestContext {
  return {
    signal,
    requestId,
    ...defined({ auth, principal }),
    ...defined({ headers: peer?.headers, session: peer?.session, client: peer?.client }),
  };
}

/** The members of a tool's context that reach the client of the request. */
type ClientMethods = Pick<ToolContext, 'elicit' | 'log' | 'sample' | 'roots' | 'closeStream'>;

/** @param maskOf what log messages must not show. */
function clientMethods(context: CallContext, maskOf: () => CallMask): ClientMethods {
  return {
    elicit: (async (text: string, form: Form, { key }: ElicitOptions = {}) => {
      const { peer, signal } = context;
      const { elicit } = peer ?? {};
      if (elicit === undefined) throw unsupported('elicitation', peer);
      return elicitForm((asked, end) => elicit({ ...asked, ...defined({ key }) }, end), text, form, signal);
    }) as ToolContext['elicit'],
    log: (level, data, logger) => context.peer?.log?.(level, maskOf().json(data), logger),
    sample: async (request) => {
      const { peer, signal } = context;
      if (peer?.sample === undefined) throw unsupported('sampling', peer);
      return peer.sample(request, signal).catch(failedWith('sampling'));
    },
    roots: async () => {
      const { peer, signal } = context;
      if (peer?.roots === undefined) throw unsupported('roots', peer);
      return peer.roots(signal).catch(failedWith('roots'));
    },
    closeStream: () => context.peer?.closeStream?.(),
  };
}

function unsupported(capability: Parameters<NonNullable<Peer['lacks']>>[0], peer: Peer | undefined): Error {
  peer?.lacks?.(capability);
  return clientError(
    'E_CLIENT_UNSUPPORTED',
    `the client does not support ${capability}, or no request of it is open`,
  );
}

function failedWith(capability: string): (error: unknown) => never {
  return (error) => {
    throw clientError('E_CLIENT', toolTexts.clientFailed(capability, error));
  };
}

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
async function elicitForm(
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
function clientError(code: RunTimeCode, text: string): Error {
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
  } = jsonSchema.input({ target: 'draft-2020-12' });
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
