import type { Graph } from '../../../src/graph/model.js';
import { lineBesideAsks, lineBesideWaits } from '../graphs.js';
import { increment, portOf, runHosted, runStored } from '../host.js';
import { cpuTime, inTurns, promote, type Sample } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/** The cost of a call beside many open waits, compared with none: questions in the run store, timers in the host. */
export async function openWaits(sizes: Sizes): Promise<Row[]> {
  const { count, calls } = sizes.openWaits;
  const target = { of: 'ratio', atMost: 1.2 } as const;
  const rows: Row[] = [];
  for (const [what, make, run] of [
    ['questions', lineBesideAsks, runStored],
    ['times', lineBesideWaits, runHosted],
  ] as const) {
    const { many, none } = await inTurns(
      { many: between(make(count, calls), calls, run), none: between(make(0, calls), calls, run) },
      sizes,
    );
    const peer = { name: 'beside none', value: none };
    rows.push(row({ name: `host: call beside ${count} open ${what}`, unit: 'µs', ours: many, peer, target }));
  }
  return rows;
}

type Run = (
  graph: Graph,
  input: Record<string, never>,
  calls: ReturnType<typeof portOf>,
  signal: AbortSignal,
) => Promise<unknown>;

/** The cost of a call, measured from the first to the last one, without the start and the end of the run. */
function between(graph: Graph, calls: number, run: Run): Sample {
  return async () => {
    let made = 0;
    let begin = 0;
    let spent = 0;
    const stop = new AbortController();
    const port = portOf(async (_name, input) => {
      made += 1;
      if (made === 1) {
        // The remaining work of the start ends before that.
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
        promote();
        begin = cpuTime();
      } else if (made === calls) {
        spent = cpuTime() - begin;
        setImmediate(() => stop.abort());
      }
      return { ok: true, value: increment(input as { readonly n: number }) };
    });
    await run(graph, {}, port, stop.signal).catch((fault: unknown) => {
      if (!stop.signal.aborted) throw fault;
    });
    if (made !== calls) throw new Error(`${made} calls were made, not ${calls}`);
    return spent / (calls - 1);
  };
}
