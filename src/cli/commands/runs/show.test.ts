import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { registryOf } from '../../../../test/e2e/server/fixture/registry-of.js';
import type { Graph } from '../../../graph/model.js';
import { ask } from '../../../runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../../../runtime/engine/graph.fixture.js';
import { broken } from '../../../runtime/runs/store.fixture.js';
import { runRef } from '../../../runtime/tools/port.js';
import { runs, ServedStore } from './store.fixture.js';

const store = new ServedStore();

const asking = graph(chain(ask('sure'), call('a', { x: lit(1) }), done('out', step('a'))), {
  name: 'asking',
  inputs: [{ name: 'amount', description: 'how much', schema: { type: 'number' }, required: true }],
});
const failing = graph(chain(call('b'), done('out', step('b'))), { name: 'failing' });

const on = (...args: readonly string[]) => runs(...args, '--store', `sqlite:${store.path}`);

test('a run that waits is listed and shown while its server runs, without its id', async () => {
  const id = await store.start(asking, { amount: 5 });
  const ref = runRef(id);
  const listed = await on('list', '--json');
  expect(listed).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(listed.out)).toEqual({
    runs: [
      {
        ...{ run: ref, workflow: 'asking', status: 'waiting', started_at: expect.any(String) },
        waits_for: [{ for: 'answer', of: 'sure#1' }],
      },
    ],
  });
  expect((await on('list')).out).toMatch(
    new RegExp(`^RUN .*\\n${ref} {2}waiting {2}asking {4}\\d{4}-.* answer sure#1\\n$`),
  );

  const shown = await on('show', ref, '--json');
  expect(JSON.parse(shown.out)).toMatchObject({
    ...{ run: ref, status: 'waiting', definition: { name: 'asking' } },
    ...{ owner: { kind: 'principal', subject: 'ada' }, arguments: { amount: 5 }, entries: 1, calls: [] },
    steps: [
      { step_id: 'sure', status: 'waiting' },
      { step_id: 'a', status: 'pending' },
      { step_id: 'out', status: 'pending' },
    ],
    actions: [{ action_id: 'sure#1', type: 'prompt' }],
  });
  const text = (await on('show', id)).out;
  expect(text).toContain(`${ref}  waiting  asking\nsteps:\n  sure: waiting\n`);
  expect(text).toMatch(/waits for:\n {2}sure#1: .* \(by the owner of the run\)\n/);
  expect(listed.out + shown.out + text).not.toContain(id);
});

test('with a registry a run shows whether its workflow was changed, and which tools are gone', async () => {
  const id = await store.start(asking, { amount: 5 });
  const registry = store.file('registry.mjs');
  writeFileSync(registry, `export const registry = ${JSON.stringify(registryOf({ tools: [] }))};`);
  const options = store.file('options.mjs');
  const shown = async (...workflows: Graph[]) => {
    writeFileSync(
      options,
      `export default ${JSON.stringify({ workflows: workflows.map((graph) => ({ graph })) })};`,
    );
    const file = store.file(`options-${workflows.length}.mjs`);
    renameSync(options, file);
    return JSON.parse((await on('show', id, '--json', '--registry', registry, '--options', file)).out);
  };
  expect(JSON.parse((await on('show', id, '--json')).out)).not.toHaveProperty('definition_changed');
  expect(await shown()).toMatchObject({
    definition_changed: true,
    missing_capabilities: [{ kind: 'tool', name: 'tool-a' }],
  });
  const edited = graph(chain(ask('sure'), done('out', lit(1))), { name: 'asking' });
  expect(await shown(edited)).toMatchObject({
    definition_changed: true,
    missing_capabilities: [{ kind: 'tool', name: 'tool-a' }],
  });

  const current = await store.start(edited);
  const text = (await on('show', current, '--registry', registry, '--options', store.file('options-1.mjs')))
    .out;
  expect(text).toContain('definition_changed: false\n');
  expect(text).not.toContain('missing_capabilities');
  expect(await on('show', id, '--registry', store.file('none.mjs'))).toMatchObject({ code: 1, out: '' });
});

