import { z } from 'zod';
import { LOG_LEVELS, type LogLevel } from '../../decorators/client.js';
import { unreachable } from '../../graph/json.js';
import { getOrInsert } from '../../graph/maps.js';
import { clip, oneLine } from '../../graph/printable-text.js';
import type { RequestContext } from '../runs/request.js';
import type { StepwrightServer } from '../server/stepwright-server.js';
import { faultCodes, ProtocolFault } from '../server/wire.js';

// Own schemas instead of the SDK's: the SDK answers malformed params with -32603 and the raw list of schema issues,
// and its records drop a key named `__proto__` in silence. Unknown keys are ignored, as the protocol asks.

// Each is made when its method is first called, so that a server starts without them.

export const text = () =>
  z.string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a string') });
export const page = () => z.object({ cursor: text().optional() });
/** Passed on unchanged: the server checks the content. */
export const dictionary = (problem = 'expected an object') =>
  z.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    problem,
  );
export const call = () => z.object({ name: text(), arguments: dictionary().optional() });
const address = () => z.object({ uri: text() });
const level = () => z.object({ level: z.enum(LOG_LEVELS, `expected one of ${LOG_LEVELS.join(', ')}`) });

const completion = () =>
  z.object({
    ref: z.union(
      [
        z.object({ type: z.literal('ref/prompt'), name: text() }),
        z.object({ type: z.literal('ref/resource'), uri: text() }),
      ],
      'expected { type: "ref/prompt", name } or { type: "ref/resource", uri }',
    ),
    argument: z.object({ name: text(), value: text() }),
    context: z.object({ arguments: z.record(z.string(), text()).optional() }).optional(),
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
const schemas = new Map<Method, z.ZodType>();

type Method = keyof typeof paramsOf;

type ParamsOf<M extends Method> = z.output<ReturnType<(typeof paramsOf)[M]>>;

/** True for a method that {@link answerRequest} answers; others are not found. */
export function isMethod(method: string): method is Method {
  return Object.hasOwn(paramsOf, method);
}

/**
 * Checks the params of a request.
 *
 * @throws {ProtocolFault} -32602 naming everything that is wrong with them.
 */
export function parseParams<M extends Method>(method: M, params: unknown): ParamsOf<M> {
  const schema = getOrInsert(schemas, method, () => paramsOf[method]());
  return checkedParams(method, schema, params) as ParamsOf<M>;
}

/**
 * Checks the params of a request by their schema.
 *
 * @throws {ProtocolFault} -32602 naming everything that is wrong with them.
 */
export function checkedParams<T>(method: string, schema: z.ZodType<T>, params: unknown): T {
  const parsed = schema.safeParse(params ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  throw new ProtocolFault(faultCodes.invalidParams, `Invalid params of ${method}: ${oneLine(problems)}`);
}

/** What a client has asked a connection to remember. */
export interface ClientState {
  subscribe(uri: string): void;
  unsubscribe(uri: string): void;
  setLogLevel(level: LogLevel): void;
}

/**
 * Answers one request, its params unchecked.
 *
 * @throws ProtocolFault for a request that is malformed or names what is not there.
 */
export async function answerRequest(
  server: StepwrightServer,
  client: ClientState,
  { method, params }: { readonly method: string; readonly params?: unknown },
  context: RequestContext,
): Promise<object> {
  if (!isMethod(method))
    throw new ProtocolFault(faultCodes.methodNotFound, `Method not found: ${clip(method)}`);
  switch (method) {
    case 'tools/list':
      return server.listTools(parseParams(method, params).cursor, context);
    case 'prompts/list':
      return server.listPrompts(parseParams(method, params).cursor, context);
    case 'resources/list':
      return server.listResources(parseParams(method, params).cursor);
    case 'resources/templates/list':
      return server.listResourceTemplates(parseParams(method, params).cursor);
    case 'resources/read':
      return server.readResource(parseParams(method, params).uri, context);
    case 'resources/subscribe': {
      const { uri } = parseParams(method, params);
      if (!server.hasResource(uri))
        throw new ProtocolFault(faultCodes.resourceNotFound, `Resource not found: ${clip(uri)}`, { uri });
      client.subscribe(uri);
      return {};
    }
    case 'resources/unsubscribe':
      client.unsubscribe(parseParams(method, params).uri);
      return {};
    case 'logging/setLevel':
      client.setLogLevel(parseParams(method, params).level);
      return {};
    case 'tools/call': {
      const call = parseParams(method, params);
      return await server.callTool(call.name, call.arguments ?? {}, context);
    }
    case 'prompts/get': {
      const prompt = parseParams(method, params);
      return await server.getPrompt(prompt.name, prompt.arguments ?? {}, context);
    }
    case 'completion/complete': {
      const { ref, argument, context: filled } = parseParams(method, params);
      const subject =
        ref.type === 'ref/prompt'
          ? ({ kind: 'prompt', name: ref.name } as const)
          : ({ kind: 'template', uriTemplate: ref.uri } as const);
      const asked = { argument: argument.name, value: argument.value, given: filled?.arguments ?? {} };
      return server.complete(subject, asked, context);
    }
    default:
      return unreachable(method);
  }
}
