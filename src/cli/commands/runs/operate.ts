import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { defined } from '../../../graph/defined.js';
import type { Json, JsonObject } from '../../../graph/json.js';
import { type OperatorCommand, operatorItem } from '../../../runtime/runs/actions/operator-commands.js';
import { JournalFailedError, request } from '../../../runtime/runs/store/journal.js';
import { SqliteJournal } from '../../../runtime/runs/store/sqlite/sqlite-journal.js';
import { StoreError } from '../../../runtime/runs/store/store-error.js';
import { RESULT_LIMIT_BYTES } from '../../../runtime/tools/call-result.js';
import { isWithin } from '../../../runtime/tools/to-json.js';
import { misused, type Output } from '../../command-line.js';
import { runsTexts } from '../../runs-texts.js';
import { type FoundRun, numberIn, STORE_OPTIONS, storeCommand, withRun } from './store-command.js';

const COMMON = {
  ...STORE_OPTIONS,
  by: { type: 'string' },
  reason: { type: 'string' },
  wait: { type: 'string' },
} as const;

/** Who sends a command, and how long for its response is waited. */
interface Sending {
  readonly json?: boolean;
  readonly by?: string;
  readonly reason?: string;
  readonly wait?: string;
}

/** What a command line comes to: something to send, or what is wrong with it. */
type Meant = { readonly send: readonly OperatorCommand[] } | { readonly fault: string };

const DECIDE_OPTIONS = {
  ...COMMON,
  call: { type: 'string' },
  action: { type: 'string' },
  override: { type: 'boolean' },
} as const;

/** `stepwright runs answer RUN …`: says what became of a call, or answers a question in the place of others. */
export const answerRun = storeCommand(
  'stepwright runs answer',
  runsTexts.answerHelp,
  DECIDE_OPTIONS,
  3,
  (path, { values, args: [name, ...given] }, output) => {
    const { action, call, override, reason } = values;
    return operate(path, name, 'stepwright runs answer', values, output, (found) => {
      if (action !== undefined) {
        if (override !== true || reason === undefined) return { fault: runsTexts.missingOverride };
        if (call !== undefined || given.length !== 1) return { fault: runsTexts.actionUsage };
        const result = jsonIn(given[0]);
        if ('fault' in result) return result;
        return { send: [{ command: 'answer', actionId: action, result: result.value }] };
      }
      if (override === true) return { fault: runsTexts.needlessOverride };
      const outcome = outcomeIn(given);
      if ('fault' in outcome) return outcome;
      const step = stepIn(found, call);
      return 'fault' in step ? step : { send: [{ command: 'decide', step: step.step, outcome }] };
    });
  },
);

type Outcome = Extract<OperatorCommand, { command: 'decide' }>['outcome'];

function outcomeIn([kind, value, ...more]: readonly string[]): Outcome | { readonly fault: string } {
  if (more.length > 0) return { fault: runsTexts.outcomeUsage };
  if (kind === 'did-not-happen' && value === undefined) return { kind: 'didNotHappen' };
  if (kind !== 'happened' || value === undefined) return { fault: runsTexts.outcomeUsage };
  const read = jsonIn(value);
  return 'fault' in read ? read : { kind: 'happened', value: read.value };
}

function jsonIn(text: string | undefined): { readonly value: Json } | { readonly fault: string } {
  try {
    const value = JSON.parse(text ?? '') as Json;
    return isWithin(value, RESULT_LIMIT_BYTES)
      ? { value }
      : { fault: runsTexts.valueTooLarge(RESULT_LIMIT_BYTES) };
  } catch (error) {
    return {
      fault: runsTexts.valueNotJson(text ?? '', error instanceof Error ? error.message : String(error)),
    };
  }
}

/** `stepwright runs retry RUN`: has paused calls made again. */
export const retryRun = storeCommand(
  'stepwright runs retry',
  runsTexts.retryHelp,
  { ...COMMON, call: { type: 'string' } } as const,
  1,
  (path, { values, args: [name] }, output) =>
    operate(path, name, 'stepwright runs retry', values, output, (found) => {
      const { call } = values;
      const steps = call === undefined ? undecided(found) : [call];
      return steps.length === 0
        ? { fault: runsTexts.nothingPaused(found.run.view.run) }
        : { send: steps.map((step) => ({ command: 'retry', step })) };
    }),
);

