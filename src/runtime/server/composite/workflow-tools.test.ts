import { expect, test } from 'vitest';
import {
  ask,
  back,
  body,
  branch,
  compensate,
  foreach,
  parallel,
  runs,
  set,
  undo,
  wait,
  withTasks,
} from '../../engine/constructs.fixture.js';
import {
  again,
  call,
  chain,
  compute,
  done,
  graph,
  input,
  lit,
  step,
  stop,
} from '../../engine/graph.fixture.js';
import { describeShortly, describeWorkflow } from './workflow-tools.js';

const linesOf = (...parts: Parameters<typeof describeWorkflow>) =>
  describeWorkflow(...parts)
    .split('\n')
    .slice(2);

/** The line of a box that shows the flow. */
const flowOf = (nodes: Parameters<typeof graph>[0]) => linesOf(graph(nodes), false)[1];

test('shows the flow of every construct, the policy and the parameters', () => {
  const nodes = [
    ...chain(
      call('search', {}, { retry: again(2) }),
      branch('seats', [
        [step('search'), body([call('reserve'), call('mail', {}, { after: ['reserve'] })])],
        [undefined, 'waitlist'],
      ]),
      call('waitlist'),
      parallel(
        'both',
        { a: body([call('flight')]), b: body([done('none', lit(1))]) },
        { onPartialFailure: 'rollback' },
      ),
      foreach('each-page', input('pages'), body([call('print')]), { as: 'page' }),
      ask('sure'),
    ),
    compensate('undo', [undo('tool-x')]),
    done('out', lit(1)),
  ];
  const inputs = [
    { name: 'pages', description: '', schema: { type: 'array' }, required: true },
    { name: 'mood', description: '', schema: { enum: ['a'] }, required: false, default: 'a' },
    { name: 'key', description: '', schema: {}, required: false, default: 'x', secret: true },
  ];
  expect(linesOf(graph(nodes, { inputs }), true)).toEqual([
    '┌─ Workflow: sample',
    '│ search → [ reserve → mail | – ] → waitlist → ( flight & – ) → each page: { print } → sure',
    '│ On failure: search: up to 3 attempts; both: what was done is undone; otherwise stops at the first failure',
    '│ May ask a question before it is done: then answer with submit_result.',
    '│ Params:',
    '│   pages (array, required)',
    '│   mood (one of a few, optional, default "a")',
    '│   key (any, optional, secret)',
    '└─',
  ]);
});

test.each([
  [
    'what goes back, and what is written',
    '│ e → l (set log) → [ back to e | – ]',
    () => chain(call('e'), set('l', { log: lit(1) }), back('again', 'e', 3, { when: input('more') })),
  ],
  [
    'conditions',
    '│ a → [ b | – ] → [ c | d | – ]',
    () =>
      chain(
        call('a'),
        call('b', {}, { when: input('x') }),
        branch(
          'which',
          [
            [input('x'), body([call('c')])],
            [undefined, body([call('d')])],
          ],
          { when: input('x') },
        ),
      ),
  ],
  [
    'steps that run side by side',
    '│ ( one & two ) → ( all & any )',
    () => [
      call('one'),
      call('two'),
      call('all', {}, { after: ['one', 'two'] }),
      call('any', {}, { after: ['one', 'two'] }),
    ],
  ],
  [
    'what a branch leads to',
    '│ search → [ reserve | waitlist ] → pay',
    () => [
      call('search'),
      branch(
        'seats',
        [
          [input('x'), 'reserve'],
          [undefined, 'waitlist'],
        ],
        { after: ['search'] },
      ),
      call('reserve'),
      call('waitlist'),
      call('pay', {}, { after: ['reserve', 'waitlist'] }),
    ],
  ],
  [
    'attempts',
    '│ ( try a, else b → c ) → d → ( try e, else f )',
    () => [
      branch('x', [
        [
          lit(true),
          body([
            call('a', {}, { onError: { fallbackNode: 'b' } }),
            call('b'),
            call('c', {}, { after: ['b'] }),
          ]),
        ],
      ]),
      call('d', {}, { onError: { fallbackNode: 'no' }, after: ['x'] }),
      stop('no'),
      call('e', {}, { onError: { fallbackNode: 'f' }, after: ['d'] }),
      call('f'),
    ],
  ],
  [
    'steps that belong together',
    '│ a → b',
    () => [branch('x', [[lit(true), body(chain(call('a'), call('b')))]])],
  ],
])('shows %s', (_what, flow, nodes) => {
  expect(flowOf(nodes())).toBe(flow);
});

test.each([
  [
    { errorStrategy: { kind: 'collect' } },
    'steps that do not depend on it go on, and all failures are reported',
  ],
  [
    { errorStrategy: { kind: 'retry', retry: again(2) } },
    'each call: up to 3 attempts; otherwise stops at the first failure',
  ],
  [{ failFast: false }, 'steps that do not depend on it go on'],
] as const)('tells the policy of %j', (options, policy) => {
  expect(linesOf(graph([call('a')], options), false)).toContain(`│ On failure: ${policy}`);
});

test('tells what each step does on a failure', () => {
  const nodes = chain(
    ...['a', 'b', 'c', 'd'].map((id) => call(id, {}, { onError: { value: lit(1) } })),
    parallel('both', { x: body([]) }, { onPartialFailure: 'continue' }),
    foreach('made', input('pages'), body([]), { onItemError: 'continue' }),
    foreach('all', input('pages'), body([])),
  );
  expect(linesOf(graph(nodes), false)).toContain(
    '│ On failure: a, b, c and 1 more: 1 instead; both: goes on if one branch succeeds; made: goes on, with null for the item; otherwise stops at the first failure',
  );
});

