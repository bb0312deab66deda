import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { programWithPackage } from '../../built-package.js';
import { nightlyTest } from '../../nightly.js';
import { ROOT } from '../examples/example-client.js';

const departure = new Date(Date.now() + 20 * 24 * 3_600_000).toISOString().slice(0, 10);
const returning = new Date(Date.now() + 23 * 24 * 3_600_000).toISOString().slice(0, 10);
const flight = { origin: 'NYC', destination: 'Paris', date: departure, passenger: 'Radia Perlman' };
const trip = {
  origin: 'NYC',
  destination: 'Paris',
  checkin: departure,
  checkout: returning,
  passenger: 'Radia Perlman',
};

/** Starts the travel server over stdio, with these failures switched on. Closing the client ends it. */
async function travel(failures = ''): Promise<Client> {
  const client = new Client({ name: 'stepwright-test', version: '0.1.0' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [programWithPackage('examples/travel/main.ts')],
      env: { ...getDefaultEnvironment(), TRAVEL_FAILURES: failures },
      cwd: ROOT,
      stderr: 'inherit',
    }),
  );
  return client;
}

/** The status of a booking, or the code of the refusal to show it. */
async function statusOf(client: Client, id: string): Promise<unknown> {
  const { structuredContent, _meta } = await client.callTool({
    name: 'get_booking',
    arguments: { booking_id: id },
  });
  const booking = structuredContent as { readonly status: string } | undefined;
  const refusal = _meta?.['stepwright/failure'] as { readonly code: string } | undefined;
  return booking?.status ?? refusal?.code;
}

describe('the travel example, over stdio', () => {
  let client: Client;

  beforeAll(async () => {
    client = await travel();
  }, 60_000);
  afterAll(() => client.close());

  nightlyTest('offers its workflows as tools behind those it has', async () => {
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['search_flights', 'w_book_flight', 'w_book_trip']));
    expect(names).toEqual(expect.arrayContaining(['w_cancel_booking', 'w_checkout', 'get_workflow_status']));
  });

  test('books a flight, and puts the passenger of a full one on the waiting list', async () => {
    const booked = await client.callTool({ name: 'w_book_flight', arguments: flight });
    expect(booked).toMatchObject({ structuredContent: { id: 'BK-1006', status: 'confirmed' } });
    const full = { ...flight, destination: 'Reykjavik' };
    const waiting = await client.callTool({ name: 'w_book_flight', arguments: full });
    expect(waiting).toMatchObject({ structuredContent: { id: 'WL-1', status: 'waitlisted' } });
  });

  nightlyTest('undoes nothing of a trip that goes well', async () => {
    // One passenger has one seat on a flight, and the test before has taken the number 1006.
    const another = { ...trip, passenger: 'Ada Lovelace' };
    const booked = await client.callTool({ name: 'w_book_trip', arguments: another });
    expect(booked.isError).not.toBe(true);
    expect(booked.structuredContent).toMatchObject({ id: 'TRIP-1' });
    expect(await statusOf(client, 'BK-1007')).toBe('confirmed');
  });

  test('cancels the flight of a trip whose hotel fails', async () => {
    const unlucky = await travel('hotel');
    onTestFinished(() => unlucky.close());
    const failed = await unlucky.callTool({ name: 'w_book_trip', arguments: trip });
    expect(failed).toMatchObject({ isError: true });
    expect(JSON.stringify(failed)).toContain('E_PARTIAL_FAILURE');
    expect(await statusOf(unlucky, 'BK-1006')).toBe('cancelled');
  }, 60_000);

  nightlyTest(
    'leaves both bookings of a trip that is not confirmed, which can still be done',
    async () => {
      const unlucky = await travel('confirm_trip:1');
      onTestFinished(() => unlucky.close());
      const failed = await unlucky.callTool({ name: 'w_book_trip', arguments: trip });
      expect(failed).toMatchObject({
        isError: true,
      });
      expect(JSON.stringify(failed)).toContain('"id":"BK-1006"');
      expect(await statusOf(unlucky, 'BK-1006')).toBe('confirmed');
      const bookings = { flight_booking_id: 'BK-1006', hotel_booking_id: 'HB-1' };
      const confirmed = await unlucky.callTool({ name: 'confirm_trip', arguments: bookings });
      expect(confirmed).toMatchObject({ structuredContent: { id: 'TRIP-1', status: 'confirmed' } });
    },
    60_000,
  );

  nightlyTest(
    'books nothing where no hotel has a room, and cancels no flight that has departed',
    async () => {
      const full = { ...trip, destination: 'Reykjavik' };
      const none = await client.callTool({ name: 'w_book_trip', arguments: full });
      expect(JSON.stringify(none)).toContain('No hotel in Reykjavik has a room');
      const flown = await client.callTool({ name: 'w_cancel_booking', arguments: { booking_id: 'BK-1004' } });
      expect(JSON.stringify(flown)).toContain('Booking BK-1004 is of a flight that has departed');
      expect(await statusOf(client, 'BK-1004')).toBe('flown');
      expect(await statusOf(client, 'BK-1008')).toBe('E_BOOKING_UNKNOWN');
    },
  );

  test('refuses arguments that do not fit, and names what does', async () => {
    const refused = await client.callTool({ name: 'w_book_flight', arguments: { ...flight, date: 'soon' } });
    expect(refused).toMatchObject({ isError: true });
    expect(JSON.stringify(refused.content)).toContain('date');
    expect(await statusOf(client, 'BK-1008')).toBe('E_BOOKING_UNKNOWN');
  });
});
