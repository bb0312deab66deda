import type { ToolContext } from '../../decorators/context.js';
import type { CallMask } from './call-mask.js';
import type { CallContext } from './port.js';

type Members = { -readonly [Name in keyof ToolContext]: ToolContext[Name] };

/**
 * What a tool sees of the context of its call. What it reports of its progress holds no secrets: it is shown as it comes.
 * Few tools look at the signal or the key, which are dear: they are made when they are read.
 */
export function toolContextOf(context: CallContext, maskOf: () => CallMask): ToolContext {
  const { requestId, auth, principal } = context;
  const progress: ToolContext['progress'] = (value, total, text) => {
    if (text !== undefined) context.progress(value, total, maskOf().text(text));
    else if (total !== undefined) context.progress(value, total);
    else context.progress(value);
  };
  // Members of its own, all of them: tools copy it.
  const made: Members =
    'idempotencyKey' in context
      ? {
          get signal() {
            return context.signal;
          },
          requestId,
          get idempotencyKey() {
            return context.idempotencyKey as string;
          },
          progress,
        }
      : {
          get signal() {
            return context.signal;
          },
          requestId,
          progress,
        };
  if (auth !== undefined) made.auth = auth;
  if (principal !== undefined) made.principal = principal;
  return made;
}
