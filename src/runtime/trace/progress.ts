import { getOrInsert } from '../../graph/maps.js';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import { nodeKey, parseNodeKey } from '../../plan/instances.js';
import type { Plan, PlannedNode, ScopePlan } from '../../plan/plan.js';
import type { Fact, RunState } from '../engine/contract.js';
import { nodeRecord } from '../engine/read.js';
import type { ContainerRow } from '../engine/rows.js';
import { noProgress } from '../runs/request.js';
import { isListed } from './ledger.js';

/** Tells a caller how far a run is. `total` is the number of steps in the plan. */
export type ReportProgress = (progress: number, total: number, message?: string) => void;

export interface ProgressObserver {
  /**
   * Takes the run's facts, each once and in order.
   * @param state the run after the fact.
   */
  observe(fact: Fact, state: RunState): void;
  /**
   * Takes what a tool of the run reports: its share of the step that calls it. Without a total it has no share.
   * @param node the key of the node that calls it.
   */
  readonly ofTool: (progress: number, total?: number, message?: string, node?: string) => void;
}

const UNHEARD: ProgressObserver = { observe: noProgress, ofTool: noProgress };

/** Progress inside a step stays below the next step, so that it only rises, as MCP demands. */
const LARGEST_SHARE = 0.99;

/** Inside a step, progress is reported about every hundredth of it: a loop may have a million items. */
const LEAST_RISE = 0.009;

/**
 * Reports `Step i/n: name` before each step, with the number of steps before it as progress, and
 * `(n, n, 'Workflow execution complete')` at the end of a run that succeeded. Inside a step, items of loops, branches,
 * nested steps and tools report their shares of it.
 *
 * Progress only ever rises, as MCP demands: a step that starts while a later one runs already is not reported.
 */
export function createProgress(graph: Graph, report: ReportProgress): ProgressObserver {
  return report === noProgress ? UNHEARD : new RunProgress(graph, report);
}

/** A stretch of the way, in steps. */
interface Span {
  readonly low: number;
  readonly width: number;
}

class RunProgress implements ProgressObserver {
  readonly #plan: Plan;
  readonly #report: ReportProgress;
  readonly #total: number;
  #state: RunState | undefined;
  #reported = -1;

  constructor(graph: Graph, report: ReportProgress) {
    this.#plan = planOf(graph);
    this.#report = report;
    this.#total = placesIn(this.#plan.main.root).size;
  }

  observe(fact: Fact, state: RunState): void {
    this.#state = state;
    switch (fact.kind) {
      case 'nodeStarted':
        this.#starts(fact.node);
        return;
      case 'partEnded':
        this.#partEnded(fact.node);
        return;
      case 'finished':
        if (fact.status === 'succeeded') this.#tell(this.#total, 'Workflow execution complete');
        return;
      default:
    }
  }

  readonly ofTool: ProgressObserver['ofTool'] = (progress, total, message, node) => {
    const span = node === undefined ? undefined : this.#spanOf(node);
    if (node === undefined || span === undefined) return;
    const share = Math.min(progress / (total ?? Number.NaN), LARGEST_SHARE);
    const value = span.low + span.width * share;
    if (this.#isAtTop(node)) this.#tell(value, message);
    else this.#tellInside(node, value, message);
  };

  #starts(key: string): void {
    const span = this.#spanOf(key);
    if (span === undefined) return;
    if (this.#isAtTop(key)) this.#tell(span.low, this.#titleOf(key));
    else this.#tellInside(key, span.low, `${this.#titleOf(key)} (${idOf(key)})`);
  }

  #partEnded(key: string): void {
    const row = this.#containerOf(key);
    const span = this.#spanOf(key);
    if (row === undefined || span === undefined) return;
    const [ended, count] = [endedIn(row), row.end - row.first];
    // With its last part the whole has come to its end.
    if (ended === count) return;
    const share = `${ended} of ${count} done`;
    const message = `${this.#titleOf(key)} (${this.#isAtTop(key) ? share : `${idOf(key)}: ${share}`})`;
    this.#tellInside(key, span.low + (span.width * ended) / count, message);
  }

