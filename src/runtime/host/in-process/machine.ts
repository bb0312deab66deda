import type { JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { nodesOf } from '../../../graph/node-expressions.js';
import type { ToolSafety } from '../../../graph/tool-safety.js';
import { planOf } from '../../../plan/plan.js';
import type { Advance, Command, Event, Outstanding, RunState, StartIds } from '../../engine/contract.js';
import { advance, start } from '../../engine/engine.js';
import { commandOf, outstanding } from '../../engine/read.js';
import { restore } from '../../engine/snapshot.js';
import { copyJson } from '../../tools/to-json.js';
import type { Row } from '../journal.js';
import type { RunHost, RunStart } from './run-host.js';

/** What a transition of the engine yields. */
export type Transition = Advance;

/** What a run begins with. */
export interface Start {
  readonly input: JsonObject;
  readonly ids: StartIds;
}

/** What a run begins with at a time, in ms since the epoch. What becomes of its input outside must not reach it. */
export function startOf(
  { graph, runId, input, deadlineMs }: RunStart,
  { toolSafety }: RunHost,
  at: number,
): Start {
  const deadline = deadlineMs === undefined ? {} : { deadlineAt: at + deadlineMs };
  const tools = toolSafety === undefined ? {} : { tools: toolsOf(graph, toolSafety) };
  return {
    input: (copyJson(input) as JsonObject | undefined) ?? structuredClone(input),
    ids: { runId, at, random: Math.random(), ...tools, ...deadline },
  };
}

/** Begins a run; see `start`. */
export function begin(graph: Graph, { input, ids }: Start): Transition {
  return start(planOf(graph), input, ids);
}

/** Takes a run further by a batch of events. */
export function proceed(state: RunState, events: readonly Event[]): Transition {
  return advance(state.plan, state, events);
}

/** A run's state as its rows have it. */
export function restored(graph: Graph, rows: readonly Row[]): RunState {
  return restore(planOf(graph), rows);
}

/** What a run still wants answered, and whether it owes a continuation. */
export function owed(state: RunState): Outstanding {
  return outstanding(state);
}

/** Whether a command still wants an answer. */
export function isOpen(state: RunState, id: string): boolean {
  return commandOf(state, id) !== undefined;
}

/** Whether a command calls a tool that does more than read. */
export function mayChange(state: RunState, command: Command): command is ToolCall {
  return command.kind === 'callTool' && state.safetyOf(command.tool) !== 'readOnly';
}

type ToolCall = Extract<Command, { kind: 'callTool' }>;

type SafetyOf = (tool: string) => ToolSafety;

const tools = new WeakMap<Graph, WeakMap<SafetyOf, Readonly<Record<string, ToolSafety>>>>();

/**
 * How the tools that a graph calls may be repeated, as its start takes them: those that are `none` are left out. It is
 * looked for once for each graph and catalogue.
 */
function toolsOf(graph: Graph, safetyOf: SafetyOf): Readonly<Record<string, ToolSafety>> {
  const byCatalogue = tools.get(graph) ?? new WeakMap<SafetyOf, Readonly<Record<string, ToolSafety>>>();
  tools.set(graph, byCatalogue);
  const found = byCatalogue.get(safetyOf) ?? Object.freeze(findTools(graph, safetyOf));
  byCatalogue.set(safetyOf, found);
  return found;
}

function findTools(graph: Graph, safetyOf: SafetyOf): Record<string, ToolSafety> {
  const found: Record<string, ToolSafety> = {};
  for (const { nodes } of [graph, ...(graph.tasks ?? [])]) {
    for (const node of nodesOf({ nodes })) {
      if (node.kind !== 'call' || Object.hasOwn(found, node.tool)) continue;
      const safety = safetyOf(node.tool);
      if (safety !== 'none') found[node.tool] = safety;
    }
  }
  return found;
}
