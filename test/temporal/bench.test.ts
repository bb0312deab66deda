import { expect, test } from 'vitest';
import { temporalRows } from '../../scripts/bench/rows/temporal.js';
import { TINY } from '../../scripts/bench/sizes.js';
import { describeTemporal } from './host.js';

describeTemporal('the benchmark', () => {
  // It starts a server and bundles workflows for itself. Both contestants come to the same results, or else it fails.
  test('measures runs on Temporal against the same by hand', { timeout: 180_000 }, async () => {
    const rows = await temporalRows(TINY);
    expect(rows.map(({ name }) => name)).toEqual([
      'temporal: step in a line of 3, by the clock',
      'temporal: step in a line of 3, history',
      'temporal: step in a fan of 4, by the clock',
      'temporal: step in a fan of 4, history',
      'temporal: replay of 1000 events',
      'temporal: start of a worker',
    ]);
    for (const { ours, peer } of rows)
      for (const value of [ours, peer?.value]) expect(value).toBeGreaterThan(0);
  });
});
