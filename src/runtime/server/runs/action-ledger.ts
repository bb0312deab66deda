import type { Action, Fact, Failure } from '../../engine/contract.js';
import type { LiveRun } from '../../hosts/in-process/live-run.js';
import type { Question } from './interview.js';
import type { RunAnswer } from './run-store.js';
import { texts } from './texts.js';

/** What became of an action that was opened once. */
export interface OpenedAction {
  readonly id: string;
  /** When it was opened, in ms since the epoch. */
  readonly at: number;
  /** Missing for a time the run waits for. */
  readonly action?: Action;
  /** When a time is over. */
  readonly until?: number;
  /** Nobody answered in time. */
  hasExpired?: true;
  answer?: AcceptedAnswer;
}

export interface AcceptedAnswer {
  /** Equal for answers that say the same. */
  readonly content: string;
  /** What its sender was told; missing where it was sent from elsewhere. */
  readonly response: Promise<RunAnswer> | undefined;
}

/** What a run waits for. */
type Open = Pick<LiveRun, 'asks' | 'isOpen'>;

/** Every action a run has opened: what is open is known from the run's state, and here what became of the others. */
export class ActionLedger {
  readonly #opened = new Map<string, OpenedAction>();
  /** The latest action of a node. */
  readonly #latest = new Map<string, string>();
  /** The action whose answer was accepted last, by the key of the caller that submitted it. */
  #lastOf: Map<string, OpenedAction> | undefined;

  /**
   * Takes the run's facts, each once and in order.
   * @param at now, in ms since the epoch.
   */
  note(fact: Fact, at: number): void {
    switch (fact.kind) {
      case 'waiting': {
        const { node, command, action, until } = fact;
        this.#latest.set(node, command);
        this.#opened.set(command, {
          id: command,
          at,
          ...(action === undefined ? {} : { action }),
          ...(until === undefined ? {} : { until }),
        });
        return;
      }
      case 'retrying':
      case 'handled':
      case 'nodeFailed': {
        const opened = this.#opened.get(this.#latest.get(fact.node) ?? '');
        if (opened?.answer === undefined && opened !== undefined && fact.failure.code === 'E_TIMEOUT') {
          opened.hasExpired = true;
        }
        return;
      }
      default:
    }
  }

  get(id: string): OpenedAction | undefined {
    return this.#opened.get(id);
  }

  /** Takes note of an accepted answer. @param by the key of the caller that submitted it, if one did. */
  answered(id: string, answer: AcceptedAnswer, by: string | undefined): void {
    const opened = this.#opened.get(id);
    if (opened === undefined) return;
    opened.answer = answer;
    if (by === undefined) return;
    this.#lastOf ??= new Map();
    this.#lastOf.set(by, opened);
  }

  /** The action whose answer by this caller was accepted last. */
  lastOf(by: string): OpenedAction | undefined {
    return this.#lastOf?.get(by);
  }

  /** The questions that are open, oldest first. */
  questions(asks: Open['asks']): readonly Question[] {
    return [...asks].map(({ id, action }) => ({ id, action }));
  }

  /** The question an answer is for. Nothing is consumed. */
  choose(actionId: string | undefined, run: Open, now: number): Choice {
    const questions = this.questions(run.asks);
    const open = questions.map(({ id }) => id);
    if (actionId === undefined) return this.#chooseOnly(questions, open, run, now);
    const question = questions.find(({ id }) => id === actionId);
    if (question !== undefined) return { kind: 'question', question };
    const known = this.#opened.get(actionId);
    const details = { open_actions: open };
    if (known === undefined) return refused('UNKNOWN_ACTION', texts.unknownAction(actionId, open), details);
    if (known.action !== undefined) {
      return known.hasExpired
        ? refused('ACTION_EXPIRED', texts.expired(actionId, open), details)
        : refused('ACTION_CANCELLED', texts.closed(actionId, open), details);
    }
    if (run.isOpen(actionId)) return tooEarly(actionId, known.until, now);
    return { kind: 'passed' };
  }

  #chooseOnly(
    [only, ...others]: readonly Question[],
    open: readonly string[],
    run: Open,
    now: number,
  ): Choice {
    if (others.length > 0) return refused('AMBIGUOUS_ACTION', texts.ambiguous(open), { open_actions: open });
    if (only !== undefined) return { kind: 'question', question: only };
    for (const [id, { action, until }] of this.#opened) {
      if (action === undefined && run.isOpen(id)) return tooEarly(id, until, now);
    }
    return refused('NO_OPEN_ACTION', texts.nothingOpen);
  }
}

/** What an answer is for: a question; a time that has passed, which needs none; or nothing. */
export type Choice =
  | { readonly kind: 'question'; readonly question: Question }
  | { readonly kind: 'passed' }
  | { readonly kind: 'refused'; readonly failure: Failure };

function tooEarly(id: string, until = 0, now: number): Choice {
  const remaining = Math.max(0, until - now);
  return refused('TOO_EARLY', texts.tooEarly(id, remaining), { action_id: id, remaining_ms: remaining });
}

function refused(code: string, message: string, details?: Failure['details']): Choice {
  return { kind: 'refused', failure: { code, message, ...(details === undefined ? {} : { details }) } };
}
