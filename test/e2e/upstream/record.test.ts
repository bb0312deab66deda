import { writeFile } from 'node:fs/promises';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { type UpstreamCall, upstreamServers } from 'stepwright/runtime';
import { upstreamCassette } from 'stepwright/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { programWithPackage } from '../../built-package.js';
import { command, createProject, type Project, stepwright, tsc } from '../../codegen-back/project.fixture.js';
import { nightlyTest } from '../../nightly.js';
import { FIXTURE_TOOLS } from './server.fixture.js';

const SECRET = 'a-token-that-is-not-recorded';
const CASSETTE = 'src/upstream/fixture.cassette.json';

const object = { type: 'object' } as const;
const ECHO = FIXTURE_TOOLS.find(({ name }) => name === 'echo') as Tool;
const ANNOTATED: readonly Tool[] = [
  ECHO,
  { name: 'fail', inputSchema: object, annotations: { readOnlyHint: true } },
  {
    name: 'picture',
    inputSchema: { ...object, properties: { scale: { type: 'number' } } },
    annotations: { readOnlyHint: true },
  },
  { name: 'state', inputSchema: object, annotations: { readOnlyHint: true } },
  { name: 'nothing', inputSchema: object, annotations: { readOnlyHint: true } },
  { name: 'crash', inputSchema: object, annotations: { readOnlyHint: true } },
];

const call = (): UpstreamCall => ({ signal: new AbortController().signal, progress: () => {} });

const WORKFLOW = `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { FixtureEcho } from './upstream/fixture.js';

@Workflow({ name: 'shout', description: 'Says it' })
export class Shout {
  @Arg({ description: 'What to say' }) text!: Arg<string>;
  @Step() said = call(FixtureEcho, { text: this.text });
  result = done({ said: this.said.text });
}
`;

