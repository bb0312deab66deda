import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type CompiledPrograms, compilePrograms } from '../../compiled-programs.js';
import { conformanceTools } from '../../conformance/tools.js';

const FOLDER = import.meta.dirname;
const ROOT = path.join(FOLDER, '../../..');
const PACKAGES = ['mcp==2.3.0', 'fastmcp==4.2.3'];

let programs: CompiledPrograms;

beforeAll(async () => {
  programs = await compilePrograms({ server: path.join(FOLDER, 'server.ts') });
}, 120_000);
afterAll(() => programs.remove());

describe('clients of Python', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-python-'));
  const python = path.join(folder, 'bin/python');

  beforeAll(() => {
    execFileSync('python3', ['-m', 'venv', folder]);
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', ...PACKAGES]);
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  const use = (library: string, mode: string, ...target: readonly string[]): unknown => {
    const program = path.join(FOLDER, 'client.py');
    const printed = execFileSync(python, [program, library, mode, ...target], {
      encoding: 'utf8',
      cwd: ROOT,
    });
    return JSON.parse(printed);
  };

  test.each([
    ['mcp', 'auto', 'stdio'],
    ['mcp', 'legacy', 'stdio'],
    ['mcp', 'auto', 'http'],
    ['mcp', 'legacy', 'http'],
    ['fastmcp', 'auto', 'http'],
  ])('%s, %s, over %s', { timeout: 60_000 }, async (library, mode, transport) => {
    const target =
      transport === 'http' ? [await listening()] : [process.execPath, programs.file('server'), 'stdio'];
    expect(use(library, mode, ...target)).toMatchObject({
      tools: expect.arrayContaining(['create-booking', 'w_careful']),
      booking: { city: 'Rome', seats: 2 },
      careful: { result: 'x' },
      asked: ['Book Rome?', 'What shall it be called?'],
      messages: 4,
      refusal: expect.stringContaining("Unknown tool 'gone'"),
    });
  });
});

const tools = conformanceTools();

/** On a machine with other work a server takes long to start. */
const WAITS = ['--connect-timeout', '60000'];

describe.runIf(tools !== undefined)("the Inspector's command line", () => {
  const cli = tools?.file('.bin/mcp-inspector') ?? '';
  const targets = [['stdio'], ['http']].flatMap(([transport]) =>
    ['modern', 'legacy'].map((era) => [transport, era] as const),
  );

  test.each(targets)('over %s, %s', { timeout: 300_000 }, async (transport, era) => {
    const target =
      transport === 'http'
        ? [await listening(), '--transport', 'http']
        : [process.execPath, programs.file('server'), 'stdio'];
    const inspect = (...args: readonly string[]): string => {
      const all = ['--cli', ...target, '--protocol-era', era, '--quiet', ...WAITS, ...args];
      return execFileSync(cli, all, { encoding: 'utf8', cwd: ROOT, stdio: 'pipe' });
    };
    const json = (...args: readonly string[]): unknown =>
      JSON.parse(inspect('--format', 'json', ...args)).result;
    const names = expect.arrayContaining(['create-booking', 'w_careful'].map(named));
    expect(json('--method', 'tools/list', '--strict')).toMatchObject({ tools: names });
    const call = ['--method', 'tools/call', '--tool-name'];
    expect(json(...call, 'create-booking', '--tool-arg', 'city=Rome', 'seats=2')).toMatchObject({
      structuredContent: { city: 'Rome', seats: 2 },
    });
    const waiting = json(...call, 'w_careful', '--tool-arg', 'city=Rome');
    expect(waiting).toMatchObject({ structuredContent: { status: 'waiting' } });
    const prompt = ['--method', 'prompts/get', '--prompt-name', 'book'];
    expect(json(...prompt, '--prompt-args', 'city=Rome', 'seats=2')).toMatchObject({
      messages: expect.arrayContaining([expect.objectContaining({ role: 'assistant' })]),
    });
    expect(() => inspect(...call, 'gone')).toThrow('gone');
    // Skills are methods of the later era alone.
    if (era === 'modern')
      expect(JSON.parse(inspect('--method', 'skills/list', '--verify'))).toMatchObject({ ok: true });
  });
});

const named = (name: string): unknown => expect.objectContaining({ name });

/** Starts the server over HTTP, in a process of its own. */
async function listening(): Promise<string> {
  const port = await freePort();
  const server = spawn(process.execPath, [programs.file('server'), 'http', String(port)], {
    cwd: ROOT,
    stdio: 'ignore',
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const isReady = await fetch(`${url}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return `${url}/mcp`;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the server does not listen');
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
