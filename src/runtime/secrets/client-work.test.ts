import { expect, test } from 'vitest';
import { requestOf } from '../engine/actions.js';
import { ask, delegate, shell } from '../engine/constructs.fixture.js';
import { call, graph, input, list, Run, text } from '../engine/graph.fixture.js';
import { commandsOf } from '../engine/read.js';
import { RunMask } from './run-mask.js';

test('a call that a question approves is shown without secrets, and without a digest of one', () => {
  const inputs = ['key', 'who'].map((name) => ({
    ...{ name, description: name, schema: {}, required: true },
    ...(name === 'key' ? { secret: true } : {}),
  }));
  const args = { key: input('key'), who: input('who') };
  const nodes = [
    ...[ask('sure', 'confirm', { approves: 'open' }), call('open', args)],
    ...[ask('plain', 'confirm', { approves: 'tell' }), call('tell', { who: input('who') })],
  ];
  const workflow = graph(nodes, { inputs });
  const values = { key: '4711', who: 'ann' };
  const run = new Run(workflow, values);
  const mask = new RunMask(workflow, { input: values });
  const shown = commandsOf(run.state).map((command) =>
    command.kind === 'requestAction' ? requestOf(mask.action(command.node, command.action)) : command,
  );
  expect(shown).toMatchObject([
    { parameters: { approves: { tool: 'tool-open', args: { key: '••••', who: 'ann' }, digest: '••••' } } },
    { parameters: { approves: { args: { who: 'ann' }, digest: expect.stringMatching(/^[0-9a-f]{64}$/) } } },
  ]);
  expect(shown[0]).toHaveProperty(
    'parameters.message',
    'sure?\n\nA yes makes this call:\ntool-open {\n  "key": "••••",\n  "who": "ann"\n}',
  );
});

test('work of the client is shown without secrets', () => {
  const key = input('key');
  const nodes = [
    shell('run', text('login ', key), {
      argv: list(key),
      env: { kind: 'dict', entries: [{ key: 'KEY', value: key }] },
    }),
    delegate('ask', { prompt: text('use ', key) }),
    call('own', { key }, { executor: 'client' }),
  ];
  const inputs = [{ name: 'key', description: 'key', schema: {}, required: true, secret: true }];
  const workflow = graph(nodes, { inputs });
  const values = { key: 'hunter2-hunter2' };
  const run = new Run(workflow, values);
  const mask = new RunMask(workflow, { input: values });
  const shown = commandsOf(run.state).map((command) =>
    command.kind === 'requestAction' ? mask.action(command.node, command.action) : command,
  );
  expect(shown.map((each) => ('type' in each ? each.type : each.kind))).toEqual([
    'shell',
    'delegate',
    'mcp_call',
  ]);
  expect(JSON.stringify(shown)).not.toContain('hunter2');
  expect(shown[0]).toMatchObject({ timeoutMs: 30_000, schema: { required: ['exit_code'] } });
});
