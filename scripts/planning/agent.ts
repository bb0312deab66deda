import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Agent, type Answer } from '../../examples/durable/agent.js';
import { scriptedResponse } from '../../examples/durable/mind.js';
import { runCommand } from '../../examples/durable/shell.js';
import { ServerCalls, type ServerPlace } from './server-calls.js';

// An agent in a process of its own: it starts the workflow, or does the task of a prompt. It prints a line of JSON before
// each result that it sends, and one with its last answer. Argument: an `AgentTask` in JSON.

export interface AgentTask {
  readonly server: ServerPlace;
  /** Of sub-agents. */
  readonly subAgentServer: ServerPlace;
  /** The program of the tools, and the folder of their files. */
  readonly tools: readonly [program: string, folder: string];
  readonly wish: string;
  readonly isApproved: boolean;
  readonly tasks: number;
  /** Of a sub-agent. */
  readonly prompt?: string;
}

/** A line that an agent prints. */
export type AgentLine =
  | { readonly agent: string; readonly step: string; readonly pid?: number }
  | { readonly agent: string; readonly answer: Answer; readonly state?: unknown };

const [, program = '', json = '{}', name = 'main agent'] = process.argv;
const task = JSON.parse(json) as AgentTask;

function print(line: AgentLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const tools = new Client({ name: 'planning-agent', version: '0.1.0' });
await tools.connect(
  new StdioClientTransport({ command: process.execPath, args: [...task.tools], stderr: 'inherit' }),
);
const server = new ServerCalls(task.server);

const agent = new Agent((tool, args) => server.call(tool, args), {
  runCommand,
  callTool: (tool, args) => tools.callTool({ name: tool, arguments: args }),
  doTask: async (instructions) => scriptedResponse(instructions),
  askUser: async (_message, schema) =>
    JSON.stringify(schema).includes('"confirmed"') ? { confirmed: task.isApproved } : { input: task.wish },
  async startSubAgent(agentName, prompt) {
    const next: AgentTask = { ...task, prompt, server: task.subAgentServer };
    const child = spawn(process.execPath, [program, JSON.stringify(next), agentName], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await once(child, 'exit');
  },
  onResult: (step) => print({ agent: name, step, ...(server.pid === undefined ? {} : { pid: server.pid }) }),
});

if (task.prompt === undefined) {
  const answer = await agent.start('interactive-planning', { max_research_tasks: task.tasks });
  const { workflow_id } = answer;
  const { structuredContent } = await server.call('get_workflow_state', { workflow_id });
  print({ agent: name, answer, state: structuredContent?.state });
} else print({ agent: name, answer: await agent.obey(task.prompt) });
await server.close();
await tools.close();
