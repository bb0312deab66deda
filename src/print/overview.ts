import type { Node } from '../graph/kinds/node.js';
import type { CallNode, Domain, Graph } from '../graph/model.js';
import { compensationsOf, nodesOf, repeatedTools } from '../graph/nodes.js';
import { clipText, singleLine } from '../graph/printable-text.js';
import { describeGuidance, describeNode } from './describe.js';
import { printExpr } from './expression.js';
import { failurePolicy } from './failure-policy.js';
import { flowText } from './flow.js';

/** The longest input that a step of an overview shows, in UTF-16 code units. */
const INPUT_LIMIT = 200;

export interface OverviewWorkflow {
  readonly graph: Graph;
  readonly tool?: string;
  /** The address of its details. */
  readonly uri: string;
}

export interface OverviewTool {
  readonly description: string;
  readonly requires: readonly string[];
}

/** What an overview needs to know of names. */
export interface OverviewNames {
  toolNamed(name: string): OverviewTool | undefined;
  addressOf(resource: string): string;
}

/**
 * The workflows of a domain as a guide for a model: how each is started, what its steps are, and which rules follow from
 * them. The texts are those of the authors, in Markdown.
 */
export function overviewText(
  { name, rules: ownRules, docs }: Domain,
  workflows: readonly OverviewWorkflow[],
  { toolNamed, addressOf }: OverviewNames,
): string {
  const graphs = workflows.map(({ graph }) => graph);
  const rules = [...new Set([...ownRules, ...graphs.flatMap((graph) => rulesOf(graph, toolNamed))])];
  // Markdown of several lines, each of which is printable.
  const guide = docs === undefined ? [] : ['', ...docs.trim().split('\n')];
  const documents = [
    ...new Set(graphs.flatMap(({ instructions }) => instructions.map(({ resource }) => resource))),
  ];
  const lines = [
    `# ${titleOf(name)}: workflow guide`,
    ...guide,
    '',
    '## Available workflows',
    ...workflows.flatMap((workflow, index) => ['', ...workflowLines(workflow, index + 1, toolNamed)]),
    ...(rules.length === 0 ? [] : ['', '## Rules', '', ...rules.map((rule) => `- ${rule}`)]),
    ...(documents.length === 0
      ? []
      : ['', '## Read first', '', ...documents.map((name) => `- ${addressOf(name)}`)]),
  ];
  return `${lines.map(singleLine).join('\n')}\n`;
}

function workflowLines(
  { graph, tool, uri }: OverviewWorkflow,
  number: number,
  toolNamed: OverviewNames['toolNamed'],
): string[] {
  const inputs = graph.inputs.map(({ name, required }) => (required ? name : `${name} (optional)`));
  const repeated = repeatedTools(nodesOf(graph));
  const nameOf = (node: Node) => shownName(node, repeated);
  return [
    `### ${number}. ${graph.title ?? titleOf(graph.name)}`,
    '',
    graph.description,
    '',
    `Start: ${tool === undefined ? `the prompt \`${graph.name}\`` : `call \`${tool}\``}${inputs.length === 0 ? '' : ` with ${inputs.join(', ')}`}. Details: ${uri}`,
    ...(graph.nodes.length === 0
      ? []
      : [`Steps: ${flowText(graph, { nameOf })}`, `On failure: ${failurePolicy(graph, nameOf)}`]),
    ...stepLines(graph, repeated, toolNamed),
  ];
}

/** What a step is called in an overview: what it calls, or else its id. */
function shownName(node: Node, repeated: ReadonlySet<string>): string {
  if (node.kind === 'workflow') return node.workflow;
  return node.kind === 'call' && !repeated.has(node.tool) ? node.tool : node.id;
}

/** What the names of the steps mean: tools, questions, and steps that call a tool which others call as well. */
function stepLines(
  graph: Graph,
  repeated: ReadonlySet<string>,
  toolNamed: OverviewNames['toolNamed'],
): string[] {
  const described = new Set<string>();
  return nodesOf(graph).flatMap((node) => {
    const said = saidOf(node);
    if (node.kind === 'ask') return [line(node.id, [...said, describeNode(node)])];
    if (node.kind !== 'call') return [];
    const { tool } = node;
    const description = described.has(tool) ? undefined : toolNamed(tool)?.description;
    described.add(tool);
    const toolLines = description === undefined ? [] : [description];
    if (!repeated.has(tool))
      return said.length + toolLines.length === 0 ? [] : [line(tool, [...said, ...toolLines])];
    return [line(node.id, [...said, callText(node)]), ...toolLines.map((text) => line(tool, [text]))];
  });
}

function line(name: string, sentences: readonly string[]): string {
  return `- ${name}: ${sentences.join(' ')}`;
}

/** What the author says of a step: its title and its guidance. */
function saidOf({ title, guidance }: Node): string[] {
  return [title, guidance && describeGuidance(guidance)].flatMap((text) =>
    text === undefined ? [] : [sentence(text)],
  );
}

/** `Calls rest_call { method: "POST" }`. */
function callText({ tool, input }: CallNode): string {
  const inputText = input.entries.length === 0 ? '' : ` ${clipText(printExpr(input), INPUT_LIMIT)}`;
  return `Calls ${tool}${inputText}`;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

function rulesOf(graph: Graph, toolNamed: OverviewNames['toolNamed']): string[] {
  const calls = nodesOf(graph).filter((node) => node.kind === 'call');
  const tools = [...new Set(calls.map(({ tool }) => tool))];
  const order = tools.flatMap((tool) =>
    (toolNamed(tool)?.requires ?? []).map((before) => `Never call ${tool} without ${before} first.`),
  );
  const undoing = calls.flatMap((node) =>
    compensationsOf(node).map((each) => `${node.tool} is undone by ${each.tool}.`),
  );
  return [...order, ...undoing];
}

/** `book_flight` as `Book flight`. */
function titleOf(name: string): string {
  const words = name.replace(/[-_]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
