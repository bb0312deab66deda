import type { JournalEntry, RunJournal } from '../../src/runtime/runs/store/journal.js';
import type { Mutation } from './process.js';

/** Another journal with some members of its own. */
function journalWith(
  journal: RunJournal,
  members: Partial<RunJournal>,
  leases: Partial<RunJournal['leases']> = {},
): RunJournal {
  const merged = <T extends object>(target: T, replaced: Partial<T>): T =>
    new Proxy(target, {
      get: (object, name) =>
        Object.hasOwn(replaced, name) ? replaced[name as keyof T] : Reflect.get(object, name, object),
    });
  return merged(journal, { ...members, leases: merged(journal.leases, leases) });
}

const entries = (change: (entry: JournalEntry) => JournalEntry): Mutation => ({
  journal: (journal) => journalWith(journal, { append: (entry) => journal.append(change(entry)) }),
});

/** Stores that break their promises. */
export const BROKEN_STORES: Readonly<Record<string, Mutation>> = {
  'nothing is recovered': {
    journal: (journal) => journalWith(journal, {}, { orphans: async () => [] }),
  },
  'no comparison before a write': {
    journal: (journal, { database }) =>
      journalWith(journal, {
        append: async (entry) => {
          const head = await journal.leases.head(entry.run);
          const { seq = 0, epoch = 0 } = head ?? {};
          database.prepare('UPDATE runs SET holder = NULL WHERE id = ?').run(entry.run);
          await journal.append({
            ...{ ...entry, seq: seq + 1, expectedSeq: seq, epoch: Math.max(epoch, entry.epoch) },
          });
        },
      }),
  },
  'an effect before the commit': {
    journal: (journal) =>
      journalWith(journal, {
        append: async (entry) => void Promise.resolve(journal.append(entry)).catch(() => {}),
      }),
  },
  'a lost timer': {
    journal: (journal) =>
      journalWith(journal, {}, { orphans: (_, isMoved) => journal.leases.orphans(0, isMoved) }),
  },
  'an item that is not consumed': entries(({ consumed: _, ...entry }) => entry),
};

/** What a host could do wrong. */
export const HOST_BUGS: Readonly<Record<string, Mutation>> = {
  'a key of its own in each process': { key: (key, { name }) => `${key} ${name}` },
  'a call is repeated that must not be': { holdsUnsafeCalls: false },
  'a process takes runs for which it has no tools': { isCapable: true },
  'a row is not written': entries((entry) => ({ ...entry, changes: entry.changes.slice(0, -1) })),
  'an event is not written': entries((entry) => ({ ...entry, events: entry.events.slice(1) })),
  'an event is written twice': entries((entry) => ({ ...entry, events: [...entry.events, ...entry.events] })),
  'the rows of the host are not written': entries(({ hostRows: _, ...entry }) => entry),
  'a run is loaded without its last row': {
    journal: (journal) => {
      const cut = <T extends { readonly rows: readonly unknown[] }>(loaded: T | undefined): T | undefined =>
        loaded === undefined ? undefined : { ...loaded, rows: loaded.rows.slice(0, -1) };
      return journalWith(
        journal,
        { load: async (run) => cut(await journal.load(run)) },
        { claim: async (run) => cut(await journal.leases.claim(run)) },
      );
    },
  },
  'the inbox is not read': { journal: (journal) => journalWith(journal, { inbox: async () => [] }) },
  'an item is not sent': { journal: (journal) => journalWith(journal, { send: async () => {} }) },
  'the response is not found': {
    journal: (journal) => journalWith(journal, { response: async () => undefined, watch: () => () => {} }),
  },
  'a run is claimed and not taken up': {
    journal: (journal) =>
      journalWith(
        journal,
        {},
        {
          claim: async (run) => {
            await journal.leases.claim(run);
            return undefined;
          },
        },
      ),
  },
};
