import type { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { defined } from '../../graph/defined.js';
import { clip } from '../../graph/printable-text.js';
import { sha256Hex } from '../../graph/sha256.js';
import type { Environment } from './config.js';

/** The answer of an authorization server to a request for tokens (RFC 6749, section 5.1). */
interface GrantedTokens {
  access_token: string;
  token_type: string;
  id_token?: string | undefined;
  expires_in?: number | undefined;
  scope?: string | undefined;
  refresh_token?: string | undefined;
  issuer?: string | undefined;
}

/** The answer of an authorization server to a registration (RFC 7591, section 3.2.1). */
interface RegisteredClient {
  client_id: string;
  client_secret?: string | undefined;
  issuer?: string | undefined;
}

/** A private key as a JWK, with the hash of its public part (RFC 7638). */
export interface StoredKey {
  readonly jwk: webcrypto.JsonWebKey;
  readonly thumbprint: string;
}

/** What a person's sign-in obtained. */
export interface SignInRecord {
  /** The port that the authorization server sends the browser to, which clients are registered with. */
  readonly port?: number;
  /** Clients by the authorization servers that have registered them. */
  readonly clients?: Readonly<Record<string, RegisteredClient>>;
  readonly tokens?: GrantedTokens;
  /** The key that the tokens are bound to. */
  readonly key?: StoredKey;
}

/** The file of the sign-in at a server, which its owner alone can read. */
export class SignInFile {
  readonly path: string;

  /** @param env has `STEPWRIGHT_SIGN_INS`, the folder of these files, if it is not that of the user's settings. */
  constructor(url: string, env: Environment = process.env) {
    const settings = env.XDG_CONFIG_HOME ?? path.join(homedir(), '.config');
    const folder = env.STEPWRIGHT_SIGN_INS ?? path.join(settings, 'stepwright', 'sign-ins');
    this.path = path.join(folder, `${sha256Hex(url).slice(0, 32)}.json`);
  }

  /** @throws Error for a file that was damaged. */
  read(): SignInRecord {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw error;
    }
    try {
      return JSON.parse(text) as SignInRecord;
    } catch {
      throw new Error(`${this.path} is damaged: remove it, and sign in again`);
    }
  }

  /** Replaces parts of it at once: other processes read it at any time. */
  change(part: SignInRecord): void {
    this.write({ ...this.read(), ...part });
  }

  write(record: SignInRecord): void {
    const folder = path.dirname(this.path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    const partial = `${this.path}.${process.pid}`;
    writeFileSync(partial, JSON.stringify(record), { mode: 0o600 });
    renameSync(partial, this.path);
  }

  /** Also one that was damaged. Returns whether there was one. */
  remove(): boolean {
    const existed = existsSync(this.path);
    rmSync(this.path, { force: true });
    return existed;
  }
}

/** RFC 8252, section 7.3. */
export function callbackAt(port: number): string {
  return `http://127.0.0.1:${port}/callback`;
}

/** Where the authorization server sends the browser to. */
export class Callback {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  /** @param port is one that others may have taken. */
  static async listen(port = 0): Promise<Callback> {
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    } catch (error) {
      if (port === 0) throw error;
      return Callback.listen();
    }
    return new Callback(server);
  }

  /** Resolves with what the authorization server answers. Requests with another state are refused. */
  response(state: string, signal: AbortSignal): Promise<{ readonly code: string; readonly iss?: string }> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('there was no sign-in before the limit')), {
        once: true,
      });
      this.#server.on('request', ({ url = '/' }, response) => {
        const { pathname, searchParams } = new URL(url, callbackAt(this.port));
        const isExpected = pathname === '/callback' && searchParams.get('state') === state;
        const code = searchParams.get('code');
        const text = !isExpected
          ? 'This is not the sign-in that is waited for.'
          : code === null
            ? 'You are not signed in. The command line says why.'
            : 'The sign-in is complete. You can close this page.';
        response
          .writeHead(isExpected ? 200 : 400, {
            'content-type': 'text/plain; charset=utf-8',
            connection: 'close',
          })
          .end(`${text}\n`);
        if (!isExpected) return;
        if (code !== null) resolve({ code, ...defined({ iss: searchParams.get('iss') ?? undefined }) });
        else
          reject(
            new Error(
              `the authorization server refuses: ${clip(searchParams.get('error') ?? 'it gives no code')}`,
            ),
          );
      });
    });
  }

  close(): void {
    this.#server.close();
  }
}
