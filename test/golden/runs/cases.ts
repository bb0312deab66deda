import type { Json, JsonObject } from '../../../src/graph/json.js';
import type { Graph } from '../../../src/graph/model.js';
import {
  again,
  call,
  coalesce,
  dict,
  equals,
  get,
  graph,
  list,
  lit,
  node,
  ref,
  scope,
  step,
  undoing,
} from '../../oracle/build.js';
import type { Reply, World } from '../../oracle/world.js';

/** A run whose log is kept. */
export interface RunCase {
  readonly name: string;
  readonly graph: Graph;
  readonly input?: JsonObject;
  readonly world: Omit<World, 'luck'>;
}

const gives = (value: Json, after = 10): Reply => ({ kind: 'value', after, value });
const fails = (after = 10, more: { readonly outcomeUnknown?: true } = {}): Reply => ({
  ...{ kind: 'failure', after, attempted: true },
  failure: { code: 'X_DOWN', message: 'no answer', ...more },
});
const inputs = (...names: string[]): Graph['inputs'] =>
  names.map((name) => ({ name, description: name, schema: {}, required: false }));
const branch = (id: string, options: Parameters<typeof call>[2] = {}) => ({
  ...{ id, body: scope([call(id, { by: lit('trip') }, options)], step(id)) },
});

const trip = (options: object, ...more: Parameters<typeof graph>[0]): Graph =>
  graph([
    node(
      'parallel',
      'book',
      {
        onPartialFailure: 'rollback',
        branches: [branch('flight', { compensate: undoing('flight') }), branch('hotel'), branch('car')],
      },
      options,
    ),
    ...more,
  ]);

