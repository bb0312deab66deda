import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseWorkflows } from '../../../src/formats/index.js';
import { said } from '../spec-file.fixture.js';

const FOLDER = path.join(import.meta.dirname, 'snippets');

/** A workflow of steps as the specification shows them, with the fields and tasks that they name. */
function wrapped(steps: string): string {
  const fields = new Set(
    [...steps.matchAll(/\bstate\.(\w+)|(?<=[[ ]")(\w+)(?="[,\]])/g)].map(([, a, b]) => a ?? b),
  );
  const tasks = new Set([...steps.matchAll(/task: "(\w+)"/g)].map(([, task]) => task));
  const target = /target: "([\w-]+)"/.exec(steps)?.[1];
  return `name: snippet
version: "1.0.0"
initial_state: { ${[...fields].map((field) => `${field}: null`).join(', ')} }
${tasks.size === 0 ? '' : `tasks:\n${[...tasks].map((task) => `  ${task}: { inputs: { it: { type: string } }, steps: [{ id: done, type: return, value: "{{ inputs.it }}" }] }`).join('\n')}\n`}steps:
${target === undefined ? '' : `  - { id: ${target}, type: set_state, updates: { quality_score: 1 } }\n`}${steps.replace(/^(?=.)/gm, '  ')}`;
}

async function faultsOf(text: string): Promise<string[]> {
  const { diagnostics } = await parseWorkflows(text, { file: 'f', format: 'yaml' });
  return said(diagnostics.filter(({ severity }) => severity === 'error'));
}

describe('the steps that the specification shows', () => {
  test.each(readdirSync(FOLDER))('%s', async (file) => {
    expect(await faultsOf(wrapped(readFileSync(path.join(FOLDER, file), 'utf8')))).toEqual([]);
  });
});

const GOOD = `name: deploy
version: "1.0.0"
steps:
  # GOOD: Get user input before delegation
  - id: "get-approval"
    type: prompt
    message: "Proceed with deployment?"
    prompt_type: "confirm"
    output_to: "approved"

  - id: "deploy-if-approved"
    type: condition
    needs_state: ["approved"]
    if: "{{ state.approved.confirmed }}"
    then:
      - id: "deploy"
        type: foreach
        items: ["one", "two"]
        agent: "@task"
        task: "deploy_service"
        output_to: "deployments"
tasks:
  deploy_service:
    inputs:
      service: { type: string, required: true }
    steps:
      - id: "result"
        type: return
        value: "{{ inputs.service }}"
`;

describe('prompts of delegated tasks', () => {
  test('are asked before the loop', async () => {
    expect(await faultsOf(GOOD)).toEqual([]);
  });

  test('are refused in the task of an agent', async () => {
    const bad = GOOD.replace(
      '      - id: "result"',
      '      - id: "confirm"\n        type: prompt\n        message: "Deploy?"\n        prompt_type: info\n      - id: "result"',
    );
    const [fault, ...others] = await faultsOf(bad);
    expect(fault).toMatch(/^f:27:13 SW4049 /);
    expect(others).toEqual([]);
    expect(await faultsOf(bad.replace('        agent: "@task"\n', ''))).toEqual([]);
  });

  test('are refused where the agent would hand on work', async () => {
    const step = (agent: string): string =>
      GOOD.replace(
        '      - id: "result"',
        `      - id: "review"\n        type: delegate\n        instructions: Review\n        agent: ${agent}\n      - id: "result"`,
      );
    expect(await faultsOf(step('"@reviewer"'))).toEqual([expect.stringMatching(/^f:27:13 SW4050 /)]);
    expect(await faultsOf(step('null'))).toEqual([]);
    expect(
      await faultsOf(step('"@reviewer"').replace('steps:', 'allow_nested_agents: true\nsteps:')),
    ).toEqual([]);
  });
});
