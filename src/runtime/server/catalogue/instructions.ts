import type { Graph } from '../../../graph/model.js';
import { nodesOf } from '../../../graph/nodes.js';
import { HINTS_META } from '../../../infer/tool.js';
import { runTools } from '../composite/run-tools.js';
import type { ToolListing } from '../wire.js';

/** What instructions are made from. */
export interface InstructionParts {
  /** The author's own. */
  readonly own: string | undefined;
  /** The tools of workflows, and those that look after their runs. */
  readonly workflowTools: readonly ToolListing[];
  readonly tools: readonly ToolListing[];
  /** Whether hints follow from the workflows. */
  readonly hasSequences: boolean;
  /** What the names of workflows' tools begin with. */
  readonly prefix: string;
  /** Whether the server has a tool that plans. */
  readonly canPlan: boolean;
}

/** Whether a workflow calls more than one tool. */
export function callsSeveralTools(graph: Graph): boolean {
  const tools = nodesOf(graph).flatMap((node) => (node.kind === 'call' ? [node.tool] : []));
  return new Set(tools).size > 1;
}

/**
 * What a client should know: the author's instructions, then what to choose first. The tools of workflows come before
 * sequences of hinted tools, and these before single tools. Nothing is added to a server without workflows and hints.
 * Names of tools are left out, since a caller may lack the scopes to see them.
 */
export function instructionsFor({
  own,
  workflowTools,
  tools,
  hasSequences,
  prefix,
  canPlan,
}: InstructionParts): string | undefined {
  const hasWorkflows = workflowTools.some(({ name }) => !Object.hasOwn(runTools, name));
  const hasHints = hasSequences || tools.some(({ _meta }) => _meta?.[HINTS_META] !== undefined);
  if (!hasWorkflows && !hasHints && !canPlan) return own;
  const choices = [
    ...(hasWorkflows
      ? [
          `A tool that runs a whole workflow${prefix === '' ? '' : `: its name begins with \`${prefix}\``}. Choose it by its description and give the parameters; the order of the steps, retries and undoing are done for you.`,
        ]
      : []),
    ...(hasHints
      ? [
          'Several tools, in the order of their descriptions: call all tools of "Requires" before, and one of "Next" after; tools of "Often after" are a habit, and no condition. Pass on the values that a later tool takes.',
        ]
      : []),
    ...(tools.length > 0 ? ['A single tool.'] : []),
  ];
  const tree = [
    'For each request, take the first of these that fits:',
    ...choices.map((choice, index) => `${index + 1}. ${choice}`),
    ...(canPlan ? ['If you are not sure, `_plan` suggests one of these for a goal.'] : []),
  ].join('\n');
  return own === undefined || own === '' ? tree : `${own}\n\n${tree}`;
}
