import { Arg, attempt, call, done, fail, Step, Tool, Workflow } from 'stepwright';

interface Route {
  origin: string;
  destination: string;
  date: string;
}

interface Seat {
  flight_id: string;
  passenger: string;
}

@Tool({ name: 'search_flights', description: 'Searches flights', annotations: { readOnlyHint: true } })
export class SearchFlights {
  execute({ origin, destination, date }: Route): { id: string }[] {
    return [{ id: `${origin}-${destination}-${date}` }];
  }
}

@Tool({ name: 'check_availability', description: 'Counts free seats', annotations: { readOnlyHint: true } })
export class CheckAvailability {
  execute({ flight_id }: { flight_id: string }): { seats_available: number } {
    return { seats_available: flight_id.length };
  }
}

@Tool({ name: 'create_booking', description: 'Books a seat', retrySafety: 'key' })
export class CreateBooking {
  execute({ flight_id, passenger }: Seat): { id: string } {
    return { id: `${flight_id}-${passenger}` };
  }
}

@Tool({ name: 'add_to_waitlist', description: 'Adds a passenger to the waiting list' })
export class AddToWaitlist {
  execute({ flight_id, passenger }: Seat): { position: number } {
    return { position: flight_id.length + passenger.length };
  }
}

/** The workflow that `book-flight.yaml` writes. */
@Workflow({ name: 'book_flight', description: 'Search, check availability, and book a flight' })
export class BookFlight {
  @Arg({ description: 'From' }) origin!: Arg<string>;
  @Arg({ description: 'To' }) destination!: Arg<string>;
  @Arg({ description: 'When' }) date!: Arg<string>;
  @Arg({ description: 'Who' }) passenger!: Arg<string>;

  @Step() flights = call(SearchFlights, {
    origin: this.origin,
    destination: this.destination,
    date: this.date,
  });
  @Step() availability = call(CheckAvailability, { flight_id: this.flights[0]!.id });
  @Step() booking =
    this.availability.seats_available > 0
      ? attempt(
          call(
            CreateBooking,
            { flight_id: this.flights[0]!.id, passenger: this.passenger },
            { retry: { attempts: 3, delayMs: 1000 } },
          ),
          () => fail('Booking failed after retries', { code: 'fail_booking' }),
        )
      : call(AddToWaitlist, { flight_id: this.flights[0]!.id, passenger: this.passenger });
  output = done(this.booking);
}
