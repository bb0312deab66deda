import { describe, expect, test } from 'vitest';
import { atDesk, callOf, runIn } from './client.js';

/** Lets everything finish that needs no timer. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

const isOfDrain = (text: string): boolean => text.startsWith('the server');

describe('a drained server', () => {
  test('waits for a run that goes on without a request', async () => {
    const { client, desk, server, log } = await atDesk({ toolAnswerMs: 1 });
    expect(server.isDraining).toBe(false);
    expect((await callOf(client, 'w_slow')).structuredContent).toMatchObject({ status: 'running' });
    let isDrained = false;
    const drained = server.drain().then(() => {
      isDrained = true;
    });
    expect(server.isDraining).toBe(true);
    await turn();
    expect(isDrained).toBe(false);
    desk.finish({ done: true });
    await drained;
    expect(log.filter(isOfDrain)).toEqual([]);
  });

  test('cancels what does not finish in time, and tells how much that was', async () => {
    const { client, desk, server, log } = await atDesk({ toolAnswerMs: 1, drainTimeoutMs: 1 });
    await callOf(client, 'w_slow');
    const signal = await desk.begun;
    await callOf(client, 'w_careful', { city: 'Rome' });
    await callOf(client, 'w_nap');
    await Promise.all([server.drain(), server.drain()]);
    expect(signal.aborted).toBe(true);
    expect(log.filter(isOfDrain)).toEqual([
      'the server was stopped: cancelled 0 requests and 3 runs that were not over',
    ]);
  });

  test('does not wait for runs that wait themselves', async () => {
    const { client, server } = await atDesk({ drainTimeoutMs: 0x7fffffff });
    expect(runIn(await callOf(client, 'w_careful', { city: 'Rome' }))).toBeTruthy();
    expect((await callOf(client, 'w_nap')).structuredContent).toMatchObject({ status: 'waiting' });
    await server.drain();
    await expect(callOf(client, 'list_workflows')).rejects.toMatchObject({ code: -32004 });
  });
});
