import type { Command, Fact, OwedCommand } from './events.js';
import type { Change } from './rows.js';
import type { RunState } from './state.js';

export type * from './events.js';
export type * from './rows.js';
export type { RunState } from './state.js';

/**
 * The types that a host sees. The engine is a pure state machine: events go in, commands and facts come out. It never
 * waits, reads no clock and draws no random number.
 */

/** The result of one transition. */
export interface Advance {
  readonly state: RunState;
  /** Computed when they are first read, which must be before the state is advanced again. */
  readonly changes: readonly Change[];
  readonly commands: readonly Command[];
  readonly facts: readonly Fact[];
  /** It ended at the limit of one transition. The state owes the rest: `advance` without events continues it. */
  readonly more: boolean;
  /** How many of the events it read. */
  readonly consumed: number;
}

/** What a host has to do after a restart. */
export interface Outstanding {
  /** In the order in which they were issued. */
  readonly commands: readonly OwedCommand[];
  /** The state owes a transition: call `advance` without events. */
  readonly more: boolean;
}
