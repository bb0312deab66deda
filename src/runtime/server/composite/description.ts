import { answererKey, describeAnswerers, isForOthers } from '../../../graph/answerers.js';
import type { Graph, Input } from '../../../graph/model.js';
import { nodesOf } from '../../../graph/nodes.js';
import { clipText } from '../../../graph/printable-text.js';
import { failurePolicy } from '../../../print/failure-policy.js';
import { flowText } from '../../../print/flow.js';
import { workflowToolTexts } from './workflow-tool-texts.js';

/** The longest description of a tool, in UTF-16 code units. */
const DESCRIPTION_LIMIT = 1_024;

/** A longer flow shows fewer levels, and is cut in the end. */
const FLOW_LIMIT = 400;

/** What a box that has to be short has left for its flow, and for its policy. */
const SHORT_LIMIT = 120;

/** How many levels of steps a flow shows. */
const ALL_LEVELS = Number.POSITIVE_INFINITY;

/** How much of a box is shown. */
interface Detail {
  readonly parameters: boolean;
  readonly levels: number;
  readonly limit: number;
}

/** From the whole box to what is always left of it: parameters are dropped first, then nested steps. */
const DETAILS: readonly Detail[] = [
  { parameters: true, levels: ALL_LEVELS, limit: FLOW_LIMIT },
  { parameters: false, levels: ALL_LEVELS, limit: FLOW_LIMIT },
  { parameters: false, levels: 2, limit: FLOW_LIMIT },
  { parameters: false, levels: 1, limit: FLOW_LIMIT },
  { parameters: false, levels: 1, limit: SHORT_LIMIT },
];

/**
 * The description of a workflow's tool: the author's, then a box with its flow, what happens on a failure, and its
 * parameters. Where that is too long, the box says less, and in the end the author's words are cut as well.
 *
 * @param canWait whether a run may be over only after the call is: it asks, or waits for a time.
 */
export function describeWorkflow(graph: Graph, canWait: boolean): string {
  for (const detail of DETAILS) {
    const described = `${graph.description}\n\n${boxOf(graph, canWait, detail)}`;
    if (described.length <= DESCRIPTION_LIMIT) return described;
  }
  const smallest = boxOf(graph, canWait, { parameters: false, levels: 1, limit: SHORT_LIMIT });
  return `${clipText(graph.description, DESCRIPTION_LIMIT - smallest.length - 2)}\n\n${smallest}`;
}

/** The description of a workflow's tool without the box: the author's, and whether a run may wait. */
export function describeShortly(graph: Graph, canWait: boolean): string {
  const note = canWait ? `\n\n${waitingNote(graph)}` : '';
  return `${clipText(graph.description, DESCRIPTION_LIMIT - note.length)}${note}`;
}

function boxOf(graph: Graph, canWait: boolean, { parameters, levels, limit }: Detail): string {
  const { box } = workflowToolTexts;
  const { inputs } = graph;
  const lines = [
    clipText(shownFlow(graph, levels), limit),
    clipText(box.onFailure(failurePolicy(graph)), limit),
    ...(canWait ? [waitingNote(graph)] : []),
    ...(inputs.length > 0 && parameters ? [box.parameters] : []),
    ...(parameters ? inputs.map((input) => box.parameter(input.name, notesOf(input))) : []),
    ...(inputs.length > 0 && !parameters ? [box.parametersLeft(inputs.length)] : []),
  ];
  const head = clipText(box.head(graph.name), SHORT_LIMIT);
  return [`┌─ ${head}`, ...lines.map((line) => `│ ${line}`), '└─'].join('\n');
}

/** As many levels of the flow as there is room for. */
function shownFlow(graph: Graph, levels: number): string {
  const flows = levels === ALL_LEVELS ? [levels, 2, 1] : [levels];
  const texts = flows.map((each) => flowText(graph, { depth: each }));
  return texts.find((flow) => flow.length <= FLOW_LIMIT) ?? texts.at(-1) ?? '';
}

/** What a run may wait for, by the steps of the workflow and of those it runs. */
function waitingNote(graph: Graph): string {
  const { box } = workflowToolTexts;
  const asks = [graph, ...(graph.tasks ?? [])].flatMap((each) =>
    nodesOf(each).filter((node) => node.kind === 'ask'),
  );
  const others = asks.flatMap(({ answerBy }) => (isForOthers(answerBy) ? answerBy : []));
  if (asks.length === 0) return box.waits;
  if (others.length === 0) return box.asks;
  const who = describeAnswerers([...new Map(others.map((each) => [answererKey(each), each])).values()]);
  return asks.every(({ answerBy }) => isForOthers(answerBy)) ? box.asksOthers(who) : box.asksBoth(who);
}

function notesOf({ schema, required, default: defaultValue, secret }: Input): string[] {
  return [
    typeof schema.type === 'string' ? schema.type : Array.isArray(schema.enum) ? 'one of a few' : 'any',
    required ? 'required' : 'optional',
    ...(defaultValue === undefined || secret === true ? [] : [`default ${JSON.stringify(defaultValue)}`]),
    ...(secret === true ? ['secret'] : []),
  ];
}
