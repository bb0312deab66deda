import type { Outstanding, RunState } from './contract.js';

/**
 * The commands a run still wants answered, in the order they were given. A host that lost its memory carries these out
 * again, with the same ids and idempotency keys.
 */
export function outstanding(state: RunState): Outstanding {
  const commands = Object.values(state.commands).sort((one, other) => one.seq - other.seq);
  return { commands, more: state.run.owed !== undefined };
}
