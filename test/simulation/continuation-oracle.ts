import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../src/graph/json.js';
import { nodeOf } from '../../src/runtime/engine/identity.js';
import { workflowExtraKey } from '../../src/runtime/runs/actions/run-variables.js';
import { SqliteReader } from '../../src/runtime/runs/store/sqlite/store-reader.js';
import { Violation } from './simulation.js';

/** The tools of the steps that clients make. */
export const TOOLS: Readonly<Record<string, string>> = {
  find: 'tool-find',
  pay: 'tool-pay',
  tip: 'tool-pay',
  last: 'tool-last',
};

/** The steps that wait from the start. */
const FIRST: readonly string[] = ['find', 'pay', 'tip'];

/** When something was sent and answered. The second is missing without an answer. */
interface Span {
  readonly sentAt: number;
  answeredAt?: number;
}

/** A call of a tool for the task. No two calls have one result, except repeated ones. */
export interface SentCall extends Span {
  readonly tool: string;
  readonly step?: string | undefined;
  readonly result: string;
  /** A repeated call has it as well. */
  readonly requestKey?: string | undefined;
  /** `unknown` for a call that may be recorded or not. */
  outcome: 'open' | 'recorded' | 'extra' | 'notUsed' | 'refused' | 'unknown';
  /** Of the refusal, or of a warning that is not expected. */
  code?: string;
}

/** What a client is shown of the task. */
export interface SeenTask extends Required<Span> {
  readonly status: string;
  /** The steps that wait. */
  readonly open: readonly string[];
  /** Missing for a run whose state is gone. */
  readonly results: JsonObject | undefined;
  readonly result?: Json;
  readonly variables: JsonObject;
}

const isOver = ({ status }: SeenTask): boolean => status !== 'waiting' && status !== 'running';

const answered = ({ answeredAt = Number.POSITIVE_INFINITY }: Span): number => answeredAt;

const isSame = (one: SentCall, other: SentCall): boolean => one.result === other.result;

/** What clients of one task sent and saw, checked against what became of it. */
export class TaskHistory {
  readonly #calls: readonly SentCall[];
  readonly #seen: readonly SeenTask[];
  readonly #cancel: Span | undefined;
  readonly #final: SeenTask;
  readonly #results: JsonObject;

  /** @param seen the last one was seen when the task was over. */
  constructor(calls: readonly SentCall[], seen: readonly SeenTask[], cancel: Span | undefined) {
    const final = seen.at(-1);
    if (final?.results === undefined) throw new Violation('the state of the task is gone');
    this.#calls = calls;
    this.#seen = seen;
    this.#cancel = cancel;
    this.#final = final;
    this.#results = final.results;
  }

