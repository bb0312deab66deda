import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../graph/json.js';
import { ask } from '../engine/constructs.fixture.js';
import { chain, done, graph, step } from '../engine/graph.fixture.js';
import type { SubmitAnswer } from './run/envelope.js';
import type { VariableChanges } from './run-store.js';
import { MemoryJournal } from './store/memory-journal.js';
import { ada, bob, Store } from './store.fixture.js';

const sure = graph(chain(ask('sure'), done('out', step('sure', 'confirmed'))));

const stores: readonly (readonly [string, () => MemoryJournal | undefined])[] = [
  ['in memory', () => undefined],
  ['in a journal', () => new MemoryJournal()],
];

function set(store: Store, values: JsonObject, more: Partial<VariableChanges> = {}): Promise<SubmitAnswer> {
  return store.store.setVariables(ada, 'run-1', { set: values, ...more }, 1_000);
}

function read(store: Store): Promise<{ values: JsonObject; version: number } | undefined> {
  return store.store.inspect(ada, 'run-1', ({ variables: values, version }) => ({ values, version }));
}

function code(answer: SubmitAnswer): string {
  return answer.ok ? 'ok' : answer.failure.code;
}

describe.each(stores)('variables of a run %s', (_, journal) => {
  test('are set together, replaced and deleted', async () => {
    const store = new Store({}, {}, journal());
    await store.start(sure);
    expect(await read(store)).toStrictEqual({ values: {}, version: 0 });
    await set(store, { region: 'eu', tries: 1, gone: true });
    const answer = await set(store, { tries: 2, gone: null });
    expect(answer).toStrictEqual({ ok: true, accepted: true });
    expect(await read(store)).toStrictEqual({ values: { region: 'eu', tries: 2 }, version: 2 });
  });

  test('are not changed by a program that knows an earlier version', async () => {
    const store = new Store({}, {}, journal());
    await store.start(sure);
    const changes = await Promise.all([
      set(store, { by: 'one' }, { expectedVersion: 0 }),
      set(store, { by: 'other' }, { expectedVersion: 0 }),
    ]);
    expect(changes.map(code)).toStrictEqual(['ok', 'E_TASK_VERSION']);
    expect(changes[1]).toMatchObject({ failure: { details: { expected: 0, found: 1 } } });
    expect(await read(store)).toStrictEqual({ values: { by: 'one' }, version: 1 });
  });

  test('have limits, and are not changed beyond them', async () => {
    const store = new Store({}, {}, journal());
    await store.start(sure);
    const deep = '['.repeat(11) + ']'.repeat(11);
    const refused = [
      await set(store, { fits: 1, text: 'x'.repeat(65_537) }),
      await set(store, { deep: JSON.parse(deep) }),
      await set(store, { many: Array.from({ length: 17 }, () => 'x'.repeat(65_000)) }),
    ];
    expect(refused.map(code)).toStrictEqual(['E_TASK_VARIABLES', 'E_TASK_VARIABLES', 'E_TASK_VARIABLES']);
    expect(await read(store)).toStrictEqual({ values: {}, version: 0 });
    const most = { text: 'x'.repeat(65_536), deep: JSON.parse(deep.slice(1, -1)) };
    expect(code(await set(store, most))).toBe('ok');
  });

  test('are read after the run is over, and not changed', async () => {
    const store = new Store({}, {}, journal());
    await store.start(sure);
    await set(store, { region: 'eu' });
    await store.submit('run-1', { result: true });
    expect(code(await set(store, { region: 'us' }))).toBe('E_TASK_OVER');
    expect(await read(store)).toStrictEqual({ values: { region: 'eu' }, version: 1 });
  });

  test('exist for the owner alone', async () => {
    const store = new Store({}, {}, journal());
    await store.start(sure);
    expect(code(await store.store.setVariables(bob, 'run-1', { set: { a: 1 } }, 1_000))).toBe(
      'WORKFLOW_NOT_FOUND',
    );
    expect(await store.store.inspect(bob, 'run-1', () => true)).toBeUndefined();
    expect(await read(store)).toStrictEqual({ values: {}, version: 0 });
  });
});

test('variables in a journal are there in the next process', async () => {
  const journal = new MemoryJournal();
  const store = new Store({}, {}, journal);
  await store.start(sure);
  await set(store, { region: 'eu', gone: 1 });
  await set(store, { gone: null });
  const next = new Store({}, {}, journal);
  await next.store.resumeAll();
  expect(await read(next)).toStrictEqual({ values: { region: 'eu' }, version: 2 });
});
