import { expect, test } from 'vitest';
import { memoryStore } from '../runs/operate/run-stores.js';
import { settle } from '../runs/store.fixture.js';
import { emptyRegistry } from '../tools/registry.js';
import { Lifecycle, type LifecycleHooks, ServerStartError } from './lifecycle.js';
import { createServer } from './server.js';

function lifecycleOf(hooks: LifecycleHooks): { readonly lifecycle: Lifecycle; readonly log: string[] } {
  const log: string[] = [];
  return { lifecycle: new Lifecycle(hooks, (text) => log.push(text)), log };
}

test('each hook is called once', async () => {
  const calls: string[] = [];
  const { lifecycle } = lifecycleOf({
    onStart: () => void calls.push('start'),
    onStop: async () => void calls.push('stop'),
  });
  await Promise.all([lifecycle.start(), lifecycle.start()]);
  await Promise.all([lifecycle.stop(1_000), lifecycle.stop(1_000)]);
  expect(calls).toEqual(['start', 'stop']);
});

test('a start that fails is named, and tried again', async () => {
  const calls: string[] = [];
  const { lifecycle, log } = lifecycleOf({
    onStart: async () => {
      calls.push('start');
      if (calls.length === 1) throw new Error('no database');
    },
    onStop: () => void calls.push('stop'),
  });
  const failed = await lifecycle.start().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ServerStartError);
  expect(failed).toMatchObject({
    message: 'the server cannot start: its `onStart` failed: no database',
    cause: new Error('no database'),
  });
  await lifecycle.start();
  await lifecycle.stop(1_000);
  expect(calls).toEqual(['start', 'start', 'stop']);
  expect(log).toEqual([]);
});

test('nothing is stopped that has not started', async () => {
  const calls: string[] = [];
  const onStop = () => void calls.push('stop');
  await lifecycleOf({ onStop }).lifecycle.stop(1_000);
  const { lifecycle, log } = lifecycleOf({ onStart: () => Promise.reject(new Error('no')), onStop });
  await expect(lifecycle.start()).rejects.toThrow(ServerStartError);
  await lifecycle.stop(1_000);
  expect([calls, log]).toEqual([[], []]);
});

test('a stop that fails or hangs is logged', async () => {
  const failing = lifecycleOf({ onStop: () => Promise.reject(new Error('half written')) });
  await failing.lifecycle.start();
  await failing.lifecycle.stop(1_000);
  expect(failing.log).toEqual([
    expect.stringMatching(/^`onStop` of the server failed: Error: half written\n/),
  ]);
  const hanging = lifecycleOf({ onStop: () => new Promise(() => {}) });
  await hanging.lifecycle.start();
  await hanging.lifecycle.stop(5);
  expect(hanging.log).toEqual(['`onStop` of the server did not finish within 5 ms']);
});

test('a server calls `onStop` after its store has closed, which waits for calls of its runs', async () => {
  const order: string[] = [];
  const close = async () => {
    await settle();
    order.push('runs');
    throw new Error('its worker has ended');
  };
  const server = createServer(emptyRegistry, {
    store: { open: (options) => Object.assign(memoryStore(options), { close }) },
    onStop: () => void order.push('onStop'),
    log: (text) => void order.push(text),
  });
  await server.start();
  await server.stop();
  expect(order.slice(-3)).toEqual(['runs', 'the store did not close: its worker has ended', 'onStop']);
});
