import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as sqlite from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dispatched } from '../../src/cli/dispatched.fixture.js';
import type { JsonObject } from '../../src/graph/json.js';
import { runRef } from '../../src/runtime/tools/port.js';
import { compilePrograms } from '../compiled-programs.js';
import { runIn } from '../e2e/composite/client.js';
import { freshCall } from '../e2e/composite/http.js';
import { nightlyTest } from '../nightly.js';
import type { Child } from './child.js';
import { ledgerServers } from './ledger-servers.js';

const servers = ledgerServers();
let edited: Awaited<ReturnType<typeof compilePrograms>>;

beforeAll(async () => {
  const file = fileURLToPath(new URL('edited-registry.fixture.ts', import.meta.url));
  edited = await compilePrograms({ edited: file });
}, 60_000);
afterAll(() => edited.remove());

/** Starts a server on the file. */
async function served(): Promise<{ readonly child: Child; readonly url: URL }> {
  const child = servers.start();
  const isUrl = (line: string): boolean => line.startsWith('http:');
  for (let count = 1; !child.lines.some(isUrl); count += 1) await child.printed(count);
  return { child, url: new URL(child.lines.find(isUrl) ?? '') };
}

/** Runs `stepwright runs` with JSON as its output. */
async function runs(...args: readonly string[]): Promise<JsonObject> {
  const { code, out, err } = await dispatched('runs', ...args, '--json', '--store', `sqlite:${servers.path}`);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

/** The keys of the effects, by name. */
function effects(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of servers.effects()) {
    const [name = '', key = ''] = line.split(' ');
    found.set(name, (found.get(name) ?? new Set()).add(key));
  }
  return found;
}

describe('while a server uses the store', { timeout: 90_000 }, () => {
  test('a run moves to an edited workflow, and goes on with it in the server', async () => {
    const { child, url } = await served();
    const workflow_id = runIn(await freshCall(url, 'w_gate'));
    const options = join(servers.folder, 'options.mjs');
    const module = JSON.stringify(pathToFileURL(edited.file('edited')).href);
    writeFileSync(options, `export { options as default } from ${module};`);
    const registry = ['--registry', edited.file('edited'), '--options', options];
    const ref = runRef(workflow_id);
    expect(await runs('show', ref, ...registry)).toMatchObject({
      ...{ definition_changed: true, missing_capabilities: [{ kind: 'tool', name: 'slow' }] },
    });
    expect(await runs('migrate', ref, ...registry)).toEqual({
      runs: [{ run: ref, verdict: 'safe', starts: [] }],
    });
    expect(await runs('migrate', ref, '--apply', ...registry)).toEqual({
      runs: [{ run: ref, verdict: 'moved' }],
    });
    expect(await runs('show', ref, ...registry)).toMatchObject({ definition_changed: false });

    const answered = await freshCall(url, 'submit_result', { workflow_id, result: true });
    expect(answered.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'sure' } });
    expect([...effects().keys()]).toEqual(['b']);
    await child.kill();
    // The new definition outlasts the server.
    const next = await served();
    const done = await freshCall(next.url, 'submit_result', {
      workflow_id,
      action_id: 'sure#1',
      result: true,
    });
    expect(done.structuredContent).toMatchObject({ status: 'completed', result: 'b' });
  });

  nightlyTest(
    'a fork with the tools themselves survives the server, and leaves the run as it is',
    async () => {
      const { child, url } = await served();
      const workflow_id = runIn(await freshCall(url, 'w_line'));
      await freshCall(url, 'submit_result', { workflow_id, result: true });
      const before = effects();
      expect([...before.keys()]).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
      const database = new sqlite.DatabaseSync(servers.path, { readOnly: true });
      const rows = () =>
        ['entries', 'state', 'host'].map((table) =>
          database.prepare(`SELECT * FROM ${table} WHERE run = 1`).all(),
        );
      const unchanged = rows();
      // Entry 3 has the result of `a`.
      const printed = child.lines.length;
      const { run, forked_from, repeated_calls } = await runs(
        'fork',
        runRef(workflow_id),
        '--at',
        '3',
        '--real',
        '--yes',
      );
      expect(forked_from).toMatchObject({ entry: 3, effects: [{ step_id: 'a', tool: 'record' }] });
      expect((repeated_calls as readonly JsonObject[]).map(({ step_id }) => step_id)).toEqual([
        'b',
        'c',
        'd',
        'e',
        'f',
      ]);
      await child.printed(printed + 1);
      await child.kill();

      const next = await served();
      await vi.waitFor(
        async () =>
          expect(await runs('show', String(run))).toMatchObject({
            status: 'waiting',
            actions: [{ step_id: 'sure' }],
          }),
        { timeout: 30_000 },
      );
      const after = effects();
      expect([...after].map(([name, keys]) => [name, keys.size])).toEqual([
        ['a', 1],
        ...['b', 'c', 'd', 'e', 'f'].map((name) => [name, 2]),
      ]);
      expect(rows()).toEqual(unchanged);
      database.close();
      const done = await freshCall(next.url, 'submit_result', {
        workflow_id,
        action_id: 'sure#1',
        result: true,
      });
      expect(done.structuredContent).toMatchObject({ status: 'completed', result: 'g' });
    },
  );
});
