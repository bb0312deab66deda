import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Agent, childrenIn, loopIn, reviews } from './children.fixture.js';
import { fileStore } from './operate/run-stores.js';
import { MemoryJournal } from './store/memory-journal.js';
import { ada, bob, codeOf, copyOf, Store } from './store.fixture.js';

/** Stores, and how a later process opens the runs of one. */
const stores: Readonly<Record<string, () => { first: Store; later?: () => Promise<Store> }>> = {
  'in memory': () => ({ first: new Store() }),
  'with a journal': () => {
    const journal = new MemoryJournal();
    return { first: new Store({}, {}, journal), later: async () => new Store({}, {}, await copyOf(journal)) };
  },
  'in a file': () => {
    const folder = mkdtempSync(join(tmpdir(), 'stepwright-children-'));
    const open = (): Store => {
      const store = new Store();
      const file = fileStore(join(folder, 'runs.db'), store.options);
      onTestFinished(() => file.close());
      return Object.assign(Object.create(store) as Store, { store: file });
    };
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return { first: open(), later: async () => open() };
  },
};

/** A run with agents that review files. */
async function at(kind: string, files = ['a', 'b'], concurrency?: number) {
  const { first, later } = stores[kind]?.() ?? { first: new Store() };
  const envelope = await first.start(reviews(files, concurrency));
  const id = envelope.workflow_id;
  const agents = childrenIn(envelope).map((child) => new Agent(first, ada, child));
  const [one, two] = agents as [Agent, Agent];
  return { store: first, later, envelope, id, one, two, agents };
}

