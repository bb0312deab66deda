import { Arg, call, chain, done, fail, parallel, run, Step, Workflow } from 'stepwright';
import { BookFlight } from './book-flight.workflow.js';
import { BookHotel } from './tools/book-hotel.tool.js';
import { CancelHotel } from './tools/cancel-hotel.tool.js';
import { ConfirmTrip } from './tools/confirm-trip.tool.js';
import { SearchHotels } from './tools/search-hotels.tool.js';
import { TravelRules } from './travel-rules.resource.js';

@Workflow({
  name: 'book_trip',
  domain: 'travel_booking',
  version: '1.0',
  description: 'book flight and hotel in parallel, then confirm',
  instructions: [TravelRules],
  expose: ['prompt', 'tool'],
})
export class BookTrip {
  @Arg({ description: 'City to start from' }) origin!: Arg<string>;
  @Arg({ description: 'City to go to, and to stay in' }) destination!: Arg<string>;
  @Arg({ description: 'Day of the flight, and first night, yyyy-mm-dd', pattern: '^\\d{4}-\\d{2}-\\d{2}$' })
  checkin!: Arg<string>;
  @Arg({ description: 'Day after the last night, yyyy-mm-dd', pattern: '^\\d{4}-\\d{2}-\\d{2}$' })
  checkout!: Arg<string>;
  @Arg({ description: 'Full name of the traveller' }) passenger!: Arg<string>;

  @Step()
  hotels = call(SearchHotels, { city: this.destination, checkin: this.checkin, checkout: this.checkout });

  @Step()
  hotel =
    this.hotels.hotels.find((hotel) => hotel.rooms_available > 0) ??
    fail(`No hotel in ${this.destination} has a room from ${this.checkin} to ${this.checkout}`);

  // The flight is undone by what its own workflow says of the booking.
  @Step()
  booked = parallel(
    {
      flight: chain(
        run(BookFlight, {
          origin: this.origin,
          destination: this.destination,
          date: this.checkin,
          passenger: this.passenger,
        }),
        (flight) =>
          flight.status === 'confirmed'
            ? flight
            : fail(`Flight ${flight.flight_id} is full: number ${flight.position} on its waiting list`),
      ),
      hotel: call(
        BookHotel,
        {
          hotel_id: this.hotel.id,
          guest: this.passenger,
          checkin: this.checkin,
          checkout: this.checkout,
        },
        { compensate: (stay) => call(CancelHotel, { booking_id: stay.id }) },
      ),
    },
    { onPartialFailure: 'rollback' },
  );

  // If only this fails, both bookings are kept: they are wanted, and can still be confirmed as a trip.
  @Step()
  trip = call(ConfirmTrip, {
    flight_booking_id: this.booked.flight.id,
    hotel_booking_id: this.booked.hotel.id,
  });

  output = done(this.trip);
}
