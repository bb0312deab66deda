import { Arg, attempt, call, done, fail, Step, Workflow } from 'stepwright';
import { AddToWaitlist } from './tools/add-to-waitlist.tool.js';
import { CancelBooking } from './tools/cancel-booking.tool.js';
import { CheckAvailability } from './tools/check-availability.tool.js';
import { CreateBooking } from './tools/create-booking.tool.js';
import { SearchFlights } from './tools/search-flights.tool.js';
import { TravelRules } from './travel-rules.resource.js';

@Workflow({
  name: 'book_flight',
  domain: 'travel_booking',
  version: '1.0',
  description: 'search, check availability, and book a flight',
  instructions: [TravelRules],
  expose: ['prompt', 'tool'],
})
export class BookFlight {
  @Arg({ description: 'City to start from' }) origin!: Arg<string>;
  @Arg({ description: 'City to go to' }) destination!: Arg<string>;
  @Arg({ description: 'Day of departure, yyyy-mm-dd', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }) date!: Arg<string>;
  @Arg({ description: 'Full name of the passenger' }) passenger!: Arg<string>;

  @Step()
  search = call(SearchFlights, { origin: this.origin, destination: this.destination, date: this.date });

  @Step()
  flight =
    this.search.flights[0] ?? fail(`No flight from ${this.origin} to ${this.destination} on ${this.date}`);

  @Step() check = call(CheckAvailability, { flight_id: this.flight.id });

  @Step()
  decide =
    this.check.seats_available > 0
      ? attempt(
          call(
            CreateBooking,
            { flight_id: this.flight.id, passenger: this.passenger },
            {
              id: 'reserve',
              retry: { attempts: 3, delayMs: 1_000 },
              compensate: (booked) => call(CancelBooking, { booking_id: booked.id }),
            },
          ),
          (error) => fail(`Booking failed after ${error.attempts} attempts: ${error.message}`),
        )
      : // stepwright-ignore SW4037: the place on the waiting list is kept, and the failure names it
        call(AddToWaitlist, { flight_id: this.flight.id, passenger: this.passenger }, { id: 'waitlist' });

  output = done(this.decide);
}
