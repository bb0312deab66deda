import type { Graph } from '../../../graph/model.js';
import { nodesOf } from '../../../graph/nodes.js';
import { HINTS_META } from '../../../infer/read-tools.js';
import { runTools } from '../composite/run-tools.js';
import { serverTexts } from '../server-texts.js';
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
  const { decisions } = serverTexts;
  const choices = [
    ...(hasWorkflows ? [decisions.workflow(prefix)] : []),
    ...(hasHints ? [decisions.sequence] : []),
    ...(tools.length > 0 ? [decisions.single] : []),
  ];
  const tree = [
    decisions.head,
    ...choices.map((choice, index) => `${index + 1}. ${choice}`),
    ...(canPlan ? [decisions.plan] : []),
  ].join('\n');
  return own === undefined || own === '' ? tree : `${own}\n\n${tree}`;
}
