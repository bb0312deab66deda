import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AuthInfo, Owner } from '../decorators/context.js';
import { ownerKey, ownerOf, rolesOf, UnidentifiedCallerError, withRoles } from '../runtime/runs/run/owner.js';
import type { ServerSettings } from '../runtime/server/options.js';
import type { Log } from '../runtime/tools/log.js';
import { authInfoOf, Bearer, type BearerAuth } from '../runtime/transports/http/bearer-auth.js';
import { type Html, html } from './html.js';

/** Who looks at a page. */
export interface StudioUser {
  /** Answers are given as this caller, and runs are started as it. */
  readonly owner: Owner;
  /** How pages and logs name it. */
  readonly name: string;
  /** Missing for the user of this machine. */
  readonly auth?: AuthInfo;
}

/** Says whom a page is opened for. */
export interface StudioAccess {
  /** Whom a token belongs to, or why it opens no page. */
  userOf(token: string, request: Request): Promise<StudioUser | string>;
  /** Whether a printed address has the token. */
  readonly isPrinted: boolean;
  /** What a reader without a token is shown. */
  readonly hint: Html;
  /** A secret of a user's forms: a page of another origin cannot read it. */
  formKeyOf(user: StudioUser): string;
}

/** The role of callers that a page is opened for. */
const ROLE = 'operator';

/** A page for the user of this machine, which opens with a secret. @param user with its roles. */
export function localAccess(secret: string, user: StudioUser): StudioAccess {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return {
    userOf: async (token) =>
      timingSafeEqual(hash(token), hash(secret)) ? user : 'This is not the token of the page.',
    isPrinted: true,
    hint: html`Open the address that <code>stepwright studio</code> has printed: it ends with <code>?token=</code> and the token of this page, which shows runs and moves them on.`,
    formKeyOf: keysOf(secret),
  };
}

/** A page for callers of a server that have the role `operator`. @throws RangeError as `Bearer`. */
export function bearerAccess(
  auth: BearerAuth,
  { owner, subjectClaim, path = '/mcp' }: Pick<ServerSettings, 'owner' | 'subjectClaim'> & { path?: string },
  log: Log,
): StudioAccess {
  const bearer = new Bearer(auth, path, log);
  const rule = { ...(owner && { owner }), ...(subjectClaim && { subjectClaim }) };
  return {
    async userOf(token, request) {
      const headers = new Headers(request.headers);
      // A token with other characters is malformed in the header as well.
      headers.set('authorization', `Bearer ${encodeURI(token)}`);
      const { url } = request;
      const checked = await bearer.check(new Request(url, { headers }), new URL(url));
      if (!checked.ok)
        return String(((await checked.response.json()) as Record<string, unknown>).error_description);
      if (checked.auth === undefined) return 'The token belongs to no caller.';
      const info = authInfoOf(checked.auth);
      try {
        const user = withRoles(ownerOf({ auth: info }, rule), info.roles, []);
        const name = nameOf(user);
        return rolesOf(user).includes(ROLE)
          ? { owner: { ...user, person: true }, name, auth: info }
          : `${name} lacks the role '${ROLE}', for which this page is opened: \`auth.verify\` of the server gives roles.`;
      } catch (error) {
        if (error instanceof UnidentifiedCallerError) return error.message;
        throw error;
      }
    },
    isPrinted: false,
    hint: html`This page shows the runs of all callers and moves them on. It opens with a token of the server that belongs to a caller with the role <code>${ROLE}</code>.`,
    formKeyOf: keysOf(randomBytes(32)),
  };
}

function keysOf(secret: string | Buffer): StudioAccess['formKeyOf'] {
  return ({ owner }) =>
    createHmac('sha256', secret)
      .update(`form ${ownerKey(owner)}`)
      .digest('hex');
}

function nameOf(owner: Owner): string {
  return owner.kind === 'principal' ? String(owner.subject ?? owner.clientId) : owner.kind;
}
