import {
  ask,
  back,
  body,
  branch,
  compensate,
  delegate,
  field,
  foreach,
  item,
  parallel,
  runs,
  set,
  shell,
  undo,
  wait,
  withTasks,
} from '../../src/runtime/engine/constructs.fixture.js';
import {
  again,
  call,
  chain,
  compute,
  done,
  graph,
  input,
  list,
  lit,
  not,
  read,
  step,
  stop,
} from '../../src/runtime/engine/graph.fixture.js';

/** The tool that may not be called twice. */
export const ONCE = 'tool-once';

/** The tool that always fails. */
export const BROKEN = 'tool-broken';

const more = { ...call('more', { n: input('n') }), after: [] };

/** Small workflows that have a node of each kind among them. Questions are answered with true, and work of the client is done. */
export const CRASH_WORKFLOWS = {
  call: graph(chain(call('a'), call('b'), done('out', step('b'))), { name: 'call' }),
  once: graph(chain(call('a'), call('once'), call('b'), done('out', step('once'))), { name: 'once' }),
  resource: graph(chain(read('book'), call('a'), compute('sum', step('book')), done('out', step('sum'))), {
    name: 'resource',
  }),
  ask: graph(chain(call('a'), ask('sure'), call('b'), done('out', step('sure'))), { name: 'ask' }),
  client: graph(
    chain(
      shell('a', lit('ls'), { writes: 'seen' }),
      delegate('b'),
      call('c', {}, { executor: 'client' }),
      call('d'),
      done('out', list(field('seen'), step('b'), step('c'))),
    ),
    { name: 'client', state: [{ name: 'seen', scope: 'workflow', schema: {} }] },
  ),
  settle: graph(
    chain(
      foreach('each', list(lit(1), lit(2)), body([call('one'), call('broken')], step('one')), {
        onItemError: 'settle',
        concurrency: 2,
        onError: { value: lit('some failed') },
      }),
      done('out', step('each')),
    ),
    { name: 'settle' },
  ),
  agents: graph(
    chain(
      foreach(
        'each',
        list(lit('x'), lit('y')),
        body(
          chain(shell('look'), call('one', { n: item('item') })),
          list(step('look', 'exit_code'), step('one')),
        ),
        { agent: '@reviewer', concurrency: 2, onItemError: 'settle' },
      ),
      done('out', step('each')),
    ),
    { name: 'agents' },
  ),
  wait: graph(chain(call('a'), wait('rest', { durationMs: lit(20) }), call('b'), done('out', lit(1))), {
    name: 'wait',
  }),
  branch: graph(
    chain(
      branch('way', [
        [lit(true), body([call('a')])],
        [undefined, body([call('b')])],
      ]),
      { ...call('c'), when: not(lit(true)) },
      call('d'),
      done('out', step('d')),
    ),
    { name: 'branch' },
  ),
  parallel: graph(
    chain(
      parallel('two', { left: body([call('l')], step('l')), right: body([call('r')], step('r')) }),
      done('out', step('two')),
    ),
    { name: 'parallel' },
  ),
  foreach: graph(
    chain(
      foreach('each', list(lit(1), lit(2), lit(3)), body([call('one', { n: item('item') })], step('one')), {
        concurrency: 2,
      }),
      done('out', step('each')),
    ),
    { name: 'foreach' },
  ),
  goto: graph(
    chain(
      call('a'),
      set('note', { n: lit(1) }),
      back('again', 'a', 1, { onLimit: 'continue' }),
      done('out', field('n')),
    ),
    { name: 'goto', state: [{ name: 'n', scope: 'run', schema: {}, initial: 0 }] },
  ),
  workflow: withTasks(
    graph(chain(runs('part', 'inner', { n: lit(2) }), call('b'), done('out', step('part'))), {
      name: 'workflow',
    }),
    graph(chain(more, done('out', step('more'))), {
      name: 'inner',
      inputs: [{ name: 'n', description: 'n', schema: {}, required: true }],
    }),
  ),
  compensate: graph(
    [
      ...chain(
        call('a'),
        call('broken', {}, { onError: { fallbackNode: 'back' } }),
        done('out', step('back')),
      ),
      compensate('back', [undo('tool-undo', { of: step('a') })]),
    ],
    { name: 'compensate' },
  ),
  undone: graph(
    chain(
      call('a', {}, { compensate: undo('tool-undo', { of: step('a') }) }),
      call('broken', {}, { retry: again(1) }),
    ),
    { name: 'undone' },
  ),
  task: graph(
    chain(call('a'), call('broken'), call('once', { of: step('broken') }), done('out', step('broken'))),
    { name: 'task', task: true },
  ),
  rescued: graph(chain(call('broken', {}, { onError: { value: lit('else') } }), call('b'), stop('end')), {
    name: 'rescued',
  }),
};

/** How many calls are in flight at once in those that have more than one. */
export const CALLS_AT_ONCE: ReadonlyMap<string, number> = new Map([
  ['parallel', 2],
  ['foreach', 2],
  ['settle', 4],
  ['agents', 2],
]);
