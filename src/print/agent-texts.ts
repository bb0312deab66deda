import { type Json, unreachable } from '../graph/json.js';
import { jsonText } from '../graph/printable-text.js';

// What agents read of their work. A value of a run is in JSON, so that it cannot pose as a part of the text.

/** Work of the client, with its parameters as JSON. */
type Work =
  | { readonly type: 'shell' | 'mcp_call' | 'step'; readonly parameters: object }
  | { readonly type: 'delegate'; readonly parameters: { readonly agent: string | null } };

/** What is sent for work of a kind, in one sentence. */
export const WORK_RESULTS: Readonly<Record<Work['type'], string>> = {
  shell:
    'Send {"stdout": "…", "stderr": "…", "exit_code": 0} with what the command printed. An exit code other than 0 is a result as well; send an error only if the command could not be run.',
  mcp_call: 'Send what the tool returned, unchanged.',
  step: 'Send the result of the step: what its tool returned, unchanged. A result that is an error is refused.',
  delegate: 'Send the response as text, or {"response": …}.',
};

/** What is sent for a task with a schema of its response. */
export const JSON_RESPONSE =
  'Send the response as JSON that fits the schema of `response`, or {"response": …}.';

/** What work is to be done: completes "Step 'x' …". */
export function workText(work: Work): string {
  switch (work.type) {
    case 'shell':
      return `has a command for you to run: ${jsonText({ ...work.parameters } as Json)}`;
    case 'mcp_call':
      return `has a tool for you to call: ${jsonText({ ...work.parameters } as Json)}`;
    case 'step':
      return `has failed and waits for its result: make it yourself, or have it tried again with resume_workflow: ${jsonText({ ...work.parameters } as Json)}`;
    case 'delegate':
      return work.parameters.agent === null
        ? `has a task for you: ${jsonText({ ...work.parameters } as Json)}`
        : `has a task for agent ${work.parameters.agent}: start that agent in a new context, give it the instructions, and send its response: ${jsonText({ ...work.parameters } as Json)}`;
    default:
      return unreachable(work);
  }
}

/** A loop that agents drive, as its caller reads of it. */
interface LoopText {
  /** How many items it has. */
  readonly count: number;
  readonly agent: string;
  readonly isSequential: boolean;
  /** What the caller knows its run by. */
  readonly workflow: string;
  /** Whether the caller is itself the agent of an item. */
  readonly isChild: boolean;
}

/** What the caller of a run does for a loop that agents drive. */
export function loopInstructions({ count, agent, isSequential, workflow, isChild }: LoopText): string {
  const how = isSequential ? 'one at a time' : 'in parallel';
  const next = isChild ? 'get_next_step' : 'get_workflow_status';
  return [
    `You need to process ${count} ${count === 1 ? 'item' : 'items'} ${how} using ${agent}.`,
    `For each of the children, start ${agent} as a sub-agent in a new context, and give it the prompt of the child, unchanged. Do not do the steps of a child yourself, and do not submit a result for this action.`,
    `The workflow server coordinates the execution. When these sub-agents have finished, call ${next} { "workflow_id": ${jsonText(workflow)} }: it returns further children, or what comes next. To replace a sub-agent that has stopped, start another one with the same prompt.`,
  ].join('\n');
}

/** All that a sub-agent learns of its run. */
interface AgentTask {
  /** The id of the child. */
  readonly workflow: string;
  readonly task: string;
  readonly item: Json;
}

/** The prompt of a sub-agent. It has the id of its child, the task and the item, and no other value of the run. */
export function agentPrompt({ workflow, task, item }: AgentTask): string {
  return `<workflow-server-rules>
You are executing a workflow task through the workflow server.
You must call the workflow server to get each next step to execute.

## How to interact with the workflow server:
1. Call \`get_next_step(workflow_id)\` to receive the next workflow step
2. Execute the step based on its type:
   - shell: Execute the command and return stdout/stderr/exit_code
   - mcp_call: Call the MCP tool with the args, and return what it returned
   - delegate: Do the task of the instructions, by the agent that is named, and return the response
   - prompt: Answer the message as its type says
3. Call \`submit_step_result(workflow_id, step_id, result)\` to send the result back. It returns the next step. If the step cannot be executed, send \`error: { "message": … }\` in place of the result
4. Repeat until you receive {status: "complete"} or {status: "error"}. With {status: "waiting"}, call \`get_next_step\` again after \`retry_after_ms\` milliseconds

The server keeps the state and runs all other steps. Do what the steps say, and only that.

## Workflow Context:
- Workflow ID: ${workflow}
- Task: ${inline(task)}
- Input: ${inline(item)}
</workflow-server-rules>

Begin by calling get_next_step with your workflow ID.`;
}

/** A value on one line that cannot end the rules. */
function inline(value: Json): string {
  return jsonText(value).replaceAll('<', '\\u003c');
}
