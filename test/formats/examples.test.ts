import { describe, expect, test } from 'vitest';
import { parseWorkflows } from '../../src/formats/index.js';
import type { JsonObject } from '../../src/graph/json.js';
import { failing, runSpec, said, specFile, specText, toolsOf } from './spec-file.fixture.js';

describe('checkout of the specification', () => {
  const rest = ({ path }: JsonObject): unknown => {
    if (path === '/payments') return { id: 'P1' };
    if (path === '/orders') return { id: 'O1' };
    return { path };
  };
  const tools = { rest_call: rest, sql_query: { total: 12.5 } };

  async function checkout(input: JsonObject, others: Readonly<Record<string, unknown>> = {}) {
    const { workflows, diagnostics } = await specFile('checkout.yaml');
    const graph = workflows[0]?.graph;
    if (graph === undefined) throw new Error(said(diagnostics).join('\n'));
    return runSpec(graph, { cart_id: 'c1', payment_method: 'card', ...input }, { ...tools, ...others });
  }

  const PAYMENT = { cart_id: 'c1', amount: 12.5, method: 'card' };

  test('charges without a code', async () => {
    const run = await checkout({});
    expect(run).toMatchObject({ status: 'succeeded', result: { id: 'O1' } });
    expect(run.calls.map(({ input }) => input)).toEqual([
      { method: 'GET', path: '/carts/c1' },
      { sql: 'SELECT SUM(price * quantity) as total FROM cart_items' },
      { method: 'POST', path: '/payments', body: PAYMENT },
      { method: 'POST', path: '/orders', body: { cart_id: 'c1', payment_id: 'P1' } },
    ]);
  });

  test('charges with a code, which it applies', async () => {
    const run = await checkout({ discount_code: 'SPRING' });
    expect(run).toMatchObject({ status: 'succeeded', result: { id: 'O1' } });
    expect(run.calls.map(({ input }) => input.body ?? input)).toEqual([
      { method: 'GET', path: '/carts/c1' },
      { code: 'SPRING' },
      { sql: 'SELECT SUM(price * quantity) as total FROM cart_items' },
      PAYMENT,
      { cart_id: 'c1', payment_id: 'P1' },
    ]);
  });

  test('fails after four attempts to charge, and orders nothing', async () => {
    const broken = (input: JsonObject) => (input.path === '/payments' ? failing('declined')() : rest(input));
    const run = await checkout({}, { rest_call: broken });
    expect(run).toMatchObject({
      status: 'failed',
      failure: { code: 'payment_failed', message: 'Payment processing failed after 3 attempts' },
    });
    const paths = run.calls.map(({ input }) => input.path);
    expect(paths.filter((path) => path === '/payments')).toHaveLength(4);
    expect(paths).not.toContain('/orders');
  });

  test('stops where the cart is not valid', async () => {
    const run = await checkout({}, { rest_call: failing('no such cart') });
    expect(run.status).toBe('failed');
    expect(run.calls).toHaveLength(1);
  });
});

describe('book_trip of the specification', () => {
  const INPUT = {
    origin: 'NYC',
    destination: 'Paris',
    checkin: '2026-02-26',
    checkout: '2026-03-01',
    passenger: 'John',
  };
  const tools = {
    search_flights: [{ id: 'F1' }],
    check_availability: { seats_available: 1 },
    create_booking: { id: 'B1' },
    add_to_waitlist: { position: 4 },
    hotels_query: { id: 'H1' },
    confirm_trip: { trip: 'T1' },
    cancel_booking: {},
    cancel_hotel: {},
  };

  async function trip(others: Readonly<Record<string, unknown>> = {}) {
    const flight = await specFile('book-flight.yaml');
    const registered = {
      tools: new Map(Object.keys(tools).map((name) => [name, { inputSchema: {} }])),
      resources: new Map(),
      workflows: new Map(flight.workflows.map(({ graph }) => [graph.name, graph])),
    };
    const { workflows, diagnostics } = await specFile('book-trip.yaml', registered);
    const graph = workflows[0]?.graph;
    if (graph === undefined) throw new Error(said(diagnostics).join('\n'));
    return runSpec(graph, INPUT, { ...tools, ...others });
  }

  test('confirms a happy trip, and undoes nothing', async () => {
    const run = await trip();
    expect(run).toMatchObject({ status: 'succeeded', result: { trip: 'T1' } });
    expect(run.calls.at(-1)).toEqual({
      tool: 'confirm_trip',
      input: { flight_booking_id: 'B1', hotel_booking_id: 'H1' },
    });
    expect(run.calls.find(({ tool }) => tool === 'hotels_query')?.input).toEqual({
      question: 'Book hotel in Paris from 2026-02-26 to 2026-03-01 for John',
    });
    expect(toolsOf(run)).not.toContain('cancel_booking');
    expect(toolsOf(run)).not.toContain('cancel_hotel');
  });

  test('cancels the flight alone where the hotel fails', async () => {
    const run = await trip({ hotels_query: failing('no room') });
    expect(run).toMatchObject({ status: 'failed', failure: { code: 'E_PARTIAL_FAILURE' } });
    expect(run.calls.slice(-1)).toEqual([{ tool: 'cancel_booking', input: { booking_id: 'B1' } }]);
    expect(toolsOf(run)).not.toContain('cancel_hotel');
    expect(toolsOf(run)).not.toContain('confirm_trip');
  });

  test('cancels the hotel alone where the flight fails', async () => {
    const run = await trip({ create_booking: failing('no connection') });
    expect(run).toMatchObject({ status: 'failed', failure: { code: 'E_PARTIAL_FAILURE' } });
    expect(run.calls.slice(-1)).toEqual([{ tool: 'cancel_hotel', input: { booking_id: 'H1' } }]);
    expect(toolsOf(run)).not.toContain('cancel_booking');
    expect(toolsOf(run)).not.toContain('confirm_trip');
  });

  test('undoes nothing where both fail', async () => {
    const run = await trip({ create_booking: failing('no connection'), hotels_query: failing('no room') });
    expect(run).toMatchObject({ status: 'failed', failure: { code: 'E_PARTIAL_FAILURE' } });
    expect(toolsOf(run).filter((tool) => tool.startsWith('cancel'))).toEqual([]);
  });

  test('never confirms a trip on a full flight', async () => {
    const run = await trip({ check_availability: { seats_available: 0 } });
    expect(run).toMatchObject({ status: 'failed', failure: { code: 'E_REF_MISSING' } });
    expect(toolsOf(run)).toContain('add_to_waitlist');
    expect(toolsOf(run)).not.toContain('confirm_trip');
  });

  test('is found in one file with the workflow that it runs', async () => {
    const text = specText('book-flight.yaml') + specText('book-trip.yaml').replace('workflows:\n', '');
    const { workflows } = await parseWorkflows(text, { file: 'f.yaml', format: 'yaml' });
    expect(workflows.map(({ graph: { name, tasks } }) => [name, tasks?.map((task) => task.name)])).toEqual([
      ['book_flight', undefined],
      ['book_trip', ['book_flight']],
    ]);
  });
});
