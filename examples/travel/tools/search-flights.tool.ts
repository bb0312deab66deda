import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type Flight, flight } from '../flights.js';
import { CheckAvailability } from './check-availability.tool.js';

@Tool({
  name: 'search_flights',
  description: 'Find flights from one city to another on a day, the cheapest first',
  input: z.object({
    origin: z.string().regex(/\S/).max(100).describe('City it starts from, such as NYC'),
    destination: z.string().regex(/\S/).max(100).describe('City it goes to, such as Paris'),
    date: z.iso.date().describe('Day of departure in UTC, yyyy-mm-dd'),
  }),
  output: z.object({ flights: z.array(flight) }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  hints: { category: 'search', next: [() => CheckAvailability] },
})
export class SearchFlights {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(
    input: { origin: string; destination: string; date: string },
    context: ToolContext,
  ): Promise<{ flights: Flight[] }> {
    return this.#service.call('search_flights', input, context);
  }
}
