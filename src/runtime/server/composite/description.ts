import { answererKey, describeAnswerers, isForOthers } from '../../../graph/answerers.js';
import { kinds } from '../../../graph/kinds/kinds.js';
import type { Node } from '../../../graph/kinds/node.js';
import { isFailFast } from '../../../graph/limits.js';
import type { Graph, Input } from '../../../graph/model.js';
import { nodesOf } from '../../../graph/nodes.js';
import { clipText } from '../../../graph/printable-text.js';
import { planOf } from '../../../plan/compile.js';
import { type PlannedNode, rollsBack, type ScopePlan } from '../../../plan/plan.js';
import { armsOf, attemptOf, fallbackOf, soleBody } from '../../../print/shapes.js';
import { workflowToolTexts } from '../runs/run-texts.js';

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
    clipText(box.onFailure(policiesOf(graph)), limit),
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
  const texts = flows.map((each) => flowOf(graph, each));
  return texts.find((flow) => flow.length <= FLOW_LIMIT) ?? texts.at(-1) ?? '';
}

/** What happens when something fails: step by step where it is not the same for all, then for the rest. */
function policiesOf(graph: Graph): string[] {
  const { box } = workflowToolTexts;
  const nodes = nodesOf(graph);
  const { errorStrategy } = graph;
  const named = (said: (steps: string) => string, has: (node: Node) => boolean): string[] => {
    const ids = nodes.filter(has).map(({ id }) => id);
    return ids.length === 0 ? [] : [said(box.steps(ids))];
  };
  return [
    ...(errorStrategy?.kind === 'retry' ? [box.retries(errorStrategy.retry.extra + 1)] : []),
    ...named(box.retried, ({ retry }) => retry !== undefined && retry.extra > 0),
    ...named(box.fallbacks, (node) => hasFallback(node, nodes)),
    ...named(box.branchesFail, (node) => node.kind === 'parallel' && node.onPartialFailure === 'continue'),
    ...named(box.itemsFail, (node) => node.kind === 'foreach' && node.onItemError === 'continue'),
    ...named(box.undone, (node) => isUndone(node, nodes)),
    restOf(graph),
  ];
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

/** Whether a node that fails need not fail its workflow: it has a value then, or leads to steps that give one. */
function hasFallback({ id, onError }: Node, nodes: readonly Node[]): boolean {
  if (onError === undefined || !('fallbackNode' in onError)) return onError !== undefined;
  const around = nodes.map(attemptOf).find((attempt) => attempt?.risky.id === id);
  const steps = around?.otherwise ?? nodes.filter((node) => node.id === onError.fallbackNode);
  return !steps.some(alwaysFails);
}

/** Whether a node that takes over ends in a failure whatever happens: a `fail`, or one that only undoes. */
function alwaysFails(node: Node): boolean {
  if (node.when !== undefined) return false;
  if (node.kind === 'error' || node.kind === 'compensate') return true;
  return soleBody(node)?.nodes.some(alwaysFails) ?? false;
}

/** Whether what was done is undone where a node fails. */
function isUndone(node: Node, nodes: readonly Node[]): boolean {
  if (rollsBack(node)) return true;
  const other = fallbackOf(node);
  return nodes.some(({ id, kind }) => id === other && kind === 'compensate');
}

function restOf(graph: Graph): string {
  const { box } = workflowToolTexts;
  if (graph.errorStrategy?.kind === 'collect') return box.collect;
  return isFailFast(graph) ? box.failFast : box.goesOn;
}

function notesOf({ schema, required, default: defaultValue, secret }: Input): string[] {
  return [
    typeof schema.type === 'string' ? schema.type : Array.isArray(schema.enum) ? 'one of a few' : 'any',
    required ? 'required' : 'optional',
    ...(defaultValue === undefined || secret === true ? [] : [`default ${JSON.stringify(defaultValue)}`]),
    ...(secret === true ? ['secret'] : []),
  ];
}

const NOTHING = '–';

/**
 * The steps of a workflow in their order: `search → [ reserve | waitlist ] → ( mail & log )`. What may be left out
 * is next to `–`; what runs side by side has `&` between.
 *
 * @param depth how many levels of steps are shown; deeper ones are `…`.
 */
function flowOf(graph: Graph, depth: number): string {
  return new Flow(graph, depth).text;
}

class Flow {
  readonly text: string;

  constructor(graph: Graph, depth: number) {
    this.text = this.#scope(planOf(graph).main.root, depth);
  }

  #scope(scope: ScopePlan, depth: number): string {
    return this.#steps(scope.nodes, depth);
  }

  #steps(nodes: readonly PlannedNode[], depth: number): string {
    const shown = nodes.filter((planned) => this.#isShown(planned));
    if (shown.length === 0) return NOTHING;
    if (depth === 0) return '…';
    const rows = new Map<number, string[]>();
    for (const [planned, level] of this.#levels(nodes)) {
      if (shown.includes(planned)) rows.set(level, [...(rows.get(level) ?? []), this.#label(planned, depth)]);
    }
    const inOrder = [...rows].sort(([one], [other]) => one - other).map(([, row]) => row);
    return inOrder.map((row) => (row.length === 1 ? row[0] : `( ${row.join(' & ')} )`)).join(' → ');
  }

  /** A step that runs only when it is selected is shown with the step that selects it. */
  #isShown(planned: PlannedNode): boolean {
    return kinds[planned.node.kind].isStep && !planned.needsSelection;
  }

  /** How many shown steps come one after the other before each. What is not shown takes no place. */
  #levels(nodes: readonly PlannedNode[]): ReadonlyMap<PlannedNode, number> {
    const levels = new Map<PlannedNode, number>();
    const behind = new Map<PlannedNode, number>();
    for (const planned of nodes) {
      const isShown = this.#isShown(planned);
      const before = [...planned.sources, ...(isShown ? [] : planned.selectors)];
      const level = Math.max(0, ...before.map((each) => behind.get(each) ?? 0));
      levels.set(planned, level);
      behind.set(planned, isShown ? level + 1 : level);
    }
    return levels;
  }

  #label(planned: PlannedNode, depth: number): string {
    const { node } = planned;
    const name = this.#withFallback(planned, this.#name(planned, depth), depth);
    if (node.when === undefined) return name;
    const isBranch = node.kind === 'branch' && name.startsWith('[ ') && soleBody(node) === undefined;
    return `[ ${isBranch ? name.slice(2, -2) : name} | ${NOTHING} ]`;
  }

  #name(planned: PlannedNode, depth: number): string {
    const { node, parts } = planned;
    const inside = (index: number) => this.#inside(parts[index], depth);
    const attempt = attemptOf(node);
    if (attempt !== undefined) {
      const body = parts[0]?.nodes ?? [];
      const part = (nodes: readonly Node[]) => body.filter((each) => nodes.includes(each.node));
      return `( try ${this.#steps(part(attempt.tried), depth)}, else ${this.#ending(part(attempt.otherwise), depth)} )`;
    }
    if (soleBody(node) !== undefined) return inside(0);
    switch (node.kind) {
      case 'branch': {
        let next = 0;
        const arms = armsOf(node).map((arm) => ('goto' in arm ? arm.goto : inside(next++)));
        return `[ ${arms.join(' | ')} ]`;
      }
      case 'parallel':
        return `( ${parts.map((_body, index) => inside(index)).join(' & ')} )`;
      case 'foreach':
        return `each ${node.as}: { ${inside(0)} }`;
      case 'set':
        return `${node.id} (set ${node.updates.map(({ field }) => field).join(', ')})`;
      case 'goto':
        return `back to ${node.target}`;
      default:
        return node.id;
    }
  }

  #inside(body: ScopePlan | undefined, depth: number): string {
    return body === undefined ? NOTHING : this.#scope(body, depth - 1);
  }

  /** A step with its fallback, if that is not shown elsewhere. */
  #withFallback(planned: PlannedNode, name: string, depth: number): string {
    const id = fallbackOf(planned.node);
    const other = planned.scope.nodes.find(({ node }) => node.id === id);
    if (other === undefined || !other.needsSelection || attemptOf(ownerOf(planned)) !== undefined) {
      return name;
    }
    return `( try ${name}, else ${this.#ending([other], depth)} )`;
  }

  #ending(nodes: readonly PlannedNode[], depth: number): string {
    const [first] = nodes;
    if (nodes.length === 1 && first?.node.kind === 'error') return 'fail';
    if (nodes.length === 1 && first?.node.kind === 'return') return 'done';
    const shown = nodes.filter(({ node }) => kinds[node.kind].isStep);
    return shown.length === 0 ? NOTHING : shown.map((planned) => this.#label(planned, depth)).join(' → ');
  }
}

function ownerOf({ scope, node }: PlannedNode): Node {
  return scope.container?.node ?? node;
}
