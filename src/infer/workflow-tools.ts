import { parametersOf } from './fields.js';
import type { WorkflowChoice } from './goal.js';
import type { ToolDescription } from './tool.js';

/** Tools of a server that look after runs and plans, and do nothing of their own. */
const MANAGING: ReadonlySet<string> = new Set([
  'submit_result',
  'get_workflow_status',
  'cancel_workflow',
  'list_workflows',
  '_plan',
]);

/** What the names of workflows' tools begin with. */
const PREFIX = 'w_';

/**
 * Tells the tools of workflows (`w_…`) in a list of a server from the others. They have an order inside, and none among
 * the tools that they call. Tools that look after runs are left out.
 */
export function separateWorkflows(list: readonly ToolDescription[]): {
  readonly tools: readonly ToolDescription[];
  readonly workflows: readonly WorkflowChoice[];
} {
  const isWorkflow = ({ name }: ToolDescription) => name.startsWith(PREFIX);
  const workflows = list.filter(isWorkflow).map((tool) => ({
    name: tool.name.slice(PREFIX.length),
    tool: tool.name,
    description: tool.description ?? '',
    inputs: parametersOf(tool)
      .filter(({ path, name }) => path === name)
      .map(({ name, description, isRequired }) => ({ name, description, required: isRequired })),
  }));
  return { tools: list.filter((tool) => !isWorkflow(tool) && !MANAGING.has(tool.name)), workflows };
}
