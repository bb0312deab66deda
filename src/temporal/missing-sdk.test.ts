import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import type { RunStoreOptions } from '../runtime/runs/journal-run-store.js';
import type { StoreError } from '../runtime/runs/store/store-error.js';
import { temporal } from './index.js';

vi.mock('@temporalio/client', () => {
  throw new Error('there is no such package');
});

test('a store without the packages of the SDK names them with the command that installs them', async () => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { peerDependencies } = JSON.parse(manifest) as { readonly peerDependencies: object };
  const peers = Object.keys(peerDependencies).filter((name) => name.startsWith('@temporalio/'));
  const store = temporal({ worker: false }).open({} as RunStoreOptions);
  const opening = Promise.resolve(store.open?.());
  const { problem, message } = (await opening.catch((error: StoreError) => error)) as StoreError;
  expect(problem).toBe('no_package');
  expect(message).toMatch(/^the store needs '@temporalio\/client', .*: run `npm install [^`]+`$/);
  const [, installed = ''] = /`npm install (.*)`/.exec(message) ?? [];
  expect(installed.split(' ').sort()).toEqual(peers.sort());
});
