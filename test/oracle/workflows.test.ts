import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import {
  again,
  call,
  dict,
  equals,
  get,
  graph,
  isNullish,
  lit,
  node,
  not,
  ref,
  scope,
  step,
} from './build.js';
import { drive, ENGINE } from './drive.js';
import { type Story, tell } from './oracle.js';
import { compared } from './same.js';
import type { Reply, World } from './world.js';

const gives = (value: JsonObject, after = 10): Reply => ({ kind: 'value', after, value });
const breaks: Reply = {
  ...{ kind: 'failure', after: 5, attempted: true },
  failure: { code: 'X_DOWN', message: 'no answer' },
};

/** What the oracle tells, which the engine must tell as well. */
function run(
  of: Graph,
  input: JsonObject,
  replies: World['replies'] = {},
): Story & { readonly tools: string[] } {
  const world: World = { luck: [], replies };
  const story = tell(of, input, world);
  const { expected, actual } = compared(story, drive(ENGINE, of, input, world));
  expect(actual).toEqual(expected);
  return { ...story, tools: story.calls.map(({ tool }) => tool) };
}

const inputs = (...names: string[]): Graph['inputs'] =>
  names.map((name) => ({ name, description: name, schema: {}, required: false }));

describe('a flight is booked', () => {
  const seats = equals(get(step('check'), 'free'), true);
  const flight = graph(
    [
      call('search', {}, { join: 'none_failed_min_one_success' }),
      call('check', { flight: step('search', 'id') }),
      node(
        'branch',
        'decide',
        { cases: [{ id: 'seats', when: seats, goto: 'reserve' }], else: { id: 'full', goto: 'waitlist' } },
        { after: ['check'] },
      ),
      call(
        'reserve',
        { flight: step('search', 'id') },
        {
          retry: again(2, { delayMs: 2_000, backoff: 'exponential' }),
          onError: { fallbackNode: 'fail_booking' },
        },
      ),
      call('waitlist', { flight: step('search', 'id') }),
      node('error', 'fail_booking', { message: lit('Booking failed'), code: 'BOOKING_FAILED' }),
      call('pay', { booking: step('reserve') }, { after: ['reserve'], join: 'none_failed_min_one_success' }),
    ],
    { inputs: inputs(), returns: dict({ booking: step('reserve'), place: step('waitlist') }) },
  );
  const found = { search: [gives({ id: 'f1' })], check: [gives({ free: true })] };

  test('G1: where there are seats, and nobody is put on the waiting list', () => {
    const { status, tools, left } = run(flight, {}, { ...found, reserve: [gives({ id: 'b1' })] });
    expect([status, tools]).toEqual(['succeeded', ['search', 'check', 'reserve', 'pay']]);
    expect([left.waitlist, left.fail_booking]).toEqual(['skipped(not_selected)', 'skipped(not_selected)']);
  });

  test('G3: wait-listed where there are none, and nothing is paid', () => {
    const { result, tools, left } = run(
      flight,
      {},
      { ...found, check: [gives({ free: false })], waitlist: [gives({ n: 3 })] },
    );
    expect([result, tools]).toEqual([{ place: { n: 3 } }, ['search', 'check', 'waitlist']]);
    expect([left.reserve, left.pay]).toEqual(['skipped(not_selected)', 'skipped(upstream_skipped)']);
  });

  test('E2, E3, E6, E8: failing after its retries, which come later and later', () => {
    const { status, failure, failedNode, left, calls } = run(flight, {}, { ...found, reserve: [breaks] });
    expect([status, failure?.code, failedNode]).toEqual(['failed', 'BOOKING_FAILED', 'fail_booking']);
    expect([left.reserve, left.waitlist]).toEqual(['handled', 'skipped(not_selected)']);
    expect(calls.flatMap(({ tool, at }) => (tool === 'reserve' ? [at] : []))).toEqual([20, 2_025, 6_030]);
    expect(new Set(calls.flatMap(({ tool, identity }) => (tool === 'reserve' ? [identity] : []))).size).toBe(
      1,
    );
  });
});

