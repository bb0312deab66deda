import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CompiledPrograms, compilePrograms } from '../compiled-programs.js';
import { type ConformanceTools, conformanceTools } from './tools.js';

const found = conformanceTools();
if ('why' in found) {
  const text = `NOT CHECKED: the conformance of the server. ${found.why}`;
  if (process.env.CI !== undefined) throw new Error(text);
  process.stderr.write(`${text}\n`);
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

describe.runIf('run' in found)('the conformance suite of 2025-11-25', { timeout: 240_000 }, () => {
  const tools = found as ConformanceTools;
  let programs: CompiledPrograms;
  let server: ChildProcess;
  let url: string;

  beforeAll(async () => {
    programs = await compilePrograms({ main: fileURLToPath(new URL('fixture/main.ts', import.meta.url)) });
    server = spawn(process.execPath, [programs.file('main')], { stdio: ['ignore', 'inherit', 'pipe'] });
    let text = '';
    while (!text.includes('serving MCP at ')) {
      const [chunk] = (await once(server.stderr as NodeJS.ReadableStream, 'data')) as [Buffer];
      text += chunk.toString();
    }
    // What tools of the fixture throw on purpose is logged: nobody reads it.
    server.stderr?.resume();
    url = /serving MCP at (\S+);/.exec(text)?.[1] ?? '';
  }, 120_000);
  afterAll(async () => {
    server?.kill('SIGKILL');
    await programs?.remove();
  });

  test('passes in the stable version, with the pending scenarios', () => {
    const totals = totalsOf(tools.run('conformance-stable', ['--url', url, '--suite', 'all']));
    process.stdout.write(`conformance 0.1.16: ${totals.passed} passed, ${totals.failed} failed\n`);
    expect(totals).toEqual({ passed: 44, failed: 0, failing: [] });
  });

  test('passes in the version to come', () => {
    const totals = totalsOf(tools.run('conformance-next', ['--url', url, '--requirements', '2025-11-25']));
    process.stdout.write(`conformance 0.2.0-alpha.12: ${totals.passed} passed, ${totals.failed} failed\n`);
    expect(totals).toEqual({ passed: 77, failed: 0, failing: [] });
  });
});
