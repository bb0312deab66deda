import { Arg, ask, call, chain, done, fail, owner, parallel, role, Step, Workflow } from 'stepwright';
import { PayExpense, ReleaseBudget, ReserveBudget } from './tools.js';

@Workflow({
  name: 'submit-expense',
  description: 'have an expense approved by a lead, then pay it',
  expose: ['tool'],
})
export class SubmitExpense {
  @Arg({ description: 'What was bought', minLength: 1, maxLength: 200 }) purpose!: Arg<string>;
  @Arg({ description: 'Amount in euros', min: 0.01, max: 10_000 }) amount!: Arg<number>;

  // If a lead declines, the rollback releases the budget.
  @Step()
  approved = parallel(
    {
      expense: chain(
        call(
          ReserveBudget,
          { purpose: this.purpose, amount: this.amount },
          { id: 'reserved', compensate: (made) => call(ReleaseBudget, { reservation: made.reservation }) },
        ),
        ({ reservation }) =>
          chain(
            ask.confirm(`Pay ${this.amount} EUR for ${this.purpose}?`, {
              answerBy: role('lead', { except: owner() }),
            }),
            (yes) => (yes ? reservation : fail('A lead declined the expense', { code: 'DECLINED' })),
          ),
      ),
    },
    { onPartialFailure: 'rollback' },
  );

  @Step() paid = call(PayExpense, { reservation: this.approved.expense });

  output = done({ payment: this.paid.payment });
}
