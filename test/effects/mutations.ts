import type { Graph } from '../../src/graph/model.js';
import type { Advance, RunState } from '../../src/runtime/engine/contract.js';
import type { Event } from '../../src/runtime/engine/events.js';
import type { EffectRow } from '../../src/runtime/engine/rows.js';
import { ENGINE, type Engine } from '../oracle/drive.js';
import { place } from './calls.js';

/** With its changes made. */
function open(advance: Advance): Advance {
  return { ...advance, changes: advance.changes };
}

/** The engine, with one change to the result of each of its steps. */
function changed(change: (advance: Advance, graph: Graph, events: readonly Event[]) => Advance): Engine {
  return {
    ...ENGINE,
    start: (plan, ...given) => change(open(ENGINE.start(plan, ...given)), plan.graph, []),
    advance: (plan, state, events) => change(open(ENGINE.advance(plan, state, events)), plan.graph, events),
  };
}

/** A call whose effect was undone, or may have been, is made again with the key it had. */
export function keepsGeneration(status: 'undone' | 'unknown'): Engine {
  const undone = new Map<string, number>();
  return changed((advance) => {
    for (const [node, count] of reissuesIn(advance.state, status)) undone.set(node, count);
    const commands = advance.commands.map((command) => {
      if (command.kind !== 'callTool' || command.isCompensation) return command;
      const [kind, run, node, generation] = JSON.parse(command.key) as [string, string, string, number];
      return { ...command, key: JSON.stringify([kind, run, node, generation - (undone.get(node) ?? 0)]) };
    });
    return { ...advance, commands };
  });
}

/** How many effects of each call have a status. */
function reissuesIn({ effects }: RunState, of: EffectRow['status']): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, { call, status }] of effects.rows())
    if (status === of) counts.set(call, (counts.get(call) ?? 0) + 1);
  return counts;
}

/** A jump forgets the undo records of what it restarts. */
export function jumpForgets(): Engine {
  return changed((advance, graph) => {
    for (const fact of advance.facts) {
      if (fact.kind !== 'jumped') continue;
      const { beside, node } = place(graph, fact.node);
      const first = beside.findIndex(({ id }) => id === fact.target);
      const again = new Set(beside.slice(first, beside.indexOf(node) + 1));
      forget(advance.state, ({ call, status }) => {
        const { node: called, around } = place(graph, call);
        const isInside = again.has(called) || around.some((each) => again.has(each.node));
        return status === 'active' && isInside;
      });
    }
    return advance;
  });
}

/** A roll-back does not name what it cannot undo. */
export function forgetsUnnamed(): Engine {
  return changed((advance) => {
    forget(advance.state, ({ tool }) => tool === undefined);
    return advance;
  });
}

function forget({ effects }: RunState, isOver: (row: EffectRow) => boolean): void {
  for (const [key, row] of [...effects.rows()]) if (isOver(row)) effects.delete(key);
}
