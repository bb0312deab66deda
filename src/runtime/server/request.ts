import type { ToolContext } from '../../decorators/context.js';

/** What a server needs to know about one request beside its params; an adapter fills it in. */
export type RequestContext = Pick<ToolContext, 'signal' | 'requestId' | 'auth' | 'progress'>;
