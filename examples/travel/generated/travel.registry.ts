// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry, graphJson, schemaJson } from 'stepwright/runtime';
import { BookFlight } from '../book-flight.workflow.js';
import { BookTrip } from '../book-trip.workflow.js';
import { CancelAndRefund } from '../cancel-booking.workflow.js';
import { Checkout } from '../checkout.workflow.js';
import { AddToWaitlist } from '../tools/add-to-waitlist.tool.js';
import { ApplyCode } from '../tools/apply-code.tool.js';
import { BookHotel } from '../tools/book-hotel.tool.js';
import { CalculateTotal } from '../tools/calculate-total.tool.js';
import { CancelBooking } from '../tools/cancel-booking.tool.js';
import { CancelHotel } from '../tools/cancel-hotel.tool.js';
import { ChargeCart } from '../tools/charge-cart.tool.js';
import { CheckAvailability } from '../tools/check-availability.tool.js';
import { ConfirmOrder } from '../tools/confirm-order.tool.js';
import { ConfirmTrip } from '../tools/confirm-trip.tool.js';
import { CreateBooking } from '../tools/create-booking.tool.js';
import { GetBooking } from '../tools/get-booking.tool.js';
import { ProcessPayment } from '../tools/process-payment.tool.js';
import { ProcessRefund } from '../tools/process-refund.tool.js';
import { SearchFlights } from '../tools/search-flights.tool.js';
import { SearchHotels } from '../tools/search-hotels.tool.js';
import { ValidateCart } from '../tools/validate-cart.tool.js';
import { TravelRules } from '../travel-rules.resource.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: '7afb8a175976aed2c28d6238d0a80080f0b4d923e492bde5a8d05c90f3a868ab',
  tools: {
    add_to_waitlist: {
      class: AddToWaitlist,
      description: 'Put a passenger on the waiting list of a full flight',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "flight_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the flight, as search_flights returns it"
          },
          "passenger": {
            "type": "string",
            "maxLength": 100,
            "pattern": "\\S",
            "description": "Full name of the passenger"
          }
        },
        "required": ["flight_id", "passenger"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string", "description": "WL-1" },
          "status": { "type": "string", "const": "waitlisted" },
          "flight_id": { "type": "string" },
          "passenger": { "type": "string" },
          "position": {
            "type": "integer",
            "exclusiveMinimum": 0,
            "maximum": 9007199254740991,
            "description": "1 is the first to get a seat"
          }
        },
        "required": ["id", "status", "flight_id", "passenger", "position"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      hints: { category: 'booking', requires: ['check_availability'] },
      fingerprint: 'fc94569a00ee8d5069353c2b2834caa2007042f82d246b45efb86141be7d4e05',
    },
    apply_code: {
      class: ApplyCode,
      description: 'Put the discount of a code on a cart, in place of the one before',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "cart_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the cart, such as CART-1"
          },
          "code": {
            "type": "string",
            "maxLength": 100,
            "pattern": "\\S",
            "description": "Discount code; case does not matter"
          }
        },
        "required": ["cart_id", "code"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "cart_id": { "type": "string" },
          "code": { "type": "string" },
          "percent": {
            "type": "integer",
            "minimum": -9007199254740991,
            "maximum": 9007199254740991,
            "description": "Taken off the price, 1 to 100"
          }
        },
        "required": ["cart_id", "code", "percent"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      hints: { category: 'action' },
      fingerprint: '30d65b65912ad16bc2d0e4ec01d3525b19212850445e486bcbc534fc5f5914ba',
    },
    book_hotel: {
      class: BookHotel,
      description: 'Book a room in a hotel',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "hotel_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the hotel, as search_hotels returns it"
          },
          "guest": {
            "type": "string",
            "maxLength": 100,
            "pattern": "\\S",
            "description": "Full name of the guest"
          },
          "checkin": {
            "type": "string",
            "format": "date",
            "pattern": "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))$",
            "description": "First day, yyyy-mm-dd"
          },
          "checkout": {
            "type": "string",
            "format": "date",
            "pattern": "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))$",
            "description": "Day of departure, yyyy-mm-dd; later than checkin"
          }
        },
        "required": ["hotel_id", "guest", "checkin", "checkout"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string", "description": "HB-1" },
          "status": { "type": "string", "const": "confirmed" },
          "hotel_id": { "type": "string" },
          "guest": { "type": "string" },
          "checkin": { "type": "string", "description": "yyyy-mm-dd" },
          "checkout": { "type": "string", "description": "yyyy-mm-dd" },
          "total_price": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false,
            "description": "For all nights"
          }
        },
        "required": ["id", "status", "hotel_id", "guest", "checkin", "checkout", "total_price"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      hints: { category: 'booking', requires: ['search_hotels'] },
      fingerprint: 'f889c87edcba5f13d1e5c0ecc41e22d28290e5cf7d6cf38ae08140ba1d2fbabd',
    },
    calculate_total: {
      class: CalculateTotal,
      description: 'Work out what a cart costs, its discount taken off',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "cart_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the cart, such as CART-1"
          }
        },
        "required": ["cart_id"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "subtotal": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false,
            "description": "Before the discount"
          },
          "discount": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false,
            "description": "What is taken off, rounded to the cent"
          },
          "total": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false,
            "description": "What is to be paid"
          }
        },
        "required": ["subtotal", "discount", "total"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      hints: { category: 'action' },
      fingerprint: 'af7bf0de7f77141c280c92e5438048b775d2f5aa629384e67c683f2fd8d2dcec',
    },
    cancel_booking: {
      class: CancelBooking,
      description: 'Cancel a confirmed booking of a flight',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "booking_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the booking, such as BK-1001"
          }
        },
        "required": ["booking_id"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string" },
          "status": { "type": "string", "const": "cancelled" },
          "refundable": {
            "type": "boolean",
            "description": "Paid for, and cancelled within 24 hours of the booking: process_refund pays it back"
          },
          "fee": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false,
            "description": "What is kept of what was paid"
          }
        },
        "required": ["id", "status", "refundable", "fee"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      hints: { category: 'cancellation', next: ['process_refund'] },
      fingerprint: '85fa478e10761994091bfc70552e3bf95a2b1995ee880fbc860e11c706e440cc',
    },
    cancel_hotel: {
      class: CancelHotel,
      description: 'Cancel a booked room',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "booking_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the booking of a room, such as HB-1"
          }
        },
        "required": ["booking_id"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": { "id": { "type": "string" }, "status": { "type": "string", "const": "cancelled" } },
        "required": ["id", "status"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      hints: { category: 'cancellation' },
      fingerprint: 'f921343075a36529174a63e03e1e225e2db94c3b8f22fdcbf398881f32e177a2',
    },
    charge_cart: {
      class: ChargeCart,
      description: 'Charge the total of a cart; a paid one is not charged again',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "cart_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the cart, such as CART-1"
          },
          "amount": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "description": "What the customer agreed to pay; it has to be the total",
            "additionalProperties": false
          },
          "method": {
            "type": "string",
            "enum": ["card", "paypal", "bank_transfer"],
            "description": "How the customer pays"
          }
        },
        "required": ["cart_id", "amount", "method"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string", "description": "PAY-1001" },
          "status": { "type": "string", "const": "captured" },
          "amount": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false
          },
          "method": { "type": "string", "enum": ["card", "paypal", "bank_transfer"] },
          "receipt_url": { "type": "string", "description": "Where the receipt can be seen" }
        },
        "required": ["id", "status", "amount", "method", "receipt_url"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      hints: { category: 'payment', requires: ['calculate_total'] },
      fingerprint: '5a6d111e496ab4eb3b5f6777904a87896a3a1fde203d31e47cb52ed0bfcede5d',
    },
    check_availability: {
      class: CheckAvailability,
      description: 'Tell how many seats are left on a flight',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "flight_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the flight, as search_flights returns it"
          }
        },
        "required": ["flight_id"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "flight_id": { "type": "string" },
          "seats_available": { "type": "integer", "minimum": 0, "maximum": 9007199254740991 }
        },
        "required": ["flight_id", "seats_available"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      hints: {
        category: 'validation',
        next: ['create_booking', 'add_to_waitlist'],
        requires: ['search_flights'],
      },
      fingerprint: 'b0bb222bcf6296c904e260838a876830c77c38b39cbff581d6b8996634f41b23',
    },
    confirm_order: {
      class: ConfirmOrder,
      description: 'Order what is in a cart that is paid for',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "cart_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the cart, such as CART-1"
          },
          "payment_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the payment, as charge_cart returns it"
          }
        },
        "required": ["cart_id", "payment_id"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string", "description": "ORD-1" },
          "status": { "type": "string", "const": "confirmed" },
          "cart_id": { "type": "string" },
          "payment_id": { "type": "string" }
        },
        "required": ["id", "status", "cart_id", "payment_id"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      hints: { category: 'action', requires: ['charge_cart'] },
      fingerprint: '2345b034a204e66882b27563d219eb3601315d5bba1b8b913de0c49a32eb982e',
    },
    confirm_trip: {
      class: ConfirmTrip,
      description: 'Make a booked flight and a booked room one trip',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "flight_booking_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the booking, such as BK-1001"
          },
          "hotel_booking_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the booking of a room, such as HB-1"
          }
        },
        "required": ["flight_booking_id", "hotel_booking_id"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string", "description": "TRIP-1" },
          "status": { "type": "string", "const": "confirmed" },
          "flight_booking_id": { "type": "string" },
          "hotel_booking_id": { "type": "string" },
          "total_price": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false,
            "description": "Flight and hotel"
          }
        },
        "required": ["id", "status", "flight_booking_id", "hotel_booking_id", "total_price"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      hints: { category: 'booking', requires: ['create_booking', 'book_hotel'] },
      fingerprint: '53c037ceee4cd53fd8627f05035d46be04b227e1c95a7d6306a1fbed15fe8cc3',
    },
    create_booking: {
      class: CreateBooking,
      description: 'Book a seat on a flight',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "flight_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the flight, as search_flights returns it"
          },
          "passenger": {
            "type": "string",
            "maxLength": 100,
            "pattern": "\\S",
            "description": "Full name of the passenger"
          }
        },
        "required": ["flight_id", "passenger"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string", "description": "BK-1001" },
          "status": { "type": "string", "const": "confirmed" },
          "flight_id": { "type": "string" },
          "passenger": { "type": "string" },
          "total_price": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false
          },
          "booked_at": { "type": "string", "description": "RFC 3339, UTC" },
          "paid": { "type": "boolean" }
        },
        "required": ["id", "status", "flight_id", "passenger", "total_price", "booked_at", "paid"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      hints: { category: 'booking', next: ['process_payment'], requires: ['check_availability'] },
      fingerprint: 'e077a9cfdd162ba3ce4da20cd06203d056a05e2b5f94c58688724301220df2de',
    },
    get_booking: {
      class: GetBooking,
      description: 'Look up the booking of a flight',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "booking_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the booking, such as BK-1001"
          }
        },
        "required": ["booking_id"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string", "description": "BK-1001" },
          "status": { "type": "string", "enum": ["confirmed", "cancelled", "flown"] },
          "flight_id": { "type": "string" },
          "passenger": { "type": "string" },
          "total_price": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false
          },
          "booked_at": { "type": "string", "description": "RFC 3339, UTC" },
          "paid": { "type": "boolean" }
        },
        "required": ["id", "status", "flight_id", "passenger", "total_price", "booked_at", "paid"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      hints: { category: 'search' },
      fingerprint: '4629451cde0b6469cb32a16489c33e4a352710d24f052f52ac3b87edf3cfa86d',
    },
    process_payment: {
      class: ProcessPayment,
      description: 'Charge the price of a confirmed booking; a paid one is not charged again',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "booking_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the booking, such as BK-1001"
          },
          "method": {
            "type": "string",
            "enum": ["card", "paypal", "bank_transfer"],
            "description": "How the customer pays"
          }
        },
        "required": ["booking_id", "method"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string", "description": "PAY-1001" },
          "status": { "type": "string", "const": "captured" },
          "amount": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false
          },
          "method": { "type": "string", "enum": ["card", "paypal", "bank_transfer"] },
          "receipt_url": { "type": "string", "description": "Where the receipt can be seen" }
        },
        "required": ["id", "status", "amount", "method", "receipt_url"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      hints: { category: 'payment', requires: ['create_booking'] },
      fingerprint: '4402c1a508e83f64b5e6b6bf026f13e69b489e9f4e5bb2b50665e95b91b8c4e6',
    },
    process_refund: {
      class: ProcessRefund,
      description: 'Pay back a booking that was cancelled within 24 hours of being made',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "booking_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the booking, such as BK-1001"
          }
        },
        "required": ["booking_id"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "payment_id": { "type": "string", "description": "The payment that is paid back" },
          "booking_id": { "type": "string" },
          "status": { "type": "string", "const": "refunded" },
          "amount": {
            "type": "object",
            "properties": {
              "cents": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9007199254740991,
                "description": "Hundredths of the unit of the currency"
              },
              "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
            },
            "required": ["cents", "currency"],
            "additionalProperties": false
          }
        },
        "required": ["payment_id", "booking_id", "status", "amount"],
        "additionalProperties": false
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      hints: { category: 'payment', requires: ['cancel_booking'] },
      fingerprint: 'a52008ec7b8a9334d7f8194dc9bc55ade79bdf594e23bb4d7975418d3932f1af',
    },
    search_flights: {
      class: SearchFlights,
      description: 'Find flights from one city to another on a day, the cheapest first',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "origin": {
            "type": "string",
            "maxLength": 100,
            "pattern": "\\S",
            "description": "City it starts from, such as NYC"
          },
          "destination": {
            "type": "string",
            "maxLength": 100,
            "pattern": "\\S",
            "description": "City it goes to, such as Paris"
          },
          "date": {
            "type": "string",
            "format": "date",
            "pattern": "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))$",
            "description": "Day of departure in UTC, yyyy-mm-dd"
          }
        },
        "required": ["origin", "destination", "date"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "flights": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "id": { "type": "string", "description": "Number and day: UA57-2026-02-26" },
                "airline": { "type": "string" },
                "origin": { "type": "string" },
                "destination": { "type": "string" },
                "departs_at": { "type": "string", "description": "RFC 3339, UTC" },
                "arrives_at": { "type": "string", "description": "RFC 3339, UTC" },
                "price": {
                  "type": "object",
                  "properties": {
                    "cents": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Hundredths of the unit of the currency"
                    },
                    "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
                  },
                  "required": ["cents", "currency"],
                  "additionalProperties": false,
                  "description": "For one passenger, one way"
                }
              },
              "required": ["id", "airline", "origin", "destination", "departs_at", "arrives_at", "price"],
              "additionalProperties": false
            }
          }
        },
        "required": ["flights"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      hints: { category: 'search', next: ['check_availability'] },
      fingerprint: '356ccbcee1be6a8ac96af475f29926ea7f6fe1c41dc428bd17bf547b809b172f',
    },
    search_hotels: {
      class: SearchHotels,
      description: 'Find hotels in a city for some nights, the cheapest first; full ones too',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "city": {
            "type": "string",
            "maxLength": 100,
            "pattern": "\\S",
            "description": "City to stay in, such as Paris"
          },
          "checkin": {
            "type": "string",
            "format": "date",
            "pattern": "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))$",
            "description": "First day, yyyy-mm-dd"
          },
          "checkout": {
            "type": "string",
            "format": "date",
            "pattern": "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))$",
            "description": "Day of departure, yyyy-mm-dd; later than checkin"
          }
        },
        "required": ["city", "checkin", "checkout"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "hotels": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "id": { "type": "string" },
                "name": { "type": "string" },
                "city": { "type": "string" },
                "stars": { "type": "integer", "minimum": -9007199254740991, "maximum": 9007199254740991 },
                "total_price": {
                  "type": "object",
                  "properties": {
                    "cents": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Hundredths of the unit of the currency"
                    },
                    "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
                  },
                  "required": ["cents", "currency"],
                  "additionalProperties": false,
                  "description": "For one room, all nights"
                },
                "rooms_available": { "type": "integer", "minimum": 0, "maximum": 9007199254740991 }
              },
              "required": ["id", "name", "city", "stars", "total_price", "rooms_available"],
              "additionalProperties": false
            }
          }
        },
        "required": ["hotels"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      hints: { category: 'search', next: ['book_hotel'] },
      fingerprint: '163156bd810ae9fc8741e79c05ceeade4a3df9f0dbc7dbc45aac6340e45d1460',
    },
    validate_cart: {
      class: ValidateCart,
      description: 'Check that everything in a cart can be bought',
      inputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "cart_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "Id of the cart, such as CART-1"
          }
        },
        "required": ["cart_id"],
        "additionalProperties": false
      }`,
      outputSchema: schemaJson`{
        "type": "object",
        "properties": {
          "id": { "type": "string", "description": "CART-1" },
          "items": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "product_id": { "type": "string" },
                "name": { "type": "string" },
                "quantity": { "type": "integer", "exclusiveMinimum": 0, "maximum": 9007199254740991 },
                "unit_price": {
                  "type": "object",
                  "properties": {
                    "cents": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Hundredths of the unit of the currency"
                    },
                    "currency": { "type": "string", "const": "USD", "description": "ISO 4217" }
                  },
                  "required": ["cents", "currency"],
                  "additionalProperties": false,
                  "description": "For one of them"
                }
              },
              "required": ["product_id", "name", "quantity", "unit_price"],
              "additionalProperties": false
            }
          }
        },
        "required": ["id", "items"],
        "additionalProperties": false
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      hints: { category: 'validation' },
      fingerprint: '8ae8a4f8875450076a5e52800a457782888d6e612f79f208630ad0400ec02cb0',
    },
  },
  resources: {
    'travel-rules': {
      class: TravelRules,
      uri: 'resource://travel/rules',
      description: 'What the agency does, and when',
      mimeType: 'text/markdown',
      text:
        '# Rules of the agency\n' +
        '\n' +
        '- A seat is booked only after check_availability has found one; where there is none, the passenger goes on the waiting list.\n' +
        '- Only a confirmed booking can be cancelled. What was paid for it is paid back when it is cancelled within 24 hours of being made; later it is kept as a fee.\n' +
        '- A payment is taken once for each booking and each cart.\n' +
        '- Amounts are in cents of US dollars. Days are UTC, yyyy-mm-dd.\n',
      fingerprint: '60acf7b74f6b47dd788460424d0c6ec7e98f63e7962e0bbbd84286820999ba36',
    },
  },
  workflows: {
    book_flight: {
      class: BookFlight,
      graph: graphJson<['prompt', 'tool']>`{
        "graphVersion": 1,
        "name": "book_flight",
        "description": "search, check availability, and book a flight",
        "domain": "travel_booking",
        "expose": ["prompt", "tool"],
        "inputs": [
          {
            "name": "origin",
            "description": "City to start from",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "destination",
            "description": "City to go to",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "date",
            "description": "Day of departure, yyyy-mm-dd",
            "required": true,
            "schema": { "pattern": "^\\d{4}-\\d{2}-\\d{2}$", "type": "string" }
          },
          {
            "name": "passenger",
            "description": "Full name of the passenger",
            "required": true,
            "schema": { "type": "string" }
          }
        ],
        "instructions": [{ "resource": "travel-rules", "uri": "resource://travel/rules" }],
        "nodes": [
          {
            "id": "search",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "origin", "value": { "kind": "ref", "root": "inputs", "path": ["origin"] } },
                {
                  "key": "destination",
                  "value": { "kind": "ref", "root": "inputs", "path": ["destination"] }
                },
                { "key": "date", "value": { "kind": "ref", "root": "inputs", "path": ["date"] } }
              ]
            },
            "join": "none_failed",
            "tool": "search_flights"
          },
          {
            "id": "flight",
            "kind": "error",
            "after": ["search"],
            "executor": "server",
            "join": "none_failed",
            "message": {
              "kind": "text",
              "parts": [
                "No flight from ",
                { "kind": "ref", "root": "inputs", "path": ["origin"] },
                " to ",
                { "kind": "ref", "root": "inputs", "path": ["destination"] },
                " on ",
                { "kind": "ref", "root": "inputs", "path": ["date"] }
              ],
              "style": "js"
            },
            "when": {
              "kind": "call",
              "args": [{ "kind": "ref", "root": "steps", "path": ["search", "flights", 0] }],
              "fn": "isNullish"
            }
          },
          {
            "id": "check",
            "kind": "call",
            "after": ["flight"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                {
                  "key": "flight_id",
                  "value": { "kind": "ref", "root": "steps", "path": ["search", "flights", 0, "id"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "check_availability"
          },
          {
            "id": "decide",
            "kind": "branch",
            "after": ["check"],
            "cases": [
              {
                "id": "then",
                "body": {
                  "nodes": [
                    {
                      "id": "reserve",
                      "kind": "call",
                      "after": [],
                      "compensate": {
                        "input": {
                          "kind": "dict",
                          "entries": [
                            {
                              "key": "booking_id",
                              "value": { "kind": "ref", "root": "steps", "path": ["reserve", "id"] }
                            }
                          ]
                        },
                        "tool": "cancel_booking"
                      },
                      "executor": "server",
                      "input": {
                        "kind": "dict",
                        "entries": [
                          {
                            "key": "flight_id",
                            "value": {
                              "kind": "ref",
                              "root": "steps",
                              "path": ["search", "flights", 0, "id"]
                            }
                          },
                          {
                            "key": "passenger",
                            "value": { "kind": "ref", "root": "inputs", "path": ["passenger"] }
                          }
                        ]
                      },
                      "join": "none_failed",
                      "onError": { "fallbackNode": "decide.then.fallback" },
                      "retry": {
                        "backoff": "constant",
                        "capMs": 60000,
                        "delayMs": 1000,
                        "extra": 2,
                        "jitter": 0
                      },
                      "tool": "create_booking"
                    },
                    {
                      "id": "decide.then.fallback",
                      "kind": "error",
                      "after": [],
                      "executor": "server",
                      "join": "none_failed",
                      "message": {
                        "kind": "text",
                        "parts": [
                          "Booking failed after ",
                          { "kind": "ref", "root": "error", "path": ["attempts"] },
                          " attempts: ",
                          { "kind": "ref", "root": "error", "path": ["message"] }
                        ],
                        "style": "js"
                      }
                    }
                  ],
                  "value": { "kind": "ref", "root": "steps", "path": ["reserve"] }
                },
                "when": {
                  "kind": "compare",
                  "left": { "kind": "ref", "root": "steps", "path": ["check", "seats_available"] },
                  "ops": [{ "op": "gt.js", "right": { "kind": "literal", "value": 0 } }]
                }
              }
            ],
            "else": {
              "id": "else",
              "body": {
                "nodes": [
                  {
                    "id": "waitlist",
                    "kind": "call",
                    "after": [],
                    "executor": "server",
                    "input": {
                      "kind": "dict",
                      "entries": [
                        {
                          "key": "flight_id",
                          "value": { "kind": "ref", "root": "steps", "path": ["search", "flights", 0, "id"] }
                        },
                        {
                          "key": "passenger",
                          "value": { "kind": "ref", "root": "inputs", "path": ["passenger"] }
                        }
                      ]
                    },
                    "join": "none_failed",
                    "tool": "add_to_waitlist"
                  }
                ],
                "value": { "kind": "ref", "root": "steps", "path": ["waitlist"] }
              }
            },
            "executor": "server",
            "join": "none_failed"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["decide"],
            "executor": "server",
            "join": "none_failed",
            "value": { "kind": "ref", "root": "steps", "path": ["decide"] }
          }
        ],
        "version": "1.0"
      }`,
      hash: '9ac90f00c8f1e6ac5e86ddd7d8440cc7581a8d66f851c4b82c22b2be7462ffaf',
      fingerprint: '72e7454f411c5b6f26e3a3e37c9a560aa44d21d3a5be91f09fe26555824a7c10',
    },
    book_trip: {
      class: BookTrip,
      graph: graphJson<['prompt', 'tool']>`{
        "graphVersion": 1,
        "name": "book_trip",
        "description": "book flight and hotel in parallel, then confirm",
        "domain": "travel_booking",
        "expose": ["prompt", "tool"],
        "inputs": [
          {
            "name": "origin",
            "description": "City to start from",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "destination",
            "description": "City to go to, and to stay in",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "checkin",
            "description": "Day of the flight, and first night, yyyy-mm-dd",
            "required": true,
            "schema": { "pattern": "^\\d{4}-\\d{2}-\\d{2}$", "type": "string" }
          },
          {
            "name": "checkout",
            "description": "Day after the last night, yyyy-mm-dd",
            "required": true,
            "schema": { "pattern": "^\\d{4}-\\d{2}-\\d{2}$", "type": "string" }
          },
          {
            "name": "passenger",
            "description": "Full name of the traveller",
            "required": true,
            "schema": { "type": "string" }
          }
        ],
        "instructions": [{ "resource": "travel-rules", "uri": "resource://travel/rules" }],
        "nodes": [
          {
            "id": "hotels",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "city", "value": { "kind": "ref", "root": "inputs", "path": ["destination"] } },
                { "key": "checkin", "value": { "kind": "ref", "root": "inputs", "path": ["checkin"] } },
                { "key": "checkout", "value": { "kind": "ref", "root": "inputs", "path": ["checkout"] } }
              ]
            },
            "join": "none_failed",
            "tool": "search_hotels"
          },
          {
            "id": "hotel",
            "kind": "error",
            "after": ["hotels"],
            "executor": "server",
            "join": "none_failed",
            "message": {
              "kind": "text",
              "parts": [
                "No hotel in ",
                { "kind": "ref", "root": "inputs", "path": ["destination"] },
                " has a room from ",
                { "kind": "ref", "root": "inputs", "path": ["checkin"] },
                " to ",
                { "kind": "ref", "root": "inputs", "path": ["checkout"] }
              ],
              "style": "js"
            },
            "when": {
              "kind": "call",
              "args": [
                {
                  "kind": "each",
                  "as": "hotel",
                  "body": {
                    "kind": "compare",
                    "left": { "kind": "ref", "root": "local", "path": ["hotel", "rooms_available"] },
                    "ops": [{ "op": "gt.js", "right": { "kind": "literal", "value": 0 } }]
                  },
                  "in": { "kind": "ref", "root": "steps", "path": ["hotels", "hotels"] },
                  "mode": "find",
                  "truth": "truthy.js"
                }
              ],
              "fn": "isNullish"
            }
          },
          {
            "id": "booked",
            "kind": "parallel",
            "after": ["hotel"],
            "branches": [
              {
                "id": "flight",
                "body": {
                  "nodes": [
                    {
                      "id": "booked.flight.1",
                      "kind": "workflow",
                      "after": [],
                      "executor": "server",
                      "input": {
                        "kind": "dict",
                        "entries": [
                          {
                            "key": "origin",
                            "value": { "kind": "ref", "root": "inputs", "path": ["origin"] }
                          },
                          {
                            "key": "destination",
                            "value": { "kind": "ref", "root": "inputs", "path": ["destination"] }
                          },
                          {
                            "key": "date",
                            "value": { "kind": "ref", "root": "inputs", "path": ["checkin"] }
                          },
                          {
                            "key": "passenger",
                            "value": { "kind": "ref", "root": "inputs", "path": ["passenger"] }
                          }
                        ]
                      },
                      "join": "none_failed",
                      "workflow": "book_flight"
                    },
                    {
                      "id": "booked.flight",
                      "kind": "error",
                      "after": ["booked.flight.1"],
                      "executor": "server",
                      "join": "none_failed",
                      "message": {
                        "kind": "text",
                        "parts": [
                          "Flight ",
                          { "kind": "ref", "root": "steps", "path": ["booked.flight.1", "flight_id"] },
                          " is full: number ",
                          { "kind": "ref", "root": "steps", "path": ["booked.flight.1", "position"] },
                          " on its waiting list"
                        ],
                        "style": "js"
                      },
                      "when": {
                        "kind": "not",
                        "of": {
                          "kind": "compare",
                          "left": { "kind": "ref", "root": "steps", "path": ["booked.flight.1", "status"] },
                          "ops": [
                            { "op": "eq.strict", "right": { "kind": "literal", "value": "confirmed" } }
                          ]
                        },
                        "truth": "truthy.js"
                      }
                    }
                  ],
                  "value": { "kind": "ref", "root": "steps", "path": ["booked.flight.1"] }
                }
              },
              {
                "id": "hotel",
                "body": {
                  "nodes": [
                    {
                      "id": "booked.hotel",
                      "kind": "call",
                      "after": [],
                      "compensate": {
                        "input": {
                          "kind": "dict",
                          "entries": [
                            {
                              "key": "booking_id",
                              "value": { "kind": "ref", "root": "steps", "path": ["booked.hotel", "id"] }
                            }
                          ]
                        },
                        "tool": "cancel_hotel"
                      },
                      "executor": "server",
                      "input": {
                        "kind": "dict",
                        "entries": [
                          {
                            "key": "hotel_id",
                            "value": {
                              "key": { "kind": "literal", "value": "id" },
                              "kind": "get",
                              "of": {
                                "kind": "each",
                                "as": "hotel",
                                "body": {
                                  "kind": "compare",
                                  "left": {
                                    "kind": "ref",
                                    "root": "local",
                                    "path": ["hotel", "rooms_available"]
                                  },
                                  "ops": [{ "op": "gt.js", "right": { "kind": "literal", "value": 0 } }]
                                },
                                "in": { "kind": "ref", "root": "steps", "path": ["hotels", "hotels"] },
                                "mode": "find",
                                "truth": "truthy.js"
                              }
                            }
                          },
                          {
                            "key": "guest",
                            "value": { "kind": "ref", "root": "inputs", "path": ["passenger"] }
                          },
                          {
                            "key": "checkin",
                            "value": { "kind": "ref", "root": "inputs", "path": ["checkin"] }
                          },
                          {
                            "key": "checkout",
                            "value": { "kind": "ref", "root": "inputs", "path": ["checkout"] }
                          }
                        ]
                      },
                      "join": "none_failed",
                      "tool": "book_hotel"
                    }
                  ],
                  "value": { "kind": "ref", "root": "steps", "path": ["booked.hotel"] }
                }
              }
            ],
            "executor": "server",
            "join": "none_failed",
            "onPartialFailure": "rollback"
          },
          {
            "id": "trip",
            "kind": "call",
            "after": ["booked"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                {
                  "key": "flight_booking_id",
                  "value": { "kind": "ref", "root": "steps", "path": ["booked", "flight", "id"] }
                },
                {
                  "key": "hotel_booking_id",
                  "value": { "kind": "ref", "root": "steps", "path": ["booked", "hotel", "id"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "confirm_trip"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["trip"],
            "executor": "server",
            "join": "none_failed",
            "value": { "kind": "ref", "root": "steps", "path": ["trip"] }
          }
        ],
        "version": "1.0"
      }`,
      hash: 'd681886bb8906b1dc5fb8728e665ac245b642272661a61e78e6230840c17965a',
      fingerprint: 'e2d17e6668da0245b85ff91ee0374f03746858e5be48d434745617406cb0567b',
    },
    cancel_booking: {
      class: CancelAndRefund,
      graph: graphJson<['prompt', 'tool']>`{
        "graphVersion": 1,
        "name": "cancel_booking",
        "description": "cancel a booking, and pay it back within 24 hours",
        "domain": "travel_booking",
        "expose": ["prompt", "tool"],
        "inputs": [
          {
            "name": "booking_id",
            "description": "Id of the booking, such as BK-1001",
            "required": true,
            "schema": { "type": "string" }
          }
        ],
        "instructions": [{ "resource": "travel-rules", "uri": "resource://travel/rules" }],
        "nodes": [
          {
            "id": "booking",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "booking_id", "value": { "kind": "ref", "root": "inputs", "path": ["booking_id"] } }
              ]
            },
            "join": "none_failed",
            "tool": "get_booking"
          },
          {
            "id": "cancelled",
            "kind": "branch",
            "after": ["booking"],
            "cases": [
              {
                "id": "confirmed",
                "body": {
                  "nodes": [
                    {
                      "id": "cancelled.confirmed",
                      "kind": "call",
                      "after": [],
                      "executor": "server",
                      "input": {
                        "kind": "dict",
                        "entries": [
                          {
                            "key": "booking_id",
                            "value": { "kind": "ref", "root": "steps", "path": ["booking", "id"] }
                          }
                        ]
                      },
                      "join": "none_failed",
                      "tool": "cancel_booking"
                    }
                  ],
                  "value": { "kind": "ref", "root": "steps", "path": ["cancelled.confirmed"] }
                },
                "when": {
                  "kind": "compare",
                  "left": { "kind": "ref", "root": "steps", "path": ["booking", "status"] },
                  "ops": [{ "op": "eq.strict", "right": { "kind": "literal", "value": "confirmed" } }]
                }
              },
              {
                "id": "cancelled",
                "body": {
                  "nodes": [
                    {
                      "id": "cancelled.cancelled",
                      "kind": "error",
                      "after": [],
                      "executor": "server",
                      "join": "none_failed",
                      "message": {
                        "kind": "text",
                        "parts": [
                          "Booking ",
                          { "kind": "ref", "root": "steps", "path": ["booking", "id"] },
                          " is cancelled already"
                        ],
                        "style": "js"
                      }
                    }
                  ]
                },
                "when": {
                  "kind": "compare",
                  "left": { "kind": "ref", "root": "steps", "path": ["booking", "status"] },
                  "ops": [{ "op": "eq.strict", "right": { "kind": "literal", "value": "cancelled" } }]
                }
              },
              {
                "id": "flown",
                "body": {
                  "nodes": [
                    {
                      "id": "cancelled.flown",
                      "kind": "error",
                      "after": [],
                      "executor": "server",
                      "join": "none_failed",
                      "message": {
                        "kind": "text",
                        "parts": [
                          "Booking ",
                          { "kind": "ref", "root": "steps", "path": ["booking", "id"] },
                          " is of a flight that has departed"
                        ],
                        "style": "js"
                      }
                    }
                  ]
                },
                "when": {
                  "kind": "compare",
                  "left": { "kind": "ref", "root": "steps", "path": ["booking", "status"] },
                  "ops": [{ "op": "eq.strict", "right": { "kind": "literal", "value": "flown" } }]
                }
              }
            ],
            "executor": "server",
            "join": "none_failed"
          },
          {
            "id": "refund",
            "kind": "call",
            "after": ["cancelled"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                {
                  "key": "booking_id",
                  "value": { "kind": "ref", "root": "steps", "path": ["cancelled", "id"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "process_refund",
            "when": {
              "kind": "not",
              "of": {
                "kind": "not",
                "of": { "kind": "ref", "root": "steps", "path": ["cancelled", "refundable"] },
                "truth": "truthy.js"
              },
              "truth": "truthy.js"
            }
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["refund"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                {
                  "key": "booking_id",
                  "value": { "kind": "ref", "root": "steps", "path": ["cancelled", "id"] }
                },
                {
                  "key": "status",
                  "value": { "kind": "ref", "root": "steps", "path": ["cancelled", "status"] }
                },
                {
                  "key": "refund",
                  "value": {
                    "kind": "call",
                    "args": [
                      {
                        "key": { "kind": "literal", "value": "amount" },
                        "kind": "get",
                        "of": { "kind": "ref", "root": "steps", "path": ["refund"] },
                        "optional": true
                      },
                      { "kind": "literal", "value": null }
                    ],
                    "fn": "coalesce"
                  }
                },
                { "key": "fee", "value": { "kind": "ref", "root": "steps", "path": ["cancelled", "fee"] } }
              ]
            }
          }
        ],
        "version": "1.0"
      }`,
      hash: '7094888183a997b6b7050fc8ea8187d78cea43ec648f70aa2df3ae25b2b0df63',
      fingerprint: '55465a48287230fb35d6dc9254c8aadde4bbcbdfc27c00b832acc2f649d0158b',
    },
    checkout: {
      class: Checkout,
      graph: graphJson<['prompt', 'tool']>`{
        "graphVersion": 1,
        "name": "checkout",
        "description": "validate a cart, apply a discount, process the payment, confirm the order",
        "domain": "ecommerce",
        "expose": ["prompt", "tool"],
        "inputs": [
          {
            "name": "cart_id",
            "description": "Id of the cart, such as CART-1",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "discount_code",
            "description": "Discount code",
            "required": false,
            "schema": { "type": "string" }
          },
          {
            "name": "payment_method",
            "description": "How the customer pays",
            "required": true,
            "schema": { "enum": ["card", "paypal", "bank_transfer"], "type": "string" }
          }
        ],
        "instructions": [],
        "nodes": [
          {
            "id": "cart",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "cart_id", "value": { "kind": "ref", "root": "inputs", "path": ["cart_id"] } }
              ]
            },
            "join": "none_failed",
            "tool": "validate_cart"
          },
          {
            "id": "discounted",
            "kind": "call",
            "after": ["cart"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "cart_id", "value": { "kind": "ref", "root": "steps", "path": ["cart", "id"] } },
                { "key": "code", "value": { "kind": "ref", "root": "inputs", "path": ["discount_code"] } }
              ]
            },
            "join": "none_failed",
            "tool": "apply_code",
            "when": {
              "kind": "compare",
              "left": { "kind": "ref", "root": "inputs", "path": ["discount_code"] },
              "ops": [{ "op": "ne.strict", "right": { "kind": "literal" } }]
            }
          },
          {
            "id": "totals",
            "kind": "call",
            "after": ["discounted"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "cart_id", "value": { "kind": "ref", "root": "steps", "path": ["cart", "id"] } }
              ]
            },
            "join": "none_failed",
            "tool": "calculate_total"
          },
          {
            "id": "payment",
            "kind": "call",
            "after": ["totals"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "cart_id", "value": { "kind": "ref", "root": "steps", "path": ["cart", "id"] } },
                { "key": "amount", "value": { "kind": "ref", "root": "steps", "path": ["totals", "total"] } },
                { "key": "method", "value": { "kind": "ref", "root": "inputs", "path": ["payment_method"] } }
              ]
            },
            "join": "none_failed",
            "onError": { "fallbackNode": "payment.fallback" },
            "retry": { "backoff": "exponential", "capMs": 60000, "delayMs": 2000, "extra": 3, "jitter": 0 },
            "tool": "charge_cart"
          },
          {
            "id": "payment.fallback",
            "kind": "error",
            "after": [],
            "executor": "server",
            "join": "none_failed",
            "message": {
              "kind": "text",
              "parts": [
                "Payment processing failed after ",
                { "kind": "ref", "root": "error", "path": ["attempts"] },
                " attempts: ",
                { "kind": "ref", "root": "error", "path": ["message"] }
              ],
              "style": "js"
            }
          },
          {
            "id": "order",
            "kind": "call",
            "after": ["payment"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                { "key": "cart_id", "value": { "kind": "ref", "root": "steps", "path": ["cart", "id"] } },
                {
                  "key": "payment_id",
                  "value": { "kind": "ref", "root": "steps", "path": ["payment", "id"] }
                }
              ]
            },
            "join": "none_failed",
            "tool": "confirm_order"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["order"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                { "key": "order_id", "value": { "kind": "ref", "root": "steps", "path": ["order", "id"] } },
                { "key": "total", "value": { "kind": "ref", "root": "steps", "path": ["totals", "total"] } },
                {
                  "key": "discount",
                  "value": { "kind": "ref", "root": "steps", "path": ["totals", "discount"] }
                },
                {
                  "key": "receipt_url",
                  "value": { "kind": "ref", "root": "steps", "path": ["payment", "receipt_url"] }
                }
              ]
            }
          }
        ],
        "version": "1.0"
      }`,
      hash: '1825ca42e047ee1a7c727635d21712099f76d192edcbc0743175c757fecf36f6',
      fingerprint: '8477e36c9b0b4d37b9af46d0189ade6ecd990ec5563a698f4f42dcea2f7e9191',
    },
  },
});

/** The names of the tools. */
export type ToolName = 
  | 'add_to_waitlist'
  | 'apply_code'
  | 'book_hotel'
  | 'calculate_total'
  | 'cancel_booking'
  | 'cancel_hotel'
  | 'charge_cart'
  | 'check_availability'
  | 'confirm_order'
  | 'confirm_trip'
  | 'create_booking'
  | 'get_booking'
  | 'process_payment'
  | 'process_refund'
  | 'search_flights'
  | 'search_hotels'
  | 'validate_cart';

/** The names of the resources. */
export type ResourceName = 'travel-rules';

/** The names of the workflows. */
export type WorkflowName = 'book_flight' | 'book_trip' | 'cancel_booking' | 'checkout';

interface Workflows {
  readonly 'book_flight': BookFlight;
  readonly 'book_trip': BookTrip;
  readonly 'cancel_booking': CancelAndRefund;
  readonly 'checkout': Checkout;
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
