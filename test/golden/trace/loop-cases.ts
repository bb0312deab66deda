import {
  body,
  branch,
  field,
  foreach,
  isMore,
  item,
  place,
  required,
  runs,
  set,
  withTasks,
} from '../../../src/runtime/engine/constructs.fixture.js';
import {
  chain,
  compute,
  graph,
  input,
  list,
  lit,
  step,
  text,
} from '../../../src/runtime/engine/graph.fixture.js';
import { echo, failing, get, readOnly, sample, use } from './parts.js';
import { type Scenario, textInput } from './scenario.js';

const order = [
  { sku: 'a', n: 1 },
  { sku: 'b', n: 2 },
  { sku: 'c', n: 3 },
];

/** Fails for one item. */
const picky = (sku: string, annotations = {}) => ({
  description: 'Add a line',
  annotations,
  run: ({ sku: given }: { sku: string }) => {
    if (given === sku) throw new Error(`no ${sku} left`);
    return { added: given };
  },
});

const eachLine = (onItemError: 'fail' | 'continue', options = {}) =>
  foreach(
    'line',
    get(step('find'), 'lines'),
    body(
      [
        use('add', { sku: item('line', 'sku'), at: place('i') }),
        use('tag', { of: get(step('add'), 'added') }, { when: isMore(item('line', 'n'), 1) }),
      ],
      get(step('add'), 'added'),
    ),
    { as: 'line', indexAs: 'i', onItemError, ...options },
  );

const many = (count: number, onItemError: 'fail' | 'continue', fails: (n: number) => boolean): Scenario => ({
  graph: sample([
    foreach(
      'each',
      lit(Array.from({ length: count }, (_, index) => index)),
      body([use('go', { n: item('n') })], step('go')),
      {
        as: 'n',
        concurrency: 10,
        onItemError,
      },
    ),
    use('tell', {}),
  ]),
  tools: {
    go: {
      description: 'Go',
      run: ({ n }: { n: number }) => {
        if (fails(n)) throw new Error(`not ${n}`);
        return n * 2;
      },
    },
    tell: echo(),
  },
});

