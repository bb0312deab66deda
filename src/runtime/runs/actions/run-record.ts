import type { JsonObject } from '../../../graph/json.js';
import type { Clock } from '../run/clock.js';
import type { RunAnswer } from '../run/envelope.js';
import type { Recorder } from '../run/run-host.js';
import { runRow, runRowsIn, type TaskOrigin } from '../store/host-rows.js';
import type { ForkOrigin, HostRow } from '../store/journal.js';
import { ActionHistory } from './action-history.js';
import { Children } from './children.js';
import { RunVariables } from './run-variables.js';

/** What a store keeps of a run beside its state: actions, children, variables, how it was cancelled, when it was over. */
export class RunRecord implements Recorder {
  readonly actions = new ActionHistory();
  readonly children = new Children();
  readonly #clock: Clock;
  #variables: RunVariables | undefined;
  /** The row of the first transition. Missing for a run that was loaded. */
  readonly #start: ReturnType<typeof runRowsIn>['start'];
  #task: TaskOrigin | undefined;
  #undoes: boolean | undefined;
  #endAt: number | undefined;
  #fork: ForkOrigin | undefined;
  #responses: Map<string, Promise<RunAnswer>> | undefined;

  constructor(clock: Clock, start?: ReturnType<typeof runRowsIn>['start']) {
    this.#clock = clock;
    this.#start = start;
    this.#task = start?.task;
  }

  /** Whether the run was cancelled with `compensate`; the first cancellation counts. */
  get undoes(): boolean {
    return this.#undoes === true;
  }

  /** Responses to senders of answers, by action. They end with the process: no row has them. */
  get responses(): Map<string, Promise<RunAnswer>> {
    this.#responses ??= new Map();
    return this.#responses;
  }

  /** Missing before the first one was set. */
  get variables(): RunVariables | undefined {
    return this.#variables;
  }

  /** Changes variables; see `RunVariables`. */
  setVariables(changes: JsonObject): void {
    this.#variables ??= new RunVariables();
    this.#variables.set(changes);
  }

  /** When the run was over, in ms since the epoch. */
  get endAt(): number | undefined {
    return this.#endAt;
  }

  get forkedFrom(): ForkOrigin | undefined {
    return this.#fork;
  }

  get task(): TaskOrigin | undefined {
    return this.#task;
  }

  rowsOf({ events, facts, state, isFirst }: Parameters<Recorder['rowsOf']>[0]): readonly HostRow[] {
    const at = this.#clock.now();
    this.children.note(facts, state, at);
    this.actions.note(events, facts, state, at, (node) => this.children.around(state, node));
    const rows = [
      ...this.actions.takeRows(),
      ...this.children.takeRows(),
      ...(this.#variables?.takeRows() ?? []),
    ];
    if (isFirst && this.#start !== undefined) rows.push(runRow('start', this.#start));
    for (const event of events) {
      if (event.kind !== 'cancelled' || this.#undoes !== undefined) continue;
      this.#undoes = event.compensate === true;
      rows.push(runRow('undoes', this.#undoes));
    }
    if (facts.at(-1)?.kind === 'finished') {
      this.#endAt = at;
      rows.push(runRow('endAt', at));
    }
    return rows;
  }

  reload(rows: readonly HostRow[]): void {
    this.actions.reload(rows);
    this.children.reload(rows);
    const variables = rows.filter(({ table }) => table === 'variables');
    this.#variables = variables.length === 0 ? undefined : new RunVariables();
    this.#variables?.reload(variables);
    const { start, undoes, endAt, fork } = runRowsIn(rows);
    this.#task = start?.task;
    this.#undoes = undoes;
    this.#endAt = endAt;
    this.#fork = fork;
  }
}
