import { Arg, attempt, call, done, fail, Step, Workflow } from 'stepwright';
import { ApplyCode } from './tools/apply-code.tool.js';
import { CalculateTotal } from './tools/calculate-total.tool.js';
import { ChargeCart } from './tools/charge-cart.tool.js';
import { ConfirmOrder } from './tools/confirm-order.tool.js';
import { ValidateCart } from './tools/validate-cart.tool.js';

@Workflow({
  name: 'checkout',
  domain: 'ecommerce',
  version: '1.0',
  description: 'validate a cart, apply a discount, process the payment, confirm the order',
  expose: ['prompt', 'tool'],
})
export class Checkout {
  @Arg({ description: 'Id of the cart, such as CART-1' }) cart_id!: Arg<string>;
  @Arg({ description: 'Discount code' }) discount_code?: Arg<string>;
  @Arg({ description: 'How the customer pays' }) payment_method!: Arg<'card' | 'paypal' | 'bank_transfer'>;

  @Step() cart = call(ValidateCart, { cart_id: this.cart_id });

  @Step()
  discounted =
    this.discount_code !== undefined
      ? call(ApplyCode, { cart_id: this.cart.id, code: this.discount_code })
      : undefined;

  // After the discount, whether or not there is one: a step that was skipped skips no other.
  @Step() totals = call(CalculateTotal, { cart_id: this.cart.id });

  @Step({ retry: { attempts: 4, delayMs: 2_000, backoff: 'exponential' } })
  payment = attempt(
    call(ChargeCart, {
      cart_id: this.cart.id,
      amount: this.totals.total,
      method: this.payment_method,
    }),
    (error) => fail(`Payment processing failed after ${error.attempts} attempts: ${error.message}`),
  );

  @Step() order = call(ConfirmOrder, { cart_id: this.cart.id, payment_id: this.payment.id });

  output = done({
    order_id: this.order.id,
    total: this.totals.total,
    discount: this.totals.discount,
    receipt_url: this.payment.receipt_url,
  });
}
