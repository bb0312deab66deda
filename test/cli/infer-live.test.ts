import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wordsOf } from '../../src/cli/command-line.js';
import { dispatched } from '../../src/cli/dispatched.fixture.js';
import { type HttpFixture, httpFixture } from '../e2e/upstream/http.fixture.js';
import { publishedServer } from '../e2e/upstream/servers.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-infer live-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stepwright = (...args: readonly string[]) => dispatched('infer', ...args, '--root', folder);

const commandLine = ({ command, args }: { command: string; args: readonly string[] }) =>
  [command, ...args].map((word) => `"${word}"`).join(' ');

describe('stepwright infer of a live server', { timeout: 120_000 }, () => {
  let open: HttpFixture;
  let closed: HttpFixture;
  beforeAll(async () => {
    open = await httpFixture();
    closed = await httpFixture('secret-token');
    const notes = path.join(folder, 'notes');
    mkdirSync(notes);
    process.env.INFER_TOKEN = 'secret-token';
    const upstream = {
      files: publishedServer('filesystem', notes),
      guarded: { url: closed.url, headers: { Authorization: `Bearer $\{INFER_TOKEN}` } },
      broken: { command: process.execPath, args: ['-e', 'console.error("no licence"); process.exit(3)'] },
    };
    writeFileSync(path.join(folder, 'stepwright.config.json'), JSON.stringify({ upstream }));
  });
  afterAll(async () => {
    delete process.env.INFER_TOKEN;
    await Promise.all([open.close(), closed.close()]);
  });

  test('lists the tools of a server of the configuration over stdio', async () => {
    const { code, out, err } = await stepwright('--upstream', 'files', '--format', 'json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect((JSON.parse(out) as { tools: string[] }).tools).toContain('read_text_file');
  });

  test('lists the tools of a server of the configuration over HTTP, and calls none', async () => {
    const { code, out } = await stepwright('--upstream', 'guarded');
    expect([code, out.split('\n', 1)]).toEqual([0, ['5 tools, 0 edges that order them']]);
    expect(new Set(closed.methods)).toEqual(
      new Set(['server/discover', 'initialize', 'notifications/initialized', 'tools/list']),
    );
  });

  test('lists the tools of a command', async () => {
    const { code, out } = await stepwright(
      '--command',
      commandLine(publishedServer('memory')),
      '--goal',
      'search nodes',
    );
    expect([code, out]).toEqual([0, expect.stringContaining('1. search_nodes')]);
  });

  test('lists the tools of an address, all pages of them', async () => {
    const { code, out } = await stepwright('--url', open.url, '--format', 'json');
    expect(code).toBe(0);
    expect((JSON.parse(out) as { tools: string[] }).tools).toEqual([
      'echo',
      'fail',
      'slow',
      'state',
      'crash',
    ]);
  });

  test('shows why a server cannot be reached, with what it wrote', async () => {
    const { code, err } = await stepwright('--upstream', 'broken');
    expect(code).toBe(1);
    expect(err).toContain("upstream server 'broken': no licence\n");
    expect(err).toContain("stepwright: The upstream server 'broken' cannot be reached: ");
  });

  test('shows that a server refuses, without its token', async () => {
    const { code, err } = await stepwright('--url', closed.url);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("The upstream server 'server' cannot be reached: "),
    ]);
  });

  test.each([
    [['--upstream', 'file'], 'the configuration has no upstream server `file` (did you mean `files`?)'],
    [
      ['--upstream', 'files', '--url', 'http://localhost'],
      'reads one list of tools, and was given `--upstream` and `--url`',
    ],
    [['tools.json', '--command', 'node a.js'], 'was given `tools.json` and `--command`'],
    [['--url', 'localhost'], '`--url` takes an address such as `http://127.0.0.1:3000/mcp`, not `localhost`'],
    [['--command', 'node "a.js'], 'with every quote closed, not `node "a.js`'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await stepwright(...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

test.each([
  ['node server.js --port 1', ['node', 'server.js', '--port', '1']],
  [`"C:\\Program Files\\node.exe"  'a b' c"d e"f ""`, ['C:\\Program Files\\node.exe', 'a b', 'cd ef', '']],
  ['  ', []],
  [`it's`, undefined],
])('the words of %j', (line, words) => {
  expect(wordsOf(line)).toEqual(words);
});
