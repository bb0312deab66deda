import type { Command, RunState } from './contract.js';

/**
 * The commands a run still wants answered, in the order they were given. A host that lost its memory carries these out
 * again, with the same ids and idempotency keys.
 */
export function outstanding(state: RunState): Command[] {
  return Object.values(state.commands);
}
