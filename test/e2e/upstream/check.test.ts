import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { programWithPackage } from '../../built-package.js';
import { command, createProject, type Project, stepwright } from '../../codegen-back/project.fixture.js';
import { nightlyTest } from '../../nightly.js';
import { FIXTURE_TOOLS } from './server.fixture.js';

const WORKFLOW = `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { FixtureEcho } from './upstream/fixture.js';

@Workflow({ name: 'shout', description: 'Says it twice' })
export class Shout {
  @Arg({ description: 'What to say' }) text!: Arg<string>;
  @Step() said = call(FixtureEcho, { text: this.text, twice: true });
  result = done({ said: this.said.text });
}
`;

type Tools = { name: string; description: string; inputSchema: object; outputSchema?: object }[];

describe('stepwright pull --check', { timeout: 240_000 }, () => {
  let project: Project;
  const tools = (): Tools => structuredClone(FIXTURE_TOOLS) as unknown as Tools;
  const serve = (listed: Tools) => writeFile(`${project.root}/tools.json`, JSON.stringify(listed));
  const cli = (...args: string[]) => (args[0] === 'run' ? stepwright : command)(args, project.root);
  beforeAll(async () => {
    const args = [programWithPackage('test/e2e/upstream/server.fixture.ts')];
    const fixture = { command: process.execPath, args, env: { FIXTURE_TOOLS: 'tools.json' } };
    project = await createProject({
      'stepwright.config.json': JSON.stringify({ upstream: { fixture } }),
      'src/shout.workflow.ts': WORKFLOW,
    });
    await serve(tools());
  }, 240_000);
  afterAll(() => project.remove());

  test('fails without a snapshot', async () => {
    await project.write({ 'src/upstream/fixture.ts': '' });
    const { code, stderr } = await cli('pull', 'fixture', '--check');
    expect(code).toBe(1);
    // Without classes the workflow has errors of its own.
    expect(stderr).toContain('SW');
    expect((await cli('pull')).code).toBe(0);
    expect((await cli('codegen')).stderr).toBe('');
    const snapshot = await project.read('src/upstream/fixture.json');
    await project.write({ 'src/upstream/fixture.json': '{}' });
    expect((await cli('pull', '--check')).stderr).toMatch(/SW9021: there is no snapshot/);
    await project.write({ 'src/upstream/fixture.json': snapshot });
  });

  test('has nothing to say about a server that is as recorded', async () => {
    expect(await cli('pull', '--check')).toEqual({ code: 0, stdout: 'fixture is as recorded\n', stderr: '' });
  });

  test('lists changes that no workflow depends on, and writes nothing', async () => {
    const [echo, fail, ...others] = tools();
    const before = await readFile(`${project.root}/src/upstream/fixture.json`, 'utf8');
    const output = { type: 'object', properties: { text: { type: 'string' }, size: {} }, required: ['text'] };
    await serve([
      { ...(echo as Tools[0]), description: 'Says it', outputSchema: output },
      { ...(fail as Tools[0]), inputSchema: { type: 'object', properties: { why: {} }, required: ['why'] } },
      ...others.slice(1),
      { name: 'sing', description: 'Sings', inputSchema: { type: 'object' } },
    ]);
    const { code, stdout, stderr } = await cli('pull', '--check');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      "fixture: tool 'echo' has another description; no workflow depends on it",
      "fixture: tool 'echo' has no `key` of its output any more; no workflow depends on it",
      "fixture: tool 'echo' has a new `size` of its output; no workflow depends on it",
      "fixture: tool 'fail' has a new `why` of its input; no workflow depends on it",
      "fixture: tool 'sing' is new; no workflow depends on it",
      "fixture: tool 'slow' is not offered any more; no workflow depends on it",
      '',
    ]);
    expect(await readFile(`${project.root}/src/upstream/fixture.json`, 'utf8')).toBe(before);
  });

  test('fails at the step that needs what is gone', async () => {
    const [echo, ...others] = tools();
    const { twice: _, ...properties } = (echo!.inputSchema as { properties: Record<string, object> })
      .properties;
    const output = { type: 'object', properties: { text: { type: 'number' } }, required: ['text'] };
    const inputSchema = { ...echo?.inputSchema, properties };
    await serve([{ ...(echo as Tools[0]), inputSchema, outputSchema: output }, ...others]);
    const { code, stdout, stderr } = await cli('pull', '--check');
    expect(code).toBe(1);
    // What a step needs is not listed as what none does.
    expect(stdout).toBe(
      "fixture: tool 'echo' has no `key` of its output any more; no workflow depends on it\n",
    );
    const of = "of tool 'echo' of the upstream server 'fixture'";
    const at = 'src/shout.workflow.ts:7:11 - error SW9020: step `said` of workflow `shout` cannot go on:';
    expect(stderr).toContain(`${at} 'twice' in the input ${of} is not accepted any more\n`);
    expect(stderr).toContain(`${at} 'text' in the output ${of} is a number, where it has to be a string\n`);
    expect(stderr).toContain('run `stepwright pull fixture` and `stepwright codegen`, and correct the step');
  });

  nightlyTest('keeps a run from starting that needs it', async () => {
    const { code, stderr } = await cli('run', 'shout', '--arg', 'text=hi');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^E_UPSTREAM_DRIFT: Workflow 'shout' is unavailable: /m);
    await serve(tools());
    expect(await cli('run', 'shout', '--arg', 'text=hi')).toMatchObject({
      code: 0,
      stdout: '{\n  "said": "hi hi"\n}\n',
    });
  });
});
