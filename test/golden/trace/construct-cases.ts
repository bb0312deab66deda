import type { Expr } from '../../../src/graph/expression/tree.js';
import type { Graph } from '../../../src/graph/model.js';
import {
  back,
  body,
  branch,
  dict,
  field,
  isMore,
  parallel,
  required,
  runs,
  set,
  withTasks,
} from '../../../src/runtime/engine/constructs.fixture.js';
import {
  again,
  compute,
  done,
  error,
  graph,
  input,
  lit,
  step,
  stop,
  text,
} from '../../../src/runtime/engine/graph.fixture.js';
import { echo, failing, faltering, get, readOnly, sample, use } from './parts.js';
import { type FreshTool, type Scenario, textInput } from './scenario.js';

const is = (left: Expr, value: string): Expr => ({
  kind: 'compare',
  left,
  ops: [{ op: 'eq.strict', right: lit(value) }],
});

/** A tool that ends long after others that begin with it. */
const slow = (value: unknown) => ({
  description: 'Take long',
  run: async () => {
    for (let turn = 0; turn < 200; turn++) await null;
    return value;
  },
});

const pay = (id: string) => use(id, { amount: get(step('cart'), 'total') });

const checkout = (total: number): Scenario => ({
  graph: graph(
    [
      use('cart', {}),
      branch('how', [
        [isMore(get(step('cart'), 'total'), 1000), body([use('call', {}), pay('invoice')], step('invoice'))],
        [isMore(get(step('cart'), 'total'), 0), body([pay('charge')], step('charge'))],
        [undefined, body([use('thank', {})])],
      ]),
      use('tell', { paid: step('how') }, { after: ['how'] }),
    ],
    { name: 'checkout', description: 'check out' },
  ),
  tools: {
    cart: echo({ total }),
    call: echo(),
    invoice: echo({ invoice: 7 }),
    charge: failing('card refused'),
    thank: echo(),
    tell: echo(),
  },
});

/** A workflow that improves a text until it is good enough. */
const improving = (max: number, onLimit: 'fail' | 'continue'): Graph =>
  graph(
    [
      use('improve', {}, { guidance: lit('Make it better.') }),
      use('review', { text: step('improve') }),
      back('again', 'improve', max, {
        onLimit,
        when: { kind: 'not', truth: 'truthy.js', of: isMore(get(step('review'), 'score'), 90) },
      }),
      use('publish', { text: step('improve') }, { after: ['review'] }),
    ],
    { name: 'polish' },
  );

/** A call that gives one value after the other, the last one for ever. */
const sequence =
  (...values: unknown[]): FreshTool =>
  () => {
    const next = [...values];
    return { description: 'Give one after the other', run: () => (next.length > 1 ? next.shift() : next[0]) };
  };

