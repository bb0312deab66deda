import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CompiledPrograms } from '../compiled-programs.js';
import { nightlyTest, smoke } from '../nightly.js';
import { type ConformanceTools, compileFixture, conformanceTools, servedFixture } from './tools.js';

const found = conformanceTools();
const run = promisify(execFile);
const forwarder = fileURLToPath(new URL('fixture/forward.mjs', import.meta.url));

/** What the tests need of a client of the SDK's second line. */
interface LaterClient {
  connect(transport: object): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: object): Promise<{ content: { text?: string }[] }>;
  getPrompt(prompt: object): Promise<{ messages: { content: { text?: string } }[] }>;
  readResource(resource: object): Promise<{ contents: { text?: string }[] }>;
  close(): Promise<void>;
}

/** How a suite ended: its counts, and the scenarios with failures. */
function totalsOf(output: string) {
  const [, passed, failed] = /Total: (\d+) passed, (\d+) failed/.exec(output) ?? [];
  return {
    passed: Number(passed),
    failed: Number(failed),
    failing: [...output.matchAll(/^✗ .*$/gm)].map(([line]) => line),
  };
}

describe.runIf(found !== undefined)('a server of decorated classes', { timeout: 240_000 }, () => {
  const tools = found as ConformanceTools;
  let programs: CompiledPrograms;
  let server: Awaited<ReturnType<typeof servedFixture>>;
  let client: Awaited<ReturnType<typeof servedFixture>>;

  beforeAll(async () => {
    programs = await compileFixture();
    server = await servedFixture(programs, 'main');
    client = await servedFixture(programs, 'client');
  }, 120_000);
  afterAll(async () => {
    server?.stop();
    client?.stop();
    await programs?.remove();
  });

  test('passes the conformance suite of 2025-11-25, with its pending scenarios', () => {
    const totals = totalsOf(
      tools.run('conformance-stable', 'server', ['--url', server.address, '--suite', 'all']),
    );
    process.stdout.write(`conformance 0.1.16: ${totals.passed} passed, ${totals.failed} failed\n`);
    expect(totals).toEqual({ passed: 44, failed: 0, failing: [] });
  });

  nightlyTest('passes the version of the suite to come', () => {
    const args = ['--url', server.address, '--requirements', '2025-11-25'];
    const totals = totalsOf(tools.run('conformance-next', 'server', args));
    process.stdout.write(`conformance 0.2.0-alpha.12: ${totals.passed} passed, ${totals.failed} failed\n`);
    expect(totals).toEqual({ passed: 80, failed: 0, failing: [] });
  });

  test('passes the version of the suite to come for 2026-07-28, but for what the docs name', () => {
    const args = ['--url', server.address, '--requirements', '2026-07-28'];
    const totals = totalsOf(tools.run('conformance-next', 'server', args));
    process.stdout.write(
      `conformance 0.2.0-alpha.12, 2026-07-28: ${totals.passed} passed, ${totals.failed} failed\n`,
    );
    const failing = totals.failing.flatMap((line) => /^✗ ([^:]+): /.exec(line)?.[1] ?? []);
    expect(failing).toEqual(['tasks-lifecycle', 'tasks-mrtr-composition']);
    expect(totals).toMatchObject({ passed: 193, failed: 2 });
  });

  test.each(
    smoke<readonly [string, readonly string[]]>([
      ['2026-07-28', ['sep-2322-client-request-state']],
      ['2025-11-25', ['elicitation-sep1034-client-defaults']],
    ]),
  )(
    'has a client of upstream servers that passes the suite for %s, but for what the docs name',
    (revision, named) => {
      const command = `${process.execPath} ${forwarder} ${client.address}`;
      const args = ['--command', command, '--requirements', revision, '--timeout', '120000'];
      const totals = totalsOf(tools.run('conformance-next', 'client', args));
      process.stdout.write(
        `conformance 0.2.0-alpha.12, ${revision}, client: ${totals.passed} passed, ${totals.failed} failed\n`,
      );
      const failing = totals.failing.flatMap((line) => /^✗ ([^:]+): /.exec(line)?.[1] ?? []);
      // The suite runs its scenarios all at once, each with limits of its own: what fails for want of time is run by itself.
      // Without `--force` the suite runs no extension for a revision.
      const options = ['--command', command, '--spec-version', revision, '--timeout', '120000', '--force'];
      const fails = (scenario: string): boolean =>
        named.includes(scenario) ||
        !tools
          .run('conformance-next', 'client', [...options, '--scenario', scenario])
          .includes('OVERALL: PASSED');
      expect(failing.filter(fails).sort()).toEqual([...named].sort());
    },
  );

  const targetOf = (transport: string): string[] =>
    transport === 'http'
      ? [server.address, '--transport', 'http']
      : [process.execPath, programs.file('main'), 'stdio'];

  describe.each(['stdio', 'http'])('serves others over %s', (transport) => {
    nightlyTest('the Inspector lists tools, gets a prompt and calls a tool', async () => {
      const cli = tools.file('.bin/mcp-inspector');
      const inspect = async (...args: string[]) => {
        const { stdout } = await run(cli, ['--cli', ...targetOf(transport), ...args]);
        return JSON.parse(stdout);
      };
      const { tools: listed } = await inspect('--method', 'tools/list');
      expect(listed).toContainEqual(expect.objectContaining({ name: 'test_simple_text' }));
      const name = ['--prompt-name', 'test_prompt_with_arguments'];
      const args = ['--prompt-args', 'arg1=a', 'arg2=b'];
      expect(await inspect('--method', 'prompts/get', ...name, ...args)).toMatchObject({
        messages: [{ content: { text: "Prompt with arguments: arg1='a', arg2='b'" } }],
      });
      expect(await inspect('--method', 'tools/call', '--tool-name', 'test_simple_text')).toMatchObject({
        content: [{ text: 'This is a simple text response for testing.' }],
      });
    });

    test("the client of the SDK's second line does the same, and reads a resource", async () => {
      const sdk = await import(tools.file('@modelcontextprotocol/client/dist/index.mjs'));
      const stdio = await import(tools.file('@modelcontextprotocol/client/dist/stdio.mjs'));
      const [command, ...args] = targetOf('stdio');
      const client: LaterClient = new sdk.Client({ name: 'later', version: '2.0.0' }, { capabilities: {} });
      await client.connect(
        transport === 'http'
          ? new sdk.StreamableHTTPClientTransport(new URL(server.address))
          : new stdio.StdioClientTransport({ command, args }),
      );
      expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('test_simple_text');
      const called = await client.callTool({ name: 'test_simple_text', arguments: {} });
      expect(called.content[0]?.text).toBe('This is a simple text response for testing.');
      const { messages } = await client.getPrompt({ name: 'test_simple_prompt' });
      expect(messages[0]?.content.text).toBe('This is a simple prompt for testing.');
      const { contents } = await client.readResource({ uri: 'test://static-text' });
      expect(contents[0]?.text).toBe('This is the content of the static text resource.');
      await client.close();
    });
  });
});
