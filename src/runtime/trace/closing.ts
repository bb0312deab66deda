import type { Graph } from '../../graph/model.js';
import type { RunState } from '../engine/contract.js';
import { type Remains, remainsOf } from '../engine/read.js';
import { remainsForCaller } from '../runs/run/side-effects.js';
import type { RunMask } from '../secrets/run-mask.js';
import type { ToolDescription } from '../tools/toolset.js';
import { handOff } from './hand-off.js';
import type { Ledger } from './ledger.js';
import type { HandOff } from './messages.js';
import { isPaused } from './paused-calls.js';
import { isHandedOver, type KeptRun, waitingEnd } from './waiting.js';

/** What is known of a run that a trace shows, and of its tools. */
export interface TracedRun {
  readonly graph: Graph;
  /** Description and safety of a tool, as the registry has them. */
  readonly describeTool: (name: string) => ToolDescription | undefined;
  /** Whether only steps of workflows may call a tool. Default: no tool is private. */
  readonly isPrivate?: (tool: string) => boolean;
  /** The name of the workflow's own tool, if it has one. */
  readonly workflowTool?: string | undefined;
  /** Masks what must not be shown of the run. The host gives it every fact before the trace. */
  readonly mask: RunMask;
}

/** A run at the end of its trace. */
export interface ClosedRun extends TracedRun {
  readonly ledger: Ledger;
  /** After the last fact of the ledger. */
  readonly state: RunState;
}

/** What a run left behind, for its caller. */
export function remainsIn({ ledger, state, isPrivate = () => false }: ClosedRun): Remains {
  return remainsForCaller(remainsOf(ledger.plan, state), isPrivate);
}

/**
 * What closes the trace of a run that did not succeed: its hand-off where it is over or paused, else what it waits for.
 * @param kept how to reach a run that outlasts the trace. Without it the run cannot be answered.
 */
export function closingOf(run: ClosedRun, kept?: KeptRun): HandOff & { readonly isWaiting: boolean } {
  const { graph, state, ledger, mask, describeTool, isPrivate = () => false, workflowTool } = run;
  const context = {
    ...{ graph, state, ledger, secrets: mask, isPrivate, workflowTool, remains: remainsIn(run) },
    safety: (tool: string) => describeTool(tool)?.safety ?? 'none',
  };
  const paused = isPaused(state) ? kept : undefined;
  const isKept = kept !== undefined && paused === undefined;
  const isWaiting =
    state.run.status === 'running' && (isKept || (paused === undefined && !isHandedOver(state)));
  return { ...(isWaiting ? waitingEnd(context, kept) : handOff(context, paused)), isWaiting };
}