describe('stepwright pull --record', { timeout: 240_000 }, () => {
  let project: Project;
  const offer = (tools: readonly Tool[]) => writeFile(`${project.root}/tools.json`, JSON.stringify(tools));
  const cli = (...args: string[]) =>
    (args[0] === 'run' ? stepwright : command)(args, project.root, { UPSTREAM_SECRET: SECRET });
  const configure = (record: object | undefined) => {
    const args = [programWithPackage('test/e2e/upstream/server.fixture.ts')];
    const env = { FIXTURE_TOOLS: 'tools.json', FIXTURE_SECRET: `$\{UPSTREAM_SECRET}` };
    const fixture = { command: process.execPath, args, env, ...(record === undefined ? {} : { record }) };
    return project.write({
      'stepwright.config.json': JSON.stringify({ upstream: { fixture } }, undefined, 2),
    });
  };
  const recorded = async () => JSON.parse(await project.read(CASSETTE)).interactions;
  beforeAll(async () => {
    project = await createProject({ 'src/shout.workflow.ts': WORKFLOW });
    await offer(ANNOTATED);
  }, 240_000);
  afterAll(() => project.remove());

  test('records answers of tools that only read, and the same answers again without a change', async () => {
    await configure({
      echo: [{ text: 'hi' }, { text: `with ${SECRET}` }],
      picture: [{}, { scale: 0 }],
      nothing: [{}],
    });
    const { code, stdout, stderr } = await cli('pull', '--record');
    expect({ code, last: stdout.split('\n').at(-2) }).toEqual({ code: 0, last: `wrote ${CASSETTE}` });
    expect(stderr.split('\n')).toEqual([
      "fixture: 'picture' answered with a failure: nothing to see",
      expect.stringMatching(/^fixture: 'nothing' answered with a failure: .*refused.*no tool nothing$/),
      '',
    ]);
    const text = await project.read(CASSETTE);
    expect(text).not.toContain(SECRET);
    expect((await cli('pull', '--record')).stdout).toContain(`${CASSETTE} is current`);
    expect(await project.read(CASSETTE)).toBe(text);

    const upstream = upstreamCassette(`${project.root}/${CASSETTE}`);
    const ask = (tool: string, input: Record<string, string | number>) =>
      upstream.call({ server: 'fixture', tool }, input, call());
    expect(await ask('echo', { text: 'hi' })).toMatchObject({ structuredContent: { text: 'hi' } });
    expect(await ask('echo', { text: 'with another' })).toMatchObject({
      structuredContent: { text: 'with ••••' },
    });
    expect(await ask('picture', {})).toMatchObject({ content: [{ type: 'image', data: 'iVBORw0KGgo=' }] });
    expect(await ask('picture', { scale: 0 })).toMatchObject({ isError: true });
    await expect(ask('nothing', {})).rejects.toMatchObject({ code: 'E_UPSTREAM_REFUSED' });
  });

  nightlyTest('masks the environment of the server in what a run records, too', async () => {
    expect((await cli('codegen')).code).toBe(0);
    const args = ['--arg', `text=the ${SECRET}`, '--record', 'test/shout.cassette.json'];
    expect((await cli('run', 'shout', ...args)).code).toBe(0);
    const text = await project.read('test/shout.cassette.json');
    expect(text).not.toContain(SECRET);
    expect(text).toContain('the ••••');
  });

  test('writes doubles that compile', async () => {
    await project.write({
      'src/doubles.ts': `import { upstreamDoubles } from 'stepwright/testing';
import { fixtureDoubles } from './upstream/fixture.doubles.js';

export const upstream = upstreamDoubles(...fixtureDoubles({ echo: ({ text }) => ({ text }), fail: () => 'no' }));
// @ts-expect-error the server has no such tool
export const wrong = fixtureDoubles({ shout: () => 'no' });
`,
    });
    expect(await tsc(project)).toMatchObject({ code: 0, stdout: '' });
  });

  nightlyTest(
    '--check has nothing to say about a cassette that fits, and reports one that does not',
    async () => {
      expect(await cli('pull', '--check')).toEqual({
        code: 0,
        stdout: 'fixture is as recorded\n',
        stderr: '',
      });
      await offer(ANNOTATED.filter(({ name }) => name !== 'picture'));
      const gone = await cli('pull', '--check');
      expect(gone.code).toBe(1);
      expect(gone.stderr).toContain(
        `${CASSETTE}:55:15 - error SW9034: the cassette \`${CASSETTE}\` does not fit the upstream server \`fixture\`: the server does not offer 'picture' any more`,
      );
      expect(gone.stderr).toContain('run `stepwright pull fixture --record` and commit the result');

      const outputSchema = { ...object, properties: { text: { type: 'number' } }, required: ['text'] };
      await offer(ANNOTATED.map((tool) => (tool.name === 'echo' ? { ...ECHO, outputSchema } : tool)));
      const other = await cli('pull', '--check', '--cassette', 'test/shout.cassette.json');
      expect(other.code).toBe(1);
      const misfit =
        "a call of 'echo': the result does not match the tool's output schema: `/text` must be number";
      expect(other.stderr.split(misfit).length - 1).toBe(3);
      expect(other.stderr).toContain('test/shout.cassette.json:8:17 - error SW9034');
      expect(other.stderr).toContain('run `stepwright run --record` and commit the result');

      const inputSchema = { ...object, properties: { line: { type: 'string' } }, required: ['line'] };
      await offer(ANNOTATED.map((tool) => (tool.name === 'echo' ? { ...ECHO, inputSchema } : tool)));
      expect((await cli('pull', '--check')).stderr).toContain("a call of 'echo': invalid input: ");
      await offer(ANNOTATED);
    },
  );

  nightlyTest('--check reports a cassette with other calls than the configuration', async () => {
    await configure({ echo: [{ text: 'hi' }, { text: 'ho' }], nothing: [{}], picture: [{}, { scale: 0 }] });
    const { code, stderr } = await cli('pull', '--check');
    expect(code).toBe(1);
    expect(stderr).toContain(`it has no call of 'echo' with the input {"text":"ho"}`);
    expect(stderr).toContain("a call of 'echo' is not in the configuration");
    await project.write({ [CASSETTE]: '{\n"cassetteVersion": 1, "interactions": [{}] }\n' });
    expect((await cli('pull', '--check')).stderr).toContain('it is not a cassette of this version');
    expect((await cli('pull', '--check', '--cassette', 'none.json')).stderr).toContain(
      'there is no such file',
    );
  });

  test('calls nothing if one call cannot be made', async () => {
    await offer([...ANNOTATED.slice(0, 3), { name: 'state', inputSchema: object }]);
    await configure({ echo: [{ text: 'hi' }, { txt: 1 }], picure: [{}], state: [{}, {}] });
    const before = await project.read(CASSETTE);
    const { code, stderr } = await cli('pull', '--record');
    expect(code).toBe(1);
    const at = (line: string, tool: string) =>
      new RegExp(
        `stepwright\\.config\\.json:${line} - error SW9033: \`${tool}\` of the upstream server \`fixture\` is not called: `,
      );
    expect(stderr.match(/SW9033/g)).toHaveLength(4);
    expect(stderr).toMatch(at('\\d+:\\d+', 'echo'));
    expect(stderr).toContain('did you mean `picture`?');
    expect(stderr).toContain('it has no `readOnlyHint`, so that it may change something');
    expect(stderr).toContain('add `--allow-writes` to call it all the same');
    expect(await project.read(CASSETTE)).toBe(before);
  });

  nightlyTest('calls tools that may change something with `--allow-writes`', async () => {
    await configure({ state: [{}] });
    expect((await cli('pull', '--record', '--allow-writes')).code).toBe(0);
    const [{ tool, result }] = await recorded();
    expect({ tool, state: JSON.parse(result.content[0].text) }).toMatchObject({
      tool: 'state',
      state: { secret: '••••' },
    });
  });

  nightlyTest(
    'writes nothing if the server does not answer, or something else is in the place of the cassette',
    async () => {
      await offer(ANNOTATED);
      await configure({ crash: [{}] });
      const before = await project.read(CASSETTE);
      const lost = await cli('pull', '--record');
      expect(lost.code).toBe(1);
      expect(lost.stderr).toMatch(
        /the connection to the upstream server 'fixture' ended during the call of 'crash'/i,
      );
      expect(await project.read(CASSETTE)).toBe(before);
      await configure({ echo: [{ text: 'hi' }] });
      await project.write({ [CASSETTE]: '{"mine": true}' });
      const foreign = await cli('pull', '--record');
      expect(foreign.code).toBe(1);
      expect(foreign.stderr).toMatch(
        /SW9004: `src\/upstream\/fixture\.cassette\.json` was not written by stepwright/,
      );
      expect(await project.read(CASSETTE)).toBe('{"mine": true}');
    },
  );

  test.each([
    [['--record', '--check'], /`--record` or `--check`, not both/],
    [['--allow-writes'], /`--allow-writes` is for `stepwright pull --record`/],
    [['--cassette', 'a.json'], /`--cassette` is for `stepwright pull --check`/],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await cli('pull', ...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });

  test('needs calls in the configuration', async () => {
    await configure(undefined);
    const { code, stderr } = await cli('pull', 'fixture', '--record');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('there are none of `fixture`'),
    });
  });
});

test('a program passes a configuration on that has calls to record', async () => {
  const config = {
    a: { command: process.execPath, record: { read: [{ path: 'a' }, { path: 'b', head: 1 }] } },
  };
  await upstreamServers(config).close();
});
