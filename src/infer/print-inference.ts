import { counted, inlineText } from '../graph/printable-text.js';
import { label } from '../print/mermaid.js';
import { type Edge, ENOUGH } from './evidence.js';
import type { Plan, PlannedParameter } from './goal.js';
import type { HintFault } from './hints.js';
import type { Inference } from './infer.js';
import { CATEGORIES } from './words.js';

/** An inference as an outline. The text ends with a line break. */
export function inferenceText({ tools, edges, choices, cycles, sequences, faults }: Inference): string {
  const sure = edges.filter(({ confidence }) => confidence >= ENOUGH);
  return outline(
    `${counted(tools.length, 'tool')}, ${counted(sure.length, 'edge')} that order${sure.length === 1 ? 's' : ''} them`,
    [
      ['sequences', sequences.map((sequence) => sequence.join(' → '))],
      ['alternatives', choices.map(({ after, oneOf }) => `after ${after}: ${oneOf.join(' or ')}`)],
      ['cycles, which have no order', cycles.map((cycle) => cycle.join(', '))],
      ['edges', sure.flatMap(edgeLines)],
      ['hints', faults.map(hintFaultText)],
    ],
  );
}

/** A plan as an outline. The text ends with a line break. */
export function planText({ goal, workflows, steps, missing = [] }: Plan): string {
  if (workflows.length === 0 && steps.length === 0) {
    return `goal: ${inlineText(goal)}\nno workflow and no tool fits: rephrase the goal in words of their descriptions\n`;
  }
  const calls = steps.flatMap(({ tool, confidence, parameters, evidence }, index) => [
    `${index + 1}. ${tool}${confidence === undefined ? '' : ` (${confidence})`}`,
    ...parameters.map((parameter) => `   ${parameterText(parameter)}`),
    ...evidence.map(({ text }) => `   because ${text}`),
  ]);
  const choices = workflows.flatMap(({ workflow, tool, score, parameters }) => [
    `- ${tool ?? workflow} (${score})${tool === undefined ? ', a prompt' : ''}`,
    ...parameters.map((parameter) => `  ${parameterText(parameter)}`),
  ]);
  return `${[
    `goal: ${goal}`,
    ...(workflows.length > 0 ? ['workflows:', ...choices] : []),
    ...(steps.length > 0 ? ['inferred calls, of which none was made:', ...calls] : []),
    ...(missing.length > 0 ? [`no workflow and no tool fits: ${missing.join('; ')}`] : []),
  ]
    .map(inlineText)
    .join('\n')}\n`;
}

function parameterText({ name, description, required, from }: PlannedParameter): string {
  const source = from === undefined ? 'from the caller' : `from ${from.output} of ${from.tool}`;
  const about = description === undefined ? '' : `: ${description}`;
  return `${name}${required ? '' : '?'}, ${source}${from === undefined ? about : ''}`;
}

/** The edges that order tools as a Mermaid flowchart. The text ends with a line break. */
export function inferenceMermaid({ tools, edges, choices, cycles }: Inference): string {
  const sure = edges.filter(({ confidence }) => confidence >= ENOUGH);
  const connected = new Set(sure.flatMap(({ from, to }) => [from, to]));
  const names = new Map(tools.map((tool, index) => [tool, `t${index}`]));
  const isChoice = ({ from, to }: Edge) =>
    choices.some(({ after, oneOf }) => after === from && oneOf.includes(to));
  const nodes = tools
    .filter((tool) => connected.has(tool))
    .map((tool) => `  ${names.get(tool)}[${label([tool])}]`);
  const arrows = sure.map((edge) => {
    const text = `${edge.confidence}${isChoice(edge) ? ', or' : ''}`;
    const arrow = isChoice(edge) ? '-.->' : '-->';
    return `  ${names.get(edge.from)} ${arrow}|${label([text])}| ${names.get(edge.to)}`;
  });
  const notes = cycles.map((cycle) => `  %% cycle: ${cycle.map((tool) => names.get(tool)).join(' ')}`);
  return ['flowchart LR', ...nodes, ...arrows, ...notes, ''].join('\n');
}

/** A fault of hints as a sentence. */
function hintFaultText(fault: HintFault): string {
  switch (fault.kind) {
    case 'unknown-tool': {
      const near = fault.nearest === undefined ? '' : `: did you mean ${fault.nearest}?`;
      return `${fault.tool} names ${fault.named}, which the list does not have${near}`;
    }
    case 'unknown-category':
      return `the category ${fault.category} of ${fault.tool} has no place in the order of work: use one of ${CATEGORIES.join(', ')}`;
    case 'cycle':
      return `${fault.tools.join(', ')} require each other: leave one \`requires\` out`;
  }
}

function edgeLines({ from, to, confidence, evidence }: Edge): string[] {
  const shown = evidence.filter((each) => each.confidence >= ENOUGH);
  return [`${from} → ${to} ${confidence}`, ...shown.map((each) => `  ${each.confidence} ${each.text}`)];
}

function outline(head: string, sections: readonly (readonly [string, readonly string[]])[]): string {
  const lines = sections.flatMap(([title, items]) =>
    items.length === 0
      ? []
      : [`${title}:`, ...items.map((item) => (item.startsWith(' ') ? `  ${item}` : `- ${item}`))],
  );
  return `${[head, ...lines].map(inlineText).join('\n')}\n`;
}
