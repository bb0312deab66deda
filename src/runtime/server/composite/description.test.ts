import { expect, test } from 'vitest';
import { ask, body, branch, compensate, foreach, parallel, undo } from '../../engine/constructs.fixture.js';
import { again, call, chain, done, graph, input, lit, step } from '../../engine/graph.fixture.js';
import { describeWorkflow } from './description.js';

const linesOf = (...parts: Parameters<typeof describeWorkflow>) =>
  describeWorkflow(...parts)
    .split('\n')
    .slice(2);

test('shows the flow of every construct, the policy and the parameters', () => {
  const nodes = [
    ...chain(
      call('search', {}, { retry: again(2) }),
      branch('seats', [
        [step('search'), body([call('reserve'), call('mail')])],
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
    '│ search → [ reserve → mail | waitlist ] → waitlist → ( flight & – ) → each page: { print } → sure → undo',
    '│ On failure: some steps are retried; what was done is undone; stops at the first failure',
    '│ May ask a question before it is done: then answer with submit_result.',
    '│ Params:',
    '│   pages (array, required)',
    '│   mood (one of a few, optional, default "a")',
    '│   key (any, optional, secret)',
    '└─',
  ]);
});

test.each([
  [{ errorStrategy: { kind: 'collect' } }, 'steps that do not depend on it go on, and all failures are told'],
  [{ errorStrategy: { kind: 'retry', retry: again(2) } }, 'each call up to 3 times, then stops'],
  [{ failFast: false }, 'steps that do not depend on it go on'],
] as const)('tells the policy of %j', (options, policy) => {
  expect(linesOf(graph([call('a')], options), false)).toContain(`│ On failure: ${policy}`);
});

test('cuts a flow that is too long, and never exceeds its limit', () => {
  const many = graph(Array.from({ length: 300 }, (_, index) => call(`step-${index}`)));
  const described = describeWorkflow(many, false);
  expect(described).toContain('…\n│ On failure');
  expect(described.length).toBeLessThanOrEqual(1_024);
});
