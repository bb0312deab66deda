import { didYouMean, nearestName } from '../graph/names.js';
import { singleLine } from '../graph/printable-text.js';

const STORE = `  --store STORE    the store: sqlite:PATH, as \`stepwright serve\` takes it
`;

const COMMON = `  --json           print JSON
${STORE}  --help           show this
`;

const REGISTRY = `  --registry FILE  a registry: a compiled module (.js, .mjs, .cjs), or one of the configuration
  --options FILE   a module whose default export is the options of the server (default: \`server\` of the configuration)
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
`;

const SENDING = `  --by NAME        who decides, for the log (default: the user of this system)
  --reason TEXT    why, for the log
  --wait SECONDS   how long a server has time to take it, 0 to 3600 (default: 10); it is stored in any case
`;

const RUN = 'RUN is the name of a run in a list, or its id.';

/** Why a run stays, by reason of a verdict. */
const OBSTACLES: Readonly<Record<string, string>> = {
  graph: 'the workflow has faults, or another name',
  over: 'the run is over',
  undoing: 'what it did is being undone',
  call_in_flight: 'a call has not returned',
  unknown_outcome: 'a call has an unknown outcome, or may still return',
  unfinished: 'it is at work: try again',
  inputs: 'the arguments of the workflow were changed',
  state: 'a state field was changed or removed',
  option: 'the error strategy, `failFast` or `maxConcurrency` was changed',
  secrets: 'the workflow has secrets, and the values of the store are not encrypted',
  answerers: 'it asks other callers than its owner, and did not before',
  removed: 'the step has started, and is no longer there',
  moved: 'the step has started, and is in another place',
  changed: 'the step has started, and was changed',
  edges: 'the step has started, and other steps go before it or select it now',
  ran_before: 'the step has run before, and was changed',
  scope_ended: 'the step is new where no step starts any more',
  too_late: 'a new run would have started the step earlier, which could have changed other steps',
};

const MAPPING_FAULTS: Readonly<Record<string, string>> = {
  unknown: 'the run has no such step',
  unknown_target: 'the workflow has no step of that id now',
  two_to_one: 'it has another step as well',
  taken: 'another step of the run has it',
  not_settled: 'the step has not ended, or has steps of its own',
  undo_record: 'the step has an undo record, which keeps its key',
};

function rangeOf(from: number, to: number): string {
  return from === to ? `\`--at ${to}\`` : `an entry from ${from} to ${to}`;
}

