import { HINTS_META } from '../../infer/read-tools.js';
import { runTools } from './composite/run-tools.js';
import { serverTexts } from './server-texts.js';
import type { ToolListing } from './wire.js';

/**
 * What a client should know: the author's instructions, then what to choose first. The tools of workflows come before
 * sequences of hinted tools, and these before single tools. Nothing is added to a server without workflows and hints.
 *
 * Names of tools are left out, since a caller may lack the scopes to see them.
 *
 * @param workflowTools the tools of workflows, and those that look after their runs.
 * @param prefix what the names of workflows' tools begin with.
 */
export function instructionsFor(
  own: string | undefined,
  workflowTools: readonly ToolListing[],
  tools: readonly ToolListing[],
  prefix: string,
): string | undefined {
  const hasWorkflows = workflowTools.some(({ name }) => !Object.hasOwn(runTools, name));
  const hasHints = tools.some(({ _meta }) => _meta?.[HINTS_META] !== undefined);
  const { decisions } = serverTexts;
  const choices = [
    ...(hasWorkflows ? [decisions.workflow(prefix)] : []),
    ...(hasHints ? [decisions.sequence] : []),
    ...(tools.length > 0 ? [decisions.single] : []),
  ];
  if (!hasWorkflows && !hasHints) return own;
  const tree = [decisions.head, ...choices.map((choice, index) => `${index + 1}. ${choice}`)].join('\n');
  return own === undefined || own === '' ? tree : `${own}\n\n${tree}`;
}
