import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../graph/json.js';
import { type TestedCall, TestedRun } from './tested-run.js';

/** What a matcher says of a run. */
export interface MatcherResult {
  readonly pass: boolean;
  /** Why the assertion failed, of `not` as well. */
  readonly message: () => string;
}

/** The context of a matcher in vitest and jest. */
interface MatcherContext {
  readonly equals?: (a: unknown, b: unknown) => boolean;
}

type AnyRun = TestedRun<unknown>;

/** Assertions on a run of {@link testWorkflow}; `R` is what each returns. */
export interface RunMatchers<R = void> {
  /** It completed, with this result if one is given. */
  toHaveCompleted(result?: unknown): R;
  /** It failed or was cancelled, with this code if one is given. */
  toHaveFailed(code?: string): R;
  /** It waits for the answer or the time of a step. */
  toBeWaitingFor(step: string): R;
  /** It called the tool, with these members in its input if they are given. */
  toHaveCalled(tool: string, input?: JsonObject): R;
  /** It changed no data, or undid what it changed. */
  toHaveNoEffects(): R;
}

/**
 * Matchers for vitest and jest: `expect.extend(matchers)`. With `node:test` use {@link expectRun}.
 *
 * @example
 * ```ts
 * expect.extend(matchers);
 * expect(await testWorkflow(registry, TakeNote, { args })).toHaveCompleted({ number: 1 });
 * ```
 */
export const matchers = {
  toHaveCompleted(this: MatcherContext | undefined, run: AnyRun, ...result: [unknown?]): MatcherResult {
    checkRun(run);
    const isSame = result.length === 0 || equal(this, run.result, result[0]);
    const wanted = result.length === 0 ? '' : ` with ${shown(result[0])}`;
    return matcherResult(run.status === 'completed' && isSame, `complete${wanted}`, stateOf(run));
  },
  toHaveFailed(run: AnyRun, code?: string): MatcherResult {
    checkRun(run);
    const hasEnded = run.status === 'failed' || run.status === 'cancelled';
    const isSame = code === undefined || run.failure?.code === code;
    return matcherResult(
      hasEnded && isSame,
      `fail${code === undefined ? '' : ` with ${code}`}`,
      stateOf(run),
    );
  },
  toBeWaitingFor(run: AnyRun, step: string): MatcherResult {
    checkRun(run).checkName('step', step);
    const waits = run.waiting.some((wait) => wait.step === step);
    return matcherResult(waits, `wait for \`${step}\``, stateOf(run));
  },
  toHaveCalled(
    this: MatcherContext | undefined,
    run: AnyRun,
    tool: string,
    input?: JsonObject,
  ): MatcherResult {
    checkRun(run).checkName('tool', tool);
    const members = Object.entries(input ?? {});
    const isSuch = (call: TestedCall): boolean =>
      call.tool === tool && members.every(([name, value]) => equal(this, call.input[name], value));
    const wanted = input === undefined ? '' : ` with ${shown(input)}`;
    return matcherResult(run.calls.some(isSuch), `call ${tool}${wanted}`, `it called ${callsOf(run.calls)}`);
  },
  toHaveNoEffects(run: AnyRun): MatcherResult {
    checkRun(run);
    return matcherResult(run.effects.length === 0, 'have no effects', `it left ${callsOf(run.effects)}`);
  },
};

/**
 * The same assertions for `node:test` and others without `expect.extend`.
 *
 * @throws Error of the assertion that does not hold.
 * @example
 * ```ts
 * expectRun(run).toHaveCompleted({ deleted: 1 });
 * ```
 */
export function expectRun(run: AnyRun): RunMatchers {
  const check = ({ pass, message }: MatcherResult): void => {
    if (!pass) throw new Error(message());
  };
  return {
    toHaveCompleted: (...result) => check(matchers.toHaveCompleted.call(undefined, run, ...result)),
    toHaveFailed: (code) => check(matchers.toHaveFailed(run, code)),
    toBeWaitingFor: (step) => check(matchers.toBeWaitingFor(run, step)),
    toHaveCalled: (tool, input) => check(matchers.toHaveCalled.call(undefined, run, tool, input)),
    toHaveNoEffects: () => check(matchers.toHaveNoEffects(run)),
  };
}

/** @throws TypeError for another value, such as the promise of a run. */
function checkRun(run: unknown): AnyRun {
  if (run instanceof TestedRun) return run;
  const what = run instanceof Promise ? 'a promise' : `a value of type ${typeof run}`;
  throw new TypeError(`The matcher got ${what}: write expect(await testWorkflow(…))`);
}

/** Equality of the test runner, which knows `expect.any` and the like, else that of Node. */
function equal(context: MatcherContext | undefined, actual: unknown, expected: unknown): boolean {
  return context?.equals?.(actual, expected) ?? isDeepStrictEqual(actual, expected);
}

function matcherResult(pass: boolean, expectation: string, state: string): MatcherResult {
  return { pass, message: () => `expected the run ${pass ? 'not ' : ''}to ${expectation}: ${state}` };
}

function stateOf(run: AnyRun): string {
  if (run.failure !== undefined) return `it is ${run.status}, ${run.failure.code}: ${run.failure.message}`;
  const waits = run.waiting.map(
    ({ step, message }) => `\`${step}\`${message === undefined ? '' : ` (${message})`}`,
  );
  if (waits.length > 0) return `it waits for ${waits.join(', ')}`;
  const open = run.calls.filter(({ result, failure }) => result === undefined && failure === undefined);
  if (run.status === 'running' && open.length > 0)
    return `it is running, since ${callsOf(open)} ${open.length === 1 ? 'has' : 'have'} not returned`;
  return run.status === 'completed' ? `it completed with ${shown(run.result)}` : `it is ${run.status}`;
}

function callsOf(calls: readonly TestedCall[]): string {
  return calls.length === 0
    ? 'no tool'
    : calls.map(({ tool, input }) => `${tool} ${shown(input)}`).join(', ');
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}
