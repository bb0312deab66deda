import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Answer, failureIn, runIn, textIn } from '../e2e/composite/client.js';
import { smoke } from '../nightly.js';
import { type Child, programOf } from './child.js';
import { addressOf, toolCall } from './tool-call.js';

const start = programOf('ledger-server');

const STARTS = 5;

/** Starts runs, one after the other. Returns those that were acknowledged. */
async function starts(url: URL): Promise<readonly string[]> {
  const runs: string[] = [];
  for (let count = 0; count < STARTS; count += 1) {
    const answer = await toolCall(url, 'w_line');
    if (answer.isError !== true) runs.push(runIn(answer));
  }
  return runs;
}

interface Replacement {
  readonly what: string;
  /** @param folder of the store; its file is `runs.db`. */
  replace(folder: string): void;
  /** Puts back what was moved, where it was. Runs that are only in what was removed are lost. */
  putBack?(folder: string): void;
  /** Whether what was acknowledged before is in the remaining files. Default: it is. */
  readonly losesEarlier?: true;
}

const REPLACEMENTS: readonly Replacement[] = [
  { what: 'file is removed', replace: (folder) => rmSync(join(folder, 'runs.db')), losesEarlier: true },
  { what: 'log is removed', replace: (folder) => rmSync(join(folder, 'runs.db-wal')) },
  { what: 'shared memory is removed', replace: (folder) => rmSync(join(folder, 'runs.db-shm')) },
  {
    what: 'file is renamed',
    replace: (folder) => renameSync(join(folder, 'runs.db'), join(folder, 'old.db')),
    putBack: (folder) => renameSync(join(folder, 'old.db'), join(folder, 'runs.db')),
  },
  {
    what: 'file is replaced by a copy of it',
    replace(folder) {
      copyFileSync(join(folder, 'runs.db'), join(folder, 'copy.db'));
      renameSync(join(folder, 'copy.db'), join(folder, 'runs.db'));
    },
  },
  {
    what: 'folder is renamed',
    replace: (folder) => renameSync(folder, `${folder}-old`),
    putBack: (folder) => renameSync(`${folder}-old`, folder),
  },
  { what: 'folder is removed', replace: (folder) => rmSync(folder, { recursive: true }), losesEarlier: true },
];

test.each(smoke(REPLACEMENTS))(
  'a server refuses runs and answers once its $what, and says so',
  {
    timeout: 60_000,
  },
  async ({ replace, putBack, losesEarlier }) => {
    const base = mkdtempSync(join(tmpdir(), 'stepwright-replaced-'));
    const folder = join(base, 'store');
    mkdirSync(folder);
    let server: Child | undefined;
    onTestFinished(async () => {
      await server?.kill();
      rmSync(base, { recursive: true });
    });
    const begin = (): Promise<URL> => {
      server = start(join(folder, 'runs.db'), join(base, 'ledger.txt'), 'http', 'stateless');
      return addressOf(server);
    };
    const readiness = async (url: URL): Promise<unknown> => {
      const response = await fetch(new URL('/ready', url));
      return { code: response.status, ...((await response.json()) as object) };
    };

    let url = await begin();
    expect(await readiness(url)).toEqual({ code: 200, status: 'ready' });
    const earlier = await starts(url);
    expect(earlier).toHaveLength(STARTS);

    replace(folder);
    const refusals: Answer[] = [];
    for (let count = 0; count < STARTS; count += 1) refusals.push(await toolCall(url, 'w_line'));
    for (const workflow_id of earlier)
      refusals.push(await toolCall(url, 'submit_result', { workflow_id, action_id: 'go#1', result: true }));
    for (const refusal of refusals) {
      expect(refusal.isError).toBe(true);
      expect(failureIn(refusal)?.code).toBe('E_STORE_REPLACED');
      expect(textIn(refusal)).not.toContain(folder);
    }
    expect(await readiness(url)).toEqual({
      ...{ code: 503, status: 'store_replaced' },
      reason: expect.stringContaining('was removed or replaced'),
    });
    expect(server?.errors.match(/^store\..*$/gm)).toEqual(['store.replaced']);
    await server?.kill();

    if (putBack === undefined) mkdirSync(folder, { recursive: true });
    else putBack(folder);
    url = await begin();
    const later = await starts(url);
    expect(later).toHaveLength(STARTS);
    for (const workflow_id of losesEarlier ? later : [...earlier, ...later]) {
      const answer = await toolCall(url, 'get_workflow_status', { workflow_id });
      expect(answer.structuredContent).toMatchObject({ status: 'waiting', action: { action_id: 'go#1' } });
    }
  },
);
