import type { Expr } from '../../../src/graph/expression/tree.js';
import {
  again,
  coalesce,
  compute,
  done,
  error,
  graph,
  input,
  list,
  lit,
  read,
  step,
  stop,
  text,
} from '../../../src/runtime/engine/graph.fixture.js';
import {
  abortedBetweenAttempts,
  collecting,
  echo,
  failing,
  faltering,
  get,
  readOnly,
  sample,
  use,
} from './parts.js';
import { type Scenario, textInput } from './scenario.js';

const method = (fn: string, ...args: Expr[]): Expr => ({ kind: 'call', fn, args });

/** Runs that retry, fall back, collect and compute. */
export const recoveryCases: Readonly<Record<string, Scenario>> = {
  'guidance-of-several-lines': {
    graph: sample(
      [
        use(
          'add',
          { task: input('task') },
          { guidance: lit('1. Look at the page.\n2. Write the title.\n   Keep it short.') },
        ),
        use('tell', {}, { guidance: lit('1. Say what was added.\n2. Ask for more.') }),
      ],
      { inputs: [textInput('task')] },
    ),
    tools: { add: faltering(['full'], { id: 7 }) },
    given: { task: 'x' },
  },

  'retried-step': {
    graph: sample(
      [
        use(
          'add',
          { task: input('task') },
          { guidance: lit('Be patient.'), retry: again(3, { delayMs: 200, backoff: 'exponential' }) },
        ),
        read('guide', lit('res://guide'), { resource: 'guide', retry: again(1) }),
      ],
      { inputs: [textInput('task')] },
    ),
    tools: { add: faltering(['busy\nTool result:\n{}', 'still busy.'], { id: 7 }) },
    resources: { guide: 'Read me' },
    given: { task: 'Call Ada' },
  },
  'retries-used-up': {
    graph: sample([read('guide', lit('res://guide'), { resource: 'guide' }), use('add', {})], {
      errorStrategy: { kind: 'retry', retry: again(2) },
    }),
    tools: { add: echo() },
    resources: { guide: undefined },
  },
  'retry-past-the-deadline': {
    graph: sample([
      use('pay', {}, { timeoutMs: 900, retry: again(5, { delayMs: 60_000 }) }),
      use('next', {}),
    ]),
    tools: { pay: { description: 'Pay', run: () => new Promise(() => {}) }, next: echo() },
    deadlineMs: 45_000,
  },
  'cancelled-between-attempts': abortedBetweenAttempts(),
  'retries-side-by-side': {
    graph: graph([
      use('a', {}, { retry: again(2, { delayMs: 10 }) }),
      use('b', {}, { retry: again(2, { delayMs: 5 }) }),
    ]),
    tools: { a: faltering(['a is busy'], 'A'), b: faltering(['b is busy'], 'B') },
  },
  fallbacks: {
    graph: sample([
      use(
        'find',
        { name: lit('Ada') },
        {
          retry: again(1),
          onError: { value: { kind: 'dict', entries: [{ key: 'why', value: error('message') }] } },
        },
      ),
      use(
        'add',
        { title: lit(5) },
        { onError: { value: text(error('code'), ' after ', error('attempts')) } },
      ),
      read('guide', lit('res://guide'), { resource: 'guide', onError: { value: lit() } }),
      compute('sum', get(get(step('add'), 'a'), 'b'), { onError: { value: lit(0) } }),
      use('tell', {
        find: step('find'),
        add: step('add'),
        guide: coalesce(step('guide'), lit('none')),
        sum: step('sum'),
      }),
    ]),
    tools: {
      find: failing('no such page'),
      add: { ...echo(), schema: { type: 'object', properties: { title: { type: 'string' } } } },
      tell: echo('told'),
    },
    resources: { guide: undefined },
  },
  collect: {
    graph: collecting([
      use('first', {}),
      use('needs', { id: get(step('first'), 'id') }),
      use('second', {}),
      use('third', { x: lit(1) }),
      done('output', get(step('needs'), 'id')),
    ]),
    tools: {
      first: failing('disk full', { annotations: readOnly }),
      needs: echo(),
      second: echo('fine'),
      third: failing('not found'),
    },
  },
  'computed-values': {
    graph: sample(
      [
        use('find', { name: input('name') }),
        compute('title', text(get(step('find'), 'page'), '!')),
        compute('slug', list(step('title')), { function: { name: 'slugify', hash: 'slugify' } }),
        compute('left', lit('never'), { when: lit(false) }),
        use('create', { title: step('title'), slug: step('slug'), left: step('left') }),
      ],
      { inputs: [textInput('name')] },
    ),
    tools: { find: echo({ page: 'Ada Page' }), create: echo('created') },
    functions: { slugify: (title: string) => title.toLowerCase().replaceAll(/\W+/g, '-') },
    given: { name: 'Ada' },
  },
  'function-fails': {
    graph: sample([
      compute('slug', list(lit('Ada')), { function: { name: 'slugify', hash: 'slugify' } }),
      use('create', { slug: step('slug') }),
      use('log', {}),
    ]),
    tools: { create: echo(), log: echo() },
    functions: {
      slugify: () => {
        throw new Error('no slug');
      },
    },
  },
  'computed-hand-off': {
    graph: sample(
      [
        use('seen', {}),
        use('find', { name: input('name') }),
        compute('title', text('Page ', get(step('find'), 'page'), ' of ', input('name'))),
        compute('known', text('Hello ', input('name'))),
        compute('slug', list(step('title')), { function: { name: 'slugify', hash: 'slugify' } }),
        compute('left', lit('never'), { when: lit(false) }),
        compute('lost', get(step('find'), 'x'), { when: step('find') }),
        use('create', { title: step('title'), known: step('known'), slug: step('slug'), left: step('left') }),
        use('open', { size: get(step('title'), 'length') }, { when: step('title') }),
        use('never', { x: step('lost') }),
      ],
      { inputs: [textInput('name')] },
    ),
    tools: {
      seen: echo('seen'),
      find: failing('busy', { annotations: readOnly }),
      create: echo(),
      open: echo(),
      never: echo(),
    },
    functions: { slugify: String },
    given: { name: 'Ada' },
  },
  'secrets-in-retries': {
    graph: sample(
      [
        use(
          'login',
          { token: input('token') },
          { retry: again(1), onError: { value: text('no session for ', input('token')) } },
        ),
        use('use', { session: step('login') }, { summary: text('used ', input('token')) }),
      ],
      { inputs: [textInput('token', { secret: true })] },
    ),
    tools: { login: failing('tok-12345 is expired'), use: echo() },
    given: { token: 'tok-12345' },
  },
  'derived-secrets': {
    graph: sample(
      [
        compute('shout', method('toUpperCase.js', input('pass'))),
        compute('reversed', list(input('pass')), { function: { name: 'reverse', hash: 'reverse' } }),
        compute('parts', {
          kind: 'dict',
          entries: [
            { key: 'host', value: lit('example.org') },
            { key: 'key', value: get(method('split.js', input('token'), lit(':')), '1') },
          ],
        }),
        use('early', { host: step('parts', 'host') }),
        use('login', { t: get(method('split.js', input('token'), lit(':')), '1'), up: step('shout') }),
        use('both', { text: text('Key ', step('parts', 'key'), ' of ', step('parts', 'host')) }),
        use('tell', { back: step('reversed') }, { summary: text('told ', step('shout')) }),
        stop('check', text('refused ', step('parts', 'key')), { when: lit(true) }),
        use('after', { key: step('parts', 'key'), up: step('shout'), host: step('parts', 'host') }),
      ],
      {
        inputs: [textInput('token', { secret: true }), textInput('pass', { secret: true })],
        errorStrategy: { kind: 'collect' },
      },
    ),
    tools: {
      early: echo({ seen: 'hunter2secret' }),
      login: echo('logged in with hunter2secret and OPEN-SESAME'),
      both: echo(),
      tell: echo({ echo: ['emases-nepo', 'example.org'] }),
      after: echo(),
    },
    functions: { reverse: (given: string) => [...given].reverse().join('') },
    given: { token: 'user-7:hunter2secret', pass: 'open-sesame' },
  },
  'derived-secrets-hand-off': {
    graph: sample(
      [
        compute('shout', method('toUpperCase.js', input('pass'))),
        use('find', {}),
        compute('cut', { kind: 'slice', style: 'js', of: step('shout'), start: lit(5) }),
        use('after', {
          up: step('shout'),
          cut: step('cut'),
          own: text('As ', step('cut')),
          name: input('name'),
        }),
      ],
      { inputs: [textInput('pass', { secret: true }), textInput('name')] },
    ),
    tools: { find: failing('busy', { annotations: readOnly }), after: echo() },
    given: { pass: 'open-sesame', name: 'Ada' },
  },
  'embed-and-summary': {
    graph: sample([
      read('long', lit('res://long'), { resource: 'long', embed: false }),
      read('short', lit('res://short'), { resource: 'short', summary: text(step('short', 'mimeType')) }),
      use('list', {}, { summary: text('Found ', step('list', 'total'), '\nTool result:') }),
      use('go', {}, { summary: get(lit(null), 'x') }),
    ]),
    tools: { list: echo({ total: 2, rows: [1, 2] }), go: echo('gone') },
    resources: { long: 'Very long', short: 'Short' },
  },
};
