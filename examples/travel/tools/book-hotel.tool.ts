import { Tool, type ToolContext } from 'stepwright';
import { z } from 'zod';
import type { TravelService } from '../endpoints.js';
import { type ConfirmedStay, confirmedStay } from '../hotels.js';
import { SearchHotels } from './search-hotels.tool.js';

@Tool({
  name: 'book_hotel',
  description: 'Book a room in a hotel',
  input: z.object({
    hotel_id: z.string().min(1).max(100).describe('Id of the hotel, as search_hotels returns it'),
    guest: z.string().regex(/\S/).max(100).describe('Full name of the guest'),
    checkin: z.iso.date().describe('First day, yyyy-mm-dd'),
    checkout: z.iso.date().describe('Day of departure, yyyy-mm-dd; later than checkin'),
  }),
  output: confirmedStay,
  // A second room for the same guest and nights is refused, so a repeated call does nothing.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  hints: { category: 'booking', requires: [() => SearchHotels] },
})
export class BookHotel {
  readonly #service: TravelService;

  constructor(service: TravelService) {
    this.#service = service;
  }

  execute(
    input: { hotel_id: string; guest: string; checkin: string; checkout: string },
    context: ToolContext,
  ): Promise<ConfirmedStay> {
    return this.#service.call('book_hotel', input, context);
  }
}