test('a run that is over is shown with its result, and its log from one entry to another', async () => {
  const id = await store.start(asking, { amount: 5 });
  await store.answer(id, 'sure#1', true);
  const ref = runRef(id);
  expect(JSON.parse((await on('show', ref, '--json')).out)).toMatchObject({
    ...{ status: 'completed', result: { x: 1 }, ended_at: expect.any(String), actions: [] },
  });
  const events = async (...args: string[]) =>
    (await on('events', ref, '--json', ...args)).out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  const all = await events();
  expect(all).toMatchObject([
    { entry: 2, kind: 'actionSubmitted', command: 'sure#1', by: { kind: 'principal', subject: 'ada' } },
    { entry: 3, kind: 'toolReturned', command: 'a#1', value: { x: 1 } },
  ]);
  expect(await events('--from', '3')).toEqual(all.slice(1));
  expect(await events('--from', '1', '--to', '2')).toEqual(all.slice(0, 1));
  expect(await events('--from', '9')).toEqual([]);
  expect((await on('events', ref)).out).toMatch(/^2 {2}\d{4}-\S+ {2}actionSubmitted {2}\{.*\n3 /);
});

test('calls in flight are shown with how they may be repeated', async () => {
  store.tools['tool-b'] = () => new Promise(() => {});
  void store.start(failing);
  await expect.poll(async () => (await on('list')).out).toContain('running');
  expect(JSON.parse((await on('show', runRef('run-1'), '--json')).out)).toMatchObject({
    status: 'running',
    running_steps: ['b'],
    calls: [{ step_id: 'b', tool: 'tool-b', attempt: 1, retry_safety: 'none' }],
  });
  expect((await on('show', runRef('run-1'))).out).toContain('b: tool-b, attempt 1, retry safety none');
});

test('lists are filtered, and read in parts', async () => {
  store.tools['tool-b'] = () => broken('no');
  for (let count = 0; count < 3; count += 1) await store.start(failing);
  await store.start(asking, { amount: 1 });
  const workflows = async (...args: string[]) => {
    const { runs: listed, next } = JSON.parse((await on('list', '--json', ...args)).out);
    return [...listed.map(({ workflow }: { readonly workflow: string }) => workflow), next];
  };
  expect(await workflows('--status', 'failed')).toEqual(['failing', 'failing', 'failing', undefined]);
  expect(await workflows('--status', 'completed')).toEqual([undefined]);
  expect(await workflows('--workflow', 'asking')).toEqual(['asking', undefined]);
  expect(await workflows('--limit', '2')).toEqual(['asking', 'failing', 3]);
  expect(await workflows('--limit', '2', '--before', '3')).toEqual(['failing', 'failing', undefined]);
  expect(await on('list', '--limit', '1')).toMatchObject({ err: 'there are more: add `--before 4`\n' });
  expect(await on('list', '--status', 'completed')).toEqual({ code: 0, out: '', err: 'no run\n' });
});

test.each([
  [['show', '../../etc/passwd'], 'has no run `../../etc/passwd`: give a name from `stepwright runs list`'],
  [['show', 'x\u0000\u001b[31m'], 'has no run `x\\u0000\\u001b[31m`'],
  [['events', 'none'], 'has no run `none`'],
  [['show'], '`stepwright runs show` needs a run'],
  [['list', '--limit', '0'], '`--limit` takes a whole number from 1 to 1000, not `0`'],
  [['list', '--before', 'x'], '`--before` takes a whole number from 1 on, not `x`'],
  [['list', '--status', 'done'], '`--status` of `stepwright runs list` takes running, '],
  [['events', 'a', '--from', '5', '--to', '4'], '`--to` takes a whole number from 5 on, not `4`'],
  [['lst'], 'there is no command `runs lst` (did you mean `list`?)'],
])('%j is refused', async (args, message) => {
  await store.start(asking, { amount: 1 });
  const { code, out, err } = await on(...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(message);
  expect(err.trimEnd()).not.toContain('\n');
});

test('a store that cannot be used is refused', async () => {
  const path = store.file('a.txt');
  writeFileSync(path, 'hello');
  const refused = async (...args: string[]) => {
    const { code, err } = await runs('list', ...args);
    expect(code).toBe(2);
    return err;
  };
  expect(await refused()).toContain('`stepwright runs list` needs `--store STORE`');
  expect(await refused('--store', 'memory')).toContain("`--store` is 'sqlite:PATH'");
  expect(await refused('--store', `sqlite:${path}`)).toContain(`'${path}' is not a SQLite database`);
  const missing = store.file('none.db');
  expect(await refused('--store', `sqlite:${missing}`)).toContain(`there is no file '${missing}'`);
  expect(existsSync(missing)).toBe(false);
});

test('each command has a help', async () => {
  expect(await runs('--help')).toMatchObject({ code: 0, err: '' });
  for (const command of ['list', 'show', 'events', 'export', 'backup', 'restore', 'prune']) {
    const { code, out } = await runs(command, '--help');
    expect([code, out]).toEqual([0, expect.stringContaining(`Usage: stepwright runs ${command} `)]);
  }
  expect(await runs()).toMatchObject({ code: 2, out: '' });
});
