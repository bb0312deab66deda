import type { Json, JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { Agenda } from './agenda.js';
import { admit, begin } from './begin.js';
import { beginParts, defaultsOf, endPart, finish, outcomeOf } from './containers.js';
import { decide } from './decide.js';
import { remainsIn, want } from './records.js';
import { RULES, type Rules } from './rules.js';
import {
  type CallRecord,
  type End,
  type Fault,
  isContainer,
  isSettled,
  type Part,
  partOf,
  type Remains,
  type Run,
  toldStatus,
} from './run.js';
import { abort } from './stop.js';
import { undoAll, undoneFault } from './undo.js';
import type { World } from './world.js';

/** How a run ends, and what it has done. */
export interface Story {
  readonly status: 'succeeded' | 'failed' | 'cancelled';
  readonly result?: Json;
  readonly failure?: { readonly code: string; readonly message: string; readonly details?: Json };
  /** The node at the top that the failure comes from. */
  readonly failedNode?: string;
  /** Every end that a node came to, in the order in which they did. */
  readonly ends: readonly End[];
  /** By key: the status of the nodes that are left, with the reason of a skip. */
  readonly left: Readonly<Record<string, string>>;
  /** In the order in which they were made. */
  readonly calls: readonly CallRecord[];
  readonly remains: Remains;
  /** How the undoing of a cancelled run went. */
  readonly undone?: Json | undefined;
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
  const frame = { graph, prefix: '', inputs, depth: 0, fields: new Map() };
  const root = partOf({ nodes: graph.nodes, value: graph.returns }, { frame, names: new Map(), indices: [] });
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
    ...{ restarts: new Map(), reissues: new Map(), issued: new Map() },
    ...{ unknown: new Map(), failedItems: new Map(), effects: [], effectOrder: 0, detached: 0 },
    ...{ calls: [], ends: [], running: 0, settlements: 0 },
  };
}

/**
 * Does what can be done now, one thing after the other: first what ends, and what has room in a container begins; then
 * whoever is first in line takes a free place; then the next node is decided.
 */
function settle(run: Run): void {
  while (run.end === undefined && (close(run, run.root) || admit(run) || decideNext(run, run.root)));
  const { cancelling } = run;
  if (cancelling?.compensate && !cancelling.hasBegun && run.root.nodes.every(isSettled)) {
    cancelling.hasBegun = true;
    undoAll(run, (report) => {
      run.isUndone = true;
      run.undone = report;
    });
  }
  if (run.cancelling && run.isUndone && run.detached === 0) run.end = { status: 'cancelled' };
  if (run.end !== undefined || run.cancelling || !run.root.nodes.every(isSettled)) return;
  if (run.failing) return;
  const outcome = outcomeOf(run, run.root);
  const open = run.effects.filter(({ status }) => status !== 'undone');
  if (outcome.status === 'failed' && run.graph.onFailure === 'undo' && open.length > 0) {
    run.failing = true;
    undoAll(run, (report) => {
      run.end = { ...outcome, fault: undoneFault(outcome.fault, report) };
    });
    return;
  }
  // What could be undone remains.
  if (outcome.status === 'failed') want(open.filter(({ tool }) => tool !== undefined));
  run.end = outcome;
}

/** Ends what has come to its end in a scope, and begins the parts there is room for. Gives whether it did one of that. */
function close(run: Run, part: Part): boolean {
  return part.nodes.some((instance) => {
    if (instance.status !== 'running' || !isContainer(instance)) return false;
    const isInside = instance.parts.some((inner) => endPart(run, instance, inner) || close(run, inner));
    return isInside || beginParts(run, instance) || finish(run, instance);
  });
}

/** Decides the first node of a scope that can be decided. Gives whether there was one. */
function decideNext(run: Run, part: Part): boolean {
  return part.nodes.some((instance) => {
    if (instance.status === 'pending') return decide(run, instance);
    if (instance.status === 'ready' && instance.again && run.line.every(({ who }) => who !== instance)) {
      begin(run, instance);
      return true;
    }
    return instance.status === 'running' && instance.parts.some((inner) => decideNext(run, inner));
  });
}

function cancelRun(run: Run, compensate: boolean): void {
  if (run.failing) return;
  run.cancelling = { compensate };
  abort(run, run.root);
  if (!compensate) run.isUndone = true;
}

function story(run: Run): Story {
  const left: Record<string, string> = {};
  const note = (part: Part): void => {
    for (const instance of part.nodes) {
      left[instance.key] = toldStatus(instance);
      for (const inner of instance.parts) note(inner);
    }
  };
  note(run.root);
  const { end } = run;
  if (end === undefined) throw new Error('the run has not ended');
  return {
    status: end.status,
    ...(end.status === 'succeeded' && end.value !== undefined ? { result: end.value } : {}),
    ...(end.status === 'failed' ? told(end.fault) : {}),
    ...{ ends: run.ends, left, calls: run.calls, at: run.agenda.now },
    ...{ remains: remainsIn(run), undone: run.undone },
  };
}

function told({ code, message, details, from }: Fault): Pick<Story, 'failure' | 'failedNode'> {
  const failure = { code, message, ...(details === undefined ? {} : { details }) };
  return { failure, ...(from === undefined ? {} : { failedNode: from.key }) };
}
