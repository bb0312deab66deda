import { ask, body, foreach, item, parallel, wait } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, list, lit, step } from '../../src/runtime/engine/graph.fixture.js';

/** How long the run of `nap` waits, in ms. */
export const NAP_MS = 2_000;

/** How long a process may work on the call of `limited`, in ms. Less than the lease of a process. */
export const LIMIT_MS = 800;

/** Workflows that end as soon as their calls return and their questions are answered with true. */
export const WORKLOAD = {
  line: graph(chain(call('a'), call('b'), call('c'), done('out', step('c'))), { name: 'line' }),
  asks: graph(chain(ask('sure'), call('a'), ask('still'), call('b'), done('out', step('b'))), {
    name: 'asks',
  }),
  nap: graph(chain(call('a'), wait('rest', { durationMs: lit(NAP_MS) }), call('b'), done('out', lit(1))), {
    name: 'nap',
  }),
  loop: graph(
    chain(
      foreach('each', list(lit(1), lit(2), lit(3)), body([call('one', { n: item('item') })], step('one')), {
        concurrency: 2,
      }),
      done('out', step('each')),
    ),
    { name: 'loop' },
  ),
  both: graph(
    chain(
      parallel('two', { left: body([call('l'), ask('sure')]), right: body([call('r')]) }),
      done('out', lit(1)),
    ),
    { name: 'both' },
  ),
  limited: graph(
    chain(call('quick', {}, { timeoutMs: LIMIT_MS, onError: { value: lit(0) } }), done('out', lit(1))),
    { name: 'limited' },
  ),
  bill: graph(chain(call('a'), call('charge'), done('out', step('charge'))), { name: 'bill' }),
};

/** The tool that may not be called twice. */
export const ONCE = 'tool-charge';