test('counts as a fallback only what keeps the run from failing', () => {
  const failing = (id: string) => call(id, {}, { onError: { fallbackNode: `${id}-else` } });
  const nodes = [
    ...chain(failing('a'), failing('b'), failing('c'), failing('d')),
    stop('a-else'),
    compensate('b-else', [undo('tool-x')]),
    call('c-else'),
    branch('d-else', [[lit(true), body(chain(call('tell'), stop('give-up')))]]),
    branch('e', [
      [
        lit(true),
        body([
          failing('e-try'),
          compute('e-try-else', lit(1)),
          stop('e-end', lit(''), { after: ['e-try-else'] }),
        ]),
      ],
    ]),
  ];
  expect(linesOf(graph(nodes), false)).toContain(
    '│ On failure: b: what was done is undone; c: c-else instead; otherwise stops at the first failure',
  );
});

test('tells the attempts of a step and what comes after the last one', () => {
  const options = (fallbackNode: string) => ({ retry: again(2), onError: { fallbackNode } });
  const nodes = [
    ...chain(
      call('a', {}, options('a-else')),
      call('b', {}, options('b-else')),
      call('c', {}, options('c-else')),
      call('d', {}, { retry: again(1), onError: { value: lit(null) } }),
      call('e', {}, { retry: again(0) }),
    ),
    stop('a-else', lit('no luck')),
    compensate('b-else', [undo('tool-x')]),
    call('c-else'),
  ];
  expect(linesOf(graph(nodes), false)[2]).toBe(
    '│ On failure: a: up to 3 attempts, then fails with "no luck"; b: up to 3 attempts, then what was done is undone; c: up to 3 attempts, then c-else instead; d: up to 2 attempts, then null instead; otherwise stops at the first failure',
  );
});

test('mentions questions only where one is possible', () => {
  const asking = '│ May ask a question before it is done: then answer with submit_result.';
  const pausing = graph([wait('nap', { durationMs: lit(5) })], { name: 'other' });
  const lines = linesOf(pausing, true);
  expect(lines).toContain('│ May wait for a time: get_workflow_status returns its state.');
  expect(lines).not.toContain(asking);
  expect(linesOf(withTasks(graph([runs('sub', 'other')]), pausing), true)).not.toContain(asking);
  const curious = graph([ask('sure')], { name: 'other' });
  expect(linesOf(withTasks(graph([runs('sub', 'other')]), curious), true)).toContain(asking);
});

test('names those who alone may answer', () => {
  const lead = { kind: 'role', role: 'lead', except: 'owner' } as const;
  const theirs = ask('sure', 'confirm', { answerBy: [lead] });
  const who = "a caller with the role 'lead' who is not the owner";
  expect(describeShortly(graph([theirs]), true)).toContain(
    `May ask a question before it is done, which only ${who} may answer: get_workflow_status returns its state.`,
  );
  const both = `May ask questions before it is done: then answer with submit_result. Some only ${who} may answer: get_workflow_status returns its state.`;
  expect(describeShortly(graph([theirs, ask('name')]), true)).toContain(both);
  const shared = ask('name', 'text', { answerBy: [{ kind: 'owner' }, lead] });
  expect(linesOf(graph([theirs, theirs, shared]), true)).toContain(`│ ${both}`);
  expect(describeShortly(graph([shared]), true)).toContain('then answer with submit_result.');
  expect(describeShortly(graph([shared]), true)).not.toContain('lead');
});

const many = (count: number, id: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => id(index));
const argument = (name: string) => ({ name, description: '', schema: {}, required: true });

test('leaves the parameters out first, which are in the schema', () => {
  const inputs = many(40, (index) => `some-long-argument-${index}`).map(argument);
  const nested = branch('x', [[input('x'), body([call('inner')])]]);
  expect(linesOf(graph([nested], { inputs }), false)).toEqual([
    '┌─ Workflow: sample',
    '│ [ inner ]',
    '│ On failure: stops at the first failure',
    '│ Params: 40, as the input schema says',
    '└─',
  ]);
});

test('leaves the inner parts of a flow out next', () => {
  const inner = body(chain(...many(60, (index) => `inner-${index}`).map((id) => call(id))));
  const nodes = chain(call('first'), parallel('both', { a: inner, b: inner }), call('last'));
  expect(flowOf(nodes)).toBe('│ first → ( … & … ) → last');
});

test('cuts a flow that is too long, and never exceeds its limit', () => {
  const long = graph(chain(...many(300, (index) => `step-${index}`).map((id) => call(id))));
  const described = describeWorkflow(long, false);
  expect(described).toContain('…\n│ On failure');
  expect(described.length).toBeLessThanOrEqual(1_024);
});

test('keeps the box even where the author says a lot', () => {
  const inputs = [argument('x')];
  const nodes = chain(...many(99, (index) => `step-${index}`).map((id) => call(id, {}, { retry: again(1) })));
  const described = describeWorkflow(graph(nodes, { inputs, description: 'Do it. '.repeat(300) }), true);
  expect(described.length).toBeLessThanOrEqual(1_024);
  expect(described.length).toBeGreaterThan(1_000);
  expect(described).toMatch(/Do it.*…\n\n┌─ Workflow: sample\n│ step-0 → [\s\S]*│ On failure: [\s\S]*└─$/);
});
