import { registeredIn } from 'stepwright/builder';
import { loadWorkflowFiles } from 'stepwright/formats';
import { toolContext } from 'stepwright/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TravelAgency } from '../../../examples/travel/agency.js';
import type { ToolName } from '../../../examples/travel/failures.js';
import { registry } from '../../../examples/travel/generated/travel.registry.js';
import { RemoteAgency } from '../../../examples/travel/remote-agency.js';
import { startService } from '../../../examples/travel/service.js';
import { travelTools } from '../../../examples/travel/tools.js';
import type { JsonObject } from '../../../src/graph/json.js';
import type { Graph } from '../../../src/graph/model.js';
import { bundle } from '../../../src/graph/nodes.js';
import type { Fact } from '../../../src/runtime/engine/contract.js';
import { Setup } from '../../../src/runtime/runs/run/setup.fixture.js';
import type { ToolOutcome } from '../../../src/runtime/tools/port.js';
import { NOW } from './open-agency.js';

const FILES = ['book-flight.yaml', 'book-trip.yaml', 'checkout.yaml'];
const loaded = await loadWorkflowFiles(FILES, {
  root: 'examples/travel',
  registered: registeredIn(registry),
});
const written = new Map(loaded.workflows.map(({ graph }) => [graph.name, graph]));

type Name = 'book_flight' | 'book_trip' | 'checkout';

/** The graph of a class, with the workflows that it runs. */
function graphOf(name: Name): Graph {
  const graphs = new Map<string, Graph>(
    Object.entries(registry.workflows).map(([each, { graph }]) => [each, graph as Graph]),
  );
  return bundle(registry.workflows[name].graph as Graph, (each) => graphs.get(each));
}

const FLIGHT = { origin: 'NYC', destination: 'Paris', date: '2026-02-26', passenger: 'Ann' };
const TRIP = {
  origin: 'NYC',
  destination: 'Paris',
  checkin: '2026-02-26',
  checkout: '2026-02-28',
  passenger: 'Ann',
};
const CART = { cart_id: 'CART-1', payment_method: 'card' };

/** Facts about calls, without the names of steps. Branches run side by side, so the order is not compared. */
function outside(facts: readonly Fact[]): string[] {
  const calls = facts.flatMap((fact) => {
    // Only the spec file looks up its booking; see `seated` there.
    if (fact.kind === 'callIssued' && fact.tool !== 'get_booking')
      return [`${fact.tool} ${JSON.stringify(fact.input)} ${fact.attempt} ${fact.isCompensation ?? false}`];
    return fact.kind === 'retrying' || fact.kind === 'finished' ? [fact.kind] : [];
  });
  return calls.sort();
}

interface Played {
  readonly status: string;
  readonly result: unknown;
  readonly message: string | undefined;
  readonly facts: readonly string[];
  /** What is in force after the run. */
  readonly effects: Readonly<Record<string, unknown>>;
}

/** Runs a workflow on a new service of its own, over HTTP. Retries do not wait. */
async function play(graph: Graph, input: JsonObject, failures: string, timeoutMs?: number): Promise<Played> {
  const agency = await TravelAgency.open({ clock: () => NOW });
  const service = await startService(agency);
  onTestFinished(async () => {
    await service.close();
    agency.close();
  });
  const remote = new RemoteAgency(service.url, timeoutMs);
  await remote.fail(failures);
  const setup = new Setup();
  let open = 0;
  const ports = Object.entries(travelTools(remote)).map(([name, make]) => [
    name,
    async (given: JsonObject, context: { signal: AbortSignal; idempotencyKey?: string | undefined }) => {
      open += 1;
      try {
        const { idempotencyKey, signal } = context;
        const key = idempotencyKey === undefined ? {} : { idempotencyKey };
        const value = await make().execute(given as never, toolContext({ signal, ...key }));
        return { ok: true, value } as unknown as ToolOutcome;
      } catch (error) {
        const { code = 'E_TOOL', message } = error as { code?: string; message: string };
        return { ok: false, failure: { code, message }, attempted: true } as ToolOutcome;
      } finally {
        open -= 1;
      }
    },
  ]);
  let isOver = false;
  const running = setup.run(graph, Object.fromEntries(ports), { input }).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    if (open === 0) setup.clock.pass(500);
  }
  const { status, result, failure } = await running;
  const { bookings, waitlist, stays, trips, charges, orders } = await remote.ledger();
  return {
    status,
    result,
    message: failure?.message,
    facts: outside(setup.facts),
    effects: {
      seats: bookings.flatMap(({ passenger, cancelled }) => (cancelled === 1 ? [] : [passenger])),
      rooms: stays.flatMap(({ guest, cancelled }) => (cancelled === 1 ? [] : [guest])),
      ...{ waitlist, trips, orders },
      charges: charges.map(({ reference, cents, refunded }) => ({ reference, cents, refunded })),
    },
  };
}

