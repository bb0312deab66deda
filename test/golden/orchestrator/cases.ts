import type { JsonSchema } from '../../../src/graph/json.js';
import { FLIGHTS, toolOf } from '../../../src/infer/flights.fixture.js';
import type { ToolDescription } from '../../../src/infer/tool.js';

/** Tools, and the files of `test/formats/spec-files` whose workflows call them. */
export interface Case {
  readonly tools: readonly ToolDescription[];
  readonly files: readonly string[];
}

/** No hints are declared: those that clients get come from the workflows. */
const booking: readonly ToolDescription[] = [
  // Its output is a list, as the files read it, and the output schemas of MCP are of objects.
  toolOf('search_flights', ['origin', 'destination', 'date'], { description: 'Search available flights.' }),
  {
    ...toolOf('check_availability', ['flight_id'], { description: 'Check seat availability.' }),
    outputSchema: objectOf({ seats_available: { type: 'integer' }, cabin_class: { type: 'string' } }),
  },
  toolOf('create_booking', ['flight_id', 'passenger'], {
    description: 'Reserve a flight.',
    returns: ['id', 'status'],
  }),
  toolOf('add_to_waitlist', ['flight_id', 'passenger'], {
    description: 'Join the waitlist of a flight.',
    returns: ['position'],
  }),
];

const shop: readonly ToolDescription[] = [
  {
    name: 'rest_call',
    description: 'Call the REST API of the shop.',
    inputSchema: objectOf(
      { method: { type: 'string' }, path: { type: 'string' }, body: { type: 'object' } },
      ['method', 'path'],
    ),
    outputSchema: { type: 'object', additionalProperties: true },
  },
  {
    ...toolOf('sql_query', ['sql'], { description: 'Query the tables of the shop.' }),
    outputSchema: objectOf({ total: { type: 'number' } }),
  },
];

const trip: readonly ToolDescription[] = [
  ...booking,
  toolOf('hotels_query', ['question'], {
    description: 'Ask the hotel API a question in natural language.',
    returns: ['id'],
  }),
  toolOf('confirm_trip', ['flight_booking_id', 'hotel_booking_id'], {
    description: 'Confirm a flight and a hotel as one trip.',
    returns: ['trip_id'],
  }),
  toolOf('cancel_booking', ['booking_id'], { description: 'Cancel the booking of a flight.' }),
  toolOf('cancel_hotel', ['booking_id'], { description: 'Cancel the booking of a hotel.' }),
];

const rickAndMorty: readonly ToolDescription[] = [
  toolOf('rickmorty_query', ['question'], {
    description: 'Ask questions about the API in natural language.',
    hints: {
      category: 'search',
      outputs: ['characters', 'episodes', 'locations'],
      hint: 'Use for any question about characters, episodes, or locations.',
      examples: ['List all characters from Earth', 'What episodes feature Rick?'],
    },
  }),
  toolOf('search_characters', ['name'], {
    description: 'Find characters by name.',
    returns: ['character_id', 'species'],
    hints: { category: 'search', next: ['get_episodes'] },
  }),
  toolOf('get_episodes', ['character_id'], {
    description: 'List the episodes of a character.',
    returns: ['episode_ids'],
    hints: { requires: ['search_characters'], hint: 'Requires character_id from search_characters.' },
  }),
];

/** The examples of the design of the orchestrator by the names of their golden files. */
export const cases: Readonly<Record<string, Case>> = {
  flights: { tools: FLIGHTS, files: [] },
  'rick-and-morty': { tools: rickAndMorty, files: [] },
  'book-flight': { tools: booking, files: ['book-flight.yaml'] },
  checkout: { tools: shop, files: ['checkout.yaml'] },
  'book-trip': { tools: trip, files: ['book-flight.yaml', 'book-trip.yaml'] },
};

function objectOf(
  properties: Readonly<Record<string, JsonSchema>>,
  required = Object.keys(properties),
): JsonSchema {
  return { type: 'object', properties, required };
}
