import type { TravelAgency } from './agency.js';
import { AddToWaitlist } from './tools/add-to-waitlist.tool.js';
import { ApplyCode } from './tools/apply-code.tool.js';
import { BookHotel } from './tools/book-hotel.tool.js';
import { CalculateTotal } from './tools/calculate-total.tool.js';
import { CancelBooking } from './tools/cancel-booking.tool.js';
import { CancelHotel } from './tools/cancel-hotel.tool.js';
import { ChargeCart } from './tools/charge-cart.tool.js';
import { CheckAvailability } from './tools/check-availability.tool.js';
import { ConfirmOrder } from './tools/confirm-order.tool.js';
import { ConfirmTrip } from './tools/confirm-trip.tool.js';
import { CreateBooking } from './tools/create-booking.tool.js';
import { GetBooking } from './tools/get-booking.tool.js';
import { ProcessPayment } from './tools/process-payment.tool.js';
import { ProcessRefund } from './tools/process-refund.tool.js';
import { SearchFlights } from './tools/search-flights.tool.js';
import { SearchHotels } from './tools/search-hotels.tool.js';
import { ValidateCart } from './tools/validate-cart.tool.js';

/** How the tools of an agency are made: what a server is given as `tools`. */
export function travelTools(agency: TravelAgency) {
  return {
    search_flights: () => new SearchFlights(agency),
    check_availability: () => new CheckAvailability(agency),
    create_booking: () => new CreateBooking(agency),
    add_to_waitlist: () => new AddToWaitlist(agency),
    get_booking: () => new GetBooking(agency),
    cancel_booking: () => new CancelBooking(agency),
    process_payment: () => new ProcessPayment(agency),
    process_refund: () => new ProcessRefund(agency),
    search_hotels: () => new SearchHotels(agency),
    book_hotel: () => new BookHotel(agency),
    cancel_hotel: () => new CancelHotel(agency),
    confirm_trip: () => new ConfirmTrip(agency),
    validate_cart: () => new ValidateCart(agency),
    apply_code: () => new ApplyCode(agency),
    calculate_total: () => new CalculateTotal(agency),
    charge_cart: () => new ChargeCart(agency),
    confirm_order: () => new ConfirmOrder(agency),
  };
}
