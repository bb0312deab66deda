import { didYouMean, nearestName } from '../../graph/names.js';
import { singleLine } from '../../graph/printable-text.js';
import { type Command, Misuse } from '../command-line.js';

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  list: async () => (await import('./runs/show.js')).listRuns,
  show: async () => (await import('./runs/show.js')).showRun,
  events: async () => (await import('./runs/show.js')).showEvents,
  answer: async () => (await import('./runs/operate.js')).answerRun,
  retry: async () => (await import('./runs/operate.js')).retryRun,
  cancel: async () => (await import('./runs/operate.js')).cancelRun,
  fork: async () => (await import('./runs/fork.js')).forkRun,
  migrate: async () => (await import('./runs/migrate.js')).migrateRuns,
  gate: async () => (await import('./runs/migrate.js')).gate,
  export: async () => (await import('./runs/show.js')).exportRun,
  backup: async () => (await import('./runs/upkeep.js')).backUp,
  restore: async () => (await import('./runs/upkeep.js')).restore,
  check: async () => (await import('./runs/upkeep.js')).check,
  metrics: async () => (await import('./runs/upkeep.js')).metrics,
  prune: async () => (await import('./runs/upkeep.js')).prune,
};

/** `stepwright runs COMMAND`: shows, moves on and keeps the runs of a store. */
export const runsCommand: Command = async ([first, ...rest], output) => {
  if (first === '--help' || first === 'help') {
    output.out(`Usage: stepwright runs <command> --store STORE [options]

Shows the runs of a store and moves them on, while servers use it too. Secrets are masked.

Commands:
  list        list runs, the latest first
  show        show a run: its state, what it waits for, its result
  events      show the log of a run
  answer      say what became of a call, or answer a question in the place of others
  retry       have paused calls made again
  cancel      cancel a run
  fork        start a new run from a point of the log of a run
  migrate     move open runs to the workflow as it is now
  gate        say what becomes of open runs when a new build is deployed
  export      print a run and its log as one JSON value
  backup      copy the store to a file
  restore     make a store of a backup
  check       read all of a store, and list what is damaged
  metrics     print how the store does, for a monitor
  prune       remove runs that are over

Options:
  --help      show this, or the help of a command
`);
    return 0;
  }
  if (first === undefined || first.startsWith('-'))
    throw new Misuse(
      'stepwright: `stepwright runs` needs a command, such as `list`; `stepwright runs --help` lists all',
    );
  const load = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (load === undefined) throw new Misuse(unknownCommand(first));
  const command = await load();
  return command(rest, output);
};

function unknownCommand(command: string): string {
  const names = Object.keys(commands);
  const nearest = nearestName(command, names);
  const hint =
    nearest === undefined ? `known: ${names.map((name) => `\`${name}\``).join(', ')}` : didYouMean(nearest);
  return `stepwright: there is no command \`runs ${singleLine(command)}\` (${hint})`;
}
