import type { ToolContext } from '../../../decorators/context.js';
import { isJsonObject, type Json } from '../../../graph/json.js';
import { oneLine } from '../../../graph/printable-text.js';
import { thrownText } from '../../tools/exceptions.js';
import { filledIn, type RestService } from '../../upstream/config.js';
import { UpstreamError } from '../../upstream/port.js';

/** A request of a service. */
export interface RestRequest {
  /** Default: `GET`. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path after the base URL; `{name}` is replaced by the input of this name. */
  readonly path: string;
}

const WITHOUT_BODY: readonly string[] = ['GET', 'DELETE'];

/**
 * A tool that makes one request of a service, to be extended by a class with `@Tool`. Inputs that the path does not name
 * are the query of a `GET` or `DELETE`, and the JSON body of any other method. The output is the JSON of the response,
 * or its text.
 *
 * @typeParam Input the inputs; see `@Tool`.
 * @typeParam Output the JSON of the response.
 * @example
 * ```ts
 * const crm = { baseUrl: 'https://crm.example.com/v2', headers: { Authorization: 'Bearer ${CRM_TOKEN}' } };
 *
 * @Tool({ name: 'get-customer', description: 'Finds a customer', annotations: { readOnlyHint: true } })
 * export class GetCustomer extends RestCall<{ id: string }, { name: string }> {
 *   constructor() {
 *     super(crm, { path: '/customers/{id}' });
 *   }
 * }
 * ```
 */
export class RestCall<Input extends object, Output> {
  readonly #service: RestService;
  readonly #request: RestRequest;

  constructor(service: RestService, request: RestRequest) {
    this.#service = service;
    this.#request = request;
  }

  /**
   * Makes the request.
   *
   * @throws UpstreamError `E_REST` for a response that is not a success, and for none; `E_UPSTREAM_CONFIG` for a missing
   *   environment variable.
   */
  async execute(input: Input, { signal, idempotencyKey }: ToolContext): Promise<Output> {
    const { method = 'GET', path } = this.#request;
    const args = new Map(Object.entries(input as Readonly<Record<string, Json>>));
    const missing = new Set<string>();
    const fill = (text: string): string => filledIn(text, process.env, missing);
    const base = fill(this.#service.baseUrl).replace(/\/$/, '');
    const headers = new Headers({ accept: 'application/json' });
    for (const [name, value] of Object.entries(this.#service.headers ?? {})) headers.set(name, fill(value));
    if (missing.size > 0) throw new UpstreamError('E_UPSTREAM_CONFIG', missingText([...missing]));
    const url = new URL(base + pathOf(path, args));
    const hasBody = !WITHOUT_BODY.includes(method);
    if (hasBody) headers.set('content-type', 'application/json');
    else
      for (const [name, value] of args)
        for (const text of textsOf(value)) url.searchParams.append(name, text);
    if (idempotencyKey !== undefined && method !== 'GET') headers.set('idempotency-key', idempotencyKey);
    const body = hasBody ? JSON.stringify(Object.fromEntries(args)) : null;
    const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' }).catch(
      (error: unknown) => {
        if (signal.aborted) throw signal.reason;
        const outcome = method === 'GET' ? {} : { outcomeUnknown: true as const };
        throw new UpstreamError(
          'E_REST',
          `${method} got no response from ${url.origin}: ${thrownText(error)}`,
          outcome,
        );
      },
    );
    if (!response.ok) throw await refusal(response, method, url.pathname);
    return (await contentOf(response)) as Output;
  }
}

/** The path with its inputs, which are removed from those that are left. */
function pathOf(path: string, args: Map<string, Json>): string {
  const names = new Set<string>();
  const filled = path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const text = String(args.get(name) ?? '');
    // An empty segment, or one that climbs, would be another address.
    if (text === '' || text === '.' || text === '..')
      throw new UpstreamError(
        'E_REST',
        `Input '${name}' is part of the path, and cannot be ${JSON.stringify(text)}`,
      );
    names.add(name);
    return encodeURIComponent(text);
  });
  for (const name of names) args.delete(name);
  return filled;
}

function textsOf(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => textsOf(item));
  if (value === null) return [];
  return [isJsonObject(value) ? JSON.stringify(value) : String(value)];
}

async function contentOf(response: Response): Promise<Json> {
  const text = await response.text();
  if (text === '') return null;
  return /\bjson\b/.test(response.headers.get('content-type') ?? '') ? (JSON.parse(text) as Json) : text;
}

async function refusal(response: Response, method: string, path: string): Promise<UpstreamError> {
  const text = await response.text().catch(() => '');
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const about = Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1_000 } : {};
  return new UpstreamError(
    'E_REST',
    `${method} ${path} was answered with ${response.status}${text === '' ? '' : `: ${oneLine(text)}`}`,
    about,
  );
}

function missingText(names: readonly string[]): string {
  const [variables, are] = names.length === 1 ? ['variable', 'is'] : ['variables', 'are'];
  return `The environment ${variables} ${names.join(', ')} of the service ${are} not set`;
}
