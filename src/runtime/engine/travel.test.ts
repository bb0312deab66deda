import { describe, expect, test } from 'vitest';
import type { Node } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import {
  body,
  branch,
  compensate,
  isMore,
  parallel,
  required,
  runs,
  undo,
  withTasks,
} from './constructs.fixture.js';
import { again, call, error, graph, input, lit, not, Run, step, stop, text } from './graph.fixture.js';

/** As documents with `depends_on` are compiled: what depends on something needs one success among it. */
const needs = (...after: string[]) => ({ after, join: 'none_failed_min_one_success' }) as const;

const bookFlight: Graph = graph(
  [
    call('search', { origin: input('origin') }),
    call('check', { flight_id: step('search', 0, 'id') }, needs('search')),
    branch(
      'decide',
      [
        [isMore(step('check', 'seats_available'), 0), 'reserve'],
        [undefined, 'waitlist'],
      ],
      needs('check'),
    ),
    call(
      'reserve',
      { flight_id: step('search', 0, 'id'), passenger: input('passenger') },
      {
        retry: again(2, { delayMs: 1_000 }),
        onError: { fallbackNode: 'fail_booking' },
        join: 'none_failed_min_one_success',
      },
    ),
    call('waitlist', { flight_id: step('search', 0, 'id'), passenger: input('passenger') }),
    stop('fail_booking', text('Booking failed after ', error('attempts'), ' attempts: ', error('message')), {
      code: 'BOOKING_FAILED',
    }),
  ],
  { name: 'book_flight', inputs: [required('origin'), required('passenger')], returns: step('reserve') },
);

describe('a flight', () => {
  const found = (seats: number) =>
    new Run(bookFlight, { origin: 'VIE', passenger: 'Ada' })
      .returns('search', [{ id: 'F1' }])
      .returns('check', { seats_available: seats });

  test('G1: only the search starts', () => {
    expect(new Run(bookFlight, { origin: 'VIE', passenger: 'Ada' }).inFlight).toEqual(['search']);
  });

  test('is booked', () => {
    const run = found(3);
    expect([run.inFlight, run.status('waitlist')]).toEqual([['reserve'], 'skipped(not_selected)']);
    run.returns('reserve', { id: 'B1' });
    expect(run.state.run).toMatchObject({ status: 'succeeded', result: { id: 'B1' } });
    expect(run.status('fail_booking')).toBe('skipped(not_selected)');
  });

  test('is waited for when it is full', () => {
    const run = found(0);
    expect([run.inFlight, run.status('reserve')]).toEqual([['waitlist'], 'skipped(not_selected)']);
    expect(run.returns('waitlist').state.run.status).toBe('succeeded');
    expect(run.status('fail_booking')).toBe('skipped(not_selected)');
  });

  test('fails after two retries', () => {
    const full = { code: 'E_TOOL', message: 'the airline is down' };
    const run = found(1).fails('reserve', full).waits('reserve').fails('reserve', full).waits('reserve');
    run.fails('reserve', full);
    expect(run.state.run).toMatchObject({
      ...{ status: 'failed', failedNode: 'fail_booking' },
      failure: { code: 'BOOKING_FAILED', message: 'Booking failed after 3 attempts: the airline is down' },
    });
    expect(run.status('reserve')).toBe('handled');
  });
});

describe('a checkout', () => {
  const checkout = graph([
    call('validate_cart'),
    branch(
      'apply_discount',
      [
        [not({ kind: 'call', fn: 'isNullish', args: [input('code')] }), 'apply_code'],
        [undefined, 'calculate_total'],
      ],
      needs('validate_cart'),
    ),
    call('apply_code', { code: input('code') }),
    call('calculate_total', {}, needs('validate_cart')),
    call(
      'process_payment',
      { amount: step('calculate_total', 'total') },
      {
        ...needs('apply_code', 'calculate_total'),
        retry: again(3, { delayMs: 2_000, backoff: 'exponential' }),
        onError: { fallbackNode: 'payment_failed' },
      },
    ),
    call('confirm_order', { payment: step('process_payment', 'id') }, needs('process_payment')),
    stop('payment_failed', lit('Payment processing failed')),
  ]);

  test('G2: with a code the total is computed and the code applied, and then it charges', () => {
    const run = new Run(checkout, { code: 'SAVE' }).returns('validate_cart');
    expect(run.inFlight).toEqual(['apply_code', 'calculate_total']);
    run.returns('calculate_total', { total: 10 });
    expect(run.inFlight).toEqual(['apply_code']);
    run.returns('apply_code');
    expect(run.tables.commands['process_payment#1']).toMatchObject({ input: { amount: 10 } });
    run.returns('process_payment', { id: 'P1' }).returns('confirm_order');
    expect([run.state.run.status, run.status('payment_failed')]).toEqual([
      'succeeded',
      'skipped(not_selected)',
    ]);
  });

  test('G3: without a code it charges all the same', () => {
    const run = new Run(checkout, { code: null }).returns('validate_cart');
    expect([run.inFlight, run.status('apply_code')]).toEqual([['calculate_total'], 'skipped(not_selected)']);
    run
      .returns('calculate_total', { total: 12 })
      .returns('process_payment', { id: 'P1' })
      .returns('confirm_order');
    expect(run.state.run.status).toBe('succeeded');
  });

  test('E3: whose payment fails, after waits of 2, 4 and 8 seconds, is not confirmed', () => {
    const run = new Run(checkout, { code: null })
      .returns('validate_cart')
      .returns('calculate_total', { total: 1 });
    for (let attempt = 1; attempt <= 3; attempt += 1) run.fails('process_payment').waits('process_payment');
    expect(run.at).toBe(15_000);
    run.fails('process_payment');
    expect(run.status('confirm_order')).toBe('skipped(upstream_skipped)');
    expect(run.state.run.failure).toEqual({ code: 'E_FAIL', message: 'Payment processing failed' });
  });
});

