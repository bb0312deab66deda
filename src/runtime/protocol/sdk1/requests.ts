import { z } from 'zod';
import { LOG_LEVELS } from '../../../decorators/client.js';
import { serverTexts } from '../../server/server-texts.js';
import { faultCodes, ProtocolFault } from '../../server/wire.js';

// Own schemas instead of the SDK's: the SDK answers malformed params with -32603 and the raw list of schema issues,
// and its records drop a key named `__proto__` in silence. Unknown keys pass, as the protocol asks.

// Each is made when its method is first called, so that a server starts without them.

const text = () =>
  z.string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a string') });
const page = () => z.looseObject({ cursor: text().optional() });
/** Passed on unchanged: the server checks the content. */
const dictionary = () =>
  z.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'expected an object',
  );
const call = () => z.looseObject({ name: text(), arguments: dictionary().optional() });
const address = () => z.looseObject({ uri: text() });
const level = () => z.looseObject({ level: z.enum(LOG_LEVELS, `expected one of ${LOG_LEVELS.join(', ')}`) });

const completion = () =>
  z.looseObject({
    ref: z.union(
      [
        z.looseObject({ type: z.literal('ref/prompt'), name: text() }),
        z.looseObject({ type: z.literal('ref/resource'), uri: text() }),
      ],
      'expected { type: "ref/prompt", name } or { type: "ref/resource", uri }',
    ),
    argument: z.looseObject({ name: text(), value: text() }),
    context: z.looseObject({ arguments: z.record(z.string(), text()).optional() }).optional(),
  });

const paramsOf = {
  'tools/list': page,
  'prompts/list': page,
  'resources/list': page,
  'resources/templates/list': page,
  'tools/call': call,
  'prompts/get': call,
  'resources/read': address,
  'resources/subscribe': address,
  'resources/unsubscribe': address,
  'logging/setLevel': level,
  'completion/complete': completion,
} as const;

/** The schemas of the methods that were called. */
const made = new Map<Method, z.ZodType>();

export type Method = keyof typeof paramsOf;

type ParamsOf<M extends Method> = z.output<ReturnType<(typeof paramsOf)[M]>>;

/** True for a method this adapter answers; others are not found. */
export function isMethod(method: string): method is Method {
  return Object.hasOwn(paramsOf, method);
}

/**
 * Checks the params of a request.
 *
 * @throws {ProtocolFault} -32602 naming everything that is wrong with them.
 */
export function parseParams<M extends Method>(method: M, params: unknown): ParamsOf<M> {
  let schema = made.get(method);
  if (schema === undefined) {
    schema = paramsOf[method]();
    made.set(method, schema);
  }
  const parsed = schema.safeParse(params ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues
      .map((issue) => `${issue.path.join('.')}: ${issue.message}`)
      .join('; ');
    throw new ProtocolFault(faultCodes.invalidParams, serverTexts.badParams(method, problems));
  }
  return parsed.data as ParamsOf<M>;
}
