import { unreachable } from '../../../graph/unreachable.js';
import type { Command } from '../../engine/contract.js';

/** A command that asks somebody outside. */
export type Ask = Extract<Command, { kind: 'requestAction' }>;

/** What a run waits for with a command: its host, an answer, a time, or nothing more than the end of a limit. */
type Awaits = 'host' | 'answer' | 'time' | 'limit';

/** The commands of a run that want an answer, counted by what they wait for: nothing looks through all of them. */
export class OpenCommands {
  // Maps that are empty are left out: most runs wait for one thing at a time.
  #byId: Map<string, Command> | undefined;
  /** In the order in which they were given. They are not in the other map. */
  #asks: Map<string, Ask> | undefined;
  #host = 0;

  add(command: Command): void {
    if (command.kind === 'requestAction') {
      this.#asks ??= new Map();
      this.#asks.set(command.id, command);
      return;
    }
    this.#byId ??= new Map();
    this.#byId.set(command.id, command);
    this.#count(command, 1);
  }

  /** Takes a command away that was answered or given up. One that is not open is left alone. */
  settle(id: string): void {
    if (this.#asks?.delete(id) === true) return;
    const command = this.#byId?.get(id);
    if (command === undefined) return;
    this.#byId?.delete(id);
    this.#count(command, -1);
  }

  has(id: string): boolean {
    return this.#byId?.has(id) === true || this.#asks?.has(id) === true;
  }

  get asks(): ReadonlyMap<string, Ask> {
    return this.#asks ?? NO_ASKS;
  }

  /** Whether a call, a read, an evaluation or a delay before an attempt ends by itself. */
  get isHostBusy(): boolean {
    return this.#host > 0;
  }

  clear(): void {
    this.#byId = undefined;
    this.#asks = undefined;
    this.#host = 0;
  }

  /** Lets go of what a run does not need while it waits. */
  trim(): void {
    if (this.#byId?.size === 0) this.#byId = undefined;
    if (this.#asks?.size === 0) this.#asks = undefined;
  }

  #count(command: Command, by: 1 | -1): void {
    if (awaited(command) === 'host') this.#host += by;
  }
}

const NO_ASKS: ReadonlyMap<string, Ask> = new Map();

/** What a command waits for. */
export function awaited(command: Command): Awaits {
  switch (command.kind) {
    case 'callTool':
    case 'readResource':
    case 'evaluate':
      return 'host';
    case 'requestAction':
      return 'answer';
    case 'startTimer':
      return command.purpose === 'backoff' ? 'host' : command.purpose === 'wait' ? 'time' : 'limit';
    case 'cancelTimer':
    case 'cancelCall':
      return 'limit';
    default:
      return unreachable(command);
  }
}
