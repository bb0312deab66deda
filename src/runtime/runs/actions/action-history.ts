import type { Answerer } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import type { Json } from '../../../graph/json.js';
import { clip } from '../../../graph/printable-text.js';
import type { RunTimeCode, RunWarning } from '../../../graph/run-time-codes.js';
import { actionKind } from '../../engine/actions.js';
import type { ActionKind, ActionRequest, Fact, Failure, RunState } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import { commandOf } from '../../engine/read.js';
import { SmallMap } from '../../engine/tables.js';
import type { HostRow } from '../store/journal.js';

/** What became of an action that was opened once. Plain JSON. */
interface ActionRecord {
  readonly id: string;
  /** When it was opened, in ms since the epoch. */
  readonly at: number;
  /** Missing for a time the run waits for. */
  readonly mode?: ActionKind;
  /** When a time is over. */
  readonly until?: number;
  /** Who may answer, where not the owner; see `Action`. */
  readonly answerBy?: readonly Answerer[];
  /** The child of the agent that sees it, where one does. */
  readonly child?: string;
  /** The step, as that agent knows it. */
  readonly step?: string;
  /** When a reminder of it was given. */
  readonly remindedAt?: number;
  /** It timed out without an answer. */
  readonly hasExpired?: true;
  readonly answer?: AcceptedAnswer;
}

interface AcceptedAnswer {
  /** Equal for answers that say the same; see `contentOf`. */
  readonly content: string;
  /** Its place among the accepted answers of the run, from 1. */
  readonly order: number;
  /** Of a call that its caller made: see `Submission`. */
  readonly requestKey?: string;
  /** The key of the caller that submitted it; missing where the run's user was asked. */
  readonly by?: string;
  /** Warnings to its sender. */
  readonly warnings?: readonly RunWarning[];
}

/** The table of a run's rows that has its actions, by their ids. */
const TABLE = 'actions' as const;

/** The answers of a run that were accepted. */
class Accepted {
  count = 0;
  /** The action with the answer that was accepted last, by the key of the caller that submitted it. */
  readonly lastOf = new Map<string, string>();
}

/** What a run waits for. */
interface Open {
  /** Whether a command still expects an answer. */
  isOpen(command: string): boolean;
  /** The questions that a caller may answer, by their ids. */
  readonly asks: ReadonlyMap<string, ActionRequest>;
  /** Whether it waits for the decision of an operator. Default: false. */
  readonly isPaused?: boolean;
}

/**
 * Every action a run has opened: what is open is known from the run's state, and here when it was opened and what became
 * of the others. What it notes is written with the transition that it is noted of, so that a restart loses none of it.
 */
export class ActionHistory {
  readonly #opened = new SmallMap<ActionRecord>();
  /** Actions with rows to write. */
  #changed: Set<string> | undefined;
  /** None before the first answer: many runs wait for one at once. */
  #accepted: Accepted | undefined;
  /** When the last one was opened. */
  #latestAt: number | undefined;
  /** The latest action of each step of a child. */
  #steps: Map<string, string> | undefined;

