import { once } from 'node:events';
import { StoreError } from '../../runtime/runs/store/store-error.js';
import { thrownText } from '../../runtime/tools/exceptions.js';
import type { Registry } from '../../runtime/tools/registry.js';
import { Misuse, optionCommand, REGISTRY_HELP, texts } from '../command-line.js';
import { REGISTRY_OPTIONS, withRegistries } from '../registries.js';

/** `stepwright worker`: executes runs of a Temporal server until the process receives a signal to stop. */
export const workerCommand = optionCommand(
  'stepwright worker',
  `Usage: stepwright worker [options]

Executes runs that servers keep on Temporal, with the tools of a registry. It serves no clients. On SIGTERM and SIGINT it
takes no more work, and ends when the calls in flight have returned, within 30 s or \`shutdownGraceTime\`; a second signal
ends it at once.

Options:
  --store STORE    temporal://HOST:PORT/NAMESPACE?taskQueue=QUEUE, as \`stepwright serve\` takes it (default:
                   STEPWRIGHT_STORE of the environment, else \`store\` of the options)
${REGISTRY_HELP}`,
  { ...REGISTRY_OPTIONS, store: { type: 'string' } } as const,
  0,
  async ({ values }, output) => {
    const { store: option = process.env.STEPWRIGHT_STORE, ...choice } = values;
    return withRegistries('worker', choice, output, async ({ registries, options }) => {
      const [{ registry }, ...others] = registries;
      if (others.length > 0) throw new Misuse(texts.chooseRegistry(registries.map(({ file }) => file)));
      const store = option ?? options.store;
      if (typeof store !== 'object' && !(typeof store === 'string' && /^temporal:\/\/./.test(store)))
        throw new Misuse(
          `stepwright: \`stepwright worker\` needs \`--store temporal://HOST:PORT/NAMESPACE?taskQueue=QUEUE\`, where servers keep their runs${store === undefined ? '' : `, not \`${store}\``}`,
        );
      const { startWorker } = await import('../../temporal/index.js');
      try {
        const worker = await startWorker<Registry>(registry, {
          ...options,
          store: store as `temporal://${string}`,
        });
        output.err('stepwright: the worker is ready\n');
        const fault = await Promise.race([signalled(), worker.ended.catch((error: unknown) => ({ error }))]);
        if (fault === undefined) {
          await worker.stop();
          return 0;
        }
        await worker.stop().catch(() => {});
        output.err(
          `stepwright: the worker has ended, and executes no more runs: ${thrownText(fault.error)}\n`,
        );
        return 1;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        output.err(`stepwright: ${error.message}\n`);
        return 1;
      }
    });
  },
);

/** Resolves with the first signal to stop. The second one has its usual effect. */
async function signalled(): Promise<void> {
  const received = new AbortController();
  const { signal } = received;
  try {
    await Promise.race([once(process, 'SIGTERM', { signal }), once(process, 'SIGINT', { signal })]);
  } finally {
    received.abort();
  }
}
