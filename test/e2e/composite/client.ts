import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  type ClientCapabilities,
  ElicitRequestSchema,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import { type ConnectOptions, connect, type ServerSettings, type StepwrightServer } from 'stepwright/runtime';
import { onTestFinished } from 'vitest';
import { type Desk, desk } from './fixture/registry.js';

/** A question as the client of a user gets it. */
export interface Asked {
  readonly message: string;
  readonly requestedSchema: unknown;
}

/** The answer of the user to a question. Thrown errors are those of the client. */
export type User = (question: Asked, signal: AbortSignal) => ElicitResult | Promise<ElicitResult>;

/** Any answer of a tool, as programs see it. */
export interface Answer {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

/** A client in the same process, local as over stdio; with `user`, one that can put questions to somebody. */
export async function clientOf(
  server: StepwrightServer,
  user?: User,
  options: ConnectOptions = {},
): Promise<Client> {
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  const connection = await connect(server, toClient, { log: () => {}, local: true, ...options });
  const client = clientWith(user);
  await client.connect(toServer);
  onTestFinished(async () => {
    await client.close();
    await connection.closed;
  });
  // Then it checks structured content against the schemas of the tools.
  await client.listTools();
  return client;
}

/** @param capabilities what it declares. Default: forms, if it has a user. */
export function clientWith(
  user?: User,
  capabilities: ClientCapabilities = user === undefined ? {} : { elicitation: { form: {} } },
): Client {
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities });
  if (user !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => user(params as Asked, signal));
  }
  return client;
}

/** A client of a server of its own. */
export async function atDesk(
  settings: ServerSettings = {},
  user?: User,
): Promise<{ client: Client; desk: Desk; log: readonly string[]; server: StepwrightServer }> {
  const made = desk(settings);
  return { ...made, client: await clientOf(made.server, user) };
}

export async function callOf(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Answer> {
  return (await client.callTool({ name, arguments: args })) as Answer;
}

export function textIn({ content }: Answer): string {
  return content.map(({ text }) => text ?? '').join('\n');
}

export function failureIn({ _meta }: Answer): Record<string, unknown> | undefined {
  return _meta?.['stepwright/failure'] as Record<string, unknown> | undefined;
}

/** The id of the run an answer is about. */
export function runIn({ _meta }: Answer): string {
  const run = _meta?.['stepwright/run'] as { readonly workflow_id?: unknown } | undefined;
  if (typeof run?.workflow_id !== 'string') throw new Error('the answer names no run');
  return run.workflow_id;
}
