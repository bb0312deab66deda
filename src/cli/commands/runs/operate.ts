import { userInfo } from 'node:os';
import { defined } from '../../../graph/defined.js';
import type { Json } from '../../../graph/json.js';
import { singleLine } from '../../../graph/printable-text.js';
import type { OperatorCommand } from '../../../runtime/runs/actions/operator-commands.js';
import {
  type RunCommands,
  retriesOf,
  type StoreOperator,
  sendCommands,
  undecidedSteps,
} from '../../../runtime/runs/operate/store-operator.js';
import { RESULT_LIMIT_BYTES } from '../../../runtime/tools/call-result.js';
import { isWithin } from '../../../runtime/tools/to-json.js';
import { Misuse, type Output } from '../../command-line.js';
import {
  type NamedRun,
  numberIn,
  RUN,
  COMMON as STORE_HELP,
  STORE_OPTIONS,
  storeCommand,
  withRun,
} from './store-command.js';

type CommandOutcome = Awaited<ReturnType<StoreOperator['send']>>;

const OPTIONS = {
  ...STORE_OPTIONS,
  by: { type: 'string' },
  reason: { type: 'string' },
  wait: { type: 'string' },
} as const;

const SENDING = `  --by NAME        who decides, for the log (default: the user of this system)
  --reason TEXT    why, for the log
  --wait SECONDS   how long a server has time to take it, 0 to 3600 (default: 10); it is stored in any case
${STORE_HELP}`;

/** Who sends a command, and how long for its response is waited. */
interface Sending {
  readonly json?: boolean;
  readonly by?: string;
  readonly reason?: string;
  readonly wait?: string;
}

/** What a command line says: commands to send, or what is wrong with it. */
const DECIDE_OPTIONS = {
  ...OPTIONS,
  call: { type: 'string' },
  action: { type: 'string' },
  override: { type: 'boolean' },
} as const;

/** `stepwright runs answer RUN …`: says what became of a call, or answers a question in the place of others. */
export const answerRun = storeCommand(
  'stepwright runs answer',
  `Usage: stepwright runs answer RUN happened VALUE --store STORE [options]
       stepwright runs answer RUN did-not-happen --store STORE [options]
       stepwright runs answer RUN VALUE --action ID --override --reason TEXT --store STORE [options]

Says what became of a call that a run is paused at: it happened, and returned VALUE (JSON); or it did not, and is made.
With \`--action\` it answers a question in the place of those who may answer it. The log of the run keeps who decided.
${RUN}

Options:
  --call STEP      the step of the call (default: the only paused one)
  --action ID      the action to answer, as \`stepwright runs show\` names it
  --override       answer whatever \`answerBy\` says
${SENDING}`,
  DECIDE_OPTIONS,
  3,
  (store, { values, args: [name, ...given] }, output) => {
    const { action, call, override, reason } = values;
    return operate(store, name, 'stepwright runs answer', values, output, (match) => {
      if (action !== undefined) {
        if (override !== true || reason === undefined)
          throw new Misuse(
            'stepwright: `--action` answers in the place of others: it needs `--override`, and `--reason TEXT` for the log',
          );
        if (call !== undefined || given.length !== 1)
          throw new Misuse('stepwright: `--action ID` takes one VALUE as JSON, and no `--call`');
        return [{ command: 'answer', actionId: action, result: jsonIn(given[0]) }];
      }
      if (override === true) throw new Misuse('stepwright: `--override` needs `--action ID`');
      const outcome = outcomeIn(given);
      return [{ command: 'decide', step: call ?? pausedStep(match), outcome }];
    });
  },
);

const OUTCOME_USAGE =
  'stepwright: `stepwright runs answer RUN` takes `happened VALUE`, with VALUE as JSON, or `did-not-happen`; with `--action ID` it takes VALUE';

type Outcome = Extract<OperatorCommand, { command: 'decide' }>['outcome'];

function outcomeIn([kind, value, ...more]: readonly string[]): Outcome {
  const isOne = more.length === 0;
  if (isOne && kind === 'did-not-happen' && value === undefined) return { kind: 'didNotHappen' };
  if (isOne && kind === 'happened' && value !== undefined) return { kind, value: jsonIn(value) };
  throw new Misuse(OUTCOME_USAGE);
}

function jsonIn(text = ''): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new Misuse(
      `stepwright: VALUE is JSON, such as '{"id": 7}' or '"text"', not \`${singleLine(text)}\`: ${singleLine(error instanceof Error ? error.message : String(error))}`,
    );
  }
  if (isWithin(value, RESULT_LIMIT_BYTES)) return value;
  throw new Misuse(
    `stepwright: VALUE has more than ${RESULT_LIMIT_BYTES} bytes of JSON, the most that a run keeps: give a part of it, or a link to it`,
  );
}