  /** @throws Violation */
  check(): void {
    this.#checkEnd();
    for (const seen of this.#seen) this.#checkSeen(seen);
    for (const step of Object.keys(TOOLS)) this.#checkStep(step);
    for (const call of this.#calls) this.#checkCall(call);
    for (const tool of new Set(this.#calls.map((each) => each.tool))) this.#checkExtra(tool);
  }

  /** The log has one result for each step that a client made. */
  async checkLog(path: string): Promise<void> {
    const reader = await SqliteReader.open(path);
    try {
      const [head] = reader.find('run-1');
      if (head === undefined) throw new Violation('the task has no log');
      const events = reader.entries(head, 1, 100_000).flatMap((entry) => entry.events);
      const made = events.flatMap((event) =>
        event.kind === 'actionSubmitted' ? [[nodeOf(event.command) ?? '', event.value] as const] : [],
      );
      for (const step of Object.keys(TOOLS)) {
        const values = made.flatMap(([node, value]) => (node === step ? [value] : []));
        const expected = step in this.#results ? [this.#results[step]] : [];
        if (!isDeepStrictEqual(values, expected))
          throw new Violation(`${step} is in the log as ${values.join()}, and is ${expected.join()}`);
      }
    } finally {
      reader.close();
    }
  }

  #checkEnd(): void {
    const { status, result } = this.#final;
    const made = Object.keys(TOOLS).map((step) => this.#results[step]);
    const isCompleted = status === 'completed' && isDeepStrictEqual(result, made);
    const isCancelled = status === 'cancelled' && this.#cancel !== undefined;
    if (!isCompleted && !isCancelled)
      throw new Violation(`the task is ${status} with ${JSON.stringify(result)}`);
  }

  /** What was shown stays: a result, a variable, and all of a task that is over. */
  #checkSeen(seen: SeenTask): void {
    const { results = {}, variables, status } = seen;
    for (const step of Object.keys(TOOLS)) {
      if (step in results && results[step] !== this.#results[step])
        throw new Violation(`${step} was shown as ${results[step]}, and is ${this.#results[step]}`);
    }
    for (const key of Object.keys(variables))
      if (!(key in this.#final.variables)) throw new Violation(`the variable ${key} was shown, and is lost`);
    for (const { outcome, result, answeredAt } of this.#calls) {
      if (outcome === 'recorded' && answeredAt !== undefined && answeredAt < seen.sentAt)
        if (!Object.values(results).includes(result))
          throw new Violation(`${result} was recorded at ${answeredAt}, and not shown at ${seen.sentAt}`);
    }
    const { sentAt: _, answeredAt: __, ...shown } = seen;
    const { sentAt: ___, answeredAt: ____, ...final } = this.#final;
    if (isOver(seen) && !isDeepStrictEqual(shown, final))
      throw new Violation(`the task was ${status}, and changed to ${JSON.stringify(final)}`);
  }

  /** A step has the result of a call that fits it, and whose sender was not told otherwise. */
  #checkStep(step: string): void {
    if (!(step in this.#results)) return;
    const sources = this.#sourcesOf(step);
    if (!sources.some(({ outcome }) => outcome === 'recorded' || outcome === 'unknown'))
      throw new Violation(
        `${step} has ${this.#results[step]}, of a call that was ${sources.map(({ outcome }) => outcome).join()}`,
      );
  }

  #checkCall(call: SentCall): void {
    const { outcome, result, code, sentAt } = call;
    const before = this.#calls.find(
      (each) => isSame(each, call) && each.outcome === 'recorded' && answered(each) < sentAt,
    );
    const is = `${call.tool} for ${call.step ?? 'any step'} with ${result}, sent at ${sentAt}, is ${outcome}`;
    switch (outcome) {
      case 'recorded':
        if (this.#stepsOf(call).every((step) => this.#results[step] !== result))
          throw new Violation(`${is}, and no step has it`);
        if (before === undefined && this.#overAt < sentAt && !this.#isEarlier(call))
          throw new Violation(`${is}, after the end at ${this.#overAt}`);
        return;
      case 'extra':
        if (before !== undefined || this.#mustFit(call))
          throw new Violation(`${is}, and a step waited for it`);
        return;
      case 'notUsed':
        if (before !== undefined) throw new Violation(`${is}, and was recorded before`);
        if (answered(call) < this.#mayBeOverAt) throw new Violation(`${is}, and the task was not over`);
        return;
      case 'unknown':
        return;
      default:
        throw new Violation(`${is} ${code ?? ''}`);
    }
  }

  /** Whether the same call was sent before the end, so that it may have been recorded then. */
  #isEarlier(call: SentCall): boolean {
    return this.#calls.some((each) => isSame(each, call) && each.sentAt <= this.#overAt);
  }

  /** The variable of extra calls of a tool is the result of one of them that no later one has replaced. */
  #checkExtra(tool: string): void {
    const ofTool = this.#calls.filter((call) => call.tool === tool);
    const extra = ofTool.filter(({ outcome }) => outcome === 'extra');
    const value = this.#final.variables[workflowExtraKey(tool)];
    if (value === undefined && extra.length > 0) throw new Violation(`the extra calls of ${tool} are lost`);
    if (value === undefined) return;
    const sources = ofTool.filter(
      ({ result, outcome }) => result === value && (outcome === 'extra' || outcome === 'unknown'),
    );
    const last = Math.max(...sources.map(answered));
    if (sources.length === 0) throw new Violation(`the extra call ${value} of ${tool} was not sent`);
    const later = extra.find(({ sentAt }) => sentAt > last);
    if (later !== undefined) throw new Violation(`the extra call ${later.result} is lost: ${value} is kept`);
  }

  /** When a client has learned that the task is over. */
  get #overAt(): number {
    const seen = this.#seen.filter(isOver).map(answered);
    return Math.min(...seen, this.#cancel === undefined ? Number.POSITIVE_INFINITY : answered(this.#cancel));
  }

  /** Before that the task cannot be over. */
  get #mayBeOverAt(): number {
    const ends = Object.keys(TOOLS).map((step) => this.#closesAt(step).first);
    return Math.min(Math.max(...ends), this.#cancel?.sentAt ?? Number.POSITIVE_INFINITY);
  }

  /** Whether exactly one step has waited for a call from before it was sent until it was answered. */
  #mustFit(call: SentCall): boolean {
    const steps = this.#stepsOf(call);
    const waited = steps.filter(
      (step) => this.#opensAt(step) < call.sentAt && this.#closesAt(step).first > answered(call),
    );
    const others = steps.filter((step) => !waited.includes(step));
    const isOnly = waited.length === 1 && others.every((step) => this.#closesAt(step).last < call.sentAt);
    return isOnly && this.#mayBeOverAt > answered(call);
  }

  /** When a step has waited at the latest. */
  #opensAt(step: string): number {
    if (FIRST.includes(step)) return 0;
    return Math.min(...this.#seen.filter(({ open }) => open.includes(step)).map(answered));
  }

  /** When a step got its result: not before the first moment, and not after the last one. */
  #closesAt(step: string): { readonly first: number; readonly last: number } {
    const sources = step in this.#results ? this.#sourcesOf(step) : [];
    const shown = this.#seen.filter(({ results = {} }) => step in results).map(answered);
    const recorded = sources.filter(({ outcome }) => outcome === 'recorded').map(answered);
    return { first: Math.min(...sources.map(({ sentAt }) => sentAt)), last: Math.min(...recorded, ...shown) };
  }

  /** The calls that may have given a step its result. */
  #sourcesOf(step: string): readonly SentCall[] {
    return this.#calls.filter(
      (call) => call.result === this.#results[step] && this.#stepsOf(call).includes(step),
    );
  }

  /** The steps that a call may be recorded at. */
  #stepsOf({ tool, step }: SentCall): readonly string[] {
    return Object.keys(TOOLS).filter((each) => TOOLS[each] === tool && (step === undefined || step === each));
  }
}
