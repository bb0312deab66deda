import { unreachable } from '../../../graph/unreachable.js';
import type { Command } from '../../engine/contract.js';

/** A command that asks somebody outside. */
export type Ask = Extract<Command, { kind: 'requestAction' }>;

/** What a run waits for with a command: its host, an answer, a time, or nothing more than the end of a limit. */
type Awaits = 'host' | 'answer' | 'time' | 'limit';

/** The commands of a run that want an answer, counted by what they wait for: nothing looks through all of them. */
export class OpenCommands {
  readonly #byId = new Map<string, Command>();
  /** In the order in which they were given. */
  readonly #asks = new Map<string, Ask>();
  #host = 0;
  #times = 0;

  add(command: Command): void {
    this.#byId.set(command.id, command);
    this.#count(command, 1);
    if (command.kind === 'requestAction') this.#asks.set(command.id, command);
  }

  /** Takes a command away that was answered or given up. One that is not open is left alone. */
  settle(id: string): void {
    const command = this.#byId.get(id);
    if (command === undefined) return;
    this.#byId.delete(id);
    this.#count(command, -1);
    if (command.kind === 'requestAction') this.#asks.delete(id);
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  get(id: string): Command | undefined {
    return this.#byId.get(id);
  }

  get asks(): ReadonlyMap<string, Ask> {
    return this.#asks;
  }

  /** Whether a call, a read, an evaluation or a delay before an attempt ends by itself. */
  get isHostBusy(): boolean {
    return this.#host > 0;
  }

  get hasTimes(): boolean {
    return this.#times > 0;
  }

  clear(): void {
    this.#byId.clear();
    this.#asks.clear();
    this.#host = 0;
    this.#times = 0;
  }

  #count(command: Command, by: 1 | -1): void {
    const awaits = awaited(command);
    if (awaits === 'host') this.#host += by;
    else if (awaits === 'time') this.#times += by;
  }
}

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
