import type { AuthInfo, Owner, ToolContext } from '../../decorators/context.js';
import type { CallMask } from './call-mask.js';
import type { CallContext } from './port.js';

/**
 * What a tool sees of the context of its call. What it reports of its progress holds no secrets: it is shown as it comes.
 * Few tools look at the signal or the key, which are dear: they are made when they are read.
 */
export function toolContextOf(context: CallContext, maskOf: () => CallMask): ToolContext {
  return new ToolCallContext(context, maskOf);
}

class ToolCallContext implements ToolContext {
  declare readonly signal: AbortSignal;
  declare readonly idempotencyKey?: string;
  readonly requestId: string;
  declare readonly auth?: AuthInfo;
  declare readonly principal?: Owner;
  readonly progress: ToolContext['progress'];
  readonly #context: CallContext;

  constructor(context: CallContext, maskOf: () => CallMask) {
    this.#context = context;
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
  }

  // Members of the object itself, since tools copy contexts; one function for all of them, or each object would have a
  // form of its own.
  static readonly #signal: PropertyDescriptor & ThisType<ToolCallContext> = {
    enumerable: true,
    get() {
      return this.#context.signal;
    },
  };
  static readonly #idempotencyKey: PropertyDescriptor & ThisType<ToolCallContext> = {
    enumerable: true,
    get() {
      return this.#context.idempotencyKey;
    },
  };
}