/** Loops, and secrets that go through constructs. */
export const loopCases: Readonly<Record<string, Scenario>> = {
  foreach: {
    graph: graph([use('find', {}), eachLine('fail'), use('tell', { lines: step('line') })]),
    tools: { find: echo({ lines: order }), add: picky('x'), tag: echo('tagged'), tell: echo() },
  },
  'foreach-without-items': {
    graph: graph([use('find', {}), eachLine('fail'), use('tell', { lines: step('line') })]),
    tools: { find: echo({ lines: [] }), add: picky('x'), tag: echo(), tell: echo() },
  },
  'foreach-over-text': {
    graph: graph([use('find', {}), eachLine('fail'), use('tell', { lines: step('line') })]),
    tools: { find: echo({ lines: 'abc' }), add: picky('x'), tag: echo(), tell: echo() },
  },
  'foreach-item-fails': {
    graph: graph([use('find', {}), eachLine('fail'), use('tell', { lines: step('line') })]),
    tools: { find: echo({ lines: order }), add: picky('b', readOnly), tag: echo(), tell: echo() },
  },
  'foreach-continue': {
    graph: graph([use('find', {}), eachLine('continue'), use('tell', { lines: step('line') })]),
    tools: { find: echo({ lines: order }), add: picky('b'), tag: echo(), tell: echo() },
  },
  'foreach-side-by-side': {
    graph: graph([use('find', {}), eachLine('fail', { concurrency: 3 })]),
    tools: {
      find: echo({ lines: order }),
      add: {
        description: 'The later the faster',
        run: async ({ sku, at }: { sku: string; at: number }) => {
          for (let turn = 0; turn < 300 - at * 100; turn++) await null;
          return { added: sku };
        },
      },
      tag: echo(),
    },
  },
  'foreach-fifty-items': many(50, 'continue', (n) => n === 7 || n >= 38),
  'foreach-fifty-items-fail': many(50, 'fail', (n) => n === 33),
  'foreach-not-begun': {
    graph: sample(
      [
        use('find', { who: input('who') }),
        foreach(
          'each',
          list(input('who'), lit('Bob')),
          body([use('greet', { name: item('name'), at: place('i') })]),
          {
            as: 'name',
            indexAs: 'i',
          },
        ),
        foreach(
          'line',
          get(step('find'), 'lines'),
          body([use('add', { sku: item('line', 'sku'), at: place('i') })]),
          {
            as: 'line',
            indexAs: 'i',
          },
        ),
        use('tell', { lines: step('line') }),
      ],
      { inputs: [textInput('who')] },
    ),
    tools: { find: failing('busy', { annotations: readOnly }), greet: echo(), add: echo(), tell: echo() },
    given: { who: 'Ada' },
  },
  'secrets-in-constructs': {
    graph: withTasks(
      graph(
        [
          foreach(
            'key',
            list({ kind: 'call', fn: 'toUpperCase.js', args: [input('token')] }, lit('plain-key')),
            body([use('login', { with: item('key'), at: place('i') })], text(item('key'), '!')),
            { as: 'key', indexAs: 'i' },
          ),
          runs('sub', 'inner', { key: input('token'), name: lit('Ada') }),
          set('keep', { secret: get(step('sub'), 'part'), count: lit(3) }),
          branch(
            'which',
            [[lit(true), body([use('use', { it: field('secret'), n: field('count') })], field('secret'))]],
            {
              after: ['keep', 'key'],
            },
          ),
          use('tell', { key: step('key'), sub: step('sub'), which: step('which') }),
        ],
        { inputs: [textInput('token', { secret: true })] },
      ),
      graph(
        [
          compute('part', { kind: 'slice', style: 'js', of: input('key'), start: lit(4) }),
          use('open', { part: step('part'), name: input('name') }),
        ],
        {
          name: 'inner',
          inputs: [required('key'), required('name')],
          returns: {
            kind: 'dict',
            entries: [
              { key: 'part', value: step('part') },
              { key: 'name', value: input('name') },
            ],
          },
        },
      ),
    ),
    tools: {
      login: echo(),
      open: { description: 'Open', run: ({ part }: { part: string }) => `opened with ${part}` },
      use: echo(),
      tell: failing('not with TOK-SESAME'),
    },
    given: { token: 'tok-sesame' },
  },
  'secrets-handed-to-tools': {
    graph: withTasks(
      graph([runs('sub', 'inner', { pass: input('word'), all: input('words') })], {
        inputs: [textInput('word'), textInput('words', { schema: { type: 'array' } })],
      }),
      graph(
        [
          use('login', { password: input('pass') }),
          foreach('each', input('all'), body([use('try', { password: item('w') }, { tool: 'login' })]), {
            as: 'w',
          }),
        ],
        { name: 'inner', inputs: [required('pass'), required('all')] },
      ),
    ),
    tools: { login: { ...echo(), secret: ['password'] } },
    given: { word: 'open-sesame', words: '["first-word","second-word"]' },
    input: { word: 'open-sesame', words: ['first-word', 'second-word'] },
  },
  'values-that-end-with-their-item': {
    graph: withTasks(
      graph([
        foreach(
          'line',
          lit(['a']),
          body([
            ...chain(
              use('find', {}, { onError: { value: lit({ page: 'usual' }) } }),
              foreach('each', lit([1, 2]), body([compute('double', item('n'))], text('no ', item('n'))), {
                as: 'n',
              }),
              runs('sub', 'inner'),
              use('blocked', { of: get(lit(null), 'x') }),
            ),
            use('tell', { find: step('find'), each: step('each'), sub: step('sub') }, { after: ['sub'] }),
          ]),
        ),
      ]),
      graph([compute('own', lit('mine'))], { name: 'inner', returns: step('own') }),
    ),
    tools: { find: failing('no such page'), blocked: echo(), tell: echo() },
  },
};
