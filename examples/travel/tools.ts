import type { TravelService } from './endpoints.js';
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

/** How the tools are made: what a server is given as `tools`. */
export function travelTools(service: TravelService) {
  return {
    search_flights: () => new SearchFlights(service),
    check_availability: () => new CheckAvailability(service),
    create_booking: () => new CreateBooking(service),
    add_to_waitlist: () => new AddToWaitlist(service),
    get_booking: () => new GetBooking(service),
    cancel_booking: () => new CancelBooking(service),
    process_payment: () => new ProcessPayment(service),
    process_refund: () => new ProcessRefund(service),
    search_hotels: () => new SearchHotels(service),
    book_hotel: () => new BookHotel(service),
    cancel_hotel: () => new CancelHotel(service),
    confirm_trip: () => new ConfirmTrip(service),
    validate_cart: () => new ValidateCart(service),
    apply_code: () => new ApplyCode(service),
    calculate_total: () => new CalculateTotal(service),
    charge_cart: () => new ChargeCart(service),
    confirm_order: () => new ConfirmOrder(service),
  };
}
