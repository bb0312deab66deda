import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type Hotel, hotel } from '../hotels.js';
import { BookHotel } from './book-hotel.tool.js';

@Tool({
  name: 'search_hotels',
  description: 'Find hotels in a city for some nights, the cheapest first; full ones too',
  input: z.object({
    city: z.string().regex(/\S/).max(100).describe('City to stay in, such as Paris'),
    checkin: z.iso.date().describe('First day, yyyy-mm-dd'),
    checkout: z.iso.date().describe('Day of departure, yyyy-mm-dd; later than checkin'),
  }),
  output: z.object({ hotels: z.array(hotel) }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  hints: { category: 'search', next: [() => BookHotel] },
})
export class SearchHotels {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(
    input: { city: string; checkin: string; checkout: string },
    context: ToolContext,
  ): Promise<{ hotels: Hotel[] }> {
    return this.#service.call('search_hotels', input, context);
  }
}
