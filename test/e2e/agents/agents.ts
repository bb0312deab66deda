import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { type Answer, callOf, textIn } from '../composite/client.js';

/** The files of the agents, and what their tools find in them. */
export const FILES: Readonly<Record<string, string>> = { 'a.py': "print('a')", 'b.py': 'raise' };

interface Child {
  readonly workflow_id: string;
  readonly prompt: string;
}

/** The prompts of the children in an answer for the main agent. */
export function promptsIn({ structuredContent }: Answer): readonly string[] {
  const actions = (structuredContent?.actions ?? []) as readonly {
    readonly parameters: { readonly children?: readonly Child[] };
  }[];
  return actions.flatMap(({ parameters }) => (parameters.children ?? []).map(({ prompt }) => prompt));
}

/** The tools of an agent by the types of steps: what it does is all in the parameters. */
const TOOLS: Readonly<Record<string, (parameters: Record<string, unknown>) => unknown>> = {
  shell({ command }) {
    const file = String(command).replace(/^cat /, '');
    const stdout = FILES[file];
    return stdout === undefined ? { exit_code: 1, stderr: 'no such file' } : { exit_code: 0, stdout };
  },
  mcp_call({ args }) {
    const { text } = args as { text: string };
    const finding = text.includes('raise') ? 'raises' : 'fine';
    return { content: [{ type: 'text', text: JSON.stringify({ finding }) }] };
  },
};

interface Step {
  readonly status: string;
  readonly step?: {
    readonly step_id: string;
    readonly type: string;
    readonly parameters: Record<string, unknown>;
  };
}

/** A sub-agent: it knows its prompt, and what the tools that the prompt names answer. */
export class SubAgent {
  readonly #client: Client;
  readonly id: string;

  constructor(client: Client, prompt: string | undefined) {
    const [, id] = /^- Workflow ID: (.+)$/m.exec(prompt ?? '') ?? [];
    if (id === undefined || !prompt?.includes('get_next_step'))
      throw new Error('the prompt does not say what to do');
    this.#client = client;
    this.id = id;
  }

  async next(): Promise<Answer> {
    return callOf(this.#client, 'get_next_step', { workflow_id: this.id });
  }

  /** Does the step of an answer, and returns the answer to its result. */
  async act(answer: Answer): Promise<Answer> {
    const { step } = answer.structuredContent as unknown as Step;
    if (step === undefined) throw new Error(`no step: ${textIn(answer)}`);
    const result = TOOLS[step.type]?.(step.parameters);
    return callOf(this.#client, 'submit_step_result', {
      workflow_id: this.id,
      step_id: step.step_id,
      result,
    });
  }

  /** Works until the task is over. */
  async work(): Promise<Answer> {
    let answer = await this.next();
    while ((answer.structuredContent as unknown as Step).status === 'pending_step')
      answer = await this.act(answer);
    return answer;
  }
}

/** The main agent ends the run when its sub-agents have finished. */
export async function finish(client: Client, workflow_id: string): Promise<Answer> {
  const status = await callOf(client, 'get_workflow_status', { workflow_id });
  const { action } = status.structuredContent as { action?: { action_id: string } };
  return callOf(client, 'submit_result', { workflow_id, action_id: action?.action_id, result: true });
}
