import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type Child, programOf } from './child.js';

/** Servers of the program `ledger-server` on one file, for each test of a file. */
export interface LedgerServers {
  /** The folder of the test, which is removed after it. */
  readonly folder: string;
  /** The file of the store. */
  readonly path: string;
  /** The effects so far, each as its step and its key. */
  effects(): string[];
  /** Starts a server on the file, which ends with the test. */
  start(...how: readonly string[]): Child;
}

/** Makes a folder for each test of a file, and ends the servers that the test has started. */
export function ledgerServers(): LedgerServers {
  const program = programOf('ledger-server');
  const children: Child[] = [];
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stepwright-durable-'));
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.kill()));
    rmSync(folder, { recursive: true });
  });
  const inFolder = (file: string): string => join(folder, file);
  return {
    get folder() {
      return folder;
    },
    get path() {
      return inFolder('runs.db');
    },
    effects: () => readFileSync(inFolder('ledger.txt'), 'utf8').trim().split('\n'),
    start(...how) {
      const child = program(inFolder('runs.db'), inFolder('ledger.txt'), ...how);
      children.push(child);
      return child;
    },
  };
}
