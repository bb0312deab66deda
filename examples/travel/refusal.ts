import { type Money, printMoney } from './money.js';

/** Thrown when a rule of the business forbids what was asked for, or it cannot be done now. `code` says which one. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Every refusal there is: its code, and the sentence that says what is wrong. */
export const refusals = {
  unavailable: (tool: string) =>
    new Refusal('E_UNAVAILABLE', `The system behind ${tool} does not answer; try again later`),
  late: (tool: string, ms: number) =>
    new Refusal('E_UNAVAILABLE', `The system behind ${tool} did not answer within ${ms} ms; try again later`),
  connectionLost: (tool: string) =>
    new Refusal('E_UNAVAILABLE', `The connection to the system behind ${tool} was lost; try again later`),
  keyReused: (tool: string) =>
    new Refusal(
      'E_KEY_REUSED',
      `This idempotency key was used for another call of ${tool}, with other input`,
    ),

  flightUnknown: (id: string) => new Refusal('E_FLIGHT_UNKNOWN', `There is no flight '${id}'`),
  flightDeparted: (id: string) => new Refusal('E_FLIGHT_DEPARTED', `Flight ${id} has departed`),
  flightFull: (id: string) => new Refusal('E_FLIGHT_FULL', `Flight ${id} has no seat left`),
  alreadyBooked: (who: string, what: string, id: string) =>
    new Refusal('E_ALREADY_BOOKED', `${who} has a booking of ${what} already: ${id}`),

  bookingUnknown: (id: string) => new Refusal('E_BOOKING_UNKNOWN', `There is no booking '${id}'`),
  notConfirmed: (id: string, status: string) =>
    new Refusal('E_NOT_CONFIRMED', `Booking ${id} is ${status}, and has to be confirmed for this`),
  notCancelled: (id: string) =>
    new Refusal('E_NOT_CANCELLED', `Booking ${id} is not cancelled, and is refunded only then`),
  notPaid: (id: string) => new Refusal('E_NOT_PAID', `Booking ${id} was never paid for`),
  refundPeriodOver: (id: string) =>
    new Refusal('E_REFUND_PERIOD_OVER', `Booking ${id} was cancelled more than 24 hours after it was made`),
  alreadyRefunded: (id: string) => new Refusal('E_ALREADY_REFUNDED', `Booking ${id} is refunded already`),

  hotelUnknown: (id: string) => new Refusal('E_HOTEL_UNKNOWN', `There is no hotel '${id}'`),
  hotelFull: (name: string, checkin: string, checkout: string) =>
    new Refusal('E_HOTEL_FULL', `${name} has no room left from ${checkin} to ${checkout}`),
  stayDates: (checkin: string, checkout: string) =>
    new Refusal('E_STAY_DATES', `A stay from ${checkin} to ${checkout} has no night: check-out comes later`),
  stayPast: (checkin: string) => new Refusal('E_STAY_PAST', `${checkin} is over`),
  inAnotherTrip: (id: string) => new Refusal('E_IN_ANOTHER_TRIP', `Booking ${id} is part of another trip`),

  paymentDeclined: (amount: Money, method: string) =>
    new Refusal('E_PAYMENT_DECLINED', `The payment of ${printMoney(amount)} by ${method} was declined`),
  paymentUnknown: (id: string, cart: string) =>
    new Refusal('E_PAYMENT_UNKNOWN', `There is no payment '${id}' for cart ${cart}`),
  amountMismatch: (amount: Money, owed: Money) =>
    new Refusal('E_AMOUNT_MISMATCH', `${printMoney(amount)} is not what is owed: ${printMoney(owed)}`),

  cartUnknown: (id: string) => new Refusal('E_CART_UNKNOWN', `There is no cart '${id}'`),
  cartEmpty: (id: string) => new Refusal('E_CART_EMPTY', `Cart ${id} is empty`),
  cartOrdered: (id: string, order: string) =>
    new Refusal('E_CART_ORDERED', `Cart ${id} is ordered already: ${order}`),
  cartPaid: (id: string) => new Refusal('E_CART_PAID', `Cart ${id} is paid for, and stays as it is`),
  outOfStock: (product: string, stock: number) =>
    new Refusal('E_OUT_OF_STOCK', `${product}: ${stock} in stock, fewer than the cart holds`),
  codeUnknown: (code: string) => new Refusal('E_CODE_UNKNOWN', `There is no discount code '${code}'`),
  codeExpired: (code: string) => new Refusal('E_CODE_EXPIRED', `Discount code ${code} has expired`),
} as const;
