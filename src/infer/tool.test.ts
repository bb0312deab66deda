import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FLIGHTS } from './flights.fixture.js';
import { describeTool, toolsFrom } from './tool.js';

test('the hints of a tool are a box below its description', () => {
  const [, check] = FLIGHTS;
  expect(describeTool('Check seat availability.', check?.hints)).toBe(
    [
      'Check seat availability.',
      '  ├─ Category: validation',
      '  ├─ Requires: search_flights',
      '  ├─ Outputs: seats_available, cabin_class',
      '  ├─ Next: create_booking, add_to_waitlist',
      '  └─ Hint: Requires flight_id from search_flights. Must confirm availability before booking.',
    ].join('\n'),
  );
});

test.each([
  [
    'search_flights',
    `Search available flights.
  ├─ Category: search
  ├─ Outputs: flight_id, airline, price, departure, arrival
  ├─ Next: check_availability
  └─ Hint: Always search before booking. Results contain flight_id needed by downstream tools.`,
  ],
  [
    'create_booking',
    `Reserve a flight.
  ├─ Category: booking
  ├─ Requires: check_availability
  ├─ Outputs: booking_id, status, total_price
  ├─ Next: process_payment
  └─ Hint: Only call after check_availability confirms seats. Returns booking_id for payment.`,
  ],
])('the box of %s', (name, described) => {
  const tool = FLIGHTS.find((each) => each.name === name);
  expect(describeTool(tool?.description ?? '', tool?.hints)).toBe(described);
});

test('a tool without hints keeps its description', () => {
  expect(describeTool('Searches', undefined)).toBe('Searches');
  expect(describeTool('Searches', {})).toBe('Searches');
});

describe('a box', () => {
  const hints = fc.record(
    {
      category: fc.string(),
      next: fc.array(fc.string()),
      hint: fc.string({ unit: 'grapheme', maxLength: 900 }),
      examples: fc.array(fc.json().map((text) => JSON.parse(text))),
    },
    { requiredKeys: [] },
  );

  test('is written once', () => {
    fc.assert(
      fc.property(fc.string(), hints, hints, (text, first, second) => {
        const bare = describeTool(text, undefined);
        expect(describeTool(describeTool(bare, first), second)).toBe(describeTool(bare, second));
      }),
    );
  });

  test('has at most 600 characters, and a line for each hint', () => {
    fc.assert(
      fc.property(hints, (given) => {
        const box = describeTool('', given);
        expect(box.length).toBeLessThanOrEqual(601);
        expect(box.split('\n').length).toBeLessThanOrEqual(1 + Object.keys(given).length);
      }),
    );
  });
});

const tool = { name: 'search', inputSchema: { type: 'object' } };

test.each([[[tool]], [{ tools: [tool] }], [{ jsonrpc: '2.0', id: 1, result: { tools: [tool] } }]])(
  'reads a list of tools from %j',
  (given) => {
    expect(toolsFrom(given)).toEqual([tool]);
  },
);

test.each([[null], ['search'], [{}], [{ tools: 1 }], [[{ description: 'without a name' }]], [[1]]])(
  '%j is not a list of tools',
  (given) => {
    expect(toolsFrom(given)).toBeUndefined();
  },
);

test('reads hints of the tool itself and of its `_meta`, without what has the wrong type', () => {
  const hints = { category: 'search', next: ['book', 1], hint: 5, requires: 'x' };
  const expected = { category: 'search', next: ['book'] };
  expect(toolsFrom([{ ...tool, hints }])?.[0]?.hints).toEqual(expected);
  expect(toolsFrom([{ ...tool, _meta: { 'stepwright/hints': hints } }])?.[0]?.hints).toEqual(expected);
});
