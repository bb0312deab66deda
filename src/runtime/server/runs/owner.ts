import type { RequestContext } from '../request.js';

/**
 * Whose runs a request may see: those of the client the transport authenticated, and of its user where it knows one;
 * else those of the session the request came by.
 */
export function ownerOf({ auth, session }: Pick<RequestContext, 'auth' | 'session'>): string {
  if (auth === undefined) return sessionOwner(session ?? '');
  return `client:${JSON.stringify([auth.clientId, ...(auth.subject === undefined ? [] : [auth.subject])])}`;
}

/** Whose runs those of a session are that nobody authenticated. */
export function sessionOwner(session: string): string {
  return `session:${session}`;
}
