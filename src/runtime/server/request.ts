import type { ToolContext } from '../../decorators/context.js';
import type { JsonSchema } from '../../graph/json.js';

/** What a server needs to know about one request beside its params; an adapter fills it in. */
export interface RequestContext extends Pick<ToolContext, 'signal' | 'requestId' | 'auth' | 'progress'> {
  /** The session the request belongs to: runs of a client that nobody authenticated are its session's. */
  readonly session?: string;
  /** Puts a question to the user of the client, where the client can. */
  readonly elicit?: Elicit;
}

/**
 * Puts a question to a user. `schema` is that of a flat form: an object of texts, numbers, booleans and choices. Aborting
 * the signal takes the question back.
 *
 * @throws whatever went wrong: the client could not ask.
 */
export type Elicit = (
  question: { readonly message: string; readonly schema: JsonSchema },
  signal: AbortSignal,
) => Promise<Elicited>;

/** What a user did with a question. */
export type Elicited =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' };
