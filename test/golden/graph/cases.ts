import {
  argument,
  computes,
  fails,
  graphOf,
  reads,
  returns,
  step,
} from '../../../src/check/check-graph.fixture.js';
import {
  arm,
  asks,
  body,
  branches,
  either,
  goesBack,
  loop,
  parallel,
  runs,
  sets,
  undoes,
  undoing,
  waits,
} from '../../../src/check/constructs.fixture.js';
import {
  call,
  dict,
  get,
  list,
  literal,
  map,
  ref,
  text,
} from '../../../src/graph/expression/build.fixture.js';
import type { Expr } from '../../../src/graph/expression/tree.js';
import type { Node } from '../../../src/graph/kinds/node.js';
import type { Graph } from '../../../src/graph/model.js';

const sure = ref('inputs', 'sure');
const retry = { extra: 2, delayMs: 200, backoff: 'exponential', capMs: 60_000, jitter: 0 } as const;

function is(left: Expr, value: string | number): Expr {
  return { kind: 'compare', left, ops: [{ op: 'eq.strict', right: literal(value) }] };
}

/** `step !== undefined ? then : else` */
function otherwise(id: string, then: Expr, instead: Expr): Expr {
  const test: Expr = {
    kind: 'compare',
    left: ref('steps', id),
    ops: [{ op: 'ne.strict', right: literal() }],
  };
  return { kind: 'conditional', truth: 'boolean', test, then, else: instead };
}

function above(left: Expr, value: number): Expr {
  return { kind: 'compare', left, ops: [{ op: 'gt.js', right: literal(value) }] };
}

function graph(nodes: readonly Node[], more: Partial<Graph> = {}): Graph {
  return graphOf(nodes, { name: 'case', description: 'Shows how it is printed', inputs: [], ...more });
}

