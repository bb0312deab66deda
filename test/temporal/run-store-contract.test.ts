import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { runStoreContract } from '../../src/runtime/runs/run-store-contract.fixture.js';
import { type TemporalOptions, temporal } from '../../src/temporal/index.js';
import { smoke } from '../nightly.js';
import { describeTemporal } from './host.js';
import { opened } from './lanes.js';

const variants: Readonly<Record<string, TemporalOptions>> = {
  // Each request replays the run, which continues in another workflow after some of them.
  'on Temporal with short histories': { maxEvents: 40, worker: { maxCachedWorkflows: 2 } },
  'on Temporal': {},
};

for (const [name, more] of smoke(Object.entries(variants))) {
  const open: Parameters<typeof runStoreContract>[1] = async (options) => {
    const store = temporal({
      ...{ ...more, address: inject('temporalAddress') ?? '', taskQueue: `contract-${randomUUID()}` },
      bundlePath: inject('temporalBundle'),
    }).open(options);
    await opened(store);
    return store;
  };
  runStoreContract(name, open, describeTemporal);
}
