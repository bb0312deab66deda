import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CallToolResultSchema,
  type CreateTaskResult,
  CreateTaskResultSchema,
  type Progress,
  type Task,
} from '@modelcontextprotocol/sdk/types.js';
import type { StepwrightServer } from 'stepwright/runtime';
import { defined } from '../../../src/graph/defined.js';
import type { Graph, TaskSupport } from '../../../src/graph/model.js';
import { type Answer, clientOf, type User } from '../composite/client.js';
import { all, built } from '../composite/fixture/workflows.js';
import { listening, sessionOf, tokenOf } from '../composite/http.js';

/** Clients by transport, who are authenticated over HTTP. */
export const transports: Readonly<
  Record<string, (server: StepwrightServer, user?: User) => Promise<Client>>
> = {
  'a pipe': (server, user) => clientOf(server, user),
  HTTP: async (server, user) => {
    const visitor = { token: tokenOf('ada', { sub: 'ada' }), ...(user === undefined ? {} : { user }) };
    return (await sessionOf(await listening(server), visitor)).client;
  },
};

/** Workflows that may be called as tasks. */
export function asTasks(taskSupport: TaskSupport = 'optional', graphs: readonly Graph[] = all) {
  return built(graphs.map((graph) => ({ ...graph, taskSupport })));
}

/** Calls a tool as a task, without looking at its listing. */
export function startTask(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
  task: object = {},
  onprogress?: (report: Progress) => void,
): Promise<CreateTaskResult> {
  const params = { name, arguments: args, task };
  return client.request({ method: 'tools/call', params }, CreateTaskResultSchema, defined({ onprogress }));
}

/** What a task was as a client followed it: the states that differ, and the result. */
export interface Followed {
  readonly states: readonly Task['status'][];
  readonly result: Answer;
}

/** Calls a tool as the SDK's client with tasks does. */
export async function streamed(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Followed> {
  const states: Task['status'][] = [];
  const stream = client.experimental.tasks.callToolStream({ name, arguments: args }, CallToolResultSchema);
  for await (const message of stream) {
    if (message.type === 'error') throw message.error;
    if (message.type === 'result') return { states, result: message.result as Answer };
    if (states.at(-1) !== message.task.status) states.push(message.task.status);
  }
  throw new Error('the stream ended without a result');
}

export const resultOf = (client: Client, taskId: string): Promise<Answer> =>
  client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema) as Promise<Answer>;

export const getTask = (client: Client, taskId: string): Promise<Task> =>
  client.experimental.tasks.getTask(taskId);
