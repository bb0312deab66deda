import type { Command, Fact, OwedCommand } from './events.js';
import type { Change } from './rows.js';
import type { RunState } from './state.js';

export type * from './events.js';
export type * from './rows.js';
export type { RunState } from './state.js';

/**
 * What a host sees of the engine, which is a pure state machine: events go in, commands and facts come out. It never
 * waits, reads no clock and draws no random number.
 */

/** What one step of the machine yields. */
export interface Advance {
  readonly state: RunState;
  /** Made when they are first read, which must be before the state is advanced again. */
  readonly changes: readonly Change[];
  readonly commands: readonly Command[];
  readonly facts: readonly Fact[];
  /** It stopped at the limit of one transition. The state owes the rest: `advance` without events goes on. */
  readonly more: boolean;
  /** How many of the events it has read. */
  readonly consumed: number;
}

/** What a host that lost its memory has to carry out again. */
export interface Outstanding {
  /** In the order in which they were issued. */
  readonly commands: readonly OwedCommand[];
  /** The state owes a transition: call `advance` without events. */
  readonly more: boolean;
}