describe('a checkout', () => {
  const hasCode = not(isNullish(ref('inputs', 'code')));
  const checkout = graph(
    [
      call('validate'),
      node(
        'branch',
        'discount',
        { cases: [{ id: 'code', when: hasCode, goto: 'apply' }], else: { id: 'none', goto: 'total' } },
        { after: ['validate'] },
      ),
      call('apply', { code: ref('inputs', 'code') }),
      call('total', {}, { after: ['validate', 'apply'], join: 'none_failed_min_one_success' }),
      call(
        'charge',
        { amount: step('total', 'sum') },
        {
          after: ['apply', 'total'],
          join: 'none_failed_min_one_success',
          onError: { fallbackNode: 'declined' },
        },
      ),
      call('receipt', {}, { after: ['charge'], join: 'none_failed_min_one_success' }),
      node('error', 'declined', { message: lit('Payment failed') }),
    ],
    { inputs: inputs('code') },
  );
  const total = { total: [gives({ sum: 12 })] };

  test('G2: with a code applies it before it charges', () => {
    const { tools } = run(checkout, { code: 'TEN' }, total);
    expect(tools).toEqual(['validate', 'apply', 'total', 'charge', 'receipt']);
  });

  test('G2, G3: without a code charges all the same', () => {
    const { tools, left } = run(checkout, {}, total);
    expect(tools).toEqual(['validate', 'total', 'charge', 'receipt']);
    expect(left.apply).toBe('skipped(not_selected)');
  });

  test('E6: whose payment fails gives no receipt', () => {
    const { failure, tools, left } = run(checkout, {}, { ...total, charge: [breaks] });
    expect([failure?.code, tools]).toEqual(['E_FAIL', ['validate', 'total', 'charge']]);
    expect([left.charge, left.receipt]).toEqual(['handled', 'skipped(upstream_skipped)']);
  });
});

describe('a trip', () => {
  const undo = (tool: string, of: string) => ({ tool, input: dict({ id: step(of, 'id') }) });
  const trip = graph([
    node('parallel', 'book', {
      onPartialFailure: 'rollback',
      compensateNode: 'undo_all',
      branches: [
        { id: 'flight', body: scope([call('flight')], step('flight')) },
        { id: 'hotel', body: scope([call('hotel')], step('hotel')) },
      ],
    }),
    node('compensate', 'undo_all', {
      steps: [undo('cancel_flight', 'flight'), undo('cancel_hotel', 'hotel')],
    }),
    call('confirm', {}, { after: ['book'] }),
  ]);
  const booked = { flight: [gives({ id: 'f' })], hotel: [gives({ id: 'h' }, 20)] };

  test('E9: booked happily is confirmed, and nothing is undone', () => {
    const { status, tools, left } = run(trip, {}, booked);
    expect([status, tools]).toEqual(['succeeded', ['flight', 'hotel', 'confirm']]);
    expect(left.undo_all).toBe('skipped(not_selected)');
  });

  test.each([
    ['hotel', 'flight', 'cancel_flight'],
    ['flight', 'hotel', 'cancel_hotel'],
  ])('E10, E11: whose %s fails has the other half undone, and only that', (half, _other, tool) => {
    const { failure, tools, left } = run(trip, {}, { ...booked, [half]: [breaks] });
    expect([failure?.code, tools]).toEqual(['E_PARTIAL_FAILURE', ['flight', 'hotel', tool]]);
    expect([left.book, left.undo_all, left.confirm]).toEqual([
      'failed',
      'failed',
      'skipped(upstream_failed)',
    ]);
  });

  test('E12: without a node that undoes, the last call that succeeded is undone first', () => {
    const own = (id: string) => ({ compensate: undo(`cancel_${id}`, id) });
    const branch = (id: string) => ({ id, body: scope([call(id, {}, own(id))]) });
    const three = graph([
      node('parallel', 'book', {
        onPartialFailure: 'rollback',
        branches: [branch('flight'), branch('hotel'), { id: 'car', body: scope([call('car')]) }],
      }),
    ]);
    const { tools } = run(three, {}, { ...booked, car: [breaks] });
    expect(tools.slice(3)).toEqual(['cancel_hotel', 'cancel_flight']);
  });
});