/** Runs the class and the spec file, which do the same, and gives what they did. */
async function playBoth(name: Name, input: JsonObject, failures = '', timeoutMs?: number): Promise<Played> {
  const graph = written.get(name);
  if (graph === undefined) throw new Error(`${name} is in no file`);
  const ofFile = await play(graph, input, failures, timeoutMs);
  const ofClass = await play(graphOf(name), input, failures, timeoutMs);
  expect(ofFile).toEqual(ofClass);
  return ofFile;
}

const NOTHING = { seats: [], rooms: [], waitlist: [], trips: [], orders: [], charges: [] };

test('the spec files have the faults that the classes are allowed', () => {
  expect(loaded.diagnostics.map(({ code, place }) => `${place?.file} ${code}`)).toEqual([
    'book-flight.yaml SW4037',
  ]);
  expect([...written.keys()].sort()).toEqual(['book_flight', 'book_trip', 'checkout']);
});

describe('book_flight, as a class and as a spec file', () => {
  test('books the first flight', async () => {
    const run = await playBoth('book_flight', FLIGHT);
    expect(run).toMatchObject({ status: 'succeeded', result: { id: 'BK-1006' } });
    expect(run.effects).toEqual({ ...NOTHING, seats: ['Ann'] });
  });

  test('puts the passenger of a full flight on the waiting list', async () => {
    const run = await playBoth('book_flight', { ...FLIGHT, destination: 'Reykjavik' });
    expect(run).toMatchObject({ status: 'succeeded', result: { status: 'waitlisted' } });
    expect(run.effects).toEqual({ ...NOTHING, waitlist: [{ id: 'WL-1', passenger: 'Ann' }] });
  });

  test.each([
    ['where no flight goes there', { ...FLIGHT, destination: 'Oslo' }, '', 'No flight from NYC to Oslo'],
    ['where the airline is down', FLIGHT, 'create_booking', 'Booking failed after 3 attempts'],
    ['where the search is down', FLIGHT, 'search_flights', 'does not answer'],
    ['where seats are never counted', FLIGHT, 'check_availability!', 'was lost'],
  ])('does nothing %s', async (_, input, failures, message) => {
    const run = await playBoth('book_flight', input, failures);
    expect(run.status).toBe('failed');
    expect(run.message).toContain(message);
    expect(run.effects).toEqual(NOTHING);
  });

  test('books one seat where the answer to the first attempt is lost', async () => {
    const run = await playBoth('book_flight', FLIGHT, 'create_booking!1');
    expect(run).toMatchObject({ status: 'succeeded', result: { id: 'BK-1006' } });
    expect(run.facts).toContain('retrying');
    expect(run.effects).toEqual({ ...NOTHING, seats: ['Ann'] });
  });

  test('stops waiting for a service that is too slow', async () => {
    const run = await playBoth('book_flight', FLIGHT, 'search_flights@600000', 50);
    expect(run).toMatchObject({ status: 'failed', effects: NOTHING });
    expect(run.message).toContain('did not answer within 50 ms');
  });
});

describe('checkout, as a class and as a spec file', () => {
  const ordered = [{ id: 'ORD-1', cart_id: 'CART-1', payment_id: 'PAY-1005' }];
  const charged = (cents: number) => [{ reference: 'CART-1', cents, refunded: 0 }];

  test.each([
    ['without a code', {}, 6248],
    ['with a code', { discount_code: 'TRAVEL10' }, 5623],
  ])('charges %s', async (_, code, cents) => {
    const run = await playBoth('checkout', { ...CART, ...code });
    expect(run).toMatchObject({ status: 'succeeded', result: { order_id: 'ORD-1', total: { cents } } });
    expect(run.effects).toEqual({ ...NOTHING, orders: ordered, charges: charged(cents) });
  });

  test.each([
    ['payments are declined', CART, 'payment', 'Payment processing failed after 4 attempts'],
    ['the code has expired', { ...CART, discount_code: 'WINTER25' }, '', 'WINTER25 has expired'],
    ['too little is in stock', { ...CART, cart_id: 'CART-2' }, '', 'fewer than the cart holds'],
    ['there is no such cart', { ...CART, cart_id: 'CART-9' }, '', "There is no cart 'CART-9'"],
    ['the shop is down', CART, 'calculate_total', 'does not answer'],
  ])('charges nothing where %s', async (_, input, failures, message) => {
    const run = await playBoth('checkout', input, failures);
    expect(run.status).toBe('failed');
    expect(run.message).toContain(message);
    expect(run.effects).toEqual(NOTHING);
  });

  test('charges once where payments are declined at first, and where an answer is lost', async () => {
    for (const failures of ['payment:2', 'charge_cart!1', 'charge_cart:3']) {
      const run = await playBoth('checkout', CART, failures);
      expect(run.status).toBe('succeeded');
      expect(run.effects).toEqual({ ...NOTHING, orders: ordered, charges: charged(6248) });
    }
  });

  test('leaves a payment, and no order, where the order is refused', async () => {
    const run = await playBoth('checkout', CART, 'confirm_order');
    expect(run.status).toBe('failed');
    expect(run.effects).toEqual({ ...NOTHING, charges: charged(6248) });
  });
});

