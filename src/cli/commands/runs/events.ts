import type { JsonObject } from '../../../graph/json.js';
import { eventLine } from '../../../print/runs.js';
import type { StoreReader } from '../../../runtime/runs/store/sqlite/store-reader.js';
import { misused } from '../../command-line.js';
import { runsTexts } from '../../runs-texts.js';
import { type FoundRun, numberIn, STORE_OPTIONS, storeCommand, withRun } from './store-command.js';

const OPTIONS = { ...STORE_OPTIONS, from: { type: 'string' }, to: { type: 'string' } } as const;

const NAME = 'stepwright runs events';

/** Entries that are read at once: a long log does not fill the memory. */
const PAGE = 500;

/** `stepwright runs events RUN`: shows the log of a run. */
export const showEvents = storeCommand(
  NAME,
  runsTexts.eventsHelp,
  OPTIONS,
  1,
  async (path, parsed, output) => {
    const { values, args } = parsed;
    const from = numberIn('from', values.from, { least: 1 }) ?? 1;
    if (typeof from === 'object') return misused(from.fault, output);
    const to = numberIn('to', values.to, { least: from }) ?? Number.MAX_SAFE_INTEGER;
    if (typeof to === 'object') return misused(to.fault, output);
    return withRun(path, args[0], NAME, output, (found, reader) => {
      for (const event of eventsOf(found, reader, from, to))
        output.out(values.json ? `${JSON.stringify(event)}\n` : eventLine(event));
      return 0;
    });
  },
);

/** The events of the entries from one number to another, as they are shown. */
export function* eventsOf(
  { head, run }: FoundRun,
  reader: StoreReader,
  from: number,
  to: number,
): Generator<JsonObject> {
  const last = Math.min(to, head.seq);
  for (let at = from; at <= last; at += PAGE) {
    for (const { seq, events } of reader.entries(head, at, Math.min(PAGE, last - at + 1)))
      for (const event of events) yield { entry: seq, ...run.event(event) };
  }
}