/** `stepwright runs cancel RUN`: cancels a run. */
export const cancelRun = storeCommand(
  'stepwright runs cancel',
  runsTexts.cancelHelp,
  { ...COMMON, compensate: { type: 'boolean' } } as const,
  1,
  (path, { values, args: [name] }, output) =>
    operate(path, name, 'stepwright runs cancel', values, output, () => {
      const { reason, compensate } = values;
      const how = { ...defined({ reason }), ...(compensate ? { compensate } : {}) };
      return { send: [{ command: 'cancel', ...how }] };
    }),
);

/** The calls that wait for a decision, or will when a server has the run again. */
function undecided({ run: { view } }: FoundRun): readonly string[] {
  return view.calls
    .filter(({ retry_safety, compensates }) => retry_safety === 'none' && compensates !== true)
    .map(({ step_id }) => step_id);
}

function stepIn(
  found: FoundRun,
  given: string | undefined,
): { readonly step: string } | { readonly fault: string } {
  if (given !== undefined) return { step: given };
  const [step, ...others] = undecided(found);
  const { run } = found.run.view;
  if (step === undefined) return { fault: runsTexts.nothingPaused(run) };
  return others.length === 0 ? { step } : { fault: runsTexts.severalPaused(run, [step, ...others]) };
}

/** How long a command waits for its response unless told otherwise, in seconds. */
const WAIT = 10;

/** Finds a run, and sends it what a command line means. */
function operate(
  path: string,
  name: string | undefined,
  command: string,
  sending: Sending,
  output: Output,
  read: (found: FoundRun) => Meant,
): Promise<number> {
  const wait = numberIn('wait', sending.wait, { least: 0, most: 3_600 }) ?? WAIT;
  if (typeof wait === 'object') return Promise.resolve(misused(wait.fault, output));
  return withRun(path, name, command, output, async (found) => {
    const { run, status } = found.run.view;
    if (status !== 'running' && status !== 'waiting') {
      output.err(`${runsTexts.isOver(run, status)}\n`);
      return 1;
    }
    const meant = read(found);
    if ('fault' in meant) return misused(meant.fault, output);
    const { by = userInfo().username, reason } = sending;
    const operator = { kind: 'operator', name: by, ...defined({ reason }) } as const;
    const responses = await Promise.all(
      meant.send.map((each) => sent(path, operatorItem(itemOf(found), each, operator), wait * 1_000)),
    );
    for (const response of responses) report(run, response, wait, sending.json === true, output);
    return responses.every(({ outcome }) => outcome !== 'refused') ? 0 : 1;
  });
}

function itemOf({ head }: FoundRun) {
  return { run: head.id, id: randomUUID(), at: Date.now() };
}

/** What became of a command. */
type Response =
  | { readonly outcome: 'applied' }
  | { readonly outcome: 'refused'; readonly failure: JsonObject }
  /** No server has taken it yet. */
  | { readonly outcome: 'stored' };

async function sent(path: string, item: ReturnType<typeof operatorItem>, waitMs: number): Promise<Response> {
  const journal = await SqliteJournal.open(path);
  const late = new AbortController();
  // It keeps the process alive, which what the journal does in the meantime does not.
  const timer = setTimeout(() => late.abort(), waitMs);
  try {
    const response = (await request(journal, item, late.signal)) as { ok: boolean; failure?: JsonObject };
    return response.ok ? { outcome: 'applied' } : { outcome: 'refused', failure: response.failure ?? {} };
  } catch (error) {
    if (error instanceof JournalFailedError && error.cause instanceof StoreError) throw error.cause;
    if (!late.signal.aborted || error !== late.signal.reason) throw error;
    return { outcome: 'stored' };
  } finally {
    clearTimeout(timer);
    await journal.close();
  }
}

function report(run: string, response: Response, wait: number, isJson: boolean, output: Output): void {
  if (isJson) output.out(`${JSON.stringify({ run, ...response })}\n`);
  else if (response.outcome === 'refused')
    output.err(`${runsTexts.refused(run, String(response.failure.message))}\n`);
  else
    output.out(`${response.outcome === 'applied' ? runsTexts.applied(run) : runsTexts.stored(run, wait)}\n`);
}
