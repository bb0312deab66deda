import type { JsonSchema } from '../graph/json.js';
import type { PlanningHints, ToolDescription } from './tool.js';

/** A tool with required text parameters. */
export function toolOf(
  name: string,
  parameters: readonly string[],
  more: {
    readonly description?: string;
    readonly returns?: readonly string[];
    readonly hints?: PlanningHints;
  } = {},
): ToolDescription {
  const { description = '', returns, hints } = more;
  return {
    name,
    description,
    inputSchema: objectOf(parameters),
    ...(returns === undefined ? {} : { outputSchema: objectOf(returns) }),
    ...(hints === undefined ? {} : { hints }),
  };
}

function objectOf(names: readonly string[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  };
}

/** The tools and hints of a flight booking. */
export const FLIGHTS: readonly ToolDescription[] = [
  toolOf('search_flights', ['origin', 'destination', 'date'], {
    description: 'Search available flights.',
    hints: {
      category: 'search',
      outputs: ['flight_id', 'airline', 'price', 'departure', 'arrival'],
      next: ['check_availability'],
      hint: 'Always search before booking. Results contain flight_id needed by downstream tools.',
    },
  }),
  toolOf('check_availability', ['flight_id'], {
    description: 'Check seat availability.',
    hints: {
      category: 'validation',
      requires: ['search_flights'],
      outputs: ['seats_available', 'cabin_class'],
      next: ['create_booking', 'add_to_waitlist'],
      hint: 'Requires flight_id from search_flights. Must confirm availability before booking.',
    },
  }),
  toolOf('create_booking', ['flight_id', 'passenger'], {
    description: 'Reserve a flight.',
    hints: {
      category: 'booking',
      requires: ['check_availability'],
      outputs: ['booking_id', 'status', 'total_price'],
      next: ['process_payment'],
      hint: 'Only call after check_availability confirms seats. Returns booking_id for payment.',
    },
  }),
  toolOf('process_payment', ['booking_id'], {
    description: 'Charge the customer.',
    hints: {
      category: 'payment',
      requires: ['create_booking'],
      outputs: ['payment_id', 'receipt_url'],
      hint: 'Final step. Requires booking_id from create_booking.',
    },
  }),
  toolOf('add_to_waitlist', ['flight_id', 'passenger'], { description: 'Join the waitlist of a flight.' }),
];
