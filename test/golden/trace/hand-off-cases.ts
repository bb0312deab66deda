import type { Node } from '../../../src/graph/kinds/node.js';
import {
  body,
  branch,
  dict,
  foreach,
  isMore,
  item,
  parallel,
  required,
  runs,
  undo,
  withTasks,
} from '../../../src/runtime/engine/constructs.fixture.js';
import { graph, input, list, lit, step, stop, text } from '../../../src/runtime/engine/graph.fixture.js';
import { echo, failing, get, readOnly, sample, use } from './parts.js';
import { type Scenario, textInput } from './scenario.js';

/** A step that fails and may be called again, one that is left out, and what joins them. */
const joined: readonly Node[] = [
  use('one', {}),
  use('two', {}, { when: lit(false) }),
  use('three', {}, { when: get(step('one'), 'more') }),
  use('both', {}, { after: ['one', 'two'], join: 'all_success' }),
  use('behind', { both: step('both') }, { after: ['both'], join: 'all_success' }),
  use('any', {}, { after: ['one', 'two'], join: 'one_success' }),
  use('some', {}, { after: ['one', 'two'], join: 'none_failed_min_one_success' }),
  use('all', {}, { after: ['one', 'three'], join: 'all_success' }),
  use('either', {}, { after: ['two', 'three'], join: 'one_success' }),
  use('none', { both: step('both') }, { after: ['two', 'both'], join: 'none_failed' }),
  branch('way', [[get(step('one'), 'more'), body([use('inside', {})])]], {
    after: ['two', 'both'],
    join: 'one_success',
  }),
];

const joinTools = {
  one: failing('not now', { annotations: readOnly }),
  ...Object.fromEntries(
    ['two', 'three', 'both', 'behind', 'any', 'some', 'all', 'either', 'none', 'inside'].map((name) => [
      name,
      echo(),
    ]),
  ),
};

/** A tool that runs until it is aborted. */
const endless = {
  description: 'Take for ever',
  run: (_input: never, { signal }: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('given up')))),
};

/** Runs that stopped, and what can be done about it. */
export const handOffCases: Readonly<Record<string, Scenario>> = {
  'joins-in-the-hand-off': { graph: graph(joined), tools: joinTools },
  'joins-after-what-cannot-be-repeated': {
    graph: graph([
      use('one', {}),
      use('two', {}),
      use('all', {}, { after: ['one', 'two'], join: 'all_success' }),
      use('any', {}, { after: ['one', 'two'], join: 'one_success' }),
      use('bad', {}),
      use('last', {}, { after: ['one', 'bad'], join: 'one_success' }),
    ]),
    tools: {
      one: failing('no'),
      bad: failing('no as well'),
      two: echo(),
      all: echo(),
      any: echo(),
      last: echo(),
    },
  },
  'joins-without-fail-fast': { graph: graph(joined, { failFast: false }), tools: joinTools },
  'cause-before-its-victims': {
    graph: sample([
      parallel('p', {
        slow: body([use('write', {})]),
        quick: body([use('check', {})]),
        other: body([use('log', {})]),
      }),
      use('tell', {}),
    ]),
    tools: { write: endless, check: failing('not allowed'), log: endless, tell: echo() },
  },
  'rollback-in-a-workflow': {
    graph: withTasks(
      graph([runs('trip', 'book', {})]),
      graph(
        [
          parallel(
            'both',
            {
              seats: body([
                foreach(
                  'each',
                  lit(['1A', '1B']),
                  body([
                    use('seat', { at: item('seat') }, { compensate: undo('free', { at: item('seat') }) }),
                  ]),
                  { as: 'seat' },
                ),
              ]),
              meal: body([use('meal', {})]),
            },
            { onPartialFailure: 'rollback', concurrency: 1 },
          ),
        ],
        { name: 'book' },
      ),
    ),
    tools: { seat: echo('taken'), free: failing('sold'), meal: failing('no meals') },
  },
  'rollback-of-secrets': {
    graph: graph(
      [
        parallel(
          'both',
          {
            a: body([
              use(
                'open',
                { key: input('word') },
                { compensate: undo('close', { key: input('word'), id: lit(1) }) },
              ),
            ]),
            b: body([use('bad', {})]),
          },
          { onPartialFailure: 'rollback', concurrency: 1 },
        ),
      ],
      { inputs: [textInput('word', { secret: true })] },
    ),
    tools: { open: echo('opened'), close: failing('jammed'), bad: failing('no') },
    given: { word: 'sesame-0815' },
  },
  'rollback-of-secrets-handed-down': {
    graph: withTasks(
      graph([runs('outer', 'middle', { account: dict({ key: input('word') }), name: lit('Ada') })], {
        inputs: [textInput('word', { secret: true })],
      }),
      graph([runs('trip', 'book', { key: get(input('account'), 'key'), name: input('name') })], {
        name: 'middle',
        inputs: [textInput('account', { secret: true }), textInput('name')],
      }),
      graph(
        [
          parallel(
            'both',
            {
              a: body([
                use(
                  'open',
                  { name: input('name') },
                  {
                    compensate: undo('close', {
                      name: input('name'),
                      auth: dict({ key: input('key'), more: list(input('key')) }),
                    }),
                  },
                ),
                use(
                  'sign',
                  {},
                  {
                    after: ['open'],
                    compensate: undo('revoke', {
                      header: text('Bearer ', input('key')),
                      code: { kind: 'call', fn: 'toUpperCase.js', args: [input('key')] },
                    }),
                  },
                ),
              ]),
              b: body([use('bad', {})]),
            },
            { onPartialFailure: 'rollback', concurrency: 1 },
          ),
        ],
        { name: 'book', inputs: [textInput('key', { secret: true }), textInput('name')] },
      ),
    ),
    tools: {
      open: echo('opened'),
      sign: echo('signed'),
      close: failing('jammed'),
      revoke: failing('jammed'),
      bad: failing('no'),
    },
    given: { word: 'sesame-0815' },
  },
  'workflow-in-itself': {
    graph: withTasks(
      graph([runs('start', 'down', { from: lit(2) })]),
      graph(
        [
          use('say', { from: input('from') }),
          runs(
            'deeper',
            'down',
            { from: { kind: 'arithmetic', op: 'sub', left: input('from'), right: lit(1) } },
            { after: ['say'], when: isMore(input('from'), 0) },
          ),
        ],
        {
          name: 'down',
          inputs: [required('from')],
          returns: dict({ said: input('from'), deeper: step('deeper') }),
        },
      ),
    ),
    tools: { say: echo() },
  },
  'stopped-while-others-run': {
    graph: graph([
      use('one', {}),
      stop('enough', text('that is ', lit('enough')), { after: [] }),
      use('two', {}, { after: ['one'] }),
    ]),
    tools: { one: echo(), two: echo() },
  },
};