/** All texts of \`stepwright runs\`. */
export const runsTexts = {
  help: `Usage: stepwright runs <command> --store sqlite:PATH [options]

Shows the runs of a store and moves them on, while servers use the file too. Secrets are masked.

Commands:
  list        list runs, the latest first
  show        show a run: its state, what it waits for, its result
  events      show the log of a run
  answer      say what became of a call, or answer a question in the place of others
  retry       have paused calls made again
  cancel      cancel a run
  fork        start a new run from a point of the log of a run
  migrate     move open runs to the workflow as it is now
  export      print a run and its log as one JSON value
  backup      copy the store to a file
  restore     make a store of a backup
  metrics     print how the store does, for a monitor
  prune       remove runs that are over

Options:
  --help      show this, or the help of a command
`,
  listHelp: `Usage: stepwright runs list --store sqlite:PATH [options]

Lists runs, the latest first. A run is named by 12 hexadecimal digits: its id, which reaches the run, is not shown.

Options:
  --status STATUS  running, waiting, paused, completed, failed or cancelled (default: all)
  --workflow NAME  runs of this workflow (default: all)
  --limit N        how many, 1 to 1000 (default: 50)
  --before N       runs before the number that \`next\` gives (default: the latest)
${COMMON}`,
  showHelp: `Usage: stepwright runs show RUN --store sqlite:PATH [options]

Shows a run: its status and steps, what it waits for, calls whose result is not known, and how it ended.
With a registry it shows whether the workflow was changed since the run started, and which of its tools are gone.
${RUN}

Options:
${COMMON}${REGISTRY}`,
  eventsHelp: `Usage: stepwright runs events RUN --store sqlite:PATH [options]

Shows the log of a run: what it took in, in order. Each event has the number of its entry.
${RUN}

Options:
  --from N         entries from this number on (default: 1)
  --to N           entries up to this number (default: the last)
${COMMON}`,
  answerHelp: `Usage: stepwright runs answer RUN happened VALUE --store sqlite:PATH [options]
       stepwright runs answer RUN did-not-happen --store sqlite:PATH [options]
       stepwright runs answer RUN VALUE --action ID --override --reason TEXT --store sqlite:PATH [options]

Says what became of a call that a run is paused at: it happened, and returned VALUE (JSON); or it did not, and is made.
With \`--action\` it answers a question in the place of those who may answer it. The log of the run keeps who decided.
${RUN}

Options:
  --call STEP      the step of the call (default: the only paused one)
  --action ID      the action to answer, as \`stepwright runs show\` names it
  --override       answer whatever \`answerBy\` says
${SENDING}${COMMON}`,
  retryHelp: `Usage: stepwright runs retry RUN --store sqlite:PATH [options]

Has the calls made again that a run is paused at, whether or not they happened, with their idempotency keys.
${RUN}

Options:
  --call STEP      the step of the call (default: all that are paused)
${SENDING}${COMMON}`,
  cancelHelp: `Usage: stepwright runs cancel RUN --store sqlite:PATH [options]

Cancels a run. ${RUN}

Options:
  --compensate     undo what it did
${SENDING}${COMMON}`,
  forkHelp: `Usage: stepwright runs fork RUN --at N --store sqlite:PATH [options]

Starts a new run where RUN was after entry N of its log. It has the results of the steps up to there, and undoes nothing
of what RUN did. Tools are stubbed: the new run goes on in this process until it is over or waits, and is not kept.
With --real it is kept in the store, and a server that uses the store goes on with it: it makes calls that RUN has made,
once more. RUN itself is not changed. ${RUN}

Options:
  --at N           the last entry of the log that the new run has, as \`stepwright runs events\` shows it
  --stubs FILE     results and errors in YAML or JSON, by the id of a step or the name of a tool, as \`run --dry\` takes
                   them (default: by the output schema of the registry, else null)
  --real           keep the run, and call tools
  --yes            with --real: do not ask
${COMMON}${REGISTRY}`,
  migrateHelp: `Usage: stepwright runs migrate RUN --store sqlite:PATH [options]
       stepwright runs migrate --workflow NAME --store sqlite:PATH [options]

Says whether open runs can go on with the workflow as the registry has it now: each moves safely, needs a mapping, or
stays, by step and reason. With --apply those that move safely are moved, while a server uses the store. ${RUN}
The exit code is 1 if a run does not move safely.

Options:
  --workflow NAME  all open runs of this workflow that another definition started
  --mapping FILE   new ids of steps that have run, as a JSON object by the old ones
  --apply          move the runs
${COMMON}${REGISTRY}`,
  exportHelp: `Usage: stepwright runs export RUN --store sqlite:PATH [options]

Prints a run as one JSON value: its state, its log and its graph. ${RUN}

Options:
${COMMON}`,
  backupHelp: `Usage: stepwright runs backup FILE --store sqlite:PATH [options]

Copies the store to a file that does not exist, while a server uses it, and checks the copy.

Options:
${COMMON}`,
  restoreHelp: `Usage: stepwright runs restore FILE --store sqlite:PATH [options]

Makes a store of a backup, and checks it. The store must not exist: no file is overwritten.

Options:
${COMMON}`,
  metricsHelp: `Usage: stepwright runs metrics --store sqlite:PATH [options]

Prints how the store does: its runs, what was sent and not taken, times that came and were not taken, the servers that
have runs, and its size.

Options:
${COMMON}`,
  pruneHelp: `Usage: stepwright runs prune --store sqlite:PATH [options]

Removes runs that are over, with their logs, while a server uses the store. Open runs stay.

Options:
  --older-than AGE runs that ended so long ago, such as 30d, 12h, 90m or 45s
  --keep N         runs beyond the N that ended last
  --dry-run        remove nothing, and say how many would be removed
${COMMON}`,
  outcomeUsage:
    'stepwright: `stepwright runs answer RUN` takes `happened VALUE`, with VALUE as JSON, or `did-not-happen`; with `--action ID` it takes VALUE',
  actionUsage: 'stepwright: `--action ID` takes one VALUE as JSON, and no `--call`',
  missingOverride:
    'stepwright: `--action` answers in the place of others: it needs `--override`, and `--reason TEXT` for the log',
  needlessOverride: 'stepwright: `--override` needs `--action ID`',
  valueNotJson: (given: string, why: string) =>
    `stepwright: VALUE is JSON, such as '{"id": 7}' or '"text"', not \`${singleLine(given)}\`: ${singleLine(why)}`,
  valueTooLarge: (limit: number) =>
    `stepwright: VALUE has more than ${limit} bytes of JSON, the most that a run keeps: give a part of it, or a link to it`,
  nothingPaused: (run: string) =>
    `stepwright: no call of run \`${run}\` waits for a decision: \`stepwright runs show ${run}\` shows what it waits for`,
  severalPaused: (run: string, steps: readonly string[]) =>
    `stepwright: run \`${run}\` is paused at several calls: add \`--call STEP\` with one of ${steps.map((step) => `\`${singleLine(step)}\``).join(', ')}`,
  isOver: (run: string, status: string) =>
    `stepwright: run \`${run}\` is ${status}: nothing moves it on; start its workflow again`,
  applied: (run: string) => `run ${run} has taken it`,
  refused: (run: string, why: string) => `stepwright: run \`${run}\` has refused it: ${singleLine(why)}`,
  stored: (run: string, seconds: number) =>
    `stored for run ${run}: no server has taken it within ${seconds} s, the next one that uses the store does`,
  migrateUsage:
    'stepwright: `stepwright runs migrate` takes either a run or `--workflow NAME`; `stepwright runs list` shows the names of runs',
  notOneDefinition: (name: string, count: number) =>
    count === 0
      ? `stepwright: no registry has the workflow \`${singleLine(name)}\`: name one with \`--registry FILE\``
      : `stepwright: ${count} registries have the workflow \`${singleLine(name)}\`: name one with \`--registry FILE\``,
  notAnId: (from: string) =>
    `stepwright: \`--mapping\` gives \`${singleLine(from)}\` no text: give the new id of the step`,
  mappingFault: (from: string, to: string, fault: string) =>
    `stepwright: \`--mapping\` cannot give step \`${singleLine(from)}\` the id \`${singleLine(to)}\`: ${MAPPING_FAULTS[fault] ?? fault}`,
  currentRun: 'has the workflow as it is now',
  movesSafely: (starts: readonly string[]) =>
    starts.length === 0 ? 'moves safely' : `moves safely, and starts ${starts.join(', ')}`,
  moved: 'was moved',
  held: 'stays: a server works on it',
  needsMapping: (pairs: readonly (readonly [string, string])[]) =>
    `needs a mapping: --mapping with ${JSON.stringify(Object.fromEntries(pairs))}`,
  stays: (reasons: readonly { readonly node?: string; readonly reason: string }[]) =>
    `stays: ${reasons
      .map(
        ({ node, reason }) =>
          `${node === undefined ? '' : `${singleLine(node)}: `}${OBSTACLES[reason] ?? reason}`,
      )
      .join('; ')}`,
  verdictLine: (run: string, text: string) => `${run}  ${text}`,
  noOpenRun: 'no open run of another definition',
  missingAt:
    'stepwright: `stepwright runs fork` needs `--at N`, the number of an entry of the log; `stepwright runs events RUN` shows them',
  noEntry: (name: string, given: number, from: number, to: number) =>
    `stepwright: run \`${name}\` has no entry ${given}: give ${rangeOf(from, to)}`,
  noLog: (name: string, given: number, from: number, to: number) =>
    `stepwright: the log of run \`${name}\` does not lead to entry ${given}, since it does not begin with the run: give ${rangeOf(from, to)}`,
  overAt: (name: string, given: number) =>
    `stepwright: run \`${name}\` is over at entry ${given}: give an earlier entry`,
  undoingAt: (name: string, given: number) =>
    `stepwright: run \`${name}\` undoes its effects at entry ${given}: give an entry before that`,
  stubsWithReal: 'stepwright: `--stubs` is for a fork without `--real`, which calls the tools themselves',
  yesWithoutReal: 'stepwright: `--yes` is for `--real`; without it a fork calls no tool',
  unreadableFile: (option: string, file: string, why: string) =>
    `stepwright: \`--${option} ${singleLine(file)}\` cannot be read: ${singleLine(why)}`,
  notJson: (option: string, file: string, why: string) =>
    `stepwright: \`--${option} ${singleLine(file)}\` is not valid JSON: ${singleLine(why)}`,
  notObject: (option: string, file: string, example: string) =>
    `stepwright: \`--${option} ${singleLine(file)}\` is not a JSON object: write ${example}`,
  askReal: 'Keep the new run, and let a server make these calls? [y/N] ',
  unasked:
    'stepwright: the new run was not kept: no user can be asked here, so add `--yes` if the calls above may be made',
  declined: 'stepwright: the new run was not kept',
  repeats: (
    calls: readonly { readonly step_id: string; readonly tool: string; readonly retry_safety: string }[],
  ) =>
    calls.length === 0
      ? 'The other run has made no call after this entry.'
      : `The other run has made these calls, which the new run may make once more:\n${calls
          .map(({ step_id, tool, retry_safety }) => `  ${step_id}: ${tool}, retry safety ${retry_safety}`)
          .join('\n')}`,
  inherits: (
    effects: readonly { readonly step_id: string; readonly tool: string; readonly outcome_unknown?: true }[],
  ) =>
    `effects of the other run, which this one does not undo:\n${effects
      .map(
        ({ step_id, tool, outcome_unknown }) =>
          `  ${step_id}: ${tool}${outcome_unknown ? ', outcome unknown' : ''}`,
      )
      .join('\n')}`,
  stubbed: (
    calls: readonly {
      readonly step_id: string;
      readonly tool: string;
      readonly input: object;
      readonly stub?: string;
    }[],
  ) =>
    calls.length === 0
      ? 'no call was stubbed'
      : `stubbed calls:\n${calls
          .map(
            ({ step_id, tool, input, stub = 'input refused' }) =>
              `  ${step_id}: ${tool} ${singleLine(JSON.stringify(input))} (${stub})`,
          )
          .join('\n')}`,
  forked: (run: string, from: string, entry: number) =>
    `run \`${run}\` begins where run \`${from}\` was at entry ${entry}; a server that uses the store goes on with it`,
  notKept: 'the run was stubbed, and is not kept',
  missingFile: (command: string) => `stepwright: \`${command}\` needs a file`,
  copied: (what: 'backup' | 'store', file: string, runs: number) =>
    `${what} '${file}' has ${runs} ${runs === 1 ? 'run' : 'runs'}, and is intact`,
  missingRetention: 'stepwright: `stepwright runs prune` needs `--older-than AGE` or `--keep N`',
  badAge: (given: string) =>
    `stepwright: \`--older-than\` takes a whole number and a unit (d, h, m or s), such as \`30d\`, not \`${singleLine(given)}\``,
  pruned: (runs: number) => `removed ${runs} ${runs === 1 ? 'run' : 'runs'}`,
  wouldPrune: (runs: number) => `would remove ${runs} ${runs === 1 ? 'run' : 'runs'}`,
  missingCommand:
    'stepwright: `stepwright runs` needs a command, such as `list`; `stepwright runs --help` lists all',
  unknownCommand: (command: string, known: readonly string[]) => {
    const nearest = nearestName(command, known);
    const hint =
      nearest === undefined ? `known: ${known.map((name) => `\`${name}\``).join(', ')}` : didYouMean(nearest);
    return `stepwright: there is no command \`runs ${singleLine(command)}\` (${hint})`;
  },
  missingStore: (command: string) =>
    `stepwright: \`${command}\` needs \`--store sqlite:PATH\`, the file that a server uses as its store`,
  badStore: (given: string) =>
    `stepwright: \`--store\` is \`sqlite:PATH\`, such as \`sqlite:runs.db\`, not \`${singleLine(given)}\``,
  missingRun: (command: string) =>
    `stepwright: \`${command}\` needs a run; \`stepwright runs list\` shows the names of runs`,
  unknownRun: (name: string, path: string) =>
    `stepwright: the store '${path}' has no run \`${singleLine(name)}\`: give a name from \`stepwright runs list\`, or the id of a run`,
  severalRuns: (name: string) => `stepwright: several runs have the name \`${name}\`: give the id of the run`,
  unreadableRun: (name: string, why: string) =>
    `stepwright: run \`${name}\` cannot be read: ${singleLine(why)}`,
  badNumber: (option: string, given: string, least: number, most: number | undefined) =>
    `stepwright: \`--${option}\` takes a whole number from ${least}${most === undefined ? ' on' : ` to ${most}`}, not \`${singleLine(given)}\``,
  store: (message: string) => `stepwright: ${singleLine(message)}`,
  more: (next: number) => `there are more: add \`--before ${next}\``,
  none: 'no run',
} as const;
