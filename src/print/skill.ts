import type { Graph, Input } from '../graph/model.js';
import { skillName } from '../graph/names.js';
import { nodesOf } from '../graph/nodes.js';
import { clipText, inlineText } from '../graph/printable-text.js';
import { describeGuidance } from './describe.js';
import { printOutline } from './text.js';

/** The longest description of a skill, in UTF-16 code units, by the specification of Agent Skills. */
const DESCRIPTION_LIMIT = 1_024;

/**
 * A workflow as the `SKILL.md` of a skill: how it is started, its inputs, its steps, and what its author says of them.
 *
 * @param tool the name of its tool, if it is one.
 */
export function skillText(graph: Graph, tool: string | undefined): string {
  const { name, title, description, inputs } = graph;
  const said = nodesOf(graph).flatMap(({ id, guidance }) =>
    guidance === undefined ? [] : [`- \`${id}\`: ${describeGuidance(guidance)}`],
  );
  const lines = [
    '---',
    `name: ${skillName(name)}`,
    // JSON is YAML.
    `description: ${JSON.stringify(clipText(inlineText(description), DESCRIPTION_LIMIT))}`,
    'metadata:',
    `  stepwright: ${name}`,
    '---',
    '',
    `# ${title ?? name}`,
    '',
    description,
    '',
    '## The short way',
    '',
    startOf(graph, tool),
    ...section('Inputs', inputs.map(inputLine)),
    ...section('Judgement', said),
  ].map((line) => inlineText(line));
  return `${lines.join('\n')}\n\n## Procedure\n\nThe server executes these steps, each after those that it reads:\n\n\`\`\`text\n${printOutline(graph)}\`\`\`\n`;
}

function startOf({ name, expose }: Graph, tool: string | undefined): string {
  if (tool !== undefined)
    return `Call the tool \`${tool}\` with the inputs below. The server keeps the order of the steps, repeats what may be repeated, and returns the result, or what it waits for.`;
  return expose?.includes('prompt') === true
    ? `Get the prompt \`${name}\` with the inputs below: the server executes the steps and returns the conversation.`
    : 'The server offers no way to start it: make the calls of the procedure in their order.';
}

function inputLine({ name, required, description }: Input): string {
  return `- \`${name}\`${required ? '' : ' (optional)'}: ${description}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines];
}
