import { describe, expect, test } from 'vitest';
import { FLIGHTS, toolOf } from './flights.fixture.js';
import { planFor, type WorkflowChoice } from './goal.js';
import { describeTool } from './tool.js';

const BOOK: WorkflowChoice = {
  name: 'book_flight',
  tool: 'w_book_flight',
  description: 'Search, check availability, and book a flight',
  inputs: [
    { name: 'origin', description: 'City it starts from', required: true },
    { name: 'note', required: false },
  ],
};
const CHECKOUT: WorkflowChoice = { name: 'checkout', description: 'Charge a cart', inputs: [] };

const callsFor = (goal: string, tools = FLIGHTS) => planFor(goal, tools, []).steps.map(({ tool }) => tool);

describe('workflows', () => {
  test('that fit are listed with the parameters that they need', () => {
    expect(planFor('Book me a flight from New York to Paris', FLIGHTS, [CHECKOUT, BOOK])).toEqual({
      goal: 'Book me a flight from New York to Paris',
      workflows: [
        {
          workflow: 'book_flight',
          tool: 'w_book_flight',
          score: 1,
          parameters: [
            { name: 'origin', description: 'City it starts from', required: true },
            { name: 'note', required: false },
          ],
        },
      ],
      steps: [],
    });
  });

  test('are ranked, the best first', () => {
    const other: WorkflowChoice = { name: 'change_flight', description: 'Change a flight', inputs: [] };
    const { workflows } = planFor('book a flight', [], [other, BOOK]);
    expect(workflows.map(({ workflow }) => workflow)).toEqual(['book_flight']);
    expect(planFor('flight', [], [other, BOOK]).workflows.map(({ workflow }) => workflow)).toEqual([
      'book_flight',
      'change_flight',
    ]);
  });

  test('that undo fit a goal that undoes, and no other', () => {
    const cancel: WorkflowChoice = { name: 'cancel_booking', description: 'Cancel the booking', inputs: [] };
    const fitting = (goal: string, choices = [BOOK, cancel]) =>
      planFor(goal, FLIGHTS, choices).workflows.map(({ workflow }) => workflow);
    expect(fitting('cancel the flight', [BOOK])).toEqual([]);
    expect(fitting('cancel my booking')).toEqual(['cancel_booking']);
    expect(fitting('make a booking')).toEqual(['book_flight']);
  });

  test('two words of a goal may be one of a name', () => {
    expect(planFor('check out my cart', FLIGHTS, [BOOK, CHECKOUT]).workflows).toMatchObject([
      { workflow: 'checkout', score: 1 },
    ]);
  });
});

describe('calls', () => {
  test('lead to the tool that fits, and name the source of each value', () => {
    const { steps } = planFor('create a booking', FLIGHTS, []);
    expect(steps.map(({ tool }) => tool)).toEqual(['search_flights', 'check_availability', 'create_booking']);
    expect(steps[2]).toMatchObject({
      confidence: 0.8,
      parameters: [
        { name: 'flight_id', from: { tool: 'search_flights', output: 'flight_id' } },
        { name: 'passenger', required: true },
      ],
    });
  });

  test('do not lead to a tool that only names the one that fits in its box of hints', () => {
    const boxed = FLIGHTS.map((tool) => ({
      ...tool,
      description: describeTool(tool.description ?? '', { requires: ['search_flights'] }),
    }));
    expect(callsFor('search flights', boxed)).toEqual(['search_flights']);
  });

  test('have one of the alternatives', () => {
    expect(callsFor('create a booking or add to the waitlist')).toHaveLength(3);
  });

  test('that undo do not do first what they undo', () => {
    const cancel = toolOf('cancel_booking', ['booking_id'], { description: 'Cancel a booking' });
    expect(callsFor('cancel it', [...FLIGHTS, cancel])).toEqual(['cancel_booking']);
  });

  test('that undo are not meant by a goal without such a word', () => {
    const cancel = toolOf('cancel_booking', ['booking_id'], {
      description: 'Cancel the booking of a flight',
    });
    expect(callsFor('book a flight', [...FLIGHTS, cancel])).not.toContain('cancel_booking');
  });

  test.each(['bake bread', 'how is the weather'])('are none for %j, which is named as missing', (goal) => {
    expect(planFor(goal, FLIGHTS, [BOOK])).toEqual({ goal, workflows: [], steps: [], missing: [goal] });
  });

  test('are none for an empty goal', () => {
    expect(planFor('', FLIGHTS, [BOOK])).toEqual({ goal: '', workflows: [], steps: [] });
  });

  test('need nothing else where tools need each other', () => {
    const circle = [
      toolOf('make_left', [], { hints: { requires: ['make_right'] } }),
      toolOf('make_right', [], { hints: { requires: ['make_left'] } }),
    ];
    expect(callsFor('left', circle)).toEqual(['make_left']);
  });
});
