import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openAgency, refusal } from './open-agency.js';

const ANN = { flight_id: 'UA57-2026-02-26', passenger: 'Ann' };
const seatsLeft = 'check_availability';

describe('an idempotency key', () => {
  test('makes many calls one', async () => {
    const { call } = await openAgency();
    const first = await call('create_booking', ANN, { key: 'k' });
    expect(await call('create_booking', ANN, { key: 'k' })).toEqual(first);
    expect((await call(seatsLeft, { flight_id: ANN.flight_id })).seats_available).toBe(3);
  });

  test('goes on answering after what it did was undone', async () => {
    const { call } = await openAgency();
    const { id } = await call('create_booking', ANN, { key: 'k' });
    const cancelled = await call('cancel_booking', { booking_id: id }, { key: 'k' });
    expect(await call('cancel_booking', { booking_id: id }, { key: 'k' })).toEqual(cancelled);
    expect((await call('create_booking', ANN, { key: 'k' })).id).toBe(id);
    expect((await call('create_booking', ANN, { key: 'other' })).id).not.toBe(id);
  });

  test('is not used up by a call that failed', async () => {
    const { call } = await openAgency({ failures: [{ kind: 'fails', trouble: 'flight', times: 1 }] });
    await expect(call('create_booking', ANN, { key: 'k' })).rejects.toEqual(refusal('E_FLIGHT_FULL'));
    expect((await call('create_booking', ANN, { key: 'k' })).status).toBe('confirmed');
  });

  test('belongs to one input', async () => {
    const { call } = await openAgency();
    await call('create_booking', ANN, { key: 'k' });
    await expect(call('create_booking', { ...ANN, passenger: 'Bob' }, { key: 'k' })).rejects.toEqual(
      refusal('E_KEY_REUSED'),
    );
  });

  test('reports that an attempt completed although its caller had stopped waiting', async () => {
    const { call } = await openAgency({
      failures: [{ kind: 'slow', tool: 'create_booking', ms: 600_000 }],
    });
    const caller = new AbortController();
    const lost = call('create_booking', ANN, { key: 'k', signal: caller.signal });
    expect((await call(seatsLeft, { flight_id: ANN.flight_id })).seats_available).toBe(3);
    caller.abort();
    await expect(lost).rejects.toThrow('aborted');
    const again = new AbortController();
    const second = call('create_booking', ANN, { key: 'k', signal: again.signal });
    expect((await call(seatsLeft, { flight_id: ANN.flight_id })).seats_available).toBe(3);
    again.abort();
    await expect(second).rejects.toThrow('aborted');
  });
});

test('whatever is booked and cancelled in whatever order, no seat is sold twice and none is lost', async () => {
  const flight_id = 'UA57-2026-02-26';
  const passengers = ['Ann', 'Bob', 'Cid', 'Dee', 'Eve', 'Fay'];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...passengers), fc.boolean()), { maxLength: 30 }),
      async (steps) => {
        const { call } = await openAgency();
        const held = new Map<string, string>();
        for (const [passenger, books] of steps) {
          const booking_id = held.get(passenger);
          if (books) {
            const made = call('create_booking', { flight_id, passenger });
            if (booking_id !== undefined) await expect(made).rejects.toEqual(refusal('E_ALREADY_BOOKED'));
            else if (held.size === 4) await expect(made).rejects.toEqual(refusal('E_FLIGHT_FULL'));
            else held.set(passenger, (await made).id);
          } else if (booking_id !== undefined) {
            await call('cancel_booking', { booking_id });
            held.delete(passenger);
          }
          expect((await call(seatsLeft, { flight_id })).seats_available).toBe(4 - held.size);
        }
      },
    ),
    { numRuns: 20 },
  );
});

test('a call that was cancelled before it began changes nothing', async () => {
  const { call } = await openAgency();
  await expect(call('create_booking', ANN, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  expect((await call(seatsLeft, { flight_id: ANN.flight_id })).seats_available).toBe(4);
});

test('a file keeps what was booked, and is filled once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'travel-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'travel.db');
  const { call } = await openAgency({ file });
  const { id } = await call('create_booking', ANN, { key: 'k' });
  const other = await openAgency({ file });
  expect(await other.call('create_booking', ANN, { key: 'k' })).toMatchObject({ id });
  expect((await other.call('get_booking', { booking_id: id })).passenger).toBe('Ann');
});