describe('book_trip, as a class and as a spec file', () => {
  test('undoes nothing of a trip that goes well', async () => {
    const run = await playBoth('book_trip', TRIP);
    expect(run).toMatchObject({ status: 'succeeded', result: { id: 'TRIP-1' } });
    const trips = [{ id: 'TRIP-1', flight_booking_id: 'BK-1006', hotel_booking_id: 'HB-1' }];
    expect(run.effects).toEqual({ ...NOTHING, seats: ['Ann'], rooms: ['Ann'], trips });
    expect(run.facts.filter((fact) => fact.startsWith('cancel_'))).toEqual([]);
  });

  test('never confirms a trip on a full flight, and gives the room back', async () => {
    const run = await playBoth('book_trip', TRIP, 'flight:1');
    expect(run.status).toBe('failed');
    expect(run.message).toContain('number 1 on its waiting list');
    expect(run.effects).toEqual({ ...NOTHING, waitlist: [{ id: 'WL-1', passenger: 'Ann' }] });
    expect(run.facts.filter((fact) => fact.startsWith('confirm_trip'))).toEqual([]);
  });

  test('gives the room back where the airline is down', async () => {
    const run = await playBoth('book_trip', TRIP, 'create_booking');
    expect(run.message).toContain('Booking failed after 3 attempts');
    expect(run.effects).toEqual(NOTHING);
  });

  test('books nothing where the hotel has no room', async () => {
    const run = await playBoth('book_trip', { ...TRIP, destination: 'Reykjavik' });
    expect(run.message).toBe('No hotel in Reykjavik has a room from 2026-02-26 to 2026-02-28');
    expect(run.effects).toEqual(NOTHING);
  });

  test.each(['hotel', 'book_hotel'])('gives the seat back where %s fails', async (failures) => {
    // How far the flight is by then differs from run to run: only what is left is the same.
    for (const graph of [written.get('book_trip'), graphOf('book_trip')]) {
      const run = await play(graph as Graph, TRIP, failures);
      expect(run.status).toBe('failed');
      expect(run.message).toContain(failures === 'hotel' ? 'has no room left' : 'does not answer');
      expect(run.effects).toEqual(NOTHING);
    }
  });

  test('keeps both bookings where only the trip is not confirmed', async () => {
    const run = await playBoth('book_trip', TRIP, 'confirm_trip');
    expect(run.status).toBe('failed');
    expect(run.effects).toEqual({ ...NOTHING, seats: ['Ann'], rooms: ['Ann'] });
  });
});

describe('the service', () => {
  test('refuses what it does not know', async () => {
    const agency = await TravelAgency.open();
    const service = await startService(agency);
    onTestFinished(async () => {
      await service.close();
      agency.close();
    });
    const ask = async (method: string, path: string, body?: string) => {
      const response = await fetch(service.url + path, { method, ...(body === undefined ? {} : { body }) });
      return [response.status, ((await response.json()) as { code: string }).code];
    };
    expect(await ask('GET', '/search_flights')).toEqual([404, 'E_ENDPOINT']);
    expect(await ask('POST', '/fly', '{}')).toEqual([404, 'E_ENDPOINT']);
    expect(await ask('POST', '/get_booking', '[1')).toEqual([400, 'E_BODY']);
    expect(await ask('POST', '/get_booking', '[]')).toEqual([400, 'E_BODY']);
    expect(await ask('POST', '/get_booking', '{"booking_id":"X"}')).toEqual([409, 'E_BOOKING_UNKNOWN']);
    expect(await ask('POST', '/get_booking', '{}')).toEqual([500, 'E_SERVICE']);
    expect(await ask('POST', '/get_booking', `"${'x'.repeat(70_000)}"`)).toEqual([413, 'E_BODY']);
    expect(await ask('PUT', '/failures', 'rain')).toEqual([400, 'E_FAILURES']);
    await expect(new RemoteAgency(service.url).fail('rain')).rejects.toThrow("'rain' is no failure");
  });

  test('that does not run is unavailable', async () => {
    const remote = new RemoteAgency('http://127.0.0.1:9');
    const { signal } = new AbortController();
    const name: ToolName = 'validate_cart';
    await expect(remote.call(name, { cart_id: 'CART-1' }, { signal })).rejects.toMatchObject({
      code: 'E_UNAVAILABLE',
    });
    await expect(remote.call(name, { cart_id: 'CART-1' }, { signal: AbortSignal.abort() })).rejects.toThrow(
      'aborted',
    );
  });
});
