import { setTimeout } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { CommandResult } from './shell.js';

/** Calls a tool of the workflow server. */
export type CallServer = (tool: string, args: Readonly<Record<string, unknown>>) => Promise<CallToolResult>;

/** What an agent can do. */
export interface Abilities {
  runCommand(command: string, seconds: number): Promise<CommandResult>;
  callTool(tool: string, args: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Does a task. @param agent missing for one of the agent itself. */
  doTask(instructions: string, agent: string | undefined): Promise<string>;
  /** Asks the user. @returns a value that fits the schema. */
  askUser(message: string, schema: unknown): Promise<unknown>;
  /** Starts a sub-agent in a context of its own, and waits for its end. */
  startSubAgent(agent: string, prompt: string): Promise<void>;
  /** Called before a result is sent. */
  onResult?(step: string): void;
}

/** Work as answers of the server show it. */
interface Work {
  readonly action_id: string;
  readonly step_id: string;
  readonly type: 'shell' | 'mcp_call' | 'delegate' | 'prompt' | 'wait';
  readonly parameters: Parameters;
  readonly schema?: unknown;
  readonly resume_at?: string;
}

interface Parameters {
  readonly command?: string;
  readonly timeout?: number;
  readonly tool?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly instructions?: string;
  readonly agent?: string | null;
  readonly message?: string;
  readonly children?: readonly { readonly workflow_id: string; readonly prompt: string }[];
}

/** An answer of the server about a run, or about a child of one. */
export interface Answer {
  readonly workflow_id: string;
  readonly status: string;
  readonly actions?: readonly Work[];
  readonly step?: Work;
  readonly retry_after_ms?: number;
  readonly result?: unknown;
  readonly final_result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/** An answer, with the text beside it. */
interface Reply {
  readonly answer: Answer;
  readonly text: string;
}

/**
 * An agent that knows no workflow, and no tool of the server but the one it begins with: it does what answers say, and
 * makes the calls that they name.
 */
export class Agent {
  readonly #call: CallServer;
  readonly #abilities: Abilities;
  readonly #children = new Map<string, Promise<void>>();

  constructor(call: CallServer, abilities: Abilities) {
    this.#call = call;
    this.#abilities = abilities;
  }

  /** Starts a workflow, and works until its run is over. */
  async start(name: string, inputs: Readonly<Record<string, unknown>>): Promise<Answer> {
    return this.#follow(await this.#send('start_workflow', { name, inputs }));
  }

  /** Works on a run until it is over. */
  async continue(workflow_id: string): Promise<Answer> {
    return this.#follow(await this.#send('get_workflow_status', { workflow_id }));
  }

  /** Does what the prompt of a sub-agent says. */
  async obey(prompt: string): Promise<Answer> {
    const tool = /calling (\w+)/.exec(prompt)?.[1] ?? '';
    const workflow_id = /Workflow ID: (\S+)/.exec(prompt)?.[1];
    return this.#follow(await this.#send(tool, { workflow_id }));
  }

  async #follow(first: Reply): Promise<Answer> {
    let reply = first;
    for (;;) {
      const { status, actions = [], step } = reply.answer;
      if (['completed', 'failed', 'cancelled', 'complete', 'error'].includes(status)) return reply.answer;
      reply = await this.#next(reply, step === undefined ? actions : [step]);
    }
  }

  /** Does the first piece of work that can be done, and returns the answer to it. */
  async #next({ answer, text }: Reply, works: readonly Work[]): Promise<Reply> {
    const work = works.find(({ type, parameters }) => type !== 'wait' && parameters.children === undefined);
    if (work !== undefined) return this.#submit(work, text);
    const loops = works.flatMap(({ parameters: { agent, children = [] } }) =>
      children.map((child) => this.#child(agent ?? '', child)),
    );
    const times = works.flatMap(({ resume_at }) => (resume_at ? [Date.parse(resume_at) - Date.now()] : []));
    if (loops.length > 0) await Promise.race(loops);
    else await setTimeout(Math.max(20, Math.min(answer.retry_after_ms ?? 100, ...times)));
    const again = callsIn(text).find(({ tool }) => tool.startsWith('get_'));
    return again === undefined
      ? this.#send(answer.retry_after_ms === undefined ? 'get_workflow_status' : 'get_next_step', {
          workflow_id: answer.workflow_id,
        })
      : this.#send(again.tool, again.args);
  }

  #child(agent: string, { workflow_id, prompt }: { workflow_id: string; prompt: string }): Promise<void> {
    const child = this.#children.get(workflow_id) ?? this.#abilities.startSubAgent(agent, prompt);
    this.#children.set(workflow_id, child);
    return child;
  }

  async #submit(work: Work, text: string): Promise<Reply> {
    const call = callsIn(text).find(
      ({ args }) => args.action_id === work.action_id || args.step_id === work.step_id,
    );
    if (call === undefined) throw new Error(`no call is named for step ${work.step_id}:\n${text}`);
    const result = await this.#result(work);
    this.#abilities.onResult?.(work.step_id);
    return this.#send(call.tool, { ...call.args, result });
  }

  async #result({ type, parameters, schema }: Work): Promise<unknown> {
    const { command = '', timeout = 30, tool = '', args = {}, instructions = '', message = '' } = parameters;
    switch (type) {
      case 'shell':
        return this.#abilities.runCommand(command, timeout);
      case 'mcp_call':
        return this.#abilities.callTool(tool, args);
      case 'delegate':
        return this.#abilities.doTask(instructions, parameters.agent ?? undefined);
      default:
        return this.#abilities.askUser(message, schema);
    }
  }

  async #send(tool: string, { workflow_id, ...args }: Readonly<Record<string, unknown>>): Promise<Reply> {
    const sent = tool.startsWith('get_') ? { workflow_id } : { workflow_id, ...args };
    const { content, structuredContent, isError } = await this.#call(tool, sent);
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    if (structuredContent === undefined) throw new Error(`${tool}${isError ? ' failed' : ''}: ${text}`);
    return { answer: structuredContent as unknown as Answer, text };
  }
}

/** A call that a text names: `submit_result { "workflow_id": "…", "result": … }`. */
interface NamedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The calls that a text names. A value that the caller supplies is written as `…`. */
function callsIn(text: string): NamedCall[] {
  return [...text.matchAll(/\b(\w+) (\{ "workflow_id": .*? \})/g)].map(([, tool = '', args = '']) => ({
    tool,
    args: JSON.parse(args.replace(', "result": …', '')) as NamedCall['args'],
  }));
}
