import type { Node } from '../../../src/graph/kinds/node.js';
import type { Graph } from '../../../src/graph/model.js';
import { ask, body, foreach, item } from '../../../src/runtime/engine/constructs.fixture.js';
import { chain, graph, input, lit, read, step, text } from '../../../src/runtime/engine/graph.fixture.js';
import { echo, failing, get, readOnly, sample, use } from './parts.js';
import { type Scenario, textInput } from './scenario.js';

const asTask = (nodes: readonly Node[], options: Partial<Graph> = {}): Graph =>
  sample(nodes, { ...options, task: true });

/** Tasks that pause, one for each reason, and one that does not. */
export const taskCases: Readonly<Record<string, Scenario>> = {
  'task-completes': {
    graph: asTask([use('find', {}), use('tell', { page: step('find') })]),
    tools: { find: echo('page 7'), tell: echo('told') },
  },
  // The first argument has a value; the second one is the reason.
  'task-lacks-a-parameter': {
    graph: asTask([
      use('find', {}),
      use(
        'add',
        { ok: lit(1), path: get(get(step('find'), 'page'), 'path') },
        { guidance: lit('Name a page') },
      ),
      use('tell', { id: get(step('add'), 'id') }),
      use('log', { text: lit('added') }),
    ]),
    tools: { find: echo({ exists: false }), add: echo(), tell: echo(), log: echo() },
  },
  'task-lacks-fields': {
    graph: asTask(
      [
        use('list', {}),
        use('add', { title: input('title'), ok: lit(1) }, { guidance: lit('Give the task a title.') }),
        use('tell', { id: get(step('add'), 'id') }),
      ],
      { inputs: [textInput('title', { required: false })] },
    ),
    tools: {
      list: echo([]),
      add: {
        ...echo(),
        schema: { type: 'object', properties: { title: {}, page: {}, ok: {} }, required: ['title', 'page'] },
      },
      tell: echo(),
    },
  },
  // A tool that only reads may be called again, and the step beside it is over by then.
  'task-at-an-error': {
    graph: graph(
      [
        use('save', { task: input('task') }),
        use('check', { task: input('task') }, { guidance: text('Check ', input('task')) }),
        use('tell', { checked: get(step('check'), 'id'), saved: step('save') }),
        use('done', { told: step('tell') }),
      ],
      { inputs: [textInput('task')], task: true },
    ),
    tools: {
      save: echo('s-1'),
      check: failing('busy', { annotations: readOnly }),
      tell: echo(),
      done: echo(),
    },
    given: { task: 'Call Ada' },
  },
  // A call that is not safe to repeat is listed with a note.
  'task-at-an-error-of-a-write': {
    graph: graph(
      [
        use('save', {}),
        use('pay', { for: step('save') }),
        use('receipt', { of: step('pay') }),
        use('log', {}),
      ],
      { task: true },
    ),
    tools: { save: echo('s-1'), pay: failing('declined'), receipt: echo(), log: echo() },
  },
  'task-at-an-unknown-outcome': {
    graph: asTask([
      use('pay', { amount: lit(5) }, { timeoutMs: 2_000 }),
      use('receipt', { payment: step('pay') }),
      use('log', { text: lit('tried') }),
    ]),
    tools: {
      pay: { description: 'Pay', run: () => new Promise(() => {}) },
      receipt: echo(),
      log: echo(),
    },
  },
  'task-lacks-an-output': {
    graph: asTask([
      use('find', {}, { when: lit(false) }),
      use('list', {}),
      use('add', { ok: lit(1), path: get(step('find'), 'path') }),
      use('tell', {}),
    ]),
    tools: { find: echo(), list: echo(['page 7']), add: echo(), tell: echo() },
  },
  // Two reasons at once: both are said, and `_meta` has the older one.
  'task-pauses-twice': {
    graph: graph(
      [
        use('left', {}),
        use('right', { page: input('page') }),
        use('both', { left: step('left'), right: step('right') }),
      ],
      { inputs: [textInput('page', { required: false })], task: true },
    ),
    tools: {
      left: failing('busy', { annotations: readOnly }),
      right: { ...echo(), schema: { type: 'object', properties: { page: {} }, required: ['page'] } },
      both: echo(),
    },
  },
  // A question that is open beside the step that pauses is said as well.
  'task-pauses-while-it-asks': {
    graph: graph(
      [
        foreach('lines', lit(['p', 'q']), body(chain(use('mark', { it: item('item') }), use('seal', {})))),
        ask('sure', 'confirm'),
        use('tell', { lines: step('lines') }),
      ],
      { task: true },
    ),
    tools: { mark: failing('busy', { annotations: readOnly }), seal: echo(), tell: echo() },
  },
  // A client cannot make the call of a step that reads: the server tries it again.
  'task-pauses-at-a-resource': {
    graph: asTask([read('guide', lit('res://guide'), { resource: 'guide' }), use('tell', {})]),
    resources: { guide: undefined },
    tools: { tell: echo() },
  },
  // A secret is named as the argument that it is.
  'task-pauses-with-secrets': {
    graph: asTask(
      [
        use('login', { token: input('token') }),
        use('send', { token: input('token'), key: get(step('login'), 'key'), to: input('to') }),
      ],
      { inputs: [textInput('token', { secret: true }), textInput('to')] },
    ),
    tools: { login: echo({ key: 'derived-key-1' }), send: failing('refused: t0ps3cret-token') },
    given: { token: 't0ps3cret-token', to: 'Ada' },
  },
};
