import { unreachable } from '../../../graph/json.js';
import { jsonText } from '../../../graph/printable-text.js';
import type { ActionRequest } from '../../engine/actions.js';

// What agents read of their work. A value of a run is in JSON, so that it cannot pose as a part of the text.

/** Work of the client. */
type Work = Exclude<ActionRequest, { type: 'prompt' }>;

/** What is sent for work of a kind, in one sentence. */
export const WORK_RESULTS: Readonly<Record<Work['type'], string>> = {
  shell:
    'Send {"stdout": "…", "stderr": "…", "exit_code": 0} with what the command printed. An exit code other than 0 is a result as well; send an error only if the command could not be run.',
  mcp_call: 'Send what the tool returned, unchanged.',
  delegate: 'Send the response as text, or {"response": …}.',
};

/** What work is to be done: completes "Step 'x' …". */
export function workText(work: Work): string {
  switch (work.type) {
    case 'shell':
      return `has a command for you to run: ${jsonText(work.parameters)}`;
    case 'mcp_call':
      return `has a tool for you to call: ${jsonText(work.parameters)}`;
    case 'delegate':
      return work.parameters.agent === null
        ? `has a task for you: ${jsonText(work.parameters)}`
        : `has a task for agent ${work.parameters.agent}: start that agent in a new context, give it the instructions, and send its response: ${jsonText(work.parameters)}`;
    default:
      return unreachable(work);
  }
}