/** One graph for each construct, by the name of its golden file. */
export const cases: Readonly<Record<string, Graph>> = {
  linear: graph(
    [
      reads(3, 'intro', literal('resource://logseq/intro')),
      step(
        4,
        'list',
        'list-pages',
        { limit: ref('inputs', 'limit') },
        {
          ...{ after: ['doc'], retry, timeoutMs: 5000 },
          resources: [{ resource: 'intro', uri: 'resource://logseq/intro' }],
        },
      ),
      computes(5, 'slug', list(get(ref('steps', 'list', 'pages', 0), 'title', true)), {
        after: ['list'],
        function: { name: 'slugify', hash: '0'.repeat(64) },
      }),
      fails(6, literal('nothing to do'), { after: ['slug'], when: call('isNullish', ref('steps', 'slug')) }),
      step(
        7,
        'added',
        'add-task',
        { task: text('js', ref('steps', 'slug'), '!'), page: ref('steps', 'list', 'pages', 0, 'title') },
        { after: ['stop'], when: sure, onError: { value: ref('error', 'code') } },
      ),
      returns(8, dict({ added: ref('steps', 'added') }), { after: ['added'] }),
    ],
    {
      inputs: [
        { ...argument('limit', { type: 'integer' }), required: false, default: 10 },
        { ...argument('sure', { enum: ['yes', 'no'] }), required: false },
        { ...argument('token'), secret: true },
      ],
      instructions: [{ resource: 'intro', uri: 'resource://logseq/intro' }],
      errorStrategy: { kind: 'retry', retry },
      maxConcurrency: 3,
    },
  ),
  empty: graph([]),
  'branch-with-bodies': graph(
    [
      step(3, 'kind', 'list-pages'),
      branches(
        4,
        'routed',
        [
          arm(
            'bug',
            body([step(5, 'bug', 'put')], ref('steps', 'bug')),
            is(ref('steps', 'kind', 'name'), 'bug'),
          ),
          arm('task', body([], literal('later')), is(ref('steps', 'kind', 'name'), 'task')),
          arm('none', body([]), is(ref('steps', 'kind', 'name'), 'none')),
        ],
        { after: ['kind'], else: { id: 'other', body: body([fails(6, literal('what is that?'))]) } },
      ),
    ],
    { returns: dict({ id: get(ref('steps', 'routed'), 'id', true) }) },
  ),
  'branch-with-ways': graph([
    step(3, 'search', 'list-pages', {}, { join: 'none_failed_min_one_success' }),
    branches(4, 'seats', [arm('free', 'reserve', above(ref('steps', 'search', 'total'), 0))], {
      after: ['search'],
      else: { id: 'full', goto: 'waitlist' },
    }),
    step(5, 'reserve', 'put', {}, { onError: { fallbackNode: 'failed' } }),
    step(6, 'waitlist', 'put'),
    fails(7, literal('could not be booked'), { id: 'failed' }),
    step(8, 'pay', 'put', {}, { after: ['reserve', 'waitlist'], join: 'none_failed_min_one_success' }),
  ]),
  'branch-with-both': graph([
    either(3, 'way', 'later', body([step(4, 'now', 'put')])),
    step(5, 'later', 'put'),
  ]),
  attempts: graph([
    branches(3, 'sent', [
      arm(
        'try',
        body(
          [
            step(
              4,
              'sent.try',
              'put',
              { to: ref('inputs', 'a') },
              { onError: { fallbackNode: 'sent.fallback' } },
            ),
            step(5, 'sent.fallback', 'list-pages', { why: ref('error', 'message') }),
          ],
          otherwise('sent.try', ref('steps', 'sent.try', 'id'), ref('steps', 'sent.fallback')),
        ),
      ),
    ]),
    branches(
      6,
      'both',
      [
        arm(
          'try',
          body(
            [step(7, 'both.1', 'put'), step(8, 'both.2', 'put', {}, { after: ['both.1'] })],
            ref('steps', 'both.2'),
          ),
        ),
      ],
      { after: ['sent'], onError: { value: literal('none') } },
    ),
    branches(
      9,
      'again',
      [
        arm(
          'try',
          body([
            branches(10, 'again.try', [arm('try', body([step(11, 'again.1', 'put')]))], {
              onError: { fallbackNode: 'again.error' },
              retry,
            }),
            computes(12, 'again.error', dict({ code: ref('error', 'code') })),
            branches(
              13,
              'again.fallback',
              [arm('then', body([step(14, 'told', 'put', { why: ref('steps', 'again.error', 'code') })]))],
              { after: ['again.error'], join: 'all_success' },
            ),
          ]),
        ),
      ],
      { after: ['both'] },
    ),
    step(
      15,
      'last',
      'put',
      {},
      { after: ['again'], onError: { fallbackNode: 'last.fallback' }, timeoutMs: 500 },
    ),
    fails(16, text('js', 'gave up: ', ref('error', 'message')), { id: 'last.fallback' }),
    branches(17, 'empty', [arm('then', body([], literal(1)))], { after: ['last'] }),
  ]),
  parallel: graph([
    parallel(
      3,
      'fast',
      { a: body([step(4, 'a1', 'put')]), b: body([step(5, 'b1', 'put')]) },
      { concurrency: 1 },
    ),
    parallel(
      6,
      'kept',
      { c: body([step(7, 'c1', 'put'), step(8, 'c2', 'put', {}, { after: ['c1'] })], ref('steps', 'c2')) },
      { after: ['fast'], onPartialFailure: 'continue', when: sure },
    ),
  ]),
  'rollback-of-calls': graph([
    parallel(
      3,
      'trip',
      {
        flight: body([
          step(
            4,
            'flight',
            'put',
            {},
            { compensate: undoing('cancel', { id: ref('steps', 'flight', 'id') }) },
          ),
        ]),
        hotel: body([
          step(5, 'hotel', 'put', {}, { compensate: { ...undoing('cancel'), ignoreError: true } }),
        ]),
      },
      { onPartialFailure: 'rollback' },
    ),
  ]),
  'rollback-by-a-step': graph([
    parallel(
      3,
      'trip',
      { flight: body([step(4, 'flight', 'put')]), hotel: body([step(5, 'hotel', 'put')]) },
      { onPartialFailure: 'rollback', compensateNode: 'undo' },
    ),
    undoes(
      6,
      'undo',
      undoing('cancel', { id: ref('steps', 'flight', 'id') }),
      undoing('cancel', { id: ref('steps', 'hotel', 'id') }),
    ),
    step(7, 'confirm', 'put', {}, { after: ['trip'] }),
  ]),
  loops: graph([
    step(3, 'list', 'list-pages'),
    loop(
      4,
      'outer',
      ref('steps', 'list', 'pages'),
      body(
        [
          loop(
            5,
            'inner',
            ref('item', 'page', 'lines'),
            body([step(6, 'add', 'put', { line: ref('item', 'x') })]),
          ),
        ],
        dict({ place: ref('index', 'i'), lines: ref('steps', 'inner') }),
      ),
      { as: 'page', indexAs: 'i', concurrency: 4, onItemError: 'continue', after: ['list'], retry },
    ),
    step(7, 'told', 'put', { all: map(ref('steps', 'outer'), 'each', ref('local', 'each', 'place')) }),
  ]),
  workflows: graph([
    runs(3, 'line', 'add-line', { line: literal('x'), page: literal() }),
    runs(4, 'all', 'add-all', {}, { after: ['line'], timeoutMs: 10, onError: { fallbackNode: 'told' } }),
    step(5, 'told', 'put'),
  ]),
  questions: graph([
    asks(3, 'told', 'info'),
    asks(4, 'go', 'confirm', { after: ['told'], timeoutMs: 60_000 }),
    asks(5, 'note', 'text', { after: ['go'], when: ref('steps', 'go', 'confirmed') }),
    asks(6, 'where', 'choice', { after: ['note'], options: literal(['top', 'bottom']) }),
    asks(7, 'seat', 'yield', { after: ['where'], expects: { type: 'object' } }),
  ]),
  state: graph(
    [
      { ...sets(3, 'saved', { count: ref('state', 'count'), page: literal('Inbox') }), reads: ['count'] },
      { ...waits(4, 'pause', literal(2000)), after: ['saved'] },
      {
        kind: 'wait',
        id: 'night',
        until: literal('2030-01-01T00:00:00Z'),
        after: ['pause'],
        join: 'all_done',
        executor: 'server',
      },
    ],
    {
      state: [
        { name: 'count', scope: 'run', schema: { type: 'integer' }, initial: 0 },
        { name: 'page', scope: 'run', schema: { type: ['string', 'null'] } },
      ],
    },
  ),
  goto: graph([
    step(3, 'improve', 'put'),
    step(4, 'review', 'put', {}, { after: ['improve'] }),
    goesBack(5, 'again', 'improve', { after: ['review'], when: above(literal(90), 3), onLimit: 'continue' }),
    goesBack(6, 'once', 'review', { after: ['again'], max: 1 }),
    step(7, 'publish', 'put', {}, { after: ['once'] }),
  ]),
  'side-by-side': graph(
    [
      step(3, 'a', 'put'),
      step(4, 'b', 'put'),
      step(5, 'c', 'put', {}, { after: ['a', 'b'], join: 'one_success' }),
    ],
    { failFast: false, errorStrategy: { kind: 'collect' } },
  ),
  'hostile-texts': graph(
    [
      step(
        3,
        'a',
        'put',
        { 'b c': literal('"]; click n0 "javascript:x" <b>#`') },
        { title: '1. "quoted"] --> \n n9' },
      ),
      fails(4, literal(`line\nbreak \u202e ${'long '.repeat(150)}`), { after: ['a'] }),
      step(5, 'end', 'put', {}, { after: ['stop'], when: is(ref('inputs', 'a', 'b c', 'd'), '|') }),
    ],
    { description: 'two\nlines' },
  ),
};
