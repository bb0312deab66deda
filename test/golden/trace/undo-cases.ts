import {
  body,
  branch,
  compensate,
  foreach,
  item,
  parallel,
  undo,
} from '../../../src/runtime/engine/constructs.fixture.js';
import { again, graph, lit, step } from '../../../src/runtime/engine/graph.fixture.js';
import { echo, failing, faltering, get, readOnly, use } from './parts.js';
import type { Scenario } from './scenario.js';

const booked = (id: string, options = {}) =>
  use(id, {}, { compensate: undo(`cancel_${id}`, { number: get(step(id), 'number') }), ...options });

const trip = (options = {}) =>
  parallel(
    'both',
    {
      flight: body([booked('flight'), use('seat', { of: step('flight') })], step('seat')),
      hotel: body([booked('hotel')], step('hotel')),
      car: body([use('search', {}), booked('car', { after: ['search'] })]),
    },
    { onPartialFailure: 'rollback', ...options },
  );

const tools = {
  flight: echo({ number: 'F1' }),
  seat: echo('12A'),
  hotel: echo({ number: 'H1' }),
  search: echo('none'),
  car: failing('no cars'),
  cancel_flight: { ...echo('flight cancelled'), description: 'Cancel a flight' },
  cancel_hotel: { ...echo('hotel cancelled'), description: 'Cancel a hotel' },
  cancel_car: echo(),
  tell: echo(),
};

/** Never answers. */
const silent = { description: 'Say nothing', run: () => new Promise(() => {}) };

