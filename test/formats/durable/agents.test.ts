import { expect, test } from 'vitest';
import { parseWorkflows } from '../../../src/formats/index.js';

/** What the checker says of a loop with an agent and a task with one step. */
async function faultsOf(step: string, more = ''): Promise<readonly string[]> {
  const text = `
name: loops
version: "1.0.0"
${more}
steps:
  - id: each
    type: foreach
    items: [1, 2]
    agent: "@task"
    task: one
tasks:
  one:
    steps:
      - { id: inner, ${step} }
`;
  const { diagnostics } = await parseWorkflows(text, { file: 'loops.yaml', format: 'yaml' });
  return diagnostics
    .map(({ code, place }) => `${code} ${place?.span[0]}`)
    .filter((fault) => fault.startsWith('SW40'));
}

test('a document says that its runs are tasks', async () => {
  const text = 'name: one\ntask: true\ntask_support: optional\nsteps: [{ id: a, type: mcp_call, tool: t }]\n';
  const { workflows } = await parseWorkflows(text, { file: 'one.yaml', format: 'yaml' });
  expect(workflows[0]?.graph).toMatchObject({ task: true, taskSupport: 'optional' });
});

test('an agent that drives a task has no person to ask', async () => {
  expect(await faultsOf('type: prompt, prompt_type: confirm, message: "Sure?"')).toEqual(['SW4049 14']);
  expect(await faultsOf('type: shell, command: ls')).toEqual([]);
});

test('an agent that drives a task hands work to other agents only if the file allows it', async () => {
  const delegated = 'type: delegate, agent: "@other", instructions: "Do it"';
  expect(await faultsOf(delegated)).toEqual(['SW4050 14']);
  expect(await faultsOf(delegated, 'allow_nested_agents: true')).toEqual([]);
  expect(await faultsOf('type: delegate, agent: null, instructions: "Do it"')).toEqual([]);
});
