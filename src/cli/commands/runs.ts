import { type Command, misused } from '../command-line.js';
import { runsTexts } from '../runs-texts.js';

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  list: async () => (await import('./runs/list.js')).listRuns,
  show: async () => (await import('./runs/show.js')).showRun,
  events: async () => (await import('./runs/events.js')).showEvents,
  answer: async () => (await import('./runs/operate.js')).answerRun,
  retry: async () => (await import('./runs/operate.js')).retryRun,
  cancel: async () => (await import('./runs/operate.js')).cancelRun,
  fork: async () => (await import('./runs/fork.js')).forkRun,
  migrate: async () => (await import('./runs/migrate.js')).migrateRuns,
  export: async () => (await import('./runs/export.js')).exportRun,
  backup: async () => (await import('./runs/copy.js')).backUp,
  restore: async () => (await import('./runs/copy.js')).restore,
  metrics: async () => (await import('./runs/metrics.js')).metrics,
  prune: async () => (await import('./runs/prune.js')).prune,
};

/** `stepwright runs COMMAND`: shows, moves on and keeps the runs of a store. */
export const runsCommand: Command = async ([first, ...rest], output) => {
  if (first === '--help' || first === 'help') {
    output.out(runsTexts.help);
    return 0;
  }
  if (first === undefined || first.startsWith('-')) return misused(runsTexts.missingCommand, output);
  const load = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (load === undefined) return misused(runsTexts.unknownCommand(first, Object.keys(commands)), output);
  const command = await load();
  return command(rest, output);
};
