import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { getRequestListener } from '@hono/node-server';
import type { StoreOperator } from '../../runtime/runs/operate/store-operator.js';
import { studioOf } from '../../studio/studio.js';
import { Misuse, optionCommand } from '../command-line.js';
import { operatorOf } from './runs/store-command.js';
import { checkPort } from './serve.js';

const OPTIONS = {
  store: { type: 'string' },
  port: { type: 'string' },
} as const;

/** `stepwright studio`: serves a page that shows the runs of a store. */
export const studioCommand = optionCommand(
  'stepwright studio',
  `Usage: stepwright studio --store STORE [options]

Serves a page for this machine that shows the runs of a store while they run, answers their questions, retries and cancels
them. The address that is printed opens it: it has a secret. Secrets of runs are masked.

Options:
  --store STORE    the store, as \`stepwright serve\` takes it: sqlite:PATH or
                   temporal://HOST:PORT/NAMESPACE?taskQueue=QUEUE (default: STEPWRIGHT_STORE of the environment)
  --port N         where to listen (default: 3100)
  --help           show this
`,
  OPTIONS,
  0,
  async ({ values }, output) => {
    const { port = '3100', store = process.env.STEPWRIGHT_STORE } = values;
    checkPort(port);
    if (store === undefined)
      throw new Misuse('stepwright: `stepwright studio` needs `--store STORE`, which a server uses');
    const studio = await listen(await operatorOf(store), Number(port));
    output.out(`studio at ${studio.url.href}\n`);
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
    });
    await studio.close();
    return 0;
  },
);

/** A page that is served. */
interface RunningStudio {
  /** With the secret that opens it. */
  readonly url: URL;
  close(): Promise<void>;
}

/** Serves the page of a store at the loopback address. */
export async function listen(store: StoreOperator, port: number): Promise<RunningStudio> {
  const token = randomBytes(24).toString('base64url');
  const studio = studioOf({
    store,
    user: { kind: 'local' },
    userName: userInfo().username,
    token,
    workflows: [],
  });
  const http = createServer(getRequestListener(studio, { overrideGlobalObjects: false }));
  await new Promise<void>((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Misuse(
              `stepwright: port ${port} is in use: stop the other program, or choose another with \`--port\``,
            )
          : error,
      ),
    );
    http.listen(port, '127.0.0.1', resolve);
  });
  const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/runs?token=${token}`);
  return {
    url,
    async close() {
      await studio.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
