import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  type GetPromptResult,
} from '@modelcontextprotocol/sdk/types.js';
import { Server as StatelessServer } from '@modelcontextprotocol/server';
import { Greet } from '../../../examples/greeting/greet.tool.js';

/** An answer to `prompts/get` whose texts are split at the name of the guest. */
export interface Script {
  readonly steps: number;
  readonly answer: Omit<GetPromptResult, 'messages'>;
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly parts: readonly string[];
    readonly _meta?: Record<string, unknown>;
  }[];
}

/** Makes the data to give the same answer by hand, for any guest. */
export function scriptOf(steps: number, { messages, ...answer }: GetPromptResult, guest: string): Script {
  return {
    steps,
    answer,
    messages: messages.map(({ role, content }) => {
      if (content.type !== 'text') throw new Error(`a message holds ${content.type}`);
      const { text, _meta } = content;
      return { role, parts: text.split(guest), ...(_meta === undefined ? {} : { _meta }) };
    }),
  };
}

/** A server written by hand for one prompt and one tool: it checks nothing, and calls the same tools. */
export function serverByHand(script?: Script): Server {
  const server = new Server(
    { name: 'by-hand', version: '1.0.0' },
    { capabilities: { tools: {}, prompts: {} } },
  );
  const tool = new Greet();
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const result = tool.execute(params.arguments as { name: string });
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { ...result } };
  });
  server.setRequestHandler(GetPromptRequestSchema, async ({ params }) =>
    answerByHand(script, params.arguments),
  );
  return server;
}

/** The prompt of such a server, on version 2 of the SDK, which makes a server for each request over HTTP. */
export function statelessByHand(script: Script): StatelessServer {
  // Each response has the name, and both servers give the same one.
  const info = { name: 'stepwright', version: '0.0.0' };
  const server = new StatelessServer(info, { capabilities: { prompts: {} } });
  server.setRequestHandler('prompts/get', ({ params }) => answerByHand(script, params.arguments));
  return server;
}

/** Runs the tool as often as the workflow does, and writes the conversation. */
export async function answerByHand(
  script: Script | undefined,
  given: Readonly<Record<string, string>> = {},
): Promise<GetPromptResult> {
  if (script === undefined) throw new Error('there is no prompt');
  const tool = new Greet();
  const { name = '' } = given;
  for (let step = 0; step < script.steps; step += 1) await tool.execute({ name });
  const messages = script.messages.map(({ role, parts, _meta }) => ({
    role,
    content: { type: 'text' as const, text: parts.join(name), ...(_meta === undefined ? {} : { _meta }) },
  }));
  return { ...script.answer, messages };
}
