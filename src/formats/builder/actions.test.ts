import { Agent } from 'stepwright';
import { expect, test } from 'vitest';
import { delegate, promptArg, sequential, shell, step, toolHandle } from './index.js';

@Agent({ name: '@reviewer' })
class Reviewer {}

class Undecorated {}

const workflow = sequential('w', 'w').argument('path', 'Path', true);

test('the values of a command are quoted', () => {
  const { graph } = workflow.step(shell('cat {path} | wc -l')).build();
  expect(graph.nodes).toMatchObject([
    {
      kind: 'shell',
      executor: 'client',
      id: 'shell',
      command: {
        parts: ['cat ', { fn: 'filter.shq.py', args: [{ root: 'inputs', path: ['path'] }] }, ' | wc -l'],
      },
    },
  ]);
});

test('agents are named by their class, by a name, or are the caller', () => {
  const { graph } = workflow
    .step(delegate(Reviewer, 'Review {path}').bind('review'))
    .step(delegate('@other', 'Continue with {review}'))
    .step(delegate(null, 'End', { tools: [toolHandle('ping')] }))
    .build();
  expect(graph.nodes).toMatchObject([
    { kind: 'delegate', executor: 'client', id: 'review', agent: '@reviewer' },
    { agent: '@other', prompt: { parts: ['Continue with ', { path: ['review', 'response'] }] } },
    { agent: null, tools: ['ping'] },
  ]);
});

test('a call is made by the client', () => {
  const { graph } = workflow.step(step(toolHandle('ping')).onClient()).build();
  expect(graph.nodes).toMatchObject([{ kind: 'call', executor: 'client', tool: 'ping' }]);
});

test.each([
  ['a class without @Agent', delegate(Undecorated, 'a'), "'Undecorated' is not a valid agent name"],
  ['a name without @', delegate('reviewer' as '@reviewer', 'a'), "'reviewer' is not a valid agent name"],
  ['a value other than a source', shell('ls', { argv: ['-l' as never] }), "'argv' is given '-l'"],
  ['an unknown name in a command', shell('ls {other}'), 'other'],
])('%s is refused', (_, faulty, message) => {
  const result = workflow.step(faulty).tryBuild();
  expect(result.ok ? [] : result.problems.map((problem) => problem.message).join()).toContain(message);
});

test('a source may be an argument of a program', () => {
  const { graph } = workflow.step(shell('ls', { argv: [promptArg('path')] })).build();
  expect(graph.nodes).toMatchObject([{ argv: { items: [{ value: { path: ['path'] } }] } }]);
});