/** Runs that undo what they did. */
export const undoCases: Readonly<Record<string, Scenario>> = {
  'parallel-rollback': {
    graph: graph([trip(), use('tell', { trip: step('both') })], { name: 'book_trip' }),
    tools,
  },
  'parallel-rollback-happy': {
    graph: graph([trip(), use('tell', { trip: step('both') })], { name: 'book_trip' }),
    tools: { ...tools, car: echo({ number: 'C1' }) },
  },
  'parallel-rollback-fails': {
    graph: graph([trip()], { name: 'book_trip' }),
    tools: {
      ...tools,
      car: failing('no cars', { annotations: readOnly }),
      cancel_hotel: failing('too late'),
    },
  },
  'rollback-that-fails-in-loops': {
    graph: graph([
      parallel(
        'both',
        {
          a: body([booked('flight'), booked('hotel', { after: ['flight'] })]),
          l: body([
            foreach(
              'each',
              lit(['x', 'y']),
              body([use('seat', { at: item('seat') }, { compensate: undo('free', { at: item('seat') }) })]),
              { as: 'seat' },
            ),
          ]),
          z: body([use('wait', {}, { after: [] })]),
        },
        { onPartialFailure: 'rollback', concurrency: 1 },
      ),
    ]),
    tools: {
      ...tools,
      seat: echo('taken'),
      free: {
        description: 'Free a seat',
        run: ({ at }: { at: string }) => {
          if (at === 'x') throw new Error('x is sold');
          return 'freed';
        },
      },
      wait: failing('no meals'),
    },
  },
  'undoing-steps-that-fail': {
    graph: graph([
      use('reserve', {}),
      use('charge', {}, { onError: { fallbackNode: 'release' }, after: ['reserve'] }),
      compensate('release', [
        undo('log', { of: lit('any') }, { ignoreError: true }),
        undo('cancel', { id: get(step('reserve'), 'id') }),
        undo('refund', { of: step('charge') }),
        undo('notify', { who: lit('all') }),
      ]),
    ]),
    tools: {
      reserve: echo({ id: 7 }),
      charge: failing('card refused'),
      log: failing('no log'),
      cancel: failing('not there'),
      refund: echo(),
      notify: echo(),
    },
  },
  'parallel-rollback-by-node': {
    graph: graph([
      trip({ compensateNode: 'undo' }),
      compensate('undo', [
        undo('cancel_hotel', { number: get(step('hotel'), 'number') }, { ignoreError: true }),
        undo('cancel_car', { number: get(step('car'), 'number') }),
        undo('cancel_flight', { number: get(step('flight'), 'number') }),
      ]),
      use('tell', { trip: step('both') }),
    ]),
    tools: { ...tools, cancel_hotel: failing('too late') },
  },
  'compensate-after-failure': {
    graph: graph([
      use('reserve', {}),
      use('charge', { for: get(step('reserve'), 'id') }, { onError: { fallbackNode: 'release' } }),
      compensate('release', [
        undo('cancel', { id: get(step('reserve'), 'id') }),
        undo('refund', { of: step('charge') }),
      ]),
      use('tell', { charge: step('charge') }),
      use('log', {}, { after: ['charge'], join: 'all_done' }),
    ]),
    tools: {
      reserve: echo({ id: 7 }),
      charge: failing('card refused'),
      cancel: echo('cancelled'),
      refund: echo(),
      tell: echo(),
      log: echo('logged'),
    },
  },
  'compensate-chosen': {
    graph: graph([
      use('reserve', {}),
      use('review', {}),
      branch(
        'decide',
        [
          [get(step('review'), 'isGood'), 'confirm'],
          [undefined, 'release'],
        ],
        { after: ['reserve'] },
      ),
      use('confirm', {}),
      compensate('release', [undo('cancel', { id: get(step('reserve'), 'id') })]),
    ]),
    tools: {
      reserve: echo({ id: 7 }),
      review: echo({ isGood: false }),
      confirm: echo(),
      cancel: echo('cancelled'),
    },
  },
  'undo-without-an-answer': {
    graph: graph([trip()], { name: 'book_trip' }),
    tools: { ...tools, car: failing('no cars', { annotations: readOnly }), cancel_hotel: silent },
  },
  'only-undo-without-an-answer': {
    graph: graph([
      parallel(
        'both',
        { hotel: body([booked('hotel')]), car: body([booked('car')]) },
        { onPartialFailure: 'rollback', concurrency: 1 },
      ),
    ]),
    tools: { ...tools, car: failing('no cars', { annotations: readOnly }), cancel_hotel: silent },
  },
  'done-with-side-effects-that-remain': {
    graph: graph([
      branch('try', [
        [
          lit(true),
          body([
            trip({ onError: { fallbackNode: 'instead' } }),
            use('instead', { why: { kind: 'ref', root: 'error', path: ['message'] } }, { tool: 'tell' }),
          ]),
        ],
      ]),
      use('pay', {}, { timeoutMs: 2_000, onError: { value: lit('later') }, after: ['try'] }),
      use('look', {}, { timeoutMs: 2_000, onError: { value: lit('nothing') }, after: ['try'] }),
    ]),
    tools: {
      ...tools,
      cancel_hotel: silent,
      pay: silent,
      look: { ...silent, annotations: readOnly },
    },
  },
  'done-after-an-undo-that-failed': {
    graph: graph([
      parallel(
        'both',
        { hotel: body([booked('hotel')]), car: body([booked('car')]) },
        { onPartialFailure: 'rollback', concurrency: 1, retry: again(1) },
      ),
    ]),
    tools: {
      ...tools,
      hotel: { ...tools.hotel, annotations: { idempotentHint: true } },
      ...{ car: faltering(['no cars'], { number: 'C1' }), cancel_hotel: failing('too late') },
    },
  },
  'rollback-of-items': {
    graph: graph([
      parallel(
        'all',
        {
          seats: body([
            foreach(
              'each',
              lit(['1A', '1B']),
              body([use('seat', { at: item('seat') }, { compensate: undo('free', { at: item('seat') }) })]),
              { as: 'seat' },
            ),
          ]),
          meal: body([use('meal', {}, { after: [] })]),
        },
        { onPartialFailure: 'rollback', concurrency: 1 },
      ),
    ]),
    tools: { seat: echo('taken'), free: echo('freed'), meal: failing('no meals') },
  },
};
