import { Arg, ask, call, done, fail, owner, role, Step, Workflow } from 'stepwright';
import { PaySupplier } from './pay-supplier.tool.js';

@Workflow({
  name: 'pay-invoice',
  description: 'pay an invoice once a lead has approved it',
  scopes: ['payments:write'],
  expose: ['tool'],
})
export class PayInvoice {
  @Arg({ description: 'Supplier', minLength: 1, maxLength: 100 }) supplier!: Arg<string>;
  @Arg({ description: 'Amount in euros', min: 0.01, max: 100_000 }) amount!: Arg<number>;

  @Step({ timeoutMs: 604_800_000 })
  approved = ask.confirm(`Pay ${this.supplier} ${this.amount} EUR?`, {
    answerBy: role('lead', { except: owner() }),
  });

  @Step() declined = this.approved ? undefined : fail('A lead declined the payment', { code: 'DECLINED' });
  @Step() payment = call(PaySupplier, { supplier: this.supplier, amount: this.amount });

  output = done({ payment: this.payment.id });
}
