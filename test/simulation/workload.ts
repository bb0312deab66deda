import type { Json } from '../../src/graph/json.js';
import {
  ask,
  body,
  delegate,
  foreach,
  item,
  parallel,
  shell,
  wait,
} from '../../src/runtime/engine/constructs.fixture.js';
import {
  broken,
  call as callOf,
  chain,
  done,
  graph,
  list,
  lit,
  step,
} from '../../src/runtime/engine/graph.fixture.js';

/** How long the run of `nap` waits, in ms. */
export const NAP_MS = 2_000;

/** How long a process may work on the call of `limited`, in ms. Less than the lease of a process. */
export const LIMIT_MS = 800;

/** The limit of work of the client. Its delivery adds a grace. */
export const WORK_MS = 1_000;

/** The limit of all other calls, in ms: longer than all jumps of the clock that expire work of the client. */
const CALL_MS = 3_600_000;

const call = (id: string, input = {}, options = {}) => callOf(id, input, { timeoutMs: CALL_MS, ...options });

const otherwise = { timeoutMs: WORK_MS, onError: { value: lit('not done') } };

/** Workflows that end as soon as their calls return, their questions are answered with true, and clients do their work. */
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
  client: graph(
    chain(
      shell('look', lit('ls'), otherwise),
      call('a'),
      call('issue', {}, { executor: 'client', ...otherwise }),
      delegate('plan', otherwise),
      done('out', list(step('look'), step('issue'), step('plan'))),
    ),
    { name: 'client' },
  ),
  agents: graph(
    chain(
      foreach(
        'each',
        list(lit(0), lit(1), lit(2)),
        body(chain(shell('look', lit('ls'), otherwise), call('one', { n: item('item') })), step('look')),
        { agent: '@reviewer', concurrency: 2 },
      ),
      done('out', step('each')),
    ),
    { name: 'agents' },
  ),
  task: graph(chain(call('a'), call('find', { x: broken }), call('charge'), done('out', step('find'))), {
    ...{ name: 'task', task: true },
  }),
  bill: graph(chain(call('a'), call('charge'), done('out', step('charge'))), { name: 'bill' }),
};

/** The tool that may not be called twice. */
export const ONCE = 'tool-charge';

/** What clients send for their work, by its step. */
export const RESULTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['look', { exit_code: 0 }],
  ['issue', { number: 7 }],
  ['find', { found: 7 }],
  ['plan', { response: 'a plan' }],
]);
