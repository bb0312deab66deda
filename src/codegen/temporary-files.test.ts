import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeStaleFiles, takeTemporaryName } from './temporary-files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-temporary-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LONG_AGO = new Date('2020-01-01');

/** The name that a process of this machine writes under. */
function nameOf(pid: number | undefined, target = 'registry.ts'): string {
  const { temporary, release } = takeTemporaryName(path.join(folder, target));
  release();
  return path.basename(temporary).replace(`-${process.pid}-`, `-${pid}-`);
}

function put(name: string, time?: Date): string {
  const file = path.join(folder, name);
  writeFileSync(file, 'half of a regist');
  if (time !== undefined) utimesSync(file, time, time);
  return name;
}

const remove = () => removeStaleFiles(folder, (name) => name === 'registry.ts');

test('removes what dead processes, and this one, have left', () => {
  // It has ended by now.
  const { pid: dead } = spawnSync(process.execPath, ['--version']);
  put(nameOf(dead));
  put(nameOf(process.pid));
  remove();
  expect(readdirSync(folder)).toEqual([]);
});

test('leaves alone what a process writes now', () => {
  const { temporary, release } = takeTemporaryName(path.join(folder, 'registry.ts'));
  const own = put(path.basename(temporary));
  const parent = put(nameOf(process.ppid));
  const elsewhere = put(nameOf(1).replace(/\.[0-9a-f]{8}-/, '.00000000-'));
  remove();
  expect(readdirSync(folder).sort()).toEqual([own, parent, elsewhere].sort());
  release();
  remove();
  expect(readdirSync(folder).sort()).toEqual([parent, elsewhere].sort());
});

test('removes what a process that cannot be asked about has left long ago', () => {
  put(nameOf(process.ppid), LONG_AGO);
  put(nameOf(1).replace(/\.[0-9a-f]{8}-/, '.00000000-'), LONG_AGO);
  remove();
  expect(readdirSync(folder)).toEqual([]);
});

test('leaves alone what is not ours', () => {
  const names = ['.registry.ts.swp', '.registry.ts.tmp', 'registry.ts', nameOf(2 ** 30, 'other.ts'), 'a.tmp'];
  for (const name of names) put(name, LONG_AGO);
  remove();
  expect(readdirSync(folder).sort()).toEqual([...names].sort());
});

test('says nothing of a folder that is not there', () => {
  expect(() => removeStaleFiles(path.join(folder, 'none'), () => true)).not.toThrow();
});