  /**
   * Takes note of a transition.
   * @param state the run as it is after it.
   * @param at now, in ms since the epoch.
   * @param childOf the child of the agent that sees a node, and the node as it knows it. Default: no agent sees one.
   */
  note(
    events: readonly Event[],
    facts: readonly Fact[],
    state: RunState,
    at: number,
    childOf: (node: string) => Pick<ActionRecord, 'child' | 'step'> | undefined = () => undefined,
  ): void {
    for (const event of events) if (event.kind === 'timerFired') this.#timeIsUp(event.command, state);
    for (const fact of facts) {
      if (fact.kind === 'reminded') this.#reminded(fact, at);
      if (fact.kind !== 'waiting') continue;
      const { command: id, action, until } = fact;
      this.#put({
        id,
        at,
        ...defined({ mode: action && actionKind(action), answerBy: action?.answerBy, until }),
        ...childOf(fact.node),
      });
    }
  }

  #reminded({ command, action: { answerBy } }: Extract<Fact, { kind: 'reminded' }>, at: number): void {
    const opened = this.#opened.get(command);
    if (opened !== undefined) this.#put({ ...opened, remindedAt: at, ...defined({ answerBy }) });
  }

  #timeIsUp(id: string, state: RunState): void {
    const opened = this.#opened.get(id);
    if (opened?.mode === undefined || opened.answer !== undefined || commandOf(state, id) !== undefined)
      return;
    this.#put({ ...opened, hasExpired: true });
  }

  answered(id: string, { content, requestKey, by, warnings }: Omit<AcceptedAnswer, 'order'>): void {
    const opened = this.#opened.get(id);
    if (opened === undefined) return;
    this.#accepted ??= new Accepted();
    this.#accepted.count += 1;
    this.#put({
      ...opened,
      answer: {
        content,
        order: this.#accepted.count,
        ...defined({ requestKey, by, warnings }),
      },
    });
    this.#noteLast(id, by);
  }

  #put(action: ActionRecord): void {
    this.#add(action);
    this.#changed ??= new Set();
    this.#changed.add(action.id);
  }

  #add(action: ActionRecord): void {
    this.#opened.set(action.id, action);
    const { at, child, step } = action;
    this.#latestAt = Math.max(at, this.#latestAt ?? at);
    if (child === undefined || step === undefined) return;
    this.#steps ??= new Map();
    this.#steps.set(`${child} ${step}`, action.id);
  }

  /** When the last one was opened, in ms since the epoch. Undefined before the first. */
  get latestAt(): number | undefined {
    return this.#latestAt;
  }

  ofStep(child: string, step: string): ActionRecord | undefined {
    const id = this.#steps?.get(`${child} ${step}`);
    return id === undefined ? undefined : this.#opened.get(id);
  }

  #noteLast(id: string, by: string | undefined): void {
    if (by === undefined) return;
    this.#accepted ??= new Accepted();
    this.#accepted.lastOf.set(by, id);
  }

  /** The rows that were changed since it was asked last. */
  takeRows(): HostRow[] {
    if (this.#changed === undefined) return [];
    const rows = [...this.#changed].flatMap((key) => {
      const row = this.#opened.get(key);
      return row === undefined ? [] : [{ table: TABLE, key, row: row as unknown as Json }];
    });
    this.#changed = undefined;
    return rows;
  }

  /** Goes on from what was written. */
  reload(rows: readonly HostRow[]): void {
    this.#opened.clear();
    this.#latestAt = undefined;
    this.#steps = undefined;
    this.#changed = undefined;
    this.#accepted?.lastOf.clear();
    const actions = rows.flatMap(({ table, row }) =>
      table === TABLE ? [row as unknown as ActionRecord] : [],
    );
    for (const action of actions) this.#add(action);
    const answered = actions.filter(({ answer }) => answer !== undefined);
    answered.sort((one, other) => (one.answer?.order ?? 0) - (other.answer?.order ?? 0));
    for (const { id, answer } of answered) this.#noteLast(id, answer?.by);
    const count = answered.at(-1)?.answer?.order ?? 0;
    if (count > 0) this.#accepted ??= new Accepted();
    if (this.#accepted !== undefined) this.#accepted.count = count;
  }

  get(id: string): ActionRecord | undefined {
    return this.#opened.get(id);
  }

  /** Whether an answer like this was accepted. */
  hasAnswer(isIt: (answer: AcceptedAnswer, action: string) => boolean): boolean {
    return [...this.#opened.values()].some(({ id, answer }) => answer !== undefined && isIt(answer, id));
  }

  /** The action with the answer of this caller that was accepted last. */
  lastOf(by: string): ActionRecord | undefined {
    const id = this.#accepted?.lastOf.get(by);
    return id === undefined ? undefined : this.#opened.get(id);
  }

  /** The question an answer is for. Nothing is consumed. */
  choose(actionId: string | undefined, run: Open, now: number): Choice {
    if (actionId === undefined) return this.#chooseOnly(run, now);
    const ask = run.asks.get(actionId);
    if (ask !== undefined) return { kind: 'pending', pending: ask };
    const record = this.#opened.get(actionId);
    if (record?.mode === undefined && record !== undefined) {
      return run.isOpen(actionId) ? tooEarly(actionId, record.until, now) : { kind: 'passed' };
    }
    const open = [...run.asks.values()].map(({ id }) => id);
    const details = { open_actions: open };
    if (record === undefined) return { kind: 'refused', failure: unknownAction(actionId, open) };
    return record.hasExpired
      ? refused(
          'ACTION_EXPIRED',
          `Action '${clip(actionId)}' has expired: its time limit has passed. Open are: ${listed(open)}.`,
          details,
        )
      : refused('ACTION_CANCELLED', actionClosed(actionId, open), details);
  }

  #chooseOnly(run: Open, now: number): Choice {
    const pendingActions = [...run.asks.values()];
    const [only, ...others] = pendingActions;
    if (others.length > 0) {
      const open = pendingActions.map(({ id }) => id);
      return refused(
        'AMBIGUOUS_ACTION',
        `${open.length} actions are open: say which one by action_id. Open are ${listed(open)}.`,
        { open_actions: open },
      );
    }
    if (only !== undefined) return { kind: 'pending', pending: only };
    for (const { id, mode, until } of this.#opened.values()) {
      if (mode === undefined && run.isOpen(id)) return tooEarly(id, until, now);
    }
    return refused(
      'NO_OPEN_ACTION',
      run.isPaused === true
        ? 'No action is open: the run is paused at a call whose outcome is not known, until an operator decides about it.'
        : NO_OPEN_ACTION,
    );
  }
}

/** What an answer is for: a question; a time that has passed, which needs none; or nothing. */
type Choice =
  | { readonly kind: 'pending'; readonly pending: ActionRequest }
  | { readonly kind: 'passed' }
  | { readonly kind: 'refused'; readonly failure: Failure };

function tooEarly(id: string, until = 0, now: number): Choice {
  const remaining = Math.max(0, until - now);
  return refused(
    'TOO_EARLY',
    `'${clip(id)}' waits for a time and is not answered: ${remaining} ms are left. Ask for the status then.`,
    { action_id: id, remaining_ms: remaining },
  );
}

function refused(code: RunTimeCode, message: string, details?: Failure['details']): Choice {
  return { kind: 'refused', failure: { code, message, ...defined({ details }) } };
}

export function unknownAction(action: string, open: readonly string[]): Failure {
  return {
    code: 'UNKNOWN_ACTION',
    message: `The run has no action '${clip(action)}'. Open are: ${listed(open)}. Nothing was consumed.`,
    details: { open_actions: [...open] },
  };
}

export const NO_OPEN_ACTION = 'No action is open: the run goes on by itself. Ask for its status later.';

export function listed(ids: readonly string[]): string {
  return ids.length === 0 ? 'none' : ids.map((id) => `'${clip(id)}'`).join(', ');
}

export function actionClosed(action: string, open: readonly string[]): string {
  return `Action '${clip(action)}' is no longer open: the run went on without an answer. Open are: ${listed(open)}.`;
}
