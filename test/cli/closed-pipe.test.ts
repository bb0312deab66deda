import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtPackage } from '../built-package.js';
import { nightlyTest } from '../nightly.js';

describe('output that is not read to its end', { timeout: 120_000 }, () => {
  let root = '';
  let main = '';

  beforeAll(() => {
    main = path.join(builtPackage(), 'dist/cli/main.js');
    root = mkdtempSync(path.join(tmpdir(), 'stepwright-pipe-'));
    // More than a pipe holds, and with a fault.
    const nodes = Array.from(
      { length: 2_000 },
      (_, index) => `      n${index}: { call: save, args: { a: $x } }`,
    );
    writeFileSync(
      path.join(root, 'many.yaml'),
      ['workflows:', '  many:', '    description: Many faults', '    graph:', ...nodes, ''].join('\n'),
    );
  }, 120_000);
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  /** Runs a command whose reader closes the output before anything is written to it. */
  async function unread(
    stream: 'stdout' | 'stderr',
    ...args: string[]
  ): Promise<{ code: number; other: string }> {
    const child = spawn(process.execPath, [main, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    child[stream].destroy();
    let other = '';
    const read = stream === 'stdout' ? child.stderr : child.stdout;
    read.setEncoding('utf8').on('data', (text: string) => {
      other += text;
    });
    const [code] = (await once(child, 'close')) as [number];
    return { code, other };
  }

  nightlyTest.each([
    { args: ['--help'], code: 0 },
    { args: ['validate', 'many.yaml', '--format', 'json'], code: 1 },
  ])('a reader of $args.0 that leaves changes nothing else', async ({ args, code }) => {
    expect(await unread('stdout', ...args)).toEqual({ code, other: '' });
  });

  test('a reader of diagnostics that leaves does not change the exit code', async () => {
    expect(await unread('stderr', 'validate', 'many.yaml')).toEqual({ code: 1, other: '' });
  });

  test('a full disk is named, and is no fault of stepwright', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [main, '--help'], { cwd: root, stdio: ['ignore', full, 'pipe'] });
    let err = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(err).toBe('stepwright: the output cannot be written: ENOSPC: no space left on device, write\n');
  });
});
