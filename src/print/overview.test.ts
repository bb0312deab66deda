import { expect, test } from 'vitest';
import { ask, body, branch } from '../runtime/engine/constructs.fixture.js';
import { again, call, chain, graph, input, lit, step, stop } from '../runtime/engine/graph.fixture.js';
import { overviewText } from './overview.js';

const names = {
  toolNamed: (name: string) => ({ description: `About ${name}`, requires: [] }),
  addressOf: (name: string) => name,
};

/** What an overview says of one workflow, from its steps on. */
function stepsOf(nodes: Parameters<typeof graph>[0]): string[] {
  const workflows = [{ graph: graph(nodes), uri: 'workflow://shop/sample' }];
  const lines = overviewText({ name: 'shop', rules: [] }, workflows, names).split('\n');
  return lines.slice(lines.findIndex((line) => line.startsWith('Steps: '))).filter((line) => line !== '');
}

test('names steps by their tools, and by their ids where a tool is called more than once', () => {
  const rest = (id: string, method: string) => call(id, { method: lit(method) }, { tool: 'rest_call' });
  expect(stepsOf(chain(rest('get', 'GET'), call('total'), rest('pay', 'POST')))).toEqual([
    'Steps: get → tool-total → pay',
    'On failure: stops at the first failure',
    '- get: Calls rest_call { method: "GET" }',
    '- rest_call: About rest_call',
    '- tool-total: About tool-total',
    '- pay: Calls rest_call { method: "POST" }',
  ]);
});

test('says what the author says of a step', () => {
  const nodes = chain(
    call('get', {}, { tool: 'rest_call', title: 'Look the cart up' }),
    call('pay', {}, { tool: 'rest_call', guidance: lit('Never twice!') }),
    call('mail', {}, { title: 'Tell the customer', guidance: step('get', 'hint') }),
    ask('sure', 'confirm', { title: 'Last check' }),
  );
  expect(stepsOf(nodes).slice(2)).toEqual([
    '- get: Look the cart up. Calls rest_call',
    '- rest_call: About rest_call',
    '- pay: Never twice! Calls rest_call',
    '- tool-mail: Tell the customer. get.hint. About tool-mail',
    '- sure: Last check. ask for a yes or no: "sure?"',
  ]);
});

test('shows a call that takes over with the step whose failure it handles, and nowhere else', () => {
  const nodes = [
    ...chain(call('reserve', {}, { retry: again(1), onError: { fallbackNode: 'wait' } }), call('mail')),
    call('wait'),
  ];
  expect(stepsOf(nodes).slice(0, 2)).toEqual([
    'Steps: ( try tool-reserve, else tool-wait ) → tool-mail',
    'On failure: tool-reserve: up to 2 attempts, then tool-wait instead; otherwise stops at the first failure',
  ]);
});

test('leaves out steps that only word a failure, and shows what a branch leads to once', () => {
  const nodes = [
    branch('which', [
      [input('x'), 'reserve'],
      [undefined, body([])],
    ]),
    call('reserve', {}, { onError: { fallbackNode: 'failed' } }),
    stop('failed', lit('no')),
  ];
  expect(stepsOf(nodes).slice(0, 2)).toEqual([
    'Steps: [ tool-reserve | – ]',
    'On failure: stops at the first failure',
  ]);
});
