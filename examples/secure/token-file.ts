import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { VerifiedToken } from 'stepwright/runtime';
import { z } from 'zod';

/** What a token file says of a token. */
const entry = z.strictObject({
  subject: z.string().min(1),
  scopes: z.array(z.string()),
  roles: z.array(z.string()).default([]),
  audience: z.string(),
  /** In seconds since the epoch. */
  expiresAt: z.number(),
});

const HASH = /^[0-9a-f]{64}$/;
const tokenFile = z.record(z.string().regex(HASH, 'write the SHA-256 of the token, in hex'), entry);

/** The key of a token in a token file. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * The tokens that an operator gave out, by their hashes, so that the file reveals no token. A server whose tokens come
 * from an issuer verifies their signatures instead.
 */
export class TokenFile {
  readonly #tokens: ReadonlyMap<string, z.infer<typeof entry>>;

  private constructor(tokens: Readonly<Record<string, z.infer<typeof entry>>>) {
    this.#tokens = new Map(Object.entries(tokens));
  }

  /** @throws Error for a file that cannot be read or is not a token file. */
  static async open(path: string): Promise<TokenFile> {
    const text = await readFile(path, 'utf8');
    return new TokenFile(tokenFile.parse(JSON.parse(text)));
  }

  /** Whom a token belongs to. The server checks its audience, expiry and scopes. */
  readonly verify = (token: string): VerifiedToken | undefined => {
    const found = this.#tokens.get(hashToken(token));
    return found === undefined ? undefined : { clientId: 'invoices', ...found };
  };
}