export const CASES: readonly RunCase[] = [
  {
    name: 'calls-in-order',
    graph: graph(
      [
        call('find', { name: ref('inputs', 'name') }),
        node('resource', 'page', { resource: 'page', uri: lit('res://page') }, { after: ['find'] }),
        node('compute', 'shout', {
          value: list(step('find', 'id')),
          function: { name: 'shout', hash: '0'.repeat(64) },
        }),
        node('set', 'keep', { updates: [{ field: 'seen', value: step('shout') }] }),
        call('save', { id: step('find', 'id'), text: step('page', 'text') }, { after: ['keep'] }),
      ],
      {
        ...{ inputs: inputs('name'), returns: dict({ saved: step('save'), seen: ref('state', 'seen') }) },
        state: [{ name: 'seen', scope: 'run', schema: {} }],
      },
    ),
    input: { name: 'ada' },
    world: {
      replies: { find: [gives({ id: 7 })], shout: [gives('SEVEN')], save: [gives(true)] },
      tools: { find: 'readOnly', save: 'key' },
    },
  },
  {
    name: 'retries-and-limits',
    graph: graph([
      call(
        'slow',
        {},
        {
          timeoutMs: 20,
          retry: again(2, { delayMs: 5, backoff: 'linear' }),
          onError: { value: lit('none') },
        },
      ),
      call('flaky', {}, { retry: again(1) }),
    ]),
    world: {
      replies: { slow: [{ kind: 'hang' }, fails(3, { outcomeUnknown: true })], flaky: [fails(), gives(1)] },
    },
  },
  {
    name: 'branches-and-fallbacks',
    graph: graph([
      call('check'),
      node(
        'branch',
        'decide',
        {
          cases: [{ id: 'free', when: equals(get(step('check'), 'free'), true), goto: 'reserve' }],
          else: { id: 'full', goto: 'wait_list' },
        },
        { after: ['check'] },
      ),
      call('reserve', {}, { onError: { fallbackNode: 'sorry' } }),
      call('wait_list'),
      node('error', 'sorry', { message: lit('Booking failed') }),
    ]),
    world: { replies: { check: [gives({ free: true })], reserve: [fails()] } },
  },
  {
    name: 'jumps',
    graph: graph([
      call('book', {}, { compensate: undoing('book') }),
      node('goto', 'again', { target: 'book', max: 2, onLimit: 'continue' }),
      call('send', {}, { after: ['again'] }),
    ]),
    world: {
      replies: { book: [gives({ id: 1 }), gives({ id: 2 }), gives({ id: 3 })], send: [gives(null, 100)] },
      cancel: { at: 60, compensate: true },
    },
  },
  {
    name: 'rollback-and-another-attempt',
    graph: trip({ retry: again(1) }),
    world: {
      replies: {
        flight: [gives({ id: 1 }), gives({ id: 2 })],
        hotel: [gives({ id: 3 })],
        car: [fails(20), gives({ id: 4 })],
      },
      tools: { flight: 'key', hotel: 'idempotent' },
    },
  },
  {
    name: 'rollback-that-leaves-effects',
    graph: trip({ retry: again(1) }),
    world: {
      replies: {
        flight: [gives({ id: 1 })],
        hotel: [gives({ id: 3 })],
        car: [fails(20)],
        undo_flight: [fails()],
      },
    },
  },
  {
    name: 'rollback-by-a-node',
    graph: trip(
      {},
      node('compensate', 'undo_all', {
        steps: [undoing('flight'), { tool: 'leave_hotel', input: dict({ of: step('hotel') }) }],
      }),
    ),
    world: { replies: { flight: [gives({ id: 1 })], hotel: [gives({ id: 3 })], car: [fails(20)] } },
  },
  {
    name: 'abort-and-late-success',
    graph: graph([
      node(
        'parallel',
        'both',
        {
          onPartialFailure: 'abort',
          branches: [branch('pay', { compensate: undoing('pay') }), branch('check')],
        },
        { onError: { value: lit('none') } },
      ),
      call('tell', {}, { after: ['both'] }),
    ]),
    world: { replies: { pay: [gives({ id: 1 }, 30)], check: [fails(5)], tell: [gives(null, 50)] } },
  },
  {
    name: 'cancelled-while-undoing',
    graph: trip({}),
    world: {
      replies: {
        flight: [gives({ id: 1 })],
        hotel: [gives({ id: 3 })],
        car: [fails(20)],
        undo_flight: [gives(true, 40)],
      },
      cancel: { at: 30, compensate: true },
    },
  },
  {
    name: 'loops',
    graph: graph(
      [
        node('foreach', 'lines', {
          ...{
            items: ref('inputs', 'lines'),
            as: 'line',
            indexAs: 'n',
            concurrency: 2,
            max: 10,
            onItemError: 'continue',
          },
          body: scope([call('post', { line: ref('item', 'line'), n: ref('index', 'n') })], step('post')),
        }),
      ],
      { inputs: inputs('lines') },
    ),
    input: { lines: ['a', 'b', 'c'] },
    world: { replies: { 'post[1]': [fails()] } },
  },
  {
    name: 'workflows',
    graph: graph(
      [
        node('workflow', 'sub', { workflow: 'inner', input: dict({ x: lit(1) }) }),
        call('last', { was: step('sub') }),
      ],
      {
        tasks: [
          graph(
            [
              call('first', { x: ref('inputs', 'x') }),
              node('return', 'out', { value: step('first') }, { after: ['first'] }),
              call('never', {}, { after: ['out'] }),
            ],
            { name: 'inner', inputs: inputs('x', 'y') },
          ),
        ],
      },
    ),
    world: {},
  },
  {
    name: 'questions-and-times',
    graph: graph([
      node('ask', 'sure', { mode: 'confirm', message: lit('Sure?') }),
      node('wait', 'pause', { durationMs: lit(50) }, { after: ['sure'] }),
      node(
        'ask',
        'which',
        {
          mode: 'choice',
          message: lit('Which?'),
          options: lit(['a', 'b']),
          answerBy: [{ kind: 'role', role: 'lead', except: 'owner' }, { kind: 'owner' }],
        },
        { timeoutMs: 200, onError: { value: lit('none') } },
      ),
      call(
        'go',
        { sure: step('sure', 'confirmed'), which: coalesce(step('which'), lit('none')) },
        { after: ['pause', 'which'] },
      ),
    ]),
    world: {
      says: {
        sure: [
          { kind: 'nonsense', after: 5, value: 'what?' },
          { kind: 'answer', after: 10, value: { confirmed: true } },
        ],
        which: [],
      },
    },
  },
];
