import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SqliteReader } from '../../src/runtime/runs/store/sqlite/store-reader.js';
import { type Answer, runIn } from '../e2e/composite/client.js';
import { Random } from '../simulation/random.js';
import { type Child, programOf } from './child.js';
import { addressOf, toolCall } from './tool-call.js';

const start = programOf('ledger-server');

// `npm run test:faults` starts more.
const { STARTS = '20', KILL_SEED = '1' } = process.env;

/** Servers on one file. Each is killed and started again until there are enough starts. */
const SERVERS = 3;

/** So many clients of a server start runs until it is killed. */
const CLIENTS = 5;

/** A server is killed in the moment of one of so many replies. */
const REPLIES = 8;

interface Reply {
  readonly server: string;
  readonly answer: Answer;
}

test(`each of ${STARTS} acknowledged starts is in the store, with kills at once after replies (seed ${KILL_SEED})`, {
  timeout: 60_000 + Number(STARTS) * 1_000,
}, async () => {
  const random = new Random(Number(KILL_SEED));
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-starts-'));
  const [store, replies] = [join(folder, 'runs.db'), join(folder, 'replies.jsonl')];
  const servers = new Set<Child>();
  onTestFinished(async () => {
    await Promise.all([...servers].map((server) => server.kill()));
    rmSync(folder, { recursive: true });
  });
  let acknowledged = 0;
  let refused = 0;
  let kills = 0;

  /** One life of a server. */
  const live = async (name: string): Promise<void> => {
    const server = start(store, join(folder, 'ledger.txt'), 'http', 'stateless');
    servers.add(server);
    const url = await addressOf(server);
    let remaining = 1 + random.below(REPLIES);
    const client = async (): Promise<never> => {
      for (;;) {
        const answer = await toolCall(url, 'w_line');
        if (answer.isError !== true) {
          remaining -= 1;
          acknowledged += 1;
          if (remaining === 0) server.process.kill('SIGKILL');
        } else if (++refused > Number(STARTS)) throw new Error('the servers refuse runs');
        appendFileSync(replies, `${JSON.stringify({ server: name, answer } satisfies Reply)}\n`);
      }
    };
    await Promise.allSettled(Array.from({ length: CLIENTS }, client));
    await server.kill();
    servers.delete(server);
    kills += 1;
  };
  const restart = async (server: number): Promise<void> => {
    for (let life = 1; acknowledged < Number(STARTS) && refused <= Number(STARTS); life += 1)
      await live(`${server}.${life}`);
  };
  await Promise.all(Array.from({ length: SERVERS }, (_, server) => restart(server)));

  const all = readFileSync(replies, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Reply);
  // An id in the text of a failure is no acknowledgement.
  const runs = all.filter(({ answer }) => answer.isError !== true).map(({ answer }) => runIn(answer));
  expect(new Set(runs).size).toBe(acknowledged);
  const reader = await SqliteReader.open(store);
  try {
    const lost = runs.filter((run) => {
      const [head] = reader.find(run);
      return head === undefined || reader.read(head)?.loaded.seq !== 1;
    });
    expect(lost).toEqual([]);
  } finally {
    reader.close();
  }
  process.stdout.write(
    `${kills} kills, ${acknowledged} acknowledged starts, ${all.length - runs.length} refused\n`,
  );
});