describe('a trip', () => {
  const nodes: Node[] = [
    parallel(
      'parallel_booking',
      {
        flight: body(
          [runs('flight', 'book_flight', { origin: input('origin'), passenger: input('passenger') })],
          step('flight'),
        ),
        hotel: body([call('hotel')], step('hotel')),
      },
      { onPartialFailure: 'rollback', compensateNode: 'rollback_all' },
    ),
    call('confirm', { flight: step('flight', 'id'), hotel: step('hotel', 'id') }, needs('parallel_booking')),
    compensate('rollback_all', [
      undo('cancel_booking', { booking_id: step('flight', 'id') }, { ignoreError: true }),
      undo('cancel_hotel', { booking_id: step('hotel', 'id') }, { ignoreError: true }),
    ]),
  ];
  const bookTrip = withTasks(graph(nodes, { returns: step('confirm') }), bookFlight);
  const begin = () =>
    new Run(bookTrip, { origin: 'VIE', passenger: 'Ada' })
      .returns('flight/search', [{ id: 'F1' }])
      .returns('flight/check', { seats_available: 1 });

  test('E9: booked happily undoes nothing', () => {
    const run = begin().returns('flight/reserve', { id: 'B1' }).returns('hotel', { id: 'H1' });
    expect(run.tables.commands['confirm#1']).toMatchObject({ input: { flight: 'B1', hotel: 'H1' } });
    expect(run.returns('confirm', 'ok').state.run).toMatchObject({ status: 'succeeded', result: 'ok' });
    expect([run.status('rollback_all'), run.kinds().filter((kind) => kind.startsWith('compensat'))]).toEqual([
      'skipped(not_selected)',
      [],
    ]);
  });

  test('E11: without a hotel cancels the flight alone', () => {
    const run = begin().fails('hotel').returns('flight/reserve', { id: 'B1' });
    expect(run.commands.at(-1)).toMatchObject({
      tool: 'cancel_booking',
      input: { booking_id: 'B1' },
      undoes: 'flight',
    });
    run.returns('rollback_all');
    expect(run.state.run).toMatchObject({
      ...{ status: 'failed', failure: { code: 'E_PARTIAL_FAILURE' } },
    });
    expect(run.state.run.failure?.details).toEqual({
      failed: { hotel: { code: 'E_TOOL', message: 'broke' } },
      compensation: { done: ['cancel_booking'], failed: [], not_run: [] },
    });
    expect(run.status('confirm')).toBe('skipped(upstream_failed)');
  });

  test('E11: without a flight cancels the hotel alone', () => {
    const run = begin().returns('hotel', { id: 'H1' });
    run.fails('flight/reserve').waits('flight/reserve').fails('flight/reserve').waits('flight/reserve');
    run.fails('flight/reserve');
    expect(run.commands.find(({ kind }) => kind === 'callTool')).toMatchObject({ tool: 'cancel_hotel' });
    run.returns('rollback_all');
    expect(run.state.run.failure?.details).toMatchObject({
      failed: { flight: { code: 'BOOKING_FAILED' } },
      compensation: { done: ['cancel_hotel'] },
    });
  });

  test('E13: a cancellation that fails is told, and the next one is made', () => {
    const run = begin()
      .returns('hotel', { id: 'H1' })
      .returns('flight/reserve', { id: 'B1' })
      .fails('confirm');
    expect(run.state.run.failure?.code).toBe('E_TOOL');
    const half = begin().fails('hotel').returns('flight/reserve', { id: 'B1' }).fails('rollback_all');
    expect(half.state.run.failure?.details).toMatchObject({
      compensation: { done: [], failed: [{ tool: 'cancel_booking' }], not_run: [] },
    });
  });

  test('cancelled at any event ends as soon as no compensation is in flight, with nothing left over', () => {
    const script = [
      (run: Run) => run.returns('flight/search', [{ id: 'F1' }]),
      (run: Run) => run.fails('hotel'),
      (run: Run) => run.returns('flight/check', { seats_available: 1 }),
      (run: Run) => run.fails('flight/reserve'),
      (run: Run) => run.waits('flight/reserve'),
      (run: Run) => run.returns('flight/reserve', { id: 'B1' }),
    ];
    for (let length = 0; length <= script.length; length += 1) {
      for (const withUndoing of [false, true]) {
        const run = new Run(bookTrip, { origin: 'VIE', passenger: 'Ada' });
        for (const play of script.slice(0, length)) play(run);
        run.cancel(withUndoing);
        // Only what undoes is waited for. [A10]
        expect(run.inFlight).toEqual(length < script.length ? [] : ['rollback_all']);
        if (run.inFlight.length > 0) run.returns('rollback_all');
        expect([run.state.run.status, run.state.running, run.tables.commands]).toEqual(['cancelled', 0, {}]);
        expect([run.state.queue.isEmpty, run.state.root.open]).toEqual([true, 0]);
      }
    }
  });
});
