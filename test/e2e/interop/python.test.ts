import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const FOLDER = import.meta.dirname;
const ROOT = path.join(FOLDER, '../../..');
const PROGRAM = [
  ...['--conditions=@stepwright/source', '--import', path.join(ROOT, 'scripts/register.mjs')],
  path.join(FOLDER, 'server.ts'),
];
const PACKAGES = ['mcp==2.3.0', 'fastmcp==4.2.3'];

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
    const target = transport === 'http' ? [await listening()] : [process.execPath, ...PROGRAM, 'stdio'];
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

/** Starts the server over HTTP, in a process of its own. */
async function listening(): Promise<string> {
  const port = await freePort();
  const server = spawn(process.execPath, [...PROGRAM, 'http', String(port)], { cwd: ROOT, stdio: 'ignore' });
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
