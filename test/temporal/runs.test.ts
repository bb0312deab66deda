import { expect, test } from 'vitest';
import { call, chain, graph } from '../../src/runtime/engine/graph.fixture.js';
import { describeTemporal, TemporalHost } from './host.js';

describeTemporal('without a worker', () => {
  const host = new TemporalHost({}, { worker: false });

  test('a start is reported as not known to be taken', async () => {
    const start = host.start(graph(chain(call('a'))), {}, { answerMs: 0 });
    await expect(start).rejects.toThrow('Temporal gave no response');
  });
});
