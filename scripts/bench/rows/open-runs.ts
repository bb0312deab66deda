import { createServer, fetchHandler, type HttpHandler, type Registry } from 'stepwright/runtime';
import { REGISTRY_VERSION, registryChecksum } from '../../../src/decorators/metadata.js';
import { findDriver } from '../../../src/runtime/runs/store/sqlite/driver.js';
import { confirmation } from '../graphs.js';
import { inTurns, type Sample, timed } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import { Folder } from '../store.js';

const TABLES = { tools: {}, resources: {}, workflows: {}, prompts: {}, functions: {} };

/** A start and an answer over HTTP beside open runs of the same caller in the file, compared with none. */
export async function openRuns(sizes: Sizes): Promise<Row[]> {
  const folder = new Folder();
  const target = { of: 'ratio', atMost: 1.2 } as const;
  const rows: Row[] = [];
  try {
    const none = await Served.beside(folder.newFile(), 0);
    for (const count of sizes.openRuns) {
      const many = await Served.beside(folder.newFile(), count);
      for (const what of ['start', 'answer'] as const) {
        const cost = await inTurns({ many: many[what](sizes), none: none[what](sizes) }, sizes);
        const peer = { name: 'beside none', value: cost.none };
        const name = `HTTP: ${what} beside ${count} open runs`;
        rows.push(row({ name, unit: 'µs', ours: cost.many, peer, target }));
      }
      await many.close();
    }
    await none.close();
  } finally {
    folder.remove();
  }
  return rows;
}

/** A server over HTTP without sessions, on a file. */
export class Served {
  readonly #handler: HttpHandler;

  private constructor(file: string) {
    const registry = {
      ...{ registryVersion: REGISTRY_VERSION, checksum: registryChecksum(TABLES) },
      ...TABLES,
    } as unknown as Registry;
    const server = createServer<Registry>(registry, {
      ...{ store: `sqlite:${file}`, workflows: [{ graph: { ...confirmation(), taskSupport: 'optional' } }] },
      runs: { maxOpenRuns: 1_000_000, maxPendingActions: 1_000_000, maxAnonymousRuns: 1_000_000 },
    } as never);
    this.#handler = fetchHandler(server);
  }

  /** @param count of the runs that are open in the file. */
  static async beside(file: string, count: number): Promise<Served> {
    const first = new Served(file);
    await first.#begin();
    await first.close();
    await copyRun(file, count);
    return new Served(file);
  }

  async close(): Promise<void> {
    await this.#handler.close();
    await this.#handler.server.drain();
  }

  /** Each run that was started is cancelled: as many stay open. */
  start({ goMs }: Sizes): Sample {
    return timed(1, goMs, async () => {
      await this.#call('cancel_workflow', { workflow_id: await this.#begin() });
    });
  }

  answer({ goMs }: Sizes): Sample {
    return timed(1, goMs, async () => {
      await this.#call('submit_result', { workflow_id: await this.#begin(), result: true });
    });
  }

  /** The state of a task that waits. */
  async task({ goMs }: Sizes): Promise<Sample> {
    const taskId = await this.#begin();
    return timed(1, goMs, () => this.#send('tasks/get', { taskId }));
  }

  async #begin(): Promise<string> {
    return (await this.#call('w_confirmation')).workflow_id;
  }

  async #call(name: string, args: object = {}): Promise<{ readonly workflow_id: string }> {
    const result = (await this.#send('tools/call', { name, arguments: args })) as {
      readonly isError?: boolean;
      readonly structuredContent: { workflow_id: string };
    };
    if (result.isError === true) throw new Error(`${name} failed: ${JSON.stringify(result)}`);
    return result.structuredContent;
  }

  async #send(method: string, params: object): Promise<object> {
    const response = await this.#handler(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    );
    const answer = (await response.json()) as { readonly result?: object };
    if (answer.result === undefined) throw new Error(`${method} failed: ${JSON.stringify(answer)}`);
    return answer.result;
  }
}

/** Copies the one run of a file. The copies have no checksums of their names. */
async function copyRun(file: string, count: number): Promise<void> {
  const { DatabaseSync } = await findDriver(file);
  const database = new DatabaseSync(file);
  database.exec(`BEGIN;
    WITH RECURSIVE copies (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copies WHERE number < ${count})
    INSERT INTO runs (id, ref, graph, workflow, status, started_at, seq, epoch, is_open, quota, access, sum, sum_seq)
      SELECT 'copy-' || number, printf('%012x', number), graph, workflow, status, started_at, seq, epoch, is_open,
      quota, access, sum, sum_seq FROM runs JOIN copies WHERE n = 1 AND ${count} > 0;
    INSERT INTO entries (run, seq, epoch, events, sum)
      SELECT runs.n, entries.seq, entries.epoch, events, entries.sum FROM runs JOIN entries ON run = 1 WHERE n > 1;
    INSERT INTO state SELECT n, tab, key, row, refs, owes, command, due_at FROM runs JOIN state ON run = 1 WHERE n > 1;
    INSERT INTO host (run, tab, key, row) SELECT runs.n, tab, key, row FROM runs JOIN host ON run = 1 WHERE runs.n > 1;
    COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`);
  database.close();
}
