import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { connect, createServer, type ServerSettings, type StepwrightServer } from 'stepwright/runtime';
import { onTestFinished } from 'vitest';
import { CodeReview, registry as language, plainPrompts } from './fixture/language.js';
import { factories, registry } from './fixture/registry.js';
import { Probe } from './fixture/tools.js';

export interface Connected {
  readonly client: Client;
  readonly probe: Probe;
  /** The log of the server. */
  readonly log: readonly string[];
}

/**
 * A client of the fixture server in the same process. It is closed when the test ends.
 *
 * @param settings - of the server; `auth` is the client as the transport authenticated it, `broken` replaces methods.
 */
export async function connected(
  settings: ServerSettings & { auth?: AuthInfo; broken?: Partial<StepwrightServer> } = {},
): Promise<Connected> {
  const { auth, broken, ...rest } = settings;
  const probe = new Probe();
  const server = Object.assign(createServer(registry, { ...rest, tools: factories(probe) }), broken);
  return { ...(await connectedTo(server, auth)), probe };
}

/** A client of any server in the same process. It is closed when the test ends. */
export async function connectedTo(
  server: StepwrightServer,
  auth?: AuthInfo,
): Promise<Omit<Connected, 'probe'>> {
  const log: string[] = [];
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  asJson(toServer, auth);
  asJson(toClient);
  const connection = await connect(server, toClient, { log: (text) => log.push(text) });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(toServer);
  onTestFinished(async () => {
    await client.close();
    await connection.closed;
  });
  return { client, log };
}

/** Messages travel as text, as they do between processes. */
function asJson(transport: Transport, authInfo?: AuthInfo): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(JSON.parse(JSON.stringify(message)), {
      ...options,
      ...(authInfo === undefined ? {} : { authInfo }),
    });
}

/** The error a request is answered with. */
export async function refusal(
  request: Promise<unknown>,
): Promise<{ code: number; message: string; data?: unknown }> {
  const answer = await request.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in answer) throw new Error(`answered with ${JSON.stringify(answer.value)}`);
  const { code, message, data } = answer.error as { code: number; message: string; data?: unknown };
  return { code, message, ...(data === undefined ? {} : { data }) };
}

/** The text of a message or result part, empty for other parts. */
export function textOf(content: unknown): string {
  const { text } = content as { text?: unknown };
  return typeof text === 'string' ? text : '';
}

/** The texts of a conversation. */
export function textsOf({ messages }: { messages: readonly { content: unknown }[] }): string[] {
  return messages.map((message) => textOf(message.content));
}

/** A client of the server with everything the language has beyond the first slice. */
export async function speaking(
  settings: ServerSettings & { auth?: AuthInfo } = {},
): Promise<Omit<Connected, 'probe'>> {
  const { auth, ...rest } = settings;
  const log: string[] = [];
  const server = createServer(language, {
    prompts: plainPrompts,
    promptClasses: { 'code-review': () => new CodeReview('Hello!') },
    log: (text) => log.push(text),
    ...rest,
  });
  const { client } = await connectedTo(server, auth);
  return { client, log };
}