  #containerOf(key: string): Pick<ContainerRow, 'first' | 'next' | 'end' | 'running'> | undefined {
    return this.#state && nodeRecord(this.#state, key)?.container;
  }

  #tellInside(key: string, value: number, message: string | undefined): void {
    const { low } = this.#spanOf(topOf(this.#plan, key)) ?? { low: 0 };
    const capped = Math.min(value, low + LARGEST_SHARE);
    if (capped >= this.#reported + LEAST_RISE) this.#tell(capped, message);
  }

  #tell(value: number, message: string | undefined): void {
    if (!(value > this.#reported)) return;
    this.#reported = value;
    this.#report(value, this.#total, message);
  }

  #isAtTop(key: string): boolean {
    return topOf(this.#plan, key) === key;
  }

  #titleOf(key: string): string {
    const top = topOf(this.#plan, key);
    return `Step ${Math.floor(this.#spanOf(top)?.low ?? 0) + 1}/${this.#total}: ${top}`;
  }

  /** The span of a node; `undefined` for one that is not a step to readers. */
  #spanOf(key: string): Span | undefined {
    const atTop = topNode(this.#plan, key);
    if (atTop !== undefined) {
      const place = placesIn(this.#plan.main.root).get(atTop);
      return place === undefined ? undefined : { low: place, width: 1 };
    }
    let span: Span = { low: 0, width: this.#total };
    let workflow = this.#plan.main;
    let prefix = '';
    for (const { id, indices } of parseNodeKey(key)) {
      const planned = workflow.byId.get(id);
      if (planned === undefined) return undefined;
      for (const node of [...around(planned), planned]) {
        const places = placesIn(node.scope);
        const place = places.get(node);
        if (place === undefined) return undefined;
        span = partOf(span, place, places.size);
        if (node === planned) continue;
        const own = nodeKey(prefix, node.node.id, indices.slice(0, node.scope.loops.length));
        span = this.#partOfContainer(span, node, own);
      }
      prefix = `${nodeKey(prefix, id, indices)}/`;
      const inner =
        planned.node.kind === 'workflow' ? this.#plan.tasks.get(planned.node.workflow) : undefined;
      if (inner !== undefined) workflow = inner;
    }
    return span;
  }

  /** Parts run side by side: any part that runs has the span after those that have ended. */
  #partOfContainer(span: Span, { node: { kind } }: PlannedNode, key: string): Span {
    const row = this.#containerOf(key);
    if ((kind !== 'foreach' && kind !== 'parallel') || row === undefined) return span;
    const count = row.end - row.first;
    return partOf(span, Math.min(endedIn(row), count - 1), count);
  }
}

const places = new WeakMap<ScopePlan, ReadonlyMap<PlannedNode, number>>();

/** Places of the steps of a scope among those that a plan lists. */
function placesIn(scope: ScopePlan): ReadonlyMap<PlannedNode, number> {
  return getOrInsert(places, scope, () => {
    const steps = scope.nodes.filter(({ node }) => isListed(node));
    return new Map(steps.map((node, place) => [node, place]));
  });
}

/** The containers around a node in its workflow, the outermost first. */
function around({ scope: { container } }: PlannedNode): PlannedNode[] {
  return container === undefined ? [] : [...around(container), container];
}

function partOf({ low, width }: Span, place: number, count: number): Span {
  return { low: low + (width * place) / count, width: width / count };
}

function endedIn({ first, next, running }: Pick<ContainerRow, 'first' | 'next' | 'running'>): number {
  return next - first - running;
}

/** The node of a key, where it is at the top: there a key is an id. */
function topNode({ main }: Plan, key: string): PlannedNode | undefined {
  const planned = main.byId.get(key);
  return planned?.scope === main.root ? planned : undefined;
}

/** The step at the top that a node is a part of, or is itself. */
function topOf(plan: Plan, key: string): string {
  if (topNode(plan, key) !== undefined) return key;
  const { main } = plan;
  const [{ id } = { id: key }] = parseNodeKey(key);
  const planned = main.byId.get(id);
  const [outermost] = planned === undefined ? [] : around(planned);
  return outermost?.node.id ?? id;
}

function idOf(key: string): string {
  return parseNodeKey(key).at(-1)?.id ?? key;
}
