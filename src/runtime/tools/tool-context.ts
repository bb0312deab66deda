import type { ClientInfo, ElicitOptions, Form } from '../../decorators/client.js';
import type { AuthInfo, Owner, RequestContext, ToolContext } from '../../decorators/context.js';
import { defined } from '../../graph/defined.js';
import type { JsonObject } from '../../graph/json.js';
import type { CallMask } from '../secrets/call-mask.js';
import { type UpstreamCall, UpstreamError } from '../upstream/port.js';
import { clientError, elicitForm } from './elicit-form.js';
import type { CallContext, Peer } from './port.js';
import { toolTexts } from './tool-texts.js';

/**
 * What a tool sees of the context of its call. What it reports of its progress holds no secrets: it is shown as it
 * comes. Few tools look at the signal or the key, which are dear: they are made when they are read.
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
  declare readonly elicit: ToolContext['elicit'];
  declare readonly log: ToolContext['log'];
  declare readonly sample: ToolContext['sample'];
  declare readonly roots: ToolContext['roots'];
  declare readonly closeStream: ToolContext['closeStream'];
  declare readonly callUpstream: ToolContext['callUpstream'];
  readonly #context: CallContext;
  readonly #maskOf: () => CallMask;
  readonly #upstream: CallUpstream | undefined;

  constructor(context: CallContext, maskOf: () => CallMask, upstream: CallUpstream | undefined) {
    this.#context = context;
    this.#upstream = upstream;
    this.#maskOf = maskOf;
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
    const { peer } = context;
    if (peer?.headers !== undefined) this.headers = peer.headers;
    if (peer?.session !== undefined) this.session = peer.session;
    if (peer?.client !== undefined) this.client = peer.client;
    Object.defineProperties(this, ToolCallContext.#ofPeer);
    Object.defineProperty(this, 'callUpstream', ToolCallContext.#callUpstream);
  }

  // Members of the object itself, since tools copy contexts; one function for all of them, or each object would have a
  // form of its own.
  static readonly #signal: PropertyDescriptor & ThisType<ToolCallContext> = {
    enumerable: true,
    get() {
      return this.#context.signal;
    },
  };
  static readonly #ofPeer: PropertyDescriptorMap & ThisType<ToolCallContext> = Object.fromEntries(
    (['elicit', 'log', 'sample', 'roots', 'closeStream'] as const).map((name) => [
      name,
      {
        enumerable: true,
        get(this: ToolCallContext) {
          const { peer, signal } = this.#context;
          return peerMethods(peer, signal, this.#maskOf)[name];
        },
      },
    ]),
  );
  static readonly #callUpstream: PropertyDescriptor & ThisType<ToolCallContext> = {
    enumerable: true,
    get() {
      const upstream = this.#upstream;
      return async (input: object): Promise<unknown> => {
        if (upstream === undefined)
          throw new UpstreamError(
            'E_UPSTREAM_CONFIG',
            'The tool has no option `upstream`: it calls no upstream server',
          );
        const { signal, idempotencyKey } = this.#context;
        return upstream(input as JsonObject, { signal, idempotencyKey, progress: this.progress });
      };
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
    ...(peer?.headers === undefined ? {} : { headers: peer.headers }),
    ...(peer?.session === undefined ? {} : { session: peer.session }),
    ...(peer?.client === undefined ? {} : { client: peer.client }),
  };
}

/** The members of a tool's context that reach the client of the request. */
type PeerMethods = Pick<ToolContext, 'elicit' | 'log' | 'sample' | 'roots' | 'closeStream'>;

/**
 * @param peer absent where no request is open: a run that has waited is moved on by another one.
 * @param maskOf what log messages must not show.
 */
function peerMethods(peer: Peer | undefined, signal: AbortSignal, maskOf: () => CallMask): PeerMethods {
  return {
    elicit: (async (text: string, form: Form, { key }: ElicitOptions = {}) => {
      const { elicit } = peer ?? {};
      if (elicit === undefined) throw unsupported('elicitation', peer);
      return elicitForm((asked, end) => elicit({ ...asked, ...defined({ key }) }, end), text, form, signal);
    }) as ToolContext['elicit'],
    log: (level, data, logger) => peer?.log?.(level, maskOf().json(data), logger),
    sample: async (request) => {
      if (peer?.sample === undefined) throw unsupported('sampling', peer);
      return peer.sample(request, signal).catch(failedWith('sampling'));
    },
    roots: async () => {
      if (peer?.roots === undefined) throw unsupported('roots', peer);
      return peer.roots(signal).catch(failedWith('roots'));
    },
    closeStream: () => peer?.closeStream?.(),
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
