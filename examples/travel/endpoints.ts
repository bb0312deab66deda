import type { ToolContext } from 'stepwright';
import type { Desk } from './agency.js';
import { cancelBooking, findBooking, makeBooking, refundablePayment, waitForSeat } from './bookings.js';
import type { ToolName } from './failures.js';
import { findComingFlight, flightsOn, seatsLeft } from './flights.js';
import { bookRoom, cancelRoom, hotelsIn } from './hotels.js';
import { type Money, moneyOf } from './money.js';
import { type PaymentMethod, payBack, takePayment } from './payments.js';
import { refusals } from './refusal.js';
import { applyDiscount, checkCart, payForCart, placeOrder, totalsOf } from './shop.js';
import { makeTrip } from './trips.js';

/** What the service does for a tool. */
interface Endpoint<Input, Output extends object> {
  /** Whether it changes something, and is done once for each idempotency key. */
  readonly isWrite: boolean;
  readonly work: (desk: Desk, input: Input) => Output;
}

const read = <I, O extends object>(work: (desk: Desk, input: I) => O): Endpoint<I, O> => ({
  isWrite: false,
  work,
});

const write = <I, O extends object>(work: (desk: Desk, input: I) => O): Endpoint<I, O> => ({
  isWrite: true,
  work,
});

interface Seat {
  readonly flight_id: string;
  readonly passenger: string;
}

interface Stay {
  readonly hotel_id: string;
  readonly guest: string;
  readonly checkin: string;
  readonly checkout: string;
}

/** Everything that the service does, by the names of the tools that ask for it. */
export const ENDPOINTS = {
  search_flights: read(
    (desk, { origin, destination, date }: { origin: string; destination: string; date: string }) => ({
      flights: flightsOn(desk, origin, destination, date),
    }),
  ),
  check_availability: read((desk, { flight_id }: { flight_id: string }) => ({
    flight_id,
    seats_available: seatsLeft(desk, findComingFlight(desk, flight_id).key),
  })),
  create_booking: write((desk, { flight_id, passenger }: Seat) => makeBooking(desk, flight_id, passenger)),
  add_to_waitlist: write((desk, { flight_id, passenger }: Seat) => waitForSeat(desk, flight_id, passenger)),
  get_booking: read((desk, { booking_id }: { booking_id: string }) => findBooking(desk, booking_id)),
  cancel_booking: write((desk, { booking_id }: { booking_id: string }) => cancelBooking(desk, booking_id)),
  process_payment: write((desk, input: { booking_id: string; method: PaymentMethod }) => {
    const { id, status, total_price } = findBooking(desk, input.booking_id);
    if (status !== 'confirmed') throw refusals.notConfirmed(id, status);
    return takePayment(desk, id, total_price, input.method);
  }),
  process_refund: write((desk, { booking_id }: { booking_id: string }) => {
    const { id, cents } = refundablePayment(desk, booking_id);
    payBack(desk, id);
    return { payment_id: id, booking_id, status: 'refunded' as const, amount: moneyOf(cents) };
  }),
  search_hotels: read((desk, { city, ...dates }: { city: string; checkin: string; checkout: string }) => ({
    hotels: hotelsIn(desk, city, dates),
  })),
  book_hotel: write((desk, { hotel_id, guest, ...dates }: Stay) => bookRoom(desk, hotel_id, guest, dates)),
  cancel_hotel: write((desk, { booking_id }: { booking_id: string }) => {
    cancelRoom(desk, booking_id);
    return { id: booking_id, status: 'cancelled' as const };
  }),
  confirm_trip: write((desk, input: { flight_booking_id: string; hotel_booking_id: string }) =>
    makeTrip(desk, input.flight_booking_id, input.hotel_booking_id),
  ),
  validate_cart: read((desk, { cart_id }: { cart_id: string }) => checkCart(desk, cart_id)),
  apply_code: write((desk, { cart_id, code }: { cart_id: string; code: string }) =>
    applyDiscount(desk, cart_id, code),
  ),
  calculate_total: read((desk, { cart_id }: { cart_id: string }) => totalsOf(desk, cart_id)),
  charge_cart: write(
    (desk, { cart_id, amount, method }: { cart_id: string; amount: Money; method: PaymentMethod }) =>
      payForCart(desk, cart_id, amount, method),
  ),
  confirm_order: write((desk, { cart_id, payment_id }: { cart_id: string; payment_id: string }) =>
    placeOrder(desk, cart_id, payment_id),
  ),
} as const satisfies Readonly<Record<ToolName, Endpoint<never, object>>>;

type Work<N extends ToolName> = (typeof ENDPOINTS)[N]['work'];

export type InputOf<N extends ToolName> = Parameters<Work<N>>[1];

export type OutputOf<N extends ToolName> = ReturnType<Work<N>>;

export type CallContext = Pick<ToolContext, 'idempotencyKey' | 'signal'>;

/** What the tools call: the agency itself, or its service over HTTP. */
export interface TravelService {
  /**
   * Does the work of an endpoint. Calls with one idempotency key are one call.
   *
   * @throws {Refusal} where a rule forbids the work, with `E_UNAVAILABLE` where nothing answers.
   */
  call<N extends ToolName>(name: N, input: InputOf<N>, context: CallContext): Promise<OutputOf<N>>;
}
