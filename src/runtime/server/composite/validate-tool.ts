import type { CheckEnvironment } from '../../../check/check-graph.js';
import { diagnosticRecords } from '../../../graph/diagnostics/format.js';
import type { Json } from '../../../graph/json.js';
import { failureResult, successResult, type ToolListing, type ToolResult } from '../wire.js';

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
