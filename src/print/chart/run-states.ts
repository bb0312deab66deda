import type { PageState } from './page.js';

/** How a node of a run did, over all items of the loops around it. Times are ms since the epoch. */
interface ShownNodeState {
  readonly status: string;
  readonly counts: Readonly<Record<string, number | undefined>>;
  readonly attempts: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly reason?: string;
  readonly failure?: { readonly code: string; readonly message: string };
}

/** The states of a run, as its chart shows them. */
export function shownStates(states: ReadonlyMap<string, ShownNodeState>): ReadonlyMap<string, PageState> {
  return new Map([...states].map(([key, state]) => [key, shownState(state)]));
}

function shownState(state: ShownNodeState): PageState {
  const { status, counts, attempts, startedAt, endedAt, reason, failure } = state;
  const entries = Object.entries(counts);
  const items = entries.reduce((sum, [, count = 0]) => sum + count, 0);
  const taken = startedAt === undefined || endedAt === undefined ? [] : [duration(endedAt - startedAt)];
  const several = entries.map(([name, count]) => `${count} ${name}`).join(', ');
  const shown = items === 1 ? status : several;
  const tries = items === 1 && attempts > 1 ? [`${attempts} attempts`] : [];
  const time = (ms: number): string => new Date(ms).toISOString();
  return {
    status,
    text: [shown, ...tries, ...taken].join(' · '),
    details: [
      ['status', reason === undefined ? shown : `${shown}: ${reason}`],
      ...(attempts === 0 ? [] : [['attempts', String(attempts)] as const]),
      ...(startedAt === undefined ? [] : [['started', time(startedAt)] as const]),
      ...(endedAt === undefined ? [] : [['ended', time(endedAt)] as const]),
      ...taken.map((text) => ['took', text] as const),
      ...(failure === undefined ? [] : [['failure', `${failure.code}: ${failure.message}`] as const]),
    ],
  };
}

/** A length of time in its greatest units: `350 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
