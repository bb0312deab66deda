import type { CheckEnvironment } from '../../../check/check-graph.js';
import { diagnosticRecords } from '../../../graph/diagnostics/format.js';
import type { Json } from '../../../graph/json.js';
import { toolsIn } from '../../../graph/nodes.js';
import { toolsFrom } from '../../../infer/tool.js';
import { runTools } from '../composite/run-tools.js';
import type { ServedWorkflow } from '../composite/served-workflows.js';
import { failureResult, successResult, type ToolListing, type ToolResult } from '../wire.js';

/** The longest goal, in UTF-16 code units: the plan repeats it. */
const GOAL_LENGTH = 2_000;

/** The tool that suggests how to reach a goal. It calls nothing. */
export const PLAN_TOOL: ToolListing = {
  name: '_plan',
  description:
    'Suggests how to reach a goal: for each part of it the workflows that fit with the parameters that they need, or else a sequence of tool calls, inferred from their hints and schemas. `missing` has the parts without an answer. It calls nothing.',
  inputSchema: {
    type: 'object',
    properties: {
      goal: {
        type: 'string',
        minLength: 1,
        maxLength: GOAL_LENGTH,
        description: 'What to reach, in words of the descriptions of tools',
      },
    },
    required: ['goal'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/**
 * Plans for a goal.
 *
 * @param shown the tools that the caller sees, those of workflows among them.
 * @param workflows the workflows of the server; those whose tool is not shown are left out.
 */
export async function planResult(
  input: Readonly<Record<string, unknown>>,
  shown: readonly ToolListing[],
  workflows: Iterable<ServedWorkflow>,
): Promise<ToolResult> {
  const { goal, ...others } = input;
  const isGoal = typeof goal === 'string' && goal.trim() !== '' && goal.length <= GOAL_LENGTH;
  if (!isGoal || Object.keys(others).length > 0) {
    return failureResult({
      code: 'E_INPUT_INVALID',
      message: `\`goal\` has to be a text of 1 to ${GOAL_LENGTH} characters, not all of them blank; no other argument is taken`,
    });
  }
  const { planFor } = await import('../../../infer/goal.js');
  const names = new Set(shown.map(({ name }) => name));
  const reading = new Set(
    shown.flatMap(({ name, annotations }) => (annotations?.readOnlyHint ? [name] : [])),
  );
  const choices = [...workflows].flatMap(({ graph, tool }) => {
    if (tool === undefined || !names.has(tool.name)) return [];
    const { name, description, inputs } = graph;
    const readOnly = [...toolsIn(graph)].every((each) => reading.has(each));
    return [{ name, tool: tool.name, description, inputs, ...(readOnly ? { readOnly } : {}) }];
  });
  const own = new Set([
    PLAN_TOOL.name,
    VALIDATE_TOOL.name,
    ...Object.keys(runTools),
    ...choices.map(({ tool }) => tool),
  ]);
  const tools = toolsFrom(shown.filter(({ name }) => !own.has(name)) as unknown as Json) ?? [];
  return successResult(planFor(goal, tools, choices) as unknown as Json, undefined);
}

const FORMATS = ['yaml', 'json', 'xml'] as const;

/** The tool that checks workflows which a client writes. It runs nothing. */
export const VALIDATE_TOOL: ToolListing = {
  name: 'validate_workflow',
  title: 'Check a workflow',
  description:
    'Checks the text of a file of workflows. Each diagnostic has its place, and an `edit` (range and text) if one repair is certain: apply these edits, and check again.',
  inputSchema: {
    type: 'object',
    properties: {
      text: { type: 'string', minLength: 1 },
      format: { enum: [...FORMATS], description: 'Default: yaml' },
    },
    required: ['text'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      valid: { type: 'boolean' },
      workflows: { type: 'array' },
      diagnostics: { type: 'array' },
    },
    required: ['valid', 'workflows', 'diagnostics'],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/**
 * Checks a text, in a process of its own.
 *
 * @param registered the tools and workflows that the caller sees.
 */
export async function validateResult(
  { text, format = 'yaml', ...others }: Readonly<Record<string, unknown>>,
  registered: CheckEnvironment,
): Promise<ToolResult> {
  const textFormat = FORMATS.find((each) => each === format);
  if (typeof text !== 'string' || text === '' || textFormat === undefined || Object.keys(others).length > 0) {
    const message = `\`text\` has to be a text, and \`format\` one of ${FORMATS.join(', ')}; no other argument is taken`;
    return failureResult({ code: 'E_INPUT_INVALID', message });
  }
  const { parseUntrustedWorkflows } = await import('../../../formats/untrusted/parse-untrusted.js');
  const file = `workflow.${textFormat}`;
  const { workflows, diagnostics } = await parseUntrustedWorkflows(text, {
    file,
    format: textFormat,
    registered,
  });
  const value = {
    valid: workflows.length > 0,
    workflows: workflows.map(({ graph }) => graph.name),
    diagnostics: diagnosticRecords(diagnostics),
  };
  return successResult(value as unknown as Json, undefined);
}