/** Branches, groups, workflows, state and ways back. */
export const constructCases: Readonly<Record<string, Scenario>> = {
  'branch-with-bodies': checkout(2_000),
  'branch-arm-fails': checkout(20),
  'branch-without-match': {
    graph: sample([
      use('find', {}),
      branch('which', [[isMore(get(step('find'), 'n'), 1), body([use('many', {})])]]),
      use('after', {}),
    ]),
    tools: { find: echo({ n: 1 }), many: echo(), after: echo() },
  },
  'branch-with-goto': {
    graph: graph([
      use('find', {}),
      branch('decide', [
        [get(step('find'), 'isNew'), 'create'],
        [undefined, 'update'],
      ]),
      use('create', {}),
      use('update', { id: get(step('find'), 'id') }),
      use('tell', {}, { after: ['create', 'update'], join: 'none_failed_min_one_success' }),
    ]),
    tools: { find: echo({ isNew: false, id: 7 }), create: echo(), update: echo('ok'), tell: echo() },
  },
  match: {
    graph: graph(
      [
        branch('kind', [
          [is(input('size'), 's'), body([compute('small', lit('box'))], step('small'))],
          [is(input('size'), 'm'), body([use('ask', {})], step('ask'))],
          [is(input('size'), 'l'), body([use('truck', { from: input('size') })], step('truck'))],
          [undefined, body([stop('UNKNOWN_SIZE', text('no size ', input('size')))])],
        ]),
        use('ship', { with: step('kind') }, { after: ['kind'] }),
      ],
      { inputs: [textInput('size')] },
    ),
    tools: { ask: echo(), truck: echo(), ship: echo('shipped') },
    given: { size: 's' },
  },
  'error-in-an-arm': {
    graph: graph(
      [
        use('find', {}),
        branch('check', [
          [
            get(step('find'), 'isSold'),
            body([
              use('note', {}),
              stop('sold', text('sold to ', input('who')), { code: 'SOLD', after: ['note'] }),
            ]),
          ],
          [undefined, body([use('reserve', {})])],
        ]),
        use('tell', {}, { after: ['check'] }),
      ],
      { inputs: [textInput('who')] },
    ),
    tools: { find: echo({ isSold: true }), note: echo(), reserve: echo(), tell: echo() },
    given: { who: 'Ada' },
  },
  'return-in-an-arm': {
    graph: graph([
      use('find', {}),
      branch('known', [
        [
          get(step('find'), 'id'),
          body([use('greet', {}), done('early', get(step('find'), 'id'), { after: ['greet'] })]),
        ],
        [undefined, body([use('welcome', {})])],
      ]),
      use('create', {}, { after: ['known'] }),
    ]),
    tools: { find: echo({ id: true }), greet: echo('hello'), welcome: echo(), create: echo() },
  },
  'parallel-all-succeed': {
    graph: graph([
      parallel(
        'both',
        {
          flight: body([use('find', {}), use('book', { id: step('find') })], step('book')),
          hotel: body([use('hotel', {}, { guidance: lit('A quiet one.') })], step('hotel')),
          quick: body([compute('sum', lit(3))], step('sum')),
        },
        { concurrency: 2 },
      ),
      use('tell', { trip: step('both') }),
    ]),
    tools: { find: slow('F1'), book: slow('booked'), hotel: echo('H1'), tell: echo('told') },
  },
  'parallel-abort': {
    graph: graph([
      use('find', {}),
      parallel(
        'both',
        {
          pay: body([use('charge', { id: step('find') }), use('receipt', { of: step('charge') })]),
          reserve: body([use('hold', {}), use('mail', {}, { after: ['hold'] })]),
          later: body([use('list', {})]),
        },
        { concurrency: 2 },
      ),
      use('tell', { id: step('find') }, { after: ['both'] }),
      use('report', { both: step('both') }),
    ]),
    tools: {
      find: echo(7),
      charge: { description: 'Charge', run: () => new Promise(() => {}) },
      receipt: echo(),
      hold: failing('no room', { annotations: readOnly }),
      mail: echo(),
      list: echo(),
      tell: echo(),
      report: echo(),
    },
  },
  'parallel-continue': {
    graph: graph([
      parallel(
        'sources',
        {
          wiki: body([use('wiki', {})], step('wiki')),
          press: body([use('press', {}), use('sum', { of: step('press') })], step('sum')),
        },
        { onPartialFailure: 'continue' },
      ),
      use('write', { from: step('sources') }),
    ]),
    tools: { wiki: echo('W'), press: failing('paywall'), sum: echo(), write: echo('written') },
  },
  'parallel-falls-back': {
    graph: graph([
      parallel(
        'both',
        { left: body([use('a', {})]), right: body([compute('b', get(get(lit(null), 'x'), 'y'))]) },
        { retry: again(1, { delayMs: 5 }), onError: { value: error('message') } },
      ),
      use('tell', { how: step('both') }),
    ]),
    tools: { a: faltering(['busy'], 'A'), tell: echo() },
  },
  'parallel-retried': {
    graph: graph([
      parallel(
        'both',
        {
          left: body([use('a', {})], step('a')),
          right: body([use('b', {}), use('c', {}, { after: ['b'] })]),
        },
        { retry: again(1, { delayMs: 5 }), onPartialFailure: 'rollback' },
      ),
      use('tell', { how: step('both') }),
    ]),
    tools: {
      ...{ a: { ...echo('A'), annotations: { idempotentHint: true } }, b: faltering(['busy'], 'B') },
      ...{ c: echo('C'), tell: echo() },
    },
  },
  workflow: {
    graph: withTasks(
      graph([runs('trip', 'book_trip', { to: input('to') }), use('tell', { trip: step('trip') })], {
        inputs: [textInput('to')],
      }),
      graph(
        [
          use('search', { to: input('to'), seats: input('seats') }),
          use('book', { id: get(step('search'), 'id') }),
        ],
        {
          name: 'book_trip',
          inputs: [required('to'), { ...required('seats'), required: false, default: 1 }],
          returns: dict({ booking: step('book') }),
        },
      ),
    ),
    tools: { search: echo({ id: 3 }), book: echo('B1'), tell: echo('told') },
    given: { to: 'Oslo' },
  },
  'workflow-fails': {
    graph: withTasks(
      graph([
        runs('trip', 'book_trip', { to: lit('Oslo') }),
        runs('later', 'book_trip', { to: lit('Rome') }, { after: ['trip'] }),
      ]),
      graph(
        [
          use('search', { to: input('to') }),
          use('book', { id: get(step('search'), 'id') }),
          use('confirm', { booking: get(step('book'), 'number'), flight: get(step('search'), 'id') }),
          runs('pay', 'pay', { booking: step('book') }),
        ],
        { name: 'book_trip', inputs: [required('to')], returns: step('pay') },
      ),
      graph([use('charge', { for: input('booking') })], {
        name: 'pay',
        inputs: [required('booking')],
        returns: step('charge'),
      }),
    ),
    tools: {
      search: echo({ id: 3 }),
      book: failing('full', { annotations: { idempotentHint: true } }),
      confirm: echo(),
      charge: echo(),
    },
  },
  'state-is-set': {
    graph: graph(
      [
        use('find', {}),
        set('keep', {
          count: get(step('find'), 'n'),
          token: input('token'),
          gone: get(step('find'), 'missing'),
        }),
        use('tell', { count: field('count'), with: field('token') }, { after: ['keep'] }),
      ],
      { inputs: [textInput('token', { secret: true })] },
    ),
    tools: { find: echo({ n: 3 }), tell: echo() },
    given: { token: 'tok-12345' },
  },
  'goto-jumps': {
    graph: improving(3, 'fail'),
    tools: {
      improve: sequence('one', 'two', 'three'),
      review: sequence({ score: 10 }, { score: 50 }, { score: 95 }),
      publish: echo('published'),
    },
  },
  'goto-limit': {
    graph: improving(1, 'fail'),
    tools: { improve: sequence('one', 'two'), review: echo({ score: 10 }), publish: echo() },
  },
  'goto-goes-on': {
    graph: improving(1, 'continue'),
    tools: { improve: sequence('one', 'two'), review: echo({ score: 10 }), publish: echo('published') },
  },
  'fallback-node': {
    graph: graph([
      use('book', {}, { retry: again(1), onError: { fallbackNode: 'waitlist' } }),
      use('waitlist', { why: error('message') }),
      use('tell', {}, { after: ['book', 'waitlist'], join: 'none_failed_min_one_success' }),
    ]),
    tools: { book: failing('no seats'), waitlist: echo('number 3'), tell: echo() },
  },
  'fallback-node-not-needed': {
    graph: graph([
      use('book', {}, { onError: { fallbackNode: 'waitlist' } }),
      use('waitlist', {}),
      use('tell', {}, { after: ['book', 'waitlist'], join: 'none_failed_min_one_success' }),
    ]),
    tools: { book: echo('booked'), waitlist: echo(), tell: echo() },
  },
  'unstarted-containers': {
    graph: withTasks(
      graph(
        [
          use('find', { who: input('who') }),
          branch('kind', [
            [
              get(step('find'), 'isNew'),
              body([use('create', { id: get(step('find'), 'id') })], step('create')),
            ],
            [is(input('who'), 'Ada'), body([use('greet', {})], step('greet'))],
            [undefined, body([use('never', {})])],
          ]),
          parallel('both', {
            left: body([use('a', { kind: step('kind') })], step('a')),
            right: body([use('b', {})], step('b')),
          }),
          set('keep', { last: get(step('both'), 'left') }, { after: ['both'] }),
          runs('sub', 'inner', { x: field('last') }, { after: ['keep'] }),
          use('end', { sub: step('sub'), both: step('both') }),
        ],
        { inputs: [textInput('who')] },
      ),
      graph([use('inside', { x: input('x') })], {
        name: 'inner',
        inputs: [required('x')],
        returns: get(step('inside'), 'y'),
      }),
    ),
    tools: {
      find: failing('busy', { annotations: readOnly }),
      create: echo(),
      greet: echo(),
      never: echo(),
      a: echo(),
      b: echo(),
      inside: echo(),
      end: echo(),
    },
    given: { who: 'Ada' },
  },
  'collect-with-constructs': {
    graph: graph(
      [
        parallel('both', {
          left: body([use('a', {})], step('a')),
          right: body([use('b', {})], step('b')),
        }),
        branch(
          'which',
          [[lit(true), body([use('c', {}), use('d', {}, { after: ['c'], join: 'all_done' })])]],
          {
            after: ['both'],
            join: 'all_done',
          },
        ),
        use('e', { both: step('both') }),
        use('f', {}, { after: ['e'], join: 'all_done' }),
      ],
      { errorStrategy: { kind: 'collect' } },
    ),
    tools: {
      a: failing('no a'),
      b: echo('B'),
      c: failing('no c', { annotations: readOnly }),
      d: echo('D'),
      e: echo(),
      f: echo('F'),
    },
  },
};
