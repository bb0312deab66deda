import type { Domain } from '../graph/domain.js';
import type { BranchNode, Graph } from '../graph/model.js';
import { compensationsOf, nodesOf } from '../graph/nodes.js';
import { singleLine } from '../graph/printable-text.js';
import { planOf } from '../plan/compile.js';
import type { PlannedNode, ScopePlan } from '../plan/plan.js';
import { armsOf } from './shapes.js';

/** A workflow of an overview. */
export interface OverviewWorkflow {
  readonly graph: Graph;
  /** Its tool, if it is one. */
  readonly tool?: string;
  /** The address of its details. */
  readonly uri: string;
}

/** What an overview says of tools. */
export interface OverviewTool {
  readonly description: string;
  readonly requires: readonly string[];
}

/** What an overview needs to know of names. */
export interface OverviewNames {
  toolNamed(name: string): OverviewTool | undefined;
  /** The address of a resource, by its name. */
  addressOf(resource: string): string;
}

/**
 * The workflows of a domain as a guide for a model: how each is started, what its steps are, and which rules follow from
 * them. The texts are those of the authors, in Markdown.
 */
export function overviewText(
  { name, rules: said, docs: written }: Domain,
  workflows: readonly OverviewWorkflow[],
  { toolNamed, addressOf }: OverviewNames,
): string {
  const graphs = workflows.map(({ graph }) => graph);
  const rules = [...new Set([...said, ...graphs.flatMap((graph) => rulesOf(graph, toolNamed))])];
  // Markdown of several lines, each of which is printable.
  const docs = written === undefined ? [] : ['', ...written.trim().split('\n')];
  const documents = [
    ...new Set(graphs.flatMap(({ instructions }) => instructions.map(({ resource }) => resource))),
  ];
  const lines = [
    `# ${titleOf(name)}: workflow guide`,
    ...docs,
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
  const steps = [...new Set(callsOf(graph))];
  const inputs = graph.inputs.map(({ name, required }) => (required ? name : `${name} (optional)`));
  return [
    `### ${number}. ${graph.title ?? titleOf(graph.name)}`,
    '',
    graph.description,
    '',
    `Start: ${tool === undefined ? `the prompt \`${graph.name}\`` : `call \`${tool}\``}${inputs.length === 0 ? '' : ` with ${inputs.join(', ')}`}. Details: ${uri}`,
    ...(steps.length === 0 ? [] : [`Steps: ${flowOf(planOf(graph).main.root)}`]),
    ...steps.flatMap((name) => {
      const known = toolNamed(name);
      return known === undefined ? [] : [`- ${name}: ${known.description}`];
    }),
  ];
}

function rulesOf(graph: Graph, toolNamed: OverviewNames['toolNamed']): string[] {
  const tools = [...new Set(callsOf(graph))];
  const order = tools.flatMap((tool) =>
    (toolNamed(tool)?.requires ?? []).map((before) => `Never call ${tool} without ${before} first.`),
  );
  const undoing = nodesOf(graph).flatMap((node) =>
    node.kind === 'call'
      ? compensationsOf(node).map((each) => `${node.tool} is undone by ${each.tool}.`)
      : [],
  );
  return [...order, ...undoing];
}

/** The calls of some steps: `search → [ reserve | waitlist ] → ( mail & log )`. Steps that call nothing are left out. */
function flowOf({ nodes }: Pick<ScopePlan, 'nodes'>): string {
  return nodes.flatMap((planned) => (isChosen(planned) ? [] : callText(planned))).join(' → ');
}

/** Whether a step runs only where a branch leads to it. The flow has it there. */
function isChosen({ needsSelection, selectors }: PlannedNode): boolean {
  return needsSelection && selectors.some(({ node }) => node.kind === 'branch');
}

function callText(planned: PlannedNode): string[] {
  const { node, parts } = planned;
  if (node.kind === 'call') return [node.tool];
  if (node.kind === 'workflow') return [node.workflow];
  const bodies = node.kind === 'branch' ? armTexts(node, planned) : parts.map(flowOf);
  const named = bodies.filter((body) => body !== '');
  if (named.length === 0) return [];
  if (node.kind === 'foreach') return [`each: ( ${named.join(' → ')} )`];
  if (node.kind === 'parallel') return [`( ${named.join(' & ')} )`];
  return named.length === 1 && bodies.length === 1
    ? named
    : [`[ ${bodies.map((body) => body || '–').join(' | ')} ]`];
}

/** The arms of a branch. One that leads to a step which runs in any case has nothing of its own. */
function armTexts(branch: BranchNode, { scope, parts }: PlannedNode): string[] {
  let next = 0;
  return armsOf(branch).map((arm) => {
    if (!('goto' in arm)) return flowOf(parts[next++] ?? { nodes: [] });
    const target = scope.nodes.find((each) => each.node.id === arm.goto && isChosen(each));
    return target === undefined ? '' : callText(target).join('');
  });
}

/** The tools that a workflow calls, in declaration order. */
function callsOf(graph: Graph): string[] {
  return nodesOf(graph).flatMap((node) => (node.kind === 'call' ? [node.tool] : []));
}

/** `book_flight` as `Book flight`. */
function titleOf(name: string): string {
  const words = name.replace(/[-_]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
