import { Arg, call, done, fail, match, Step, Workflow } from 'stepwright';
import { CancelBooking } from './tools/cancel-booking.tool.js';
import { GetBooking } from './tools/get-booking.tool.js';
import { ProcessRefund } from './tools/process-refund.tool.js';
import { TravelRules } from './travel-rules.resource.js';

@Workflow({
  name: 'cancel_booking',
  domain: 'travel_booking',
  version: '1.0',
  description: 'cancel a booking, and pay it back within 24 hours',
  instructions: [TravelRules],
  expose: ['prompt', 'tool'],
})
export class CancelAndRefund {
  @Arg({ description: 'Id of the booking, such as BK-1001' }) booking_id!: Arg<string>;

  @Step() booking = call(GetBooking, { booking_id: this.booking_id });

  @Step()
  cancelled = match(this.booking.status, {
    confirmed: call(CancelBooking, { booking_id: this.booking.id }),
    cancelled: fail(`Booking ${this.booking.id} is cancelled already`),
    flown: fail(`Booking ${this.booking.id} is of a flight that has departed`),
  });

  @Step()
  refund = this.cancelled.refundable ? call(ProcessRefund, { booking_id: this.cancelled.id }) : undefined;

  output = done({
    booking_id: this.cancelled.id,
    status: this.cancelled.status,
    refund: this.refund?.amount ?? null,
    fee: this.cancelled.fee,
  });
}
