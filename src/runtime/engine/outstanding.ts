import type { Outstanding } from './contract.js';
import { commandsOf } from './read.js';
import type { RunState } from './state.js';

/**
 * The commands a run still wants answered, in the order they were given. A host that lost its memory carries these out
 * again, with the same ids and idempotency keys.
 */
export function outstanding(state: RunState): Outstanding {
  return { commands: commandsOf(state), more: state.run.owed !== undefined };
}
