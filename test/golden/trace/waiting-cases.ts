import type { AskNode } from '../../../src/graph/model.js';
import {
  ask,
  body,
  branch,
  compensate,
  delegate,
  foreach,
  item,
  parallel,
  shell,
  undo,
  wait,
} from '../../../src/runtime/engine/constructs.fixture.js';
import { graph, input, lit, step, text } from '../../../src/runtime/engine/graph.fixture.js';
import { echo, get, sample, use } from './parts.js';
import { type Scenario, textInput } from './scenario.js';

const workflowId = 'run-1';

const lead = { kind: 'role', role: 'lead', except: 'owner' } as const;

const asking = (mode: AskNode['mode'], options: Partial<AskNode> = {}): Scenario => ({
  graph: sample([
    use('find', {}),
    ask('sure', mode, { message: text('Take ', get(step('find'), 'name'), '?'), ...options }),
    use('tell', { answer: step('sure') }),
  ]),
  tools: { find: echo({ name: 'flight "7"\nnow', seats: ['12A', '14C'] }), tell: echo('told') },
  workflowId,
});

/** Runs that wait, and what becomes of the answers. */
export const waitingCases: Readonly<Record<string, Scenario>> = {
  'waits-for-info': asking('info'),
  'waits-for-confirm': asking('confirm'),
  'waits-for-text': asking('text', { timeoutMs: 60_000 }),
  'waits-for-choice': asking('choice', { options: get(step('find'), 'seats') }),
  'waits-for-yield': asking('yield', {
    expects: { type: 'object', properties: { page: { type: 'string' } }, required: ['page'] },
  }),
  'waits-for-model': asking('model', { expects: { type: 'string' } }),
  'reader-supplies-values': {
    graph: graph(
      [
        use('find', { text: input('task') }),
        ask('format', 'model', {
          message: text('Format ', input('task'), ' for ', get(step('find'), 'page')),
          expects: { type: 'string' },
          feeds: { node: 'add', path: ['block'] },
        }),
        {
          ...use('add', { page: get(step('find'), 'page'), block: step('format') }),
          guidance: lit('Begin with TODO'),
        },
        ask('title', 'model', { message: lit('Title?'), expects: { type: 'string', maxLength: 9 } }),
        use('tell', { id: get(step('add'), 'id'), title: step('title') }),
      ],
      { inputs: [textInput('task')] },
    ),
    given: { task: 'water the plants' },
    tools: { find: echo({ page: 'Garden' }), add: echo({ id: 7 }), tell: echo('told') },
  },
  'reader-supplies-values-with-resources': {
    graph: graph([
      ask('format', 'model', {
        message: lit('Format the task'),
        expects: { type: 'string' },
        feeds: { node: 'add', path: ['block'] },
        resources: [{ resource: 'guide', uri: 'res://guide' }],
      }),
      { ...use('add', { block: step('format') }), guidance: lit('Begin with TODO') },
      ask('title', 'model', {
        message: lit('Title?'),
        expects: { type: 'string' },
        feeds: { node: 'tell', path: ['title'] },
        resources: [{ resource: 'rules', uri: 'res://rules' }],
      }),
      use('tell', { title: step('title') }),
    ]),
    tools: { add: echo({ id: 7 }), tell: echo('told') },
    resources: { guide: 'TODO first', rules: 'short' },
  },
  'is-answered': {
    ...asking('choice', { options: get(step('find'), 'seats') }),
    answers: { sure: { selected: '14C' } },
  },
  'nobody-answers': (() => {
    const { workflowId: _kept, ...alone } = asking('choice', { options: get(step('find'), 'seats') });
    return alone;
  })(),
  'waits-for-several': {
    graph: graph(
      [
        parallel('both', {
          left: body([ask('one', 'text', { message: text('The code for ', input('pin'), '?') })]),
          right: body([
            foreach(
              'each',
              lit(['a', 'b']),
              body([ask('pick', 'confirm', { message: text('Take ', item('x'), '?') })]),
              {
                as: 'x',
                concurrency: 2,
              },
            ),
          ]),
          time: body([wait('pause', { durationMs: lit(60_000) }), use('later', {}, { after: ['pause'] })]),
        }),
        use('tell', {}, { after: ['both'] }),
      ],
      { inputs: [textInput('pin', { secret: true })] },
    ),
    tools: { later: echo(), tell: echo() },
    given: { pin: '4711-0815' },
    workflowId,
  },
  'asks-others': {
    graph: sample([
      ask('sure', 'confirm', { answerBy: [lead] }),
      ask('label', 'text', { answerBy: [{ kind: 'owner' }, lead] }),
      use('tell', {}),
    ]),
    tools: { tell: echo() },
    workflowId,
  },
  'asks-others-in-the-hand-off': {
    graph: sample([ask('sure', 'confirm', { answerBy: [lead] }), use('tell', { is: step('sure') })]),
    tools: { tell: echo() },
  },
  'waits-for-a-time': {
    graph: sample([wait('pause', { durationMs: lit(60_000) }), use('tell', {})]),
    tools: { tell: echo() },
    workflowId,
  },
  'has-waited': {
    graph: sample([
      wait('pause', { durationMs: lit(60_000) }),
      wait('none', { durationMs: lit(0) }),
      use('tell', {}),
    ]),
    tools: { tell: echo('told') },
  },
  'asks-in-the-hand-off': {
    graph: graph([
      use('find', {}),
      branch('how', [
        [get(step('find'), 'isBig'), body([ask('sure'), use('big', { is: get(step('sure'), 'confirmed') })])],
      ]),
      wait('pause', { durationMs: lit(5_000), after: ['how'] }),
      use('tell', {}, { after: ['pause'] }),
    ]),
    tools: { find: echo({ isBig: true }), big: echo(), tell: echo() },
  },
  'client-work': {
    graph: sample(
      [
        shell('build', text('make ', input('of'))),
        delegate('review', { agent: '@reviewer', prompt: text('Review ', step('build', 'stdout')) }),
        use('issue', { title: step('review', 'response') }, { executor: 'client' }),
      ],
      { inputs: [textInput('of')] },
    ),
    given: { of: 'all' },
    answers: { build: { exit_code: 0, stdout: 'built' } },
    workflowId,
  },
  'client-work-that-is-done': {
    graph: sample([shell('build'), delegate('review'), use('issue', {}, { executor: 'client' })]),
    answers: { build: { exit_code: 0 }, review: { response: 'fine' }, issue: { id: 7 } },
  },
  'client-work-in-the-hand-off': {
    graph: sample([
      use('find', {}),
      shell('build', text('make ', step('find')), { argv: { kind: 'list', items: [{ value: lit('-s') }] } }),
      delegate('review', { agent: '@reviewer', prompt: text('Review ', step('build', 'stdout')) }),
      delegate('sum-up'),
      use('issue', { title: step('review', 'response') }, { executor: 'client' }),
    ]),
    tools: { find: echo('all') },
  },
  'cancelled-and-undone': {
    graph: sample([
      use('reserve', {}, { compensate: undo('free', { id: step('reserve') }) }),
      ask('sure'),
      use('tell', {}),
      compensate('never', [undo('free', {})]),
    ]),
    tools: { reserve: echo(7), free: echo('freed'), tell: echo() },
    cancel: true,
    workflowId,
  },
};