describe.each(Object.keys(stores))('a loop with an agent, %s', (kind) => {
  test('is one action, which lists the children that may start', async () => {
    const { envelope } = await at(kind);
    expect(envelope.action).toMatchObject({
      ...{ step_id: 'each', type: 'delegate', workflow_id: envelope.workflow_id },
      parameters: {
        agent: '@reviewer',
        task: 'review',
        children: [{ item: 'a' }, { item: 'b' }],
      },
    });
    expect(loopIn(envelope).instructions).toContain('process 2 items in parallel using @reviewer');
  });

  test('has random ids, from which no other id follows', async () => {
    const { envelope } = await at(kind, ['a', 'b', 'c']);
    const ids = childrenIn(envelope);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{32}-[0-9a-f]{32}$/);
      expect(id).not.toContain(envelope.workflow_id);
    }
  });

  test('is driven step by step by the agents of its items, and settled by them', async () => {
    const { store, id, one, two } = await at(kind);
    const first = await one.next();
    expect(first).toMatchObject({
      next: { status: 'pending_step', step: { step_id: 'read', parameters: { message: 'Read a' } } },
    });
    expect(await one.next()).toEqual(first);
    expect(await one.send({ stepId: 'read', result: 'A' })).toMatchObject({
      next: { status: 'pending_step', step: { step_id: 'sure' } },
    });
    expect(await one.send({ stepId: 'sure', result: true })).toMatchObject({
      next: { status: 'complete', final_result: 'A' },
    });
    expect(childrenIn(await store.get(id))).toHaveLength(1);
    expect(await two.review('B')).toMatchObject({ next: { status: 'complete', final_result: 'B' } });
    expect(await store.get(id)).toMatchObject({ status: 'waiting', action: { step_id: 'last' } });
    const end = await store.submit(id, { result: true });
    expect(end).toMatchObject({ envelope: { status: 'completed', result: ['A', 'B'] } });
    expect(await one.next()).toMatchObject({ next: { status: 'complete', final_result: 'A' } });
  });

  test('one at a time, where it is sequential', async () => {
    const { store, id, envelope, one } = await at(kind, ['a', 'b'], 1);
    expect(loopIn(envelope).instructions).toContain('process 2 items one at a time');
    expect(loopIn(envelope).children).toMatchObject([{ item: 'a' }]);
    await one.review('A');
    expect(loopIn(await store.get(id)).children).toMatchObject([{ item: 'b' }]);
  });

  test('is not submitted by the caller of the run, nor is a step of a child', async () => {
    const { store, id, envelope, one } = await at(kind);
    expect(codeOf(await store.submit(id, { result: 'A' }))).toBe('ACTION_OF_AGENTS');
    const { action_id: actionId = '' } = envelope.action ?? {};
    expect(codeOf(await store.submit(id, { actionId, result: 'A' }))).toBe('ACTION_OF_AGENTS');
    const step = await one.next();
    const action = step.ok && step.next.status === 'pending_step' ? step.next.step.action_id : '';
    expect(codeOf(await store.submit(id, { actionId: action, result: 'A' }))).toBe('ACTION_OF_AGENTS');
  });

  test('shows no step of a child to the caller of the run', async () => {
    const { envelope } = await at(kind);
    expect(envelope.actions).toHaveLength(1);
    expect(JSON.stringify(envelope)).not.toContain('Read a');
  });

  test('a child id reaches its child alone, for the owner of the run', async () => {
    const { store, id, envelope } = await at(kind);
    const [child = '', other = ''] = childrenIn(envelope);
    expect(codeOf(await store.submit(child, { result: 'A' }))).toBe('WORKFLOW_NOT_FOUND');
    expect(codeOf(await store.store.get(ada, child))).toBe('WORKFLOW_NOT_FOUND');
    const cancelled = await store.store.cancel(ada, child, {}, store.waiter());
    expect(codeOf(cancelled)).toBe('WORKFLOW_NOT_FOUND');
    const unknown = [id, child.slice(0, -1), `${child.slice(0, 33)}${'0'.repeat(32)}`];
    for (const wrong of unknown)
      expect(await new Agent(store, ada, wrong).next()).toMatchObject({
        failure: { code: 'WORKFLOW_NOT_FOUND' },
      });
    expect(await new Agent(store, bob, other).next()).toMatchObject({
      failure: { code: 'WORKFLOW_NOT_FOUND' },
    });
  });

  test('a result that is sent twice gets the next step as well, and another one is refused', async () => {
    const { one } = await at(kind);
    const sure = await one.send({ stepId: 'read', result: 'A' });
    expect(await one.send({ stepId: 'read', result: 'A' })).toEqual(sure);
    expect(await one.send({ stepId: 'read', result: 'B' })).toMatchObject({
      failure: { code: 'ALREADY_SUBMITTED' },
    });
    const end = await one.send({ stepId: 'sure', result: true });
    expect(await one.send({ stepId: 'sure', result: true })).toEqual(end);
  });

  test('a result for a step that is not pending, or that is unknown, is refused', async () => {
    const { one } = await at(kind);
    expect(await one.send({ stepId: 'sure', result: true })).toMatchObject({
      failure: { code: 'WRONG_STEP', message: expect.stringContaining("Pending: 'read'") },
    });
    expect(await one.send({ stepId: 'other', result: true })).toMatchObject({
      failure: { code: 'WRONG_STEP' },
    });
    expect(await one.send({ stepId: 'read', result: { text: 'A' } })).toMatchObject({
      failure: { code: 'E_RESULT_SHAPE' },
    });
  });

  test('a result for an action of a sibling is refused', async () => {
    const { one, two } = await at(kind);
    const step = await two.next();
    const actionId = step.ok && step.next.status === 'pending_step' ? step.next.step.action_id : '';
    expect(await one.send({ actionId, result: 'B' })).toMatchObject({ failure: { code: 'UNKNOWN_ACTION' } });
    expect(await one.send({ actionId, stepId: 'read', result: 'B' })).toMatchObject({
      failure: { code: 'WRONG_STEP' },
    });
    expect(await two.next()).toEqual(step);
  });

  test('an acknowledgement of a step of the server is accepted and ignored', async () => {
    const { one } = await at(kind);
    const step = await one.next();
    expect(await one.send({ stepId: 'out', result: { acknowledged: true } })).toEqual(step);
    expect(await one.send({ stepId: 'out', result: 'A' })).toMatchObject({ failure: { code: 'WRONG_STEP' } });
  });

  test('without a step, the result is for the one that is pending', async () => {
    const { one } = await at(kind);
    expect(await one.send({ result: 'A' })).toMatchObject({ next: { step: { step_id: 'sure' } } });
  });

  test('an error fails the step, and the child with it', async () => {
    const { store, id, one, two } = await at(kind);
    expect(await one.send({ stepId: 'read', error: { message: 'no such file' } })).toMatchObject({
      next: { status: 'error', error: { code: 'E_ACTION_FAILED', message: 'no such file' } },
    });
    await two.review('B');
    const end = await store.submit(id, { result: true });
    expect(end).toMatchObject({ envelope: { status: 'completed', result: [null, 'B'] } });
  });

  test('a result after the run was cancelled is refused', async () => {
    const { store, id, one } = await at(kind);
    await store.store.cancel(ada, id, {}, store.waiter());
    expect(await one.next()).toMatchObject({
      next: { status: 'error', error: { code: 'WORKFLOW_CANCELLED' } },
    });
    expect(await one.send({ stepId: 'read', result: 'A' })).toMatchObject({
      failure: { code: 'WORKFLOW_CANCELLED' },
    });
  });

  test('a result after the task is over is not used, with a warning', async () => {
    const { one } = await at(kind);
    await one.review('A');
    expect(await one.send({ result: 'B' })).toMatchObject({
      next: { status: 'complete', final_result: 'A' },
      warnings: [{ code: 'W_NOT_USED' }],
    });
  });

  test('of 100 children of which 10 fail, every result is in its place', async () => {
    const files = Array.from({ length: 100 }, (_, index) => `file-${index}`);
    const { store, id, agents } = await at(kind, files);
    await Promise.all(
      agents.map((agent, index) =>
        index % 10 === 0
          ? agent.send({ stepId: 'read', error: { message: 'unreadable' } })
          : agent.review(`done ${index}`),
      ),
    );
    const end = await store.submit(id, { result: true });
    const result = files.map((_, index) => (index % 10 === 0 ? null : `done ${index}`));
    expect(end).toMatchObject({ envelope: { status: 'completed', result } });
  });
});

test.each(['with a journal', 'in a file'])(
  'after a restart %s the same ids reach the same steps',
  async (kind) => {
    const { store, later, envelope, id, one } = await at(kind);
    const second = await one.send({ stepId: 'read', result: 'A' });
    await store.store.close();
    const next = (await later?.()) ?? store;
    expect(childrenIn(await next.get(id))).toEqual(childrenIn(envelope));
    const [again, other] = childrenIn(envelope).map((child) => new Agent(next, ada, child)) as [Agent, Agent];
    expect(await again.next()).toEqual(second);
    expect(await again.send({ stepId: 'read', result: 'A' })).toEqual(second);
    await other.review('B');
    await again.send({ stepId: 'sure', result: true });
    expect(await next.submit(id, { result: true })).toMatchObject({ envelope: { result: ['A', 'B'] } });
    expect(await other.next()).toMatchObject({ next: { status: 'complete', final_result: 'B' } });
  },
);
