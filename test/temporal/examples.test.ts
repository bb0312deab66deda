import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, inject, test, vi } from 'vitest';
import { temporal } from '../../src/temporal/index.js';
import { compileTools, testAgents } from '../e2e/examples/durable-world.js';
import { ROOT } from '../e2e/examples/example-client.js';
import { describeTemporal } from './host.js';

const address = inject('temporalAddress') ?? '';
const bundlePath = inject('temporalBundle');

// Each agent has a worker of its own.
vi.setConfig({ testTimeout: 90_000 });

describeTemporal('on Temporal, an agent that knows no workflow does what the answers say', () => {
  beforeAll(compileTools, 300_000);
  testAgents(() => ({ store: temporal({ address, taskQueue: `agents-${randomUUID()}`, bundlePath }) }));
});

// With servers that are killed again and again, or with one for each run.
describeTemporal('the program of an example on Temporal', () => {
  test.each([
    ['approval', '9 servers were killed. Nothing was lost, and nothing was done twice.'],
    ['travel', '18 runs went as they should.'],
    ['planning', '17 servers were killed for 34 results. Each step was done once.'],
  ])('%s comes to its end', { timeout: 900_000 }, (name, end) => {
    const query = new URLSearchParams({ taskQueue: `${name}-${randomUUID()}`, bundlePath });
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        ...['--conditions=@stepwright/source', '--import', './scripts/register.mjs', `scripts/${name}.ts`],
        ...['--store', `temporal://${address}/default?${query}`],
      ],
      { cwd: ROOT, encoding: 'utf8' },
    );
    expect(status, stderr).toBe(0);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(end);
  });
});
