import { expect, test } from 'vitest';
import { delegate, shell } from '../engine/constructs.fixture.js';
import { call, graph, input, list, Run, text } from '../engine/graph.fixture.js';
import { commandsOf } from '../engine/read.js';
import { RunMask } from './run-mask.js';

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