/** `stepwright runs retry RUN`: has the calls made again that a run is paused at, or that have failed it. */
export const retryRun = storeCommand(
  'stepwright runs retry',
  `Usage: stepwright runs retry RUN --store STORE [options]

Has the calls made again that a run is paused at, or that have failed it, whether or not they happened, with their
idempotency keys. A failed run continues there, and its effects stay done. One that its workflow failed, as by
\`fail(...)\`, or that has undone its effects, is refused.
${RUN}

Options:
  --call STEP      the step of the call (default: all that are paused)
${SENDING}`,
  { ...OPTIONS, call: { type: 'string' } } as const,
  1,
  (store, { values, args: [name] }, output) =>
    operate(store, name, 'stepwright runs retry', values, output, (match) => {
      const { call } = values;
      if (match.run.view.status === 'failed') {
        if (call === undefined) return 'reopen';
        throw new Misuse(
          'stepwright: of a run that has failed all failed calls are made again: leave `--call` out',
        );
      }
      const steps = call === undefined ? undecidedSteps(match.run.view) : [call];
      if (steps.length === 0) throw nothingPaused(match);
      return retriesOf(steps);
    }),
);

/** `stepwright runs cancel RUN`: cancels a run. */
export const cancelRun = storeCommand(
  'stepwright runs cancel',
  `Usage: stepwright runs cancel RUN --store STORE [options]

Cancels a run. ${RUN}

Options:
  --compensate     undo what it did
${SENDING}`,
  { ...OPTIONS, compensate: { type: 'boolean' } } as const,
  1,
  (store, { values, args: [name] }, output) =>
    operate(store, name, 'stepwright runs cancel', values, output, () => {
      const { reason, compensate } = values;
      const how = { ...defined({ reason }), ...(compensate ? { compensate } : {}) };
      return [{ command: 'cancel', ...how }];
    }),
);

function nothingPaused({ run: { view } }: NamedRun): Misuse {
  return new Misuse(
    `stepwright: no call of run \`${view.run}\` waits for a decision: \`stepwright runs show ${view.run}\` shows what it waits for`,
  );
}

/** The only call that waits for a decision. */
function pausedStep(match: NamedRun): string {
  const [step, ...others] = undecidedSteps(match.run.view);
  if (step === undefined) throw nothingPaused(match);
  if (others.length === 0) return step;
  const names = [step, ...others].map((each) => `\`${singleLine(each)}\``).join(', ');
  throw new Misuse(
    `stepwright: run \`${match.run.view.run}\` is paused at several calls: add \`--call STEP\` with one of ${names}`,
  );
}

/** How long a command waits for its response by default, in seconds. */
const WAIT = 10;

/** Sends a run what a command line says. */
function operate(
  store: StoreOperator,
  name: string | undefined,
  command: string,
  sending: Sending,
  output: Output,
  read: (run: NamedRun) => RunCommands,
): Promise<number> {
  const wait = numberIn('wait', sending.wait, { least: 0, most: 3_600 }) ?? WAIT;
  const { by = userInfo().username, reason } = sending;
  const operator = { kind: 'operator', name: by, ...defined({ reason }) } as const;
  return withRun(store, name, command, output, async (named, reader) => {
    const { run, status } = named.run.view;
    const isOpen = status === 'running' || status === 'waiting';
    const commands = isOpen || status === 'failed' ? read(named) : [];
    if (!isOpen && commands !== 'reopen') {
      output.err(`stepwright: run \`${run}\` is ${status}: nothing moves it on; start its workflow again\n`);
      return 1;
    }
    const outcomes = await sendCommands(named, commands, {
      store,
      reader,
      by: operator,
      waitMs: wait * 1_000,
    });
    for (const outcome of outcomes) report(run, outcome, wait, sending.json === true, output);
    return outcomes.every(({ outcome }) => outcome !== 'refused') ? 0 : 1;
  });
}

function report(run: string, response: CommandOutcome, wait: number, isJson: boolean, output: Output): void {
  if (isJson) output.out(`${JSON.stringify({ run, ...response })}\n`);
  else if (response.outcome === 'refused')
    output.err(
      `stepwright: run \`${run}\` has refused it: ${singleLine(String(response.failure.message))}\n`,
    );
  else
    output.out(
      `${response.outcome === 'applied' ? `run ${run} has taken it` : `stored for run ${run}: no server has taken it within ${wait} s, the next one that uses the store does`}\n`,
    );
}
