import type { Json, JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { Agenda } from './agenda.js';
import { admit, begin } from './begin.js';
import { defaultsOf, goOn, outcomeOf } from './containers.js';
import { decide } from './decide.js';
import { abort } from './endings.js';
import { RULES, type Rules } from './rules.js';
import { type CallRecord, type Fault, type Instance, isSettled, type Part, partOf, type Run } from './run.js';
import { undoAll } from './undo.js';
import type { World } from './world.js';

/** How a run ends, and what it has done. */
export interface Story {
  readonly status: 'succeeded' | 'failed' | 'cancelled';
  readonly result?: Json;
  readonly failure?: { readonly code: string; readonly message: string; readonly details?: Json };
  /** The node at the top that the failure comes from. */
  readonly failedNode?: string;
  /** By key: the status, with the reason of a skip. */
  readonly nodes: Readonly<Record<string, string>>;
  /** By key: what nodes that succeeded gave. */
  readonly outputs: Readonly<Record<string, Json>>;
  /** In the order in which they were made. */
  readonly calls: readonly CallRecord[];
  /** When it ended. */
  readonly at: number;
}

/** More moments than this no run of a small graph has. */
const MOST_MOMENTS = 5_000;

/**
 * What a graph means, told directly from `docs/semantics.md`: whatever happens, the whole run is looked at anew, node by
 * node in declaration order, and the first thing that can be done is done, until there is nothing left to do. It knows
 * no events, commands and rows, keeps no counts, and is as slow as it is simple.
 */
export function tell(graph: Graph, input: JsonObject, world: World, rules: Rules = RULES): Story {
  const run = open(graph, input, world, rules);
  const { cancel: cancellation } = world;
  if (cancellation !== undefined) {
    const what = (): void => cancelRun(run, cancellation.compensate);
    run.agenda.add({ at: cancellation.at, rank: 'cancellation', key: '', what });
  }
  settle(run);
  for (let moment = 0; run.end === undefined; moment += 1) {
    const next = run.agenda.next();
    if (next === undefined || moment > MOST_MOMENTS) throw new Error('the run does not end');
    next.what();
    settle(run);
  }
  return story(run);
}

function open(graph: Graph, input: JsonObject, world: World, rules: Rules): Run {
  const inputs = { ...defaultsOf(graph.inputs), ...input };
  const frame = { graph, prefix: '', inputs, depth: 0 };
  const root = partOf(
    { nodes: graph.nodes, value: graph.returns },
    { frame, names: new Map(), indices: [], visits: '' },
  );
  return {
    ...{
      graph,
      world,
      rules,
      root,
      agenda: new Agenda<() => void>(),
      fields: new Map(),
      line: [],
      asked: new Map(),
    },
    ...{ calls: [], running: 0, settlements: 0 },
  };
}

/** Does what can be done now, one thing after the other. */
function settle(run: Run): void {
  do admit(run);
  while (run.end === undefined && move(run, run.root));
  if (run.end !== undefined || run.cancelling || !run.root.nodes.every(isSettled)) return;
  const outcome = outcomeOf(run, run.root);
  run.end = outcome;
}

/** Does the first thing that can be done in a scope. Gives whether there was one. */
function move(run: Run, part: Part): boolean {
  return part.nodes.some((instance) => {
    if (instance.status === 'pending') return decide(run, instance);
    if (instance.status === 'ready' && instance.again && !run.line.includes(instance)) {
      begin(run, instance);
      return true;
    }
    if (instance.status !== 'running' || !isContainer(instance)) return false;
    if (
      instance.parts.some((inner) => inner !== undefined && inner.outcome === undefined && move(run, inner))
    )
      return true;
    return goOn(run, instance);
  });
}

function isContainer({ node: { kind } }: Instance): boolean {
  return kind === 'branch' || kind === 'parallel' || kind === 'foreach' || kind === 'workflow';
}

function cancelRun(run: Run, compensate: boolean): void {
  run.cancelling = true;
  abort(run, run.root, 'run_ended');
  const over = (): void => {
    run.end = { status: 'cancelled' };
  };
  if (compensate) undoAll(run, over);
  else over();
}

function story(run: Run): Story {
  const nodes: Record<string, string> = {};
  const outputs: Record<string, Json> = {};
  const note = (part: Part): void => {
    for (const { key, status, reason, value, parts } of part.nodes) {
      nodes[key] = status === 'skipped' ? `${status}(${reason})` : status;
      if (status === 'succeeded' && value !== undefined) outputs[key] = value;
      for (const inner of parts) if (inner !== undefined) note(inner);
    }
  };
  note(run.root);
  const { end } = run;
  if (end === undefined) throw new Error('the run has not ended');
  return {
    status: end.status,
    ...(end.status === 'succeeded' && end.value !== undefined ? { result: end.value } : {}),
    ...(end.status === 'failed' ? told(end.fault) : {}),
    ...{ nodes, outputs, calls: run.calls, at: run.agenda.now },
  };
}

function told({ code, message, details, from }: Fault): Pick<Story, 'failure' | 'failedNode'> {
  const failure = { code, message, ...(details === undefined ? {} : { details }) };
  return { failure, ...(from === undefined ? {} : { failedNode: from.key }) };
}
